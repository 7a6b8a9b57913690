// The one stream of events that everything on a screen is made of: what a run tells
// (agent-event.ts), and what only `attach` and the view itself can tell. Here too: the
// stream as NDJSON (docs/run-events.md).
import { formatVersion } from '../../agent/agent-event.ts';
import type { RecordedEvent } from '../../agent/event-stream.ts';
import { escapeJsonLine } from '../../core/safe-text.ts';
import type { StateName } from '../describe-session.ts';

type Seen<Type extends string, Body> = Readonly<
  { type: Type; at: number; sessionId: string } & Body
>;

/** How a session stands in the store; told whenever that changed (`attach`). */
export type SessionStateSeen = Seen<
  'session-state',
  {
    host: string;
    agent: string | null;
    model: string | null;
    directory: string | null;
    /** The first words of the human; null: none are known. */
    title: string | null;
    state: StateName;
    /** The state as one sentence. */
    words: string;
    /** Everything that holds the session up. */
    waits: readonly string[];
    /** When the countdown or the wait ends by itself; null: nothing counts. */
    until: number | null;
    /** When the running turn began; null: none runs. */
    turnSince: number | null;
  }
>;
/** What was asked for is no longer: the agent was stopped. Nobody said no (`attach`). */
type PermissionWithdrawn = Seen<'permission-withdrawn', { requestId: string }>;

export type SessionEvent = RecordedEvent | SessionStateSeen | PermissionWithdrawn;

/** The human's Ctrl-C, as it was understood. */
export type StopAsked = Readonly<{ type: 'stop-asked'; how: 'after-step' | 'now' }>;

/** What happens to the view itself. */
export type ViewEvent =
  | SessionEvent
  | Readonly<{ type: 'tick'; at: number }>
  | Readonly<{ type: 'resized'; columns: number; rows: number }>
  | StopAsked
  /** A check that only a human can answer; null: it was answered or given up. */
  | Readonly<{ type: 'check-question'; question: string | null }>;

export type ViewEventOf<Type extends ViewEvent['type']> = Extract<
  ViewEvent,
  { type: Type }
>;

/**
 * One event a line, exactly its fields and the version of the format: nothing is left
 * out, cut or reworded.
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
 * JSON has no undefined: a call without an input says null instead of losing the field.
 */
function keepField(name: string, value: unknown): unknown {
  return name === 'input' && value === undefined ? null : value;
}
