// A session appears, goes away, or is deleted. None of these lifts a latch or resets a counter.
import type { SessionClosed, SessionDeleted, SessionOpened } from '../events.ts';
import type { Session } from '../session.ts';
import { type Step, step } from '../step.ts';

export function sessionOpened(session: Session, event: SessionOpened): Step {
  return step({
    ...session,
    descriptor: event.descriptor,
    agent: event.agent ?? session.agent,
    deleted: false,
  });
}

/** A clean end cancels what was planned or is on its way: yesterday's countdown must not spend today's tokens. */
export function sessionClosed(session: Session, _event: SessionClosed): Step {
  const { injection, descriptor } = session;
  const onItsWay = injection?.state === 'intended' || injection?.state === 'sent';
  if (descriptor.mode === 'asked' || !onItsWay) return step(unpark(session));
  const given: Session = { ...session, injection: { ...injection, state: 'failed' } };
  return step({ ...given, parked: null, timer: null, epoch: session.epoch + 1 });
}

/** A text that is on its way to it is void too. */
export function sessionDeleted(session: Session, _event: SessionDeleted): Step {
  return step({ ...session, parked: null, timer: null, epoch: session.epoch + 1, deleted: true });
}

/** Cancels a parked stop attempt with its timer; the epoch rises so that a timer already on its way is void. */
export function unpark(session: Session): Session {
  if (session.parked === null && session.timer === null) return session;
  return { ...session, parked: null, timer: null, epoch: session.epoch + 1 };
}
