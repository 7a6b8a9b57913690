// Folds one event, and what became of it, into the account of reference.ts: the human's
// will, waits and limits. It reads requirements, not src/core: where the two differ, one
// of them is wrong.

import type { Step } from '../../src/core/decision.ts';
import type { Event, EventOf, Job } from '../../src/core/events.ts';
import type { Policy } from '../../src/core/policy.ts';
import type { State } from '../../src/core/state.ts';
import { checks, rowsChanged, work } from './observe-work.ts';
import { type Reference, sinceMessage } from './reference.ts';

/** What one event was, in the words of G6 and G7. */
export interface Seen {
  /** A genuine human message, not an echo of one. */
  readonly human: boolean;
  readonly firstFinalOrPass: boolean;
  readonly newTree: boolean;
  /** Something that may count as progress, but at most twice in a row. */
  readonly weak: boolean;
}

function isGenuine(
  reference: Reference,
  state: State,
  event: EventOf<'human-spoke'>,
  policy: Policy,
): boolean {
  if (event.messageId !== null) return !reference.messageIds.has(event.messageId);
  const waiting = state.descriptor.mode === 'told' && reference.parkedAt !== null;
  return !(
    waiting && event.at - (reference.parkedAt ?? 0) < policy.settings.graceSeconds * 1000
  );
}

/** Folds an event and what became of it into the account. */
export function observe(
  reference: Reference,
  before: State,
  event: Event,
  step: Step,
  policy: Policy,
): Seen {
  const human =
    event.type === 'human-spoke' && isGenuine(reference, before, event, policy);
  if (human) speak(reference, event, before, step.state);
  if (step.state.turn?.number !== before.turn?.number) reference.stopSeen = false;
  if (step.state.planId !== before.planId) {
    reference.goal.clear();
    for (const pass of reference.passes)
      if (pass.startsWith('goal:')) reference.passes.delete(pass);
  }
  hold(reference, before, event, step);
  waits(reference, event);
  // A call that ended proves that the model answers: what came before is not in a row. An
  // open circuit stays open.
  if (
    event.type === 'tool-ended' &&
    reference.sameErrors < policy.settings.circuitAfter
  ) {
    reference.sameErrors = 0;
    reference.signature = null;
  }
  // A call that ended breaks a row of errors, unless the row was long enough to open the
  // circuit.
  if (
    event.type === 'tool-ended' &&
    reference.sameErrors < policy.settings.circuitAfter
  ) {
    reference.sameErrors = 0;
    reference.signature = null;
  }
  const newTree = work(reference, event, human);
  const progress = rowsChanged(reference, event, step);
  const goalPass = checks(reference, before, event);
  if (event.type === 'stop-attempted') reference.stopSeen = true;
  const weakWork =
    event.type === 'stop-attempted' && reference.trees.size === 0 && worked(reference);
  return {
    human,
    firstFinalOrPass: progress.strong || goalPass,
    newTree,
    weak: progress.weak || weakWork,
  };
}

function worked(reference: Reference): boolean {
  const any = reference.writesEver > reference.writesSeen;
  reference.writesSeen = reference.writesEver;
  return any;
}

function speak(
  reference: Reference,
  event: EventOf<'human-spoke'>,
  before: State,
  after: State,
): void {
  if (event.messageId !== null) reference.messageIds.add(event.messageId);
  reference.latched = event.text === 'stop' || event.text === 'STOP.';
  if (reference.paused === 'other') reference.paused = null;
  reference.parkedAt = null;
  reference.total = 0;
  reference.continuations = 0;
  reference.weakResets = 0;
  reference.weakSinceContinuation = false;
  reference.continuationOpen = false;
  reference.message = sinceMessage(event.fingerprint ?? reference.tree);
  reference.loop = { alarms: 0, told: false };
  reference.sameErrors = 0;
  reference.signature = null;
  reference.overflows = 0;
  reference.tokens = 0;
  reference.cost = 0;
  reference.overdue = false;
  const isNext = before.spoken.epoch === 0 || before.settled?.outcome === 'done';
  if (isNext && after.turn?.number !== before.turn?.number) reference.baseline = null;
  const ran =
    before.turn?.ended === false && before.parked === null && event.turnIsOver !== true;
  if (!ran || after.turn?.number !== before.turn?.number) {
    reference.permissions.clear();
    reference.questions.clear();
  }
}

function hold(
  reference: Reference,
  before: State,
  event: Event,
  { decision }: Step,
): void {
  const told = before.descriptor.mode === 'told';
  switch (event.type) {
    case 'human-aborted':
      reference.latched = true;
      reference.parkedAt = null;
      break;
    case 'human-paused':
      reference.paused = 'human';
      reference.parkedAt = null;
      break;
    case 'model-paused':
      reference.paused ??= 'other';
      reference.parkedAt = null;
      break;
    case 'human-resumed':
      if (!reference.latched && reference.paused === null) break;
      reference.parkedAt = null;
      reference.latched = false;
      reference.paused = null;
      reference.stopEnd = 'normal';
      reference.stopAt = event.at;
      break;
    case 'wait-ended':
      if (event.wait.kind === 'permission' && !event.wait.granted)
        reference.paused ??= 'other';
      if (event.wait.kind === 'question' && event.wait.rejected)
        reference.paused ??= 'other';
      break;
    case 'activity-seen':
    case 'tool-started':
    case 'tool-ended':
    case 'error-occurred':
      if (told) reference.parkedAt = null;
      break;
    case 'session-deleted':
      reference.deleted = true;
      reference.parkedAt = null;
      break;
    case 'session-closed':
      reference.parkedAt = null;
      break;
    case 'session-opened':
      reference.deleted = false;
      break;
    case 'stop-attempted':
      reference.stopEnd = event.end;
      reference.stopAt = reference.parkedAt ?? event.at;
      break;
  }
  if (decision?.reason === 'timer-expired') reference.paused ??= 'other';
  if (decision === null || decision.observed || decision.reason === 'already-answered')
    return;
  reference.superseded = true;
  if (decision.answer !== 'wait') reference.parkedAt = null;
  else if (told && reference.parkedAt === null) reference.parkedAt = event.at;
}

function waits(reference: Reference, event: Event): void {
  switch (event.type) {
    case 'wait-started':
      began(reference, event.wait);
      break;
    case 'wait-ended':
      ended(reference, event.wait);
      break;
    case 'stop-attempted':
      if (event.background !== null) {
        const isNew = ({ id, kind }: Job) =>
          kind === 'subagent' && !reference.jobs.has(id);
        if (event.background.some(isNew)) reference.waitedSince = null;
        reference.jobs.clear();
        for (const { id, kind } of event.background) reference.jobs.set(id, kind);
      }
      break;
    case 'error-occurred':
      failed(reference, event);
      break;
    case 'loop-alarmed':
      reference.loop.alarms += 1;
      break;
    case 'usage-reported':
      reference.tokens += event.inputTokens + event.outputTokens;
      reference.cost += event.cost ?? 0;
      break;
    case 'delivery-reported':
      if (event.epoch !== reference.injectedEpoch) break;
      if (event.news === 'failed' || event.news === 'lost') reference.failedSince = true;
      break;
  }
  if (![...reference.jobs.values()].includes('subagent')) reference.waitedSince = null;
}

function began(reference: Reference, wait: EventOf<'wait-started'>['wait']): void {
  if (wait.kind === 'recovery') reference.recovering = true;
  else if (wait.kind === 'compaction') reference.compacting = true;
  else if (wait.kind === 'permission') reference.permissions.add(wait.requestId);
  else if (wait.kind === 'question') reference.questions.add(wait.requestId);
  else {
    if (wait.job.kind === 'subagent' && !reference.jobs.has(wait.job.id))
      reference.waitedSince = null;
    reference.jobs.set(wait.job.id, wait.job.kind);
  }
}

function ended(reference: Reference, wait: EventOf<'wait-ended'>['wait']): void {
  if (wait.kind === 'recovery') reference.recovering = false;
  else if (wait.kind === 'permission') reference.permissions.delete(wait.requestId);
  else if (wait.kind === 'question') reference.questions.delete(wait.requestId);
  else if (wait.kind === 'background') reference.jobs.delete(wait.jobId);
  else {
    reference.compacting = false;
    if (wait.shrunk) reference.overflows = 0;
  }
}

function failed(
  reference: Reference,
  event: Extract<Event, { type: 'error-occurred' }>,
): void {
  reference.limited = event.kind === 'rate-limit' || event.kind === 'overload';
  reference.limitedUntil = reference.limited
    ? (event.retryAt ?? event.at + 30_000)
    : null;
  if (event.kind === 'overflow') reference.overflows += 1;
  if (event.kind !== 'other') return;
  reference.sameErrors =
    reference.signature === event.signature ? reference.sameErrors + 1 : 1;
  reference.signature = event.signature;
}
