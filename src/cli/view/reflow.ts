// What happens to a drawn frame when its terminal gets narrower: most terminals break its lines anew, and Ink, which
// knows how many it drew, would leave the surplus standing. Pure.
import { stripVTControlCharacters } from 'node:util';
import { displayWidth } from '../run-output/display-width.ts';

/** Rows that the lines take beyond one each, once the terminal has broken them at `columns`. */
export function surplusRows(frame: readonly string[], before: number, columns: number): number {
  if (columns >= before) return 0;
  return frame.reduce((surplus, line) => {
    const width = Math.min(before, displayWidth(stripVTControlCharacters(line)));
    return surplus + Math.max(0, Math.ceil(width / Math.max(1, columns)) - 1);
  }, 0);
}

/** Erases the row of the cursor and goes up, so many times. */
export function eraseRows(rows: number): string {
  return '\u001b[2K\u001b[1A'.repeat(rows);
}

/** xterm itself and screen cut lines off instead; there is no surplus then, and erasing would eat what was said. */
export function breaksLines(environment: Readonly<Record<string, string | undefined>>): boolean {
  if ((environment['XTERM_VERSION'] ?? '') !== '') return false;
  return !(environment['TERM'] ?? '').startsWith('screen') || (environment['TMUX'] ?? '') !== '';
}
