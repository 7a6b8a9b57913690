// Timers fire and injections travel: intended, sent, observed (design: "Delivery"). An old epoch is void.
import { settingsForAgent } from '../config/agent-settings.ts';
import type { Policy } from '../config/policy.ts';
import type { Decision } from '../decision.ts';
import type {
  HostCapReached,
  InjectionFailed,
  InjectionLost,
  InjectionObserved,
  InjectionSent,
  TimerFired,
} from '../delivery-events.ts';
import { type Injection, openCount, type Session } from '../session.ts';
import { type Step, step } from '../step.ts';

/** What a fired timer asks for: nothing, a second look at the parked stop, or another try to send. */
export function timerFired(
  session: Session,
  event: TimerFired,
  policy: Policy,
): { step: Step; resend: boolean } {
  const { timer } = session;
  if (timer === null || timer.epoch !== event.epoch || session.epoch !== event.epoch) {
    return { step: step(session), resend: false };
  }
  if (isTooOld(session, timer.dueAt, event.at, policy))
    return { step: step(expired(session, event.at)), resend: false };
  return { step: step({ ...session, timer: null }), resend: timer.purpose === 'resend' };
}

/** Yesterday's countdown must not spend today's tokens (V5). */
function isTooOld({ agent }: Session, since: number, at: number, policy: Policy): boolean {
  return at - since > settingsForAgent(policy.settings, agent.name).timerMaxAgeMs;
}

/** What was planned is given up; the stop it was for is decided again, so that the record and the human are told. */
function expired(session: Session, at: number): Session {
  const reason = 'a countdown was found that is too old to act on';
  const { injection } = session;
  const onItsWay = injection?.state === 'intended' || injection?.state === 'sent';
  return {
    ...session,
    timer: null,
    epoch: session.epoch + 1,
    pause: session.pause ?? { by: 'system', reason, at },
    parked: session.parked ?? session.lastStop,
    injection: onItsWay ? { ...injection, state: 'failed' } : injection,
  };
}

export function injectionSent(session: Session, event: InjectionSent): Step {
  const { injection } = session;
  if (injection?.epoch !== event.epoch || injection.state !== 'intended') return step(session);
  return step({ ...session, injection: { ...injection, state: 'sent' } });
}

export function injectionObserved(session: Session, event: InjectionObserved): Step {
  const { injection } = session;
  if (injection?.epoch !== event.epoch || injection.state === 'failed') return step(session);
  return step({ ...session, injection: { ...injection, state: 'observed' } });
}

/** V5: tried once more under the same epoch, at once, while it is young and still wanted. */
export function injectionLost(session: Session, event: InjectionLost, policy: Policy): Step {
  const { injection } = session;
  if (session.descriptor.mode === 'asked' || session.epoch !== event.epoch) return step(session);
  if (injection?.epoch !== event.epoch) return step(session);
  if (injection.state !== 'intended' && injection.state !== 'sent') return step(session);
  // A resend that is planned has its own time.
  if (session.parked !== null || session.settled !== null || session.timer !== null) return step(session);
  if (isTooOld(session, injection.at, event.at, policy)) return step(expired(session, event.at));
  const attempts = injection.attempts + 1;
  if (attempts >= settingsForAgent(policy.settings, session.agent.name).sendAttempts)
    return deliveryFailed(session, injection, event.at, 'the process ended while it was on its way');
  const again: Session = { ...session, injection: { ...injection, state: 'intended', attempts } };
  return step(again, [{ type: 'inject', epoch: event.epoch, text: null }]);
}

/** G9: a failed send is tried again with backoff under the same epoch, then the turn ends as failed. */
export function injectionFailed(session: Session, event: InjectionFailed, policy: Policy): Step {
  const { injection } = session;
  // An asked host's answer is given at most once: there is nothing to send again.
  if (session.descriptor.mode === 'asked') return step(session);
  if (injection?.epoch !== event.epoch || session.epoch !== event.epoch || injection.state === 'observed') {
    return step(session);
  }
  // The agent has stopped again since: it went on without our help, and the newer answer holds.
  if (session.parked !== null || session.settled !== null) {
    return step({ ...session, injection: { ...injection, state: 'failed' } });
  }
  const settings = settingsForAgent(policy.settings, session.agent.name);
  const attempts = injection.attempts + 1;
  if (attempts < settings.sendAttempts) {
    const dueAt = event.at + settings.sendBackoffMs * 2 ** (attempts - 1);
    return step({
      ...session,
      injection: { ...injection, state: 'intended', attempts },
      timer: { purpose: 'resend', dueAt, epoch: session.epoch },
    });
  }
  return deliveryFailed(session, injection, event.at, event.error);
}

function deliveryFailed(session: Session, injection: Injection, at: number, error: string): Step {
  const attempts = injection.attempts + 1;
  const sentence = `The host did not take the continuation after ${attempts} tries.`;
  const decision: Decision = {
    answer: 'let-go',
    reason: 'delivery-failed',
    sentence,
    inputs: { attempts, error: error.slice(0, 200) },
    outcome: 'failed',
    textKind: null,
    level: null,
    dueAt: null,
    observed: false,
    epoch: session.epoch,
  };
  const failed: Session = {
    ...session,
    injection: { ...injection, state: 'failed', attempts },
    timer: null,
    turn: session.turn === null ? null : { ...session.turn, ended: true },
    settled: { outcome: 'failed', reason: 'delivery-failed', at },
  };
  const notice = {
    type: 'notify' as const,
    level: 'warning' as const,
    title: 'untildone: failed',
    message: sentence,
  };
  return { ...step(failed, [notice]), decision };
}

/** What was decided cannot be carried out any more: the host ends the turn and reports success, so the record says it. */
export function hostCapReached(session: Session, { cap, at }: HostCapReached): Step {
  const open = openCount(session.counts);
  const sentence = `The host takes no more than ${cap} blocks in a row without a tool call; ${open} todos are open.`;
  const decision: Decision = {
    answer: 'let-go',
    reason: 'host-cap',
    sentence,
    inputs: { cap, open },
    outcome: 'exhausted',
    textKind: null,
    level: null,
    dueAt: null,
    observed: false,
    epoch: session.epoch,
  };
  const turn = session.turn === null ? null : { ...session.turn, ended: true };
  const settled = { outcome: 'exhausted', reason: 'host-cap', at } as const;
  const { epoch } = session;
  const command = {
    type: 'answer',
    answer: 'let-go',
    epoch,
    text: null,
    message: sentence,
    dueAt: null,
  } as const;
  return { ...step({ ...session, turn, settled }, [command]), decision };
}
