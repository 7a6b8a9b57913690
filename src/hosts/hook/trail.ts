// What the record says about a host: the list it had when we last heard of it, and where its turn stands. It is
// folded from the events themselves; a small file beside the store only remembers how far the fold has come, so
// that losing it costs time and nothing else.
import type { Event } from '../../core/events.ts';
import { type EventKind, readEventKey } from './event-key.ts';

export interface KnownTodo {
  readonly title: string;
  readonly status: string;
}

export interface Trail {
  /** The host's list by its own keys; a todo that is gone has the status `gone`. */
  readonly list: Readonly<Record<string, KnownTodo>>;
  readonly promptId: string | null;
  /** The last thing that the main agent or its host did; null: nothing yet. */
  readonly last: EventKind | null;
  /** Error of the last tool call, if it failed and nothing came after it. */
  readonly toolError: string | null;
  /** Stop attempts since the main agent last called a tool or a prompt came. */
  readonly stops: number;
}

export const emptyTrail: Trail = { list: {}, promptId: null, last: null, toolError: null, stops: 0 };

export function extendTrail(trail: Trail, events: readonly Event[], host: string, sessionId: string): Trail {
  return events.reduce((before, event) => extend(before, event, host, sessionId), trail);
}

function extend(trail: Trail, event: Event, host: string, sessionId: string): Trail {
  const key = readEventKey(event.id, host, sessionId);
  // A claim at the gate is not yet the host's: it may refuse.
  if (key === null || key.kind === 'gate') return trail;
  const listed = { ...trail, list: extendList(trail.list, event) };
  if (key.kind === 'side' || key.kind === 'list') return listed;
  const moved = { ...listed, promptId: key.promptId ?? trail.promptId, last: key.kind };
  switch (event.type) {
    case 'tool-ended':
      return { ...moved, toolError: event.error, stops: 0 };
    case 'stop-attempted':
      return { ...moved, stops: trail.stops + 1 };
    default:
      return key.kind === 'prompt' ? { ...moved, toolError: null, stops: 0 } : moved;
  }
}

function extendList(list: Trail['list'], event: Event): Trail['list'] {
  if (event.type === 'todos-created') {
    const added = event.items.flatMap(({ hostKey, title, status }) =>
      hostKey === undefined ? [] : [[hostKey, { title, status: status ?? 'pending' }] as const],
    );
    return { ...list, ...Object.fromEntries(added) };
  }
  if (event.type !== 'todo-updated') return list;
  const before = list[event.todoId];
  if (before === undefined) return list;
  const { title = before.title, status = before.status } = event.changes;
  return { ...list, [event.todoId]: { title, status: status === 'cancelled' ? 'gone' : status } };
}
