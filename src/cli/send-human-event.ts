// Writes what the human did through the engine, as a host would (C3). The session is found first, so that a wrong
// word changes nothing.

import { UntildoneError } from '../core/error.ts';
import type { Event } from '../core/events.ts';
import type { Session } from '../core/state.ts';
import type { Handled } from '../engine/engine.ts';
import { createIdentifiers } from '../engine/system.ts';
import { findSession, noSessionsYet } from './find-session.ts';
import type { Io } from './io.ts';
import { openRuntime, withStore } from './open-runtime.ts';

type HumanEvent = Extract<Event, { type: 'human-paused' | 'human-resumed' | 'human-aborted' }>;
type HumanAct = HumanEvent extends infer E
  ? E extends HumanEvent
    ? Omit<E, 'id' | 'sessionId' | 'at'>
    : never
  : never;

/** `act` returns null where there is nothing to do for this session; then nothing is written. */
export async function sendHumanEvent(
  io: Io,
  word: string | null,
  act: (session: Session) => HumanAct | null,
): Promise<{ session: Session; handled: Handled | null }> {
  const sent = await withStore(io, async (store) => {
    const session = await findSession(store, word, io);
    const what = act(session);
    if (what === null) return { session, handled: null };
    const id = createIdentifiers(io.clock).next();
    const event: HumanEvent = { ...what, id, sessionId: session.id, at: io.clock.now() };
    const handled = await openRuntime(io, store).handle(event);
    // What the event set going must be on the record before the store is closed.
    await handled.checks;
    return { session: handled.state, handled };
  });
  if (sent === null) throw new UntildoneError('unknown-session', noSessionsYet);
  return sent;
}
