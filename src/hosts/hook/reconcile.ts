// The host's own list at the moment of a stop, as events: only what differs from what we last knew of it (G5).
import type { Event } from '../../core/events.ts';
import { eventKey, shortHash, todoIdOf } from './event-key.ts';
import type { HookContext } from './hook-context.ts';
import { listDifferences } from './list-differences.ts';
import type { Trail } from './trail.ts';

export function reconcileEvents(
  { call, host, environment }: HookContext,
  trail: Trail,
  decisions: number,
): readonly Event[] {
  const listed = host.readList(call, environment);
  if (listed === null) return [];
  const { sessionId, promptId, at } = call;
  return listDifferences(trail.list, listed, (key) => todoIdOf(sessionId, key)).map((difference): Event => {
    const detail = shortHash(JSON.stringify([difference, decisions]));
    const base = { id: eventKey({ host: host.name, sessionId, promptId }, 'list', detail), sessionId, at };
    return difference.type === 'created'
      ? { ...base, type: 'todos-created', actor: 'agent', items: [difference.item] }
      : {
          ...base,
          type: 'todo-updated',
          actor: 'agent',
          todoId: difference.key,
          changes: difference.changes,
        };
  });
}
