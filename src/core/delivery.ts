// Timers fire and continuations travel: intended, sent, observed (design: "Delivery"). An old epoch is void.
// What cannot be delivered any more is answered by the rules, like every other end of a turn.

import { type Step, step } from './decision.ts';
import type { EventOf } from './events.ts';
import type { Policy } from './policy.ts';
import type { Undelivered } from './rules.ts';
import { settingsForAgent } from './settings.ts';
import type { Injection, State } from './state.ts';
import { decideStop, reconsider } from './stop.ts';

type Reported = EventOf<'delivery-reported'>;

/** A fired timer asks for nothing, for another try to send, or for a second look at the parked stop. */
export function timerFired(state: State, { epoch, at }: EventOf<'timer-fired'>, policy: Policy): Step {
  const { timer } = state;
  if (timer === null || timer.epoch !== epoch || state.epoch !== epoch) return step(state);
  if (isTooOld(state, timer.dueAt, at, policy)) return reconsider(step(expired(state, at)), policy, at);
  const fired: State = { ...state, timer: null };
  if (timer.purpose === 'resend') return step(fired, [{ type: 'inject', epoch, text: null }]);
  return reconsider(step(fired), policy, at);
}

/** Yesterday's countdown must not spend today's tokens (V5). */
function isTooOld({ agent }: State, since: number, at: number, policy: Policy): boolean {
  return at - since > settingsForAgent(policy.settings, agent.name).timerMaxAgeMs;
}

/** What was planned is given up; the stop it was for is decided again, so that the record and the human are told. */
function expired(state: State, at: number): State {
  const reason = 'a countdown was found that is too old to act on';
  const { injection } = state;
  const onItsWay = injection?.state === 'intended' || injection?.state === 'sent';
  return {
    ...state,
    timer: null,
    epoch: state.epoch + 1,
    pause: state.pause ?? { by: 'system', reason, at },
    parked: state.parked ?? state.lastStop,
    injection: onItsWay ? { ...injection, state: 'failed' } : injection,
  };
}

export function deliveryReported(state: State, event: Reported, policy: Policy): Step {
  const { injection } = state;
  if (injection?.epoch !== event.epoch) return step(state);
  switch (event.news) {
    case 'sent':
      return injection.state === 'intended' ? moved(state, injection, 'sent') : step(state);
    case 'observed':
      return injection.state === 'failed' ? step(state) : moved(state, injection, 'observed');
    case 'failed':
      return sendFailed(state, injection, event, policy);
    case 'lost':
      return sendLost(state, injection, event, policy);
  }
}

function moved(state: State, injection: Injection, to: Injection['state']): Step {
  return step({ ...state, injection: { ...injection, state: to } });
}

/** G9: a failed send is tried again with backoff under the same epoch, then the turn ends as failed. */
function sendFailed(state: State, injection: Injection, event: Reported, policy: Policy): Step {
  // An asked host's answer is given at most once: there is nothing to send again.
  if (state.descriptor.mode === 'asked' || state.epoch !== event.epoch || injection.state === 'observed')
    return step(state);
  // The agent has stopped again since: it went on without our help, and the newer answer holds.
  if (state.parked !== null || state.settled !== null) return moved(state, injection, 'failed');
  const settings = settingsForAgent(policy.settings, state.agent.name);
  const attempts = injection.attempts + 1;
  if (attempts >= settings.sendAttempts) return giveUp(state, injection, event, policy, event.error ?? '');
  const dueAt = event.at + settings.sendBackoffMs * 2 ** (attempts - 1);
  return step({
    ...state,
    injection: { ...injection, state: 'intended', attempts },
    timer: { purpose: 'resend', dueAt, epoch: state.epoch },
  });
}

/** V5: after a restart it is tried once more under the same epoch, at once, while it is young and still wanted. */
function sendLost(state: State, injection: Injection, event: Reported, policy: Policy): Step {
  if (state.descriptor.mode === 'asked' || state.epoch !== event.epoch) return step(state);
  if (injection.state !== 'intended' && injection.state !== 'sent') return step(state);
  // A resend that is planned has its own time.
  if (state.parked !== null || state.settled !== null || state.timer !== null) return step(state);
  if (isTooOld(state, injection.at, event.at, policy))
    return reconsider(step(expired(state, event.at)), policy, event.at);
  const attempts = injection.attempts + 1;
  if (attempts >= settingsForAgent(policy.settings, state.agent.name).sendAttempts)
    return giveUp(state, injection, event, policy, 'the process ended while it was on its way');
  const again: State = { ...state, injection: { ...injection, state: 'intended', attempts } };
  return step(again, [{ type: 'inject', epoch: event.epoch, text: null }]);
}

function giveUp(state: State, injection: Injection, { at }: Reported, policy: Policy, error: string): Step {
  const attempts = injection.attempts + 1;
  const failed: State = { ...state, injection: { ...injection, state: 'failed', attempts }, timer: null };
  return answerUndelivered(failed, { why: 'failed', attempts, error }, policy, at);
}

/** The host ends the turn and reports success, whatever we answered: so the record says what became of it (V8). */
export function hostCapReached(state: State, { cap, at }: EventOf<'host-cap-reached'>, policy: Policy): Step {
  return answerUndelivered(state, { why: 'cap', cap }, policy, at);
}

/** A continuation was decided, so that there was a stop. */
function answerUndelivered(state: State, undelivered: Undelivered, policy: Policy, at: number): Step {
  return state.lastStop === null ? step(state) : decideStop(state, state.lastStop, policy, at, undelivered);
}
