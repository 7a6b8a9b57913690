// Shows what would change in a text, for people to read before they agree.
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { escapeForTerminal } from './print.ts';

/**
 * The difference as `diff -u` prints it. `before` or `after` null: the file does not
 * exist.
 */
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

/** Leaves lines out that stood above already: a host's eleven hooks call one program. */
export function withoutRepeats(lines: readonly string[]): string[] {
  const shownLines = new Set<string>();
  const kept: string[] = [];
  for (const line of lines) {
    const isRepeated = /^[+-]\s/.test(line) && shownLines.has(line.replace(/,$/, ''));
    shownLines.add(line.replace(/,$/, ''));
    if (!isRepeated) kept.push(line);
    else if (!kept.at(-1)?.endsWith('…')) kept.push(`${/^.\s*/.exec(line)?.[0]}…`);
  }
  return kept;
}

/** Makes a line safe like `shown`, but keeps the blanks at its start. */
export function shownLine(line: string): string {
  const blanks = /^[ +-]?[ \t]*/.exec(line)?.[0] ?? '';
  return `${blanks}${escapeForTerminal(line.slice(blanks.length), 400)}`;
}
