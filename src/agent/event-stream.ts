// The events of a run in the store, written once as they happen, and read by whoever
// looks on from elsewhere (`attach`). Nothing is decided by them: a stream that cannot be
// written or read is a view that shows less.

import type { State } from '../core/state.ts';
import type { Store } from '../engine/store.ts';
import { type AgentEvent, eventFields, planView } from './agent-event.ts';

/**
 * Readers look every 400 ms: writing more often than this would show them nothing sooner.
 */
const writeMs = 200;
/**
 * Bounds one text in an event, and one row of streamed text: an input may be a whole file.
 */
const longestText = 4000;
/** Bounds one list in an event: a reader has the whole plan from the session itself. */
const longestList = 100;

/** Everything goes below the session of the run, what its workers do too. */
export function createStreamWriter(store: Store, sessionId: string) {
  let waiting: AgentEvent[] = [];
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<unknown> = Promise.resolve();

  function write(): void {
    timer = null;
    const shown = waiting.map((event) => ({
      sessionId,
      body: JSON.stringify(event, bounded),
    }));
    waiting = [];
    // Safe: a store that cannot be written ends the run by itself; those who look on miss
    // a moment.
    writing = writing.then(() => store.record({ shown })).catch(() => {});
  }

  return {
    take(event: AgentEvent): void {
      for (const piece of piecesOf(event)) {
        const last = waiting.at(-1);
        const longer = last === undefined ? null : joined(last, piece);
        if (longer !== null) waiting[waiting.length - 1] = longer;
        else waiting.push(piece);
      }
      timer ??= setTimeout(write, writeMs);
    },
    /** Resolves when all that was taken is in the store. */
    async close(): Promise<void> {
      if (timer !== null) {
        clearTimeout(timer);
        write();
      }
      await writing;
    },
  };
}

/** An answer may arrive whole: it is kept whole, in several rows. */
function piecesOf(event: AgentEvent): AgentEvent[] {
  if (event.type !== 'text' && event.type !== 'text-held') return [event];
  // By whole characters, of which each may be two units.
  return (event.text.match(/[\s\S]{1,2000}/gu) ?? []).map((text) => ({ ...event, text }));
}

/** Streamed words that arrive between two writes are one row. */
function joined(last: AgentEvent, next: AgentEvent): AgentEvent | null {
  if (next.type !== 'text' && next.type !== 'text-held') return null;
  if (last.type !== next.type || last.sessionId !== next.sessionId) return null;
  const text = last.text + next.text;
  return text.length > longestText ? null : { ...last, text };
}

/** The plan stands in the session: of its changes only the moment is kept. */
function bounded(this: unknown, name: string, value: unknown): unknown {
  if (name === 'todos' && (this as { type?: unknown }).type !== undefined) return [];
  if (typeof value === 'string') return value.slice(0, longestText);
  return Array.isArray(value) ? value.slice(0, longestList) : value;
}

/** A check of a host that was begun and will not end. */
type CheckCancelled = Readonly<{
  type: 'check-cancelled';
  at: number;
  sessionId: string;
  check: string;
  todoId: string | null;
}>;
export type RecordedEvent = AgentEvent | CheckCancelled;

export interface StreamReader {
  /** What is new, with the plan as the session has it now. */
  look(store: Store, state: State): Promise<RecordedEvent[]>;
}

/** A worker's events stand in the stream of the run that sent it. */
export function createStreamReader({ id, descriptor }: State): StreamReader {
  const streamId = descriptor.parentId ?? id;
  let after = 0;
  return {
    async look(store, state) {
      const rows = await store.shown(streamId, after);
      after = rows.at(-1)?.sequence ?? after;
      const events = rows.flatMap(({ body }) => readRow(body, state));
      return streamId === id ? events : events.filter((event) => event.sessionId === id);
    },
  };
}

function readRow(body: string, { plan }: State): AgentEvent[] {
  try {
    const event = JSON.parse(body) as AgentEvent;
    // A newer version may tell more than this one knows to show.
    if (!Object.hasOwn(eventFields, event.type)) return [];
    if (event.type === 'plan-changed') return [{ ...event, ...planView(plan) }];
    return [
      event.type === 'run-ended' ? { ...event, todos: planView(plan).todos } : event,
    ];
  } catch {
    // Safe: a row that was edited by hand is not shown.
    return [];
  }
}
