// A line that says what is running, with the seconds that it has taken so far. It is drawn over on a terminal and gone
// when what it tells of is over.
import type { Io } from './io.ts';
import { createPage, lookOf } from './show/page.ts';

const eraseLine = '\r\u001b[2K';
const repaintMs = 1000;

export function createTimedLine(io: Io) {
  const page = createPage(lookOf(io));
  const isDrawn = io.isTTY && io.env['TERM'] !== 'dumb';
  let repaint: ReturnType<typeof setInterval> | null = null;

  /** Leaves no half of a line behind, however what it told of has ended. */
  function close(): void {
    if (repaint === null) return;
    clearInterval(repaint);
    repaint = null;
    io.stdout.write(eraseLine);
  }

  /** Where nothing can be drawn over, the line is printed once and stays. */
  function begin(line: string): void {
    close();
    if (!isDrawn) return void io.stdout.write(`${line}\n`);
    const since = performance.now();
    const show = (): void => {
      const timed = `${line}, ${Math.floor((performance.now() - since) / 1000)} s`;
      // One column is left free: some terminals wrap as soon as the last one is written.
      io.stdout.write(`${eraseLine}${page.clip(timed, (page.width ?? 80) - 1)}`);
    };
    show();
    repaint = setInterval(show, repaintMs);
  }

  return { begin, close };
}
