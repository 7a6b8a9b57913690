// Chooses where a run shows itself: the live view, lines, or NDJSON. The view is loaded only where it is drawn.
import { canAnswerHere } from './ask-at-terminal.ts';
import type { Io } from './io.ts';
import { complain } from './print.ts';
import { createPrinter, printedOutput, type RunHand, type RunOutput } from './run-output/run-output.ts';

export interface OutputChoice {
  readonly json: boolean;
  /** Lines, although a view could be drawn. */
  readonly plain: boolean;
}

/** Drawing needs a terminal that can move its cursor, and one to read keys from. */
export function drawsView(io: Io, { json, plain }: OutputChoice): boolean {
  return io.isTTY && process.stdin.isTTY === true && !json && !plain && io.env['TERM'] !== 'dumb';
}

export async function openRunOutput(io: Io, choice: OutputChoice, hand: RunHand): Promise<RunOutput> {
  if (drawsView(io, choice)) {
    try {
      return (await import('./view/run-view.ts')).openRunView(io, hand);
    } catch (error) {
      // Safe: lines show the same.
      const why = error instanceof Error ? error.message : String(error);
      complain(io, `The live view could not be opened (${why}); the run is shown in lines.`);
    }
  }
  const print = createPrinter(io, choice.json);
  if (choice.json || !(await canAnswerHere(io))) return printedOutput(io, print);
  return (await import('./run-output/plain-terminal.ts')).plainTerminalOutput(io, print, hand);
}
