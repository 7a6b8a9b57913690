// The one function that decides. It performs nothing: time and ids come inside the event.
import { checkReducers, renameChecks } from './check-results.ts';
import { joinSteps, type Reducers, type Step, step } from './decision.ts';
import { UntildoneError } from './error.ts';
import type { Event, EventType } from './events.ts';
import { humanReducers } from './human.ts';
import { planReducers } from './plan-edit.ts';
import type { Policy } from './policy.ts';
import { findOtherDecider, updateHostTrail } from './reconcile.ts';
import { settingsForAgent } from './settings.ts';
import type { State } from './state.ts';
import { reconsiderStop, stopReducers } from './stop.ts';
import { wakeTurn, workReducers } from './work.ts';

const reducers: Reducers = {
  ...humanReducers,
  ...planReducers,
  ...checkReducers,
  ...workReducers,
  ...stopReducers,
};

/** After these events a parked stop attempt is decided again. */
const endingWaits: ReadonlySet<EventType> = new Set([
  'human-resumed',
  'model-paused',
  'check-finished',
  'final-run-ended',
  'checks-overdue',
  'wait-ended',
]);

/**
 * Returns the next state, the commands to perform, and for a stop attempt the decision;
 * performs nothing itself. Events count in the order of their arrival: an older one
 * happens when the last one did. An event of an unknown type throws.
 * For example, after `decide(state, { ...base, type: 'human-paused', reason: null },
 * policy)` the rule `paused-by-human` answers the next stop attempt: the agent may stop,
 * and the outcome is `paused`.
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
  const elsewhere = findOtherDecider(state, event);
  if (elsewhere !== null) return step({ ...elsewhere, updatedAt: at });
  // Safe: by the type of the table, each event meets its own function.
  const reduce = reducers[event.type] as (
    state: State,
    event: Event,
    policy: Policy,
  ) => State | Step;
  const settings = settingsForAgent(policy.settings, state.agent.name);
  const agentPolicy = settings === policy.settings ? policy : { ...policy, settings };
  const timed = at === event.at ? event : { ...event, at };
  const reduced = reduce(wakeTurn(state, timed), timed, agentPolicy);
  const reducedStep = 'plan' in reduced ? step(reduced) : reduced;
  const isNewPolicy = reducedStep.state.policyHash !== state.policyHash;
  const first = isNewPolicy
    ? joinSteps(reducedStep, renameChecks(reducedStep.state, agentPolicy, at))
    : reducedStep;
  // When a cause of waiting begins, a countdown and its toasts end at once (E3).
  const isHeld = event.type === 'wait-started' && first.state.timer?.purpose === 'due';
  const result =
    isHeld || endingWaits.has(event.type)
      ? reconsiderStop(first, agentPolicy, at)
      : first;
  return { ...result, state: { ...updateHostTrail(result.state, event), updatedAt: at } };
}
