// The one function that decides. It performs nothing: time and ids come inside the event.
import { checkFinished, checkStarted, finalRunEnded, verificationAsked } from './check-results.ts';
import { type Step, step } from './decision.ts';
import { UntildoneError } from './error.ts';
import type { Event, EventOf, EventType } from './events.ts';
import {
  humanAborted,
  humanPaused,
  humanResumed,
  humanSpoke,
  sessionClosed,
  sessionDeleted,
  sessionOpened,
  wordsJoined,
} from './human.ts';
import { delegationEnded, delegationStarted, editPlan } from './plan-edit.ts';
import type { Policy } from './policy.ts';
import { followHost } from './reconcile.ts';
import { settingsForAgent } from './settings.ts';
import type { State } from './state.ts';
import { deliveryReported, hostCapReached, reconsider, stopAttempted, timerFired } from './stop.ts';
import {
  errorOccurred,
  markActive,
  modelPaused,
  seeFingerprint,
  toolEnded,
  toolStarted,
  usageReported,
  waitEnded,
  waitStarted,
} from './work.ts';

/** Most only change the state. The settings they get are those of the session's agent. */
const reducers: {
  readonly [Type in EventType]: (state: State, event: EventOf<Type>, policy: Policy) => State | Step;
} = {
  'session-opened': sessionOpened,
  'session-closed': sessionClosed,
  'session-deleted': sessionDeleted,
  'human-spoke': humanSpoke,
  'words-joined': wordsJoined,
  'human-aborted': humanAborted,
  'human-paused': humanPaused,
  'human-resumed': humanResumed,
  'model-paused': modelPaused,
  'activity-seen': markActive,
  'tool-started': toolStarted,
  'tool-ended': toolEnded,
  'todos-created': editPlan,
  'plan-written': editPlan,
  'todo-updated': editPlan,
  'todo-completed': editPlan,
  'delegation-started': delegationStarted,
  'delegation-ended': delegationEnded,
  'check-started': checkStarted,
  'check-finished': checkFinished,
  'verification-asked': verificationAsked,
  'final-run-ended': finalRunEnded,
  'record-broken': (state, { sentence }) => ({ ...state, recordBroken: sentence }),
  'checks-overdue': (state) => ({ ...state, checksOverdue: state.parked?.cause === 'nothing-open' }),
  'workspace-seen': seeFingerprint,
  'stop-attempted': stopAttempted,
  'wait-started': waitStarted,
  'wait-ended': waitEnded,
  'error-occurred': errorOccurred,
  'host-cap-reached': hostCapReached,
  'loop-alarmed': (state) => ({ ...state, loopAlarms: state.loopAlarms + 1 }),
  'usage-reported': usageReported,
  'timer-fired': timerFired,
  'delivery-reported': deliveryReported,
};

/** After these a parked stop attempt is decided again. */
const endingWaits: ReadonlySet<EventType> = new Set([
  'human-resumed',
  'check-finished',
  'final-run-ended',
  'checks-overdue',
  'wait-ended',
]);

/** Events count in order of arrival: an older one happens when the last one did. */
export function decide(state: State, event: Event, policy: Policy): Step {
  if (!Object.hasOwn(reducers, event.type)) {
    const shown = JSON.stringify(event.type)?.slice(0, 80);
    throw new UntildoneError('unknown-event', `Unknown event type ${shown}; nothing was changed.`);
  }
  const at = Math.max(state.updatedAt, event.at);
  // The table is made by type: each event meets its own function.
  const reduce = reducers[event.type] as (state: State, event: Event, policy: Policy) => State | Step;
  const settings = settingsForAgent(policy.settings, state.agent.name);
  const own = settings === policy.settings ? policy : { ...policy, settings };
  const reduced = reduce(state, at === event.at ? event : { ...event, at }, own);
  const first = 'plan' in reduced ? step(reduced) : reduced;
  const result = endingWaits.has(event.type) ? reconsider(first, own, at) : first;
  return { ...result, state: { ...followHost(result.state, event), updatedAt: at } };
}
