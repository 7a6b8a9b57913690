// The one function that decides. It performs nothing: time and ids come inside the event.
import { checkReducers, renameChecks } from './check-results.ts';
import { joinSteps, type Reducers, type Step, step } from './decision.ts';
import { UntildoneError } from './error.ts';
import type { Event, EventType } from './events.ts';
import { humanReducers } from './human.ts';
import { planReducers } from './plan-edit.ts';
import type { Policy } from './policy.ts';
import { decidedElsewhere, followHost } from './reconcile.ts';
import { settingsForAgent } from './settings.ts';
import type { State } from './state.ts';
import { reconsider, stopReducers } from './stop.ts';
import { wakeTurn, workReducers } from './work.ts';

const reducers: Reducers = {
  ...humanReducers,
  ...planReducers,
  ...checkReducers,
  ...workReducers,
  ...stopReducers,
};

/** After these a parked stop attempt is decided again. */
const endingWaits: ReadonlySet<EventType> = new Set([
  'human-resumed',
  'model-paused',
  'check-finished',
  'final-run-ended',
  'checks-overdue',
  'wait-ended',
]);

/**
 * The next state, what to do, and for a stop attempt the decision; it does nothing
 * itself. Events count in order of arrival: an older one happens when the last one did.
 */
export function decide(state: State, event: Event, policy: Policy): Step {
  if (!Object.hasOwn(reducers, event.type)) {
    const shown = JSON.stringify(event.type)?.slice(0, 80);
    throw new UntildoneError(
      'unknown-event',
      `Unknown event type ${shown}; nothing was changed.`,
    );
  }
  const at = Math.max(state.updatedAt, event.at);
  const elsewhere = decidedElsewhere(state, event);
  if (elsewhere !== null) return step({ ...elsewhere, updatedAt: at });
  // The table is made by type: each event meets its own function.
  const reduce = reducers[event.type] as (
    state: State,
    event: Event,
    policy: Policy,
  ) => State | Step;
  const settings = settingsForAgent(policy.settings, state.agent.name);
  const own = settings === policy.settings ? policy : { ...policy, settings };
  const timed = at === event.at ? event : { ...event, at };
  const reduced = reduce(wakeTurn(state, timed), timed, own);
  const ownStep = 'plan' in reduced ? step(reduced) : reduced;
  const isNewPolicy = ownStep.state.policyHash !== state.policyHash;
  const first = isNewPolicy
    ? joinSteps(ownStep, renameChecks(ownStep.state, own, at))
    : ownStep;
  // A cause of waiting ends a countdown, and its toasts, at once (E3).
  const isHeld = event.type === 'wait-started' && first.state.timer?.purpose === 'due';
  const result =
    isHeld || endingWaits.has(event.type) ? reconsider(first, own, at) : first;
  return { ...result, state: { ...followHost(result.state, event), updatedAt: at } };
}
