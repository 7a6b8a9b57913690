// A line that says what is running and for how many seconds. A terminal paints it again
// each second, and it disappears when the work is over.
import type { Io } from './io.ts';
import { createPage, lookOf } from './show/page.ts';

const eraseLine = '\r\u001b[2K';
const repaintMs = 1000;

export function createTimedLine(io: Io) {
  const page = createPage(lookOf(io));
  const isLive = io.isTTY && io.env['TERM'] !== 'dumb';
  let repaint: ReturnType<typeof setInterval> | null = null;

  /** Must be called however the work ended: it leaves no half of a line behind. */
  function close(): void {
    if (repaint === null) return;
    clearInterval(repaint);
    repaint = null;
    io.stdout.write(eraseLine);
  }

  /** Without a terminal that can paint over, the line is printed once and stays. */
  function begin(line: string): void {
    close();
    if (!isLive) return void io.stdout.write(`${line}\n`);
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
