// Timers fire and injections travel: intended, sent, observed (design: "Delivery"). An old epoch is void.
import { settingsForAgent } from '../config/agent-settings.ts';
import type { Policy } from '../config/policy.ts';
import type { Decision } from '../decision.ts';
import type {
  HostCapReached,
  InjectionFailed,
  InjectionObserved,
  InjectionSent,
  TimerFired,
} from '../events.ts';
import { openCount, type Session } from '../session.ts';
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
  const settings = settingsForAgent(policy.settings, session.agent.name);
  const fired: Session = { ...session, timer: null };
  if (event.at - timer.dueAt > settings.timerMaxAgeMs) {
    const reason = 'a countdown was found that is too old to act on';
    const pause = session.pause ?? { by: 'system' as const, reason, at: event.at };
    return { step: step({ ...fired, epoch: session.epoch + 1, pause }), resend: false };
  }
  return { step: step(fired), resend: timer.purpose === 'resend' };
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
  const sentence = `The host did not take the continuation after ${attempts} tries.`;
  const decision: Decision = {
    answer: 'let-go',
    reason: 'delivery-failed',
    sentence,
    inputs: { attempts, error: event.error.slice(0, 200) },
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
    settled: { outcome: 'failed', reason: 'delivery-failed', at: event.at },
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
