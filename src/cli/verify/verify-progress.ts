// Progress of `verify`: a line when a check starts and one when it has ended; on a terminal one line that is painted
// over until it has. It shows names only: what a check printed comes at the end.

import type { Io } from '../io.ts';
import { createPaint, shown } from '../print.ts';
import { cutToWidth } from '../show/page.ts';
import { formatSeconds, resultStyles } from './describe-results.ts';
import type { VerifyWatcher } from './run-wanted.ts';
import type { WantedCheck } from './verify-target.ts';

const eraseLine = '\r\u001b[2K';
const repaintMs = 1000;
/** Where a terminal does not tell its width. */
const usualColumns = 80;

export interface VerifyProgress extends VerifyWatcher {
  /** Leaves no half of a line behind, however the run ended. */
  close(): void;
}

export function createProgress(io: Io, total: number): VerifyProgress {
  const paint = createPaint(io);
  const isLive = io.isTTY && io.env['TERM'] !== 'dumb';
  let repaint: ReturnType<typeof setInterval> | null = null;

  const label = ({ id }: WantedCheck, index: number): string => `[${index + 1}/${total}] ${shown(id, 60)}`;

  function live(words: string): void {
    const since = performance.now();
    const show = (): void => {
      const columns = process.stdout.columns ?? usualColumns;
      const line = `${words}, ${Math.floor((performance.now() - since) / 1000)} s`;
      // One column is left free: some terminals wrap as soon as the last one is written.
      io.stdout.write(`${eraseLine}${cutToWidth(line, Math.max(1, columns - 1), '…')}`);
    };
    erase();
    show();
    repaint = setInterval(show, repaintMs);
  }

  function erase(): void {
    if (repaint === null) return;
    clearInterval(repaint);
    repaint = null;
    io.stdout.write(eraseLine);
  }

  const begin = (words: string): unknown => (isLive ? live(words) : io.stdout.write(`${words}\n`));

  return {
    started: (wanted, index) => void begin(`${label(wanted, index)}: runs`),
    repeated: (wanted, index) => void begin(`${label(wanted, index)}: failed, runs once more`),
    ended({ wanted, result, milliseconds }, index) {
      erase();
      const took = result === 'waiting' ? '' : ` after ${formatSeconds(milliseconds)}`;
      io.stdout.write(`${label(wanted, index)}: ${paint(resultStyles[result], result)}${took}\n`);
    },
    close: erase,
  };
}

/** For `--json`: nothing but the document is printed. */
export const noProgress: VerifyProgress = {
  started: () => {},
  repeated: () => {},
  ended: () => {},
  close: () => {},
};
