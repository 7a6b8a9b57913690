// decide(): the one function that decides. It returns the next state, the commands to perform, the decision and the
// ledger entries, and does nothing: no clock, no ids, no input or output. Time and ids come inside the event.
import { checkFinished, checkStarted, finalRunEnded, verificationAsked } from './checks.ts';
import { type Step, step } from './decision.ts';
import { deliveryReported, hostCapReached, timerFired } from './delivery.ts';
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
import type { State } from './state.ts';
import { reconsider, stopAttempted } from './stop.ts';
import { waitEnded, waitStarted } from './waits.ts';
import {
  errorOccurred,
  markActive,
  modelPaused,
  seeFingerprint,
  toolEnded,
  toolStarted,
  usageReported,
} from './work.ts';

/** What each event does: most only change the state, some do more. */
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

/** They may end a cause of waiting: after them a parked stop attempt is decided again. */
const endingWaits: ReadonlySet<EventType> = new Set([
  'human-resumed',
  'check-finished',
  'final-run-ended',
  'checks-overdue',
  'wait-ended',
]);

/** Events count in the order of their arrival: one that says it is older than the last happens when that one did. */
export function decide(state: State, event: Event, policy: Policy): Step {
  if (!Object.hasOwn(reducers, event.type)) refuseUnknown(event.type);
  const at = Math.max(state.updatedAt, event.at);
  // The table is made by type: each event meets the function for its own.
  const reduce = reducers[event.type] as (state: State, event: Event, policy: Policy) => State | Step;
  const reduced = reduce(state, at === event.at ? event : { ...event, at }, policy);
  const first = 'plan' in reduced ? step(reduced) : reduced;
  const result = endingWaits.has(event.type) ? reconsider(first, policy, at) : first;
  return { ...result, state: { ...followHost(result.state, event), updatedAt: at } };
}

function refuseUnknown(type: unknown): never {
  const shown = JSON.stringify(type)?.slice(0, 80);
  throw new UntildoneError('unknown-event', `Unknown event type ${shown}; nothing was changed.`);
}
