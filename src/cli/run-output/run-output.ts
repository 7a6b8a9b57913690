// Where a run shows itself, as one value: the live view implements it, lines and NDJSON stand here.
import type { AgentEvent } from '../../agent/agent-event.ts';
import type { HumanControl } from '../../agent/run-agent.ts';
import type { HumanAnswer } from '../../checks/checker.ts';
import { escapeJsonLine } from '../../core/safe-text.ts';
import type { Io, Output } from '../io.ts';
import type { SessionEvent } from '../view/view-event.ts';
import { formatVersion } from './event-schema.ts';
import { createLinePrinter } from './line-printer.ts';
import { isUnicodeLocale } from './unicode-locale.ts';

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

export function createPrinter(io: Io, json: boolean): (event: AgentEvent) => void {
  const write = (text: string) => io.stdout.write(text);
  if (json) return createJsonPrinter({ write });
  return createLinePrinter({ ...lookOf(io), write, isTTY: io.isTTY });
}

export interface JsonPrinterOptions {
  readonly write: (text: string) => unknown;
}

/**
 * One event a line, exactly its fields and the version of the format: nothing is left out, cut or reworded (see
 * docs/run-events.md). `attach` prints the state of a session as well.
 */
export function createJsonPrinter({ write }: JsonPrinterOptions): (event: SessionEvent) => void {
  return (event) => {
    const { type, at, sessionId, ...fields } = event;
    const whole = { v: formatVersion, type, at, sessionId, ...fields };
    write(`${escapeJsonLine(JSON.stringify(whole, keepField))}\n`);
  };
}

/** JSON has no undefined: a call without an input says null instead of losing the field. */
function keepField(name: string, value: unknown): unknown {
  return name === 'input' && value === undefined ? null : value;
}

/** Colours, signs and width of this terminal; the width is that of the moment. */
export function lookOf({ isTTY, env }: Io): {
  readonly columns: number | null;
  readonly color: boolean;
  readonly unicode: boolean;
} {
  return {
    get columns() {
      return isTTY ? (process.stdout.columns ?? null) : null;
    },
    color: isTTY && !env['NO_COLOR'] && env['TERM'] !== 'dumb',
    unicode: isUnicodeLocale(env),
  };
}
