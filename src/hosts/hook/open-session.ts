// Keeps what we know of a session in step with what its host says with every call: directory, mode, agent. Written
// only when it differs, because most calls change nothing.
import type { Event } from '../../core/events.ts';
import type { Session } from '../../core/session.ts';
import { eventKey } from './event-key.ts';
import type { HookContext } from './hook-context.ts';

export function openingEvent({ call, host, identifiers }: HookContext, kind: 'open' | 'side'): Event {
  const { sessionId, promptId, at, descriptor, agent } = call;
  const id = eventKey({ host: host.name, sessionId, promptId }, kind, identifiers.next());
  return { id, sessionId, at, type: 'session-opened', descriptor, agent };
}

/** Events that bring the record up to date before anything is decided about the session. */
export function catchUpEvents(
  context: HookContext,
  session: Session | null,
  pending: readonly Event[],
): Event[] {
  const { call } = context;
  const opened = pending.findLast((event) => event.type === 'session-opened');
  const known = opened ?? session;
  const same =
    known !== null &&
    JSON.stringify([known.descriptor, known.agent]) === JSON.stringify([call.descriptor, call.agent]);
  return [...(same ? [] : [openingEvent(context, 'side')]), ...endedCompaction(context, session, pending)];
}

/** The host works on although it never said that its compaction ended: it was broken off. */
function endedCompaction(
  { call, host, identifiers }: HookContext,
  session: Session | null,
  pending: readonly Event[],
): Event[] {
  const told = pending.findLast(
    ({ type }) => type === 'compaction-started' || type === 'compaction-ended',
  )?.type;
  const compacting = told === undefined ? session?.waits.compacting : told === 'compaction-started';
  if (!compacting) return [];
  const { sessionId, promptId, at } = call;
  const id = eventKey({ host: host.name, sessionId, promptId }, 'side', identifiers.next());
  return [{ id, sessionId, at, type: 'compaction-ended', shrunk: false }];
}
