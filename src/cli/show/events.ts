// The one stream of events that every screen is made of: the events of a run
// (agent-event.ts), and the events that only `attach` and the view itself produce. It
// also prints the stream as NDJSON (docs/run-events.md).
import { formatVersion } from '../../agent/agent-event.ts';
import type { RecordedEvent } from '../../agent/event-stream.ts';
import { escapeJsonLine } from '../../core/safe-text.ts';
import type { StateName } from '../describe-session.ts';

type TimedEvent<Type extends string, Body> = Readonly<
  { type: Type; at: number; sessionId: string } & Body
>;

/** The state of a session in the store; reported whenever it changes (`attach`). */
export type SessionStateSeen = TimedEvent<
  'session-state',
  {
    host: string;
    agent: string | null;
    model: string | null;
    directory: string | null;
    /** The human's first words; null: unknown. */
    title: string | null;
    state: StateName;
    /** The state as one sentence. */
    words: string;
    /** Everything that the session waits for. */
    waits: readonly string[];
    /** When the countdown or the wait ends by itself; null: nothing counts down. */
    until: number | null;
    /** When the running turn began; null: no turn runs. */
    turnSince: number | null;
  }
>;
/**
 * A permission that is no longer asked for, because the agent was stopped. Nobody said no
 * (`attach`).
 */
type PermissionWithdrawn = TimedEvent<'permission-withdrawn', { requestId: string }>;

export type SessionEvent = RecordedEvent | SessionStateSeen | PermissionWithdrawn;

/** What the human's Ctrl-C asks for. */
export type StopAsked = Readonly<{ type: 'stop-asked'; how: 'after-step' | 'now' }>;

/** Everything that changes what the view shows. */
export type ViewEvent =
  | SessionEvent
  | Readonly<{ type: 'tick'; at: number }>
  | Readonly<{ type: 'resized'; columns: number; rows: number }>
  | StopAsked
  /** A check that only a human can answer. Null: it was answered or given up. */
  | Readonly<{ type: 'check-question'; question: string | null }>;

export type ViewEventOf<Type extends ViewEvent['type']> = Extract<
  ViewEvent,
  { type: Type }
>;

/**
 * Prints one event a line, with exactly its fields and the version of the format: nothing
 * is left out, cut or reworded.
 */
export function createJsonPrinter(
  write: (text: string) => unknown,
): (event: SessionEvent) => void {
  return ({ type, at, sessionId, ...fields }) => {
    const whole = { v: formatVersion, type, at, sessionId, ...fields };
    write(`${escapeJsonLine(JSON.stringify(whole, keepField))}\n`);
  };
}

/**
 * JSON has no `undefined`: a call without an input says `null`, so that the field stays.
 */
function keepField(name: string, value: unknown): unknown {
  return name === 'input' && value === undefined ? null : value;
}
