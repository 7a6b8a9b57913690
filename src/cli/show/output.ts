// Where a run shows itself, as one value: the live view implements it, lines and NDJSON stand here.
import type { AgentEvent } from '../../agent/agent-event.ts';
import type { HumanControl } from '../../agent/run-agent.ts';
import type { HumanAnswer } from '../../checks/checker.ts';
import type { Io, Output } from '../io.ts';
import { createJsonPrinter } from './events.ts';
import { createLinePrinter, plainSpeech } from './lines.ts';
import { lookOf } from './page.ts';

/** What a view may do to the run that it shows. */
export interface RunHand {
  /** As Ctrl-C: the first stops after the step, the second at once. */
  interrupt(): void;
  /** null: the run has not begun. */
  control(): HumanControl | null;
  pause(): Promise<void>;
  /** A sentence that says why not; null: it goes on. */
  resume(): Promise<string | null>;
}

export interface RunOutput {
  readonly emit: (event: AgentEvent) => void;
  /** Told when the human asked the run to stop. */
  stopAsked(how: 'after-step' | 'now'): void;
  /** Asks the human who looks at it; null: nobody does. */
  readonly ask: ((question: string) => Promise<HumanAnswer | null>) | null;
  /** Somebody looks at it who can answer what the run asks. */
  readonly answers: boolean;
  /** Where warnings go meanwhile. */
  readonly complaints: Output;
  close(): Promise<void>;
}

export interface OutputChoice {
  readonly json: boolean;
  /** Lines, although a view could be drawn. */
  readonly plain: boolean;
}

/** Drawing needs a terminal that can move its cursor, and one to read keys from. */
export function drawsView(io: Io, { json, plain }: OutputChoice): boolean {
  return io.isTTY && process.stdin.isTTY === true && !json && !plain && io.env['TERM'] !== 'dumb';
}

/** Markdown is laid out on a terminal; a log and another program get it as it was said. */
export async function createPrinter(io: Io, json: boolean): Promise<(event: AgentEvent) => void> {
  const write = (text: string) => io.stdout.write(text);
  if (json) return createJsonPrinter(write);
  const render = io.isTTY ? (await import('./markdown.ts')).renderMarkdown : plainSpeech;
  return linesOf(io, { render });
}

/** `options`: what is known without waiting. */
export function linesOf(io: Io, options: { render: typeof plainSpeech }): (event: AgentEvent) => void {
  const look = lookOf(io);
  const printer = createLinePrinter({
    get columns() {
      return look.columns;
    },
    ...{ color: look.color, unicode: look.unicode, isTTY: io.isTTY, ...options },
    write: (text) => io.stdout.write(text),
  });
  return printer.print;
}

export function printedOutput(io: Io, emit: (event: AgentEvent) => void): RunOutput {
  return {
    emit,
    stopAsked(how) {
      if (how === 'after-step') io.stderr.write('\nStopping after this step; Ctrl-C again stops at once.\n');
    },
    ask: null,
    answers: false,
    complaints: io.stderr,
    close: async () => {},
  };
}
