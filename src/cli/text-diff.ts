// What would change in a text, for people to read before they agree.
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { shown } from './print.ts';

/** As `diff -u` prints it. Null: no file. */
export function diffTexts(
  path: string,
  before: string | null,
  after: string | null,
): string[] {
  if (before === after) return [];
  const name = (text: string | null) => (text === null ? '/dev/null' : path);
  const texts = [name(before), name(after), before ?? '', after ?? ''] as const;
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY };
  const patch = createTwoFilesPatch(...texts, undefined, undefined, options);
  const lines = patch.replaceAll('\n\\ No newline', '\\ No newline').split('\n');
  return lines.slice(0, -1).map((line) => line.replace(/\r$/, ''));
}

/**
 * A diff for people: what was said above is not said again, since eleven hooks call one
 * program.
 */
export function withoutRepeats(lines: readonly string[]): string[] {
  const said = new Set<string>();
  const kept: string[] = [];
  for (const line of lines) {
    const isRepeated = /^[+-]\s/.test(line) && said.has(line.replace(/,$/, ''));
    said.add(line.replace(/,$/, ''));
    if (!isRepeated) kept.push(line);
    else if (!kept.at(-1)?.endsWith('…')) kept.push(`${/^.\s*/.exec(line)?.[0]}…`);
  }
  return kept;
}

/** Blanks at the front of a line mean something here, so `shown` is not for it. */
export function shownLine(line: string): string {
  const blanks = /^[ +-]?[ \t]*/.exec(line)?.[0] ?? '';
  return `${blanks}${shown(line.slice(blanks.length), 400)}`;
}
