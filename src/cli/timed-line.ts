// Shows a line that says what is running and for how many seconds. A terminal repaints it
// each second; it disappears when the work is over.
import type { Io } from './io.ts';
import { createPage, readTerminalStyle } from './show/page.ts';

const eraseLine = '\r\u001b[2K';
const repaintMs = 1000;

export function createTimedLine(io: Io) {
  const page = createPage(readTerminalStyle(io));
  const isLive = io.isTTY && io.env['TERM'] !== 'dumb';
  let repaint: ReturnType<typeof setInterval> | null = null;

  /** Must be called however the work ends, so that no half of a line is left. */
  function close(): void {
    if (repaint === null) return;
    clearInterval(repaint);
    repaint = null;
    io.stdout.write(eraseLine);
  }

  /** Without a terminal that can repaint, the line is printed once and stays. */
  function begin(line: string): void {
    close();
    if (!isLive) return void io.stdout.write(`${line}\n`);
    const since = performance.now();
    const paintLine = (): void => {
      const timed = `${line}, ${Math.floor((performance.now() - since) / 1000)} s`;
      // One column stays free: some terminals wrap as soon as the last one is written.
      io.stdout.write(`${eraseLine}${page.clip(timed, (page.width ?? 80) - 1)}`);
    };
    paintLine();
    repaint = setInterval(paintLine, repaintMs);
  }

  return { begin, close };
}
