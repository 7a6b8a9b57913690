// Breaks a line of a command between words where the terminal is too narrow for it. What follows stands below its
// column or behind its margin. Words are never broken: an id or a path is there to be copied. Pure.
import { stripVTControlCharacters } from 'node:util';
import { displayWidth } from './show/page.ts';

const margin = /^ *[│|] /u;
/** Less room than this to the right of a column is worse than none. */
const leastRoom = 24;

/** `width` null: no terminal, and the line stays as it is. */
export function wrapLine(line: string, width: number | null): string[] {
  if (width === null || widthOf(line) <= width) return [line];
  const lead = leadOf(stripVTControlCharacters(line), width);
  const lines: string[] = [];
  let current = '';
  let isFresh = true;
  for (const [, gap = '', word = ''] of line.matchAll(/(\s*)(\S+)/gu)) {
    const next = `${current}${gap}${word}`;
    if (isFresh || widthOf(next) <= width) current = next;
    else {
      lines.push(current);
      current = `${lead}${word}`;
    }
    // The margin and the first column are no line by themselves.
    isFresh = widthOf(current) <= widthOf(lead);
  }
  return [...lines, current];
}

/** A question in lines, with a blank behind it for the answer. */
export function wrapPrompt(prompt: string, width: number | null): string {
  return `${wrapLine(prompt.trimEnd(), width === null ? null : width - 2).join('\n')} `;
}

/** Colours take no room. */
function widthOf(text: string): number {
  return displayWidth(stripVTControlCharacters(text));
}

function leadOf(plain: string, width: number): string {
  const [bar] = margin.exec(plain) ?? [];
  if (bar !== undefined) return bar;
  const columns = [...plain.matchAll(/\S {2,}(?=\S)/gu)]
    .map(({ index, 0: gap }) => displayWidth(plain.slice(0, index + gap.length)))
    .filter((column) => column <= width - leastRoom);
  const indent = plain.length - plain.trimStart().length;
  return ' '.repeat(columns.at(-1) ?? (indent === 0 ? 0 : indent + 2));
}
