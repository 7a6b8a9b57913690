// What must hold after every event, whatever happened: each has a name, and a broken one
// says what was seen. The expectations come from reference.ts, from the rows and from the
// requirements; none is asked of src/core.
import type { AnswerCommand, Command, InjectCommand } from '../../src/core/decision.ts';
import { stopRules } from '../../src/core/rules.ts';
import type { Todo } from '../../src/core/todo.ts';
import { checkCounters, checkCounts } from './count-invariants.ts';
import { type Moment, must } from './moment.ts';
import type { Reference } from './reference.ts';

const reasons = new Set<string>([...stopRules.map(({ name }) => name), 'continue']);

function continuationOf(
  commands: readonly Command[],
): InjectCommand | AnswerCommand | null {
  for (const command of commands) {
    if (command.type === 'inject' && command.text !== null) return command;
    if (command.type === 'answer' && command.answer === 'continue') return command;
  }
  return null;
}

export function checkInvariants(moment: Moment): void {
  checkDecision(moment);
  checkEpochs(moment);
  checkEndedTurn(moment);
  checkCounts(moment);
  if (moment.policy.settings.mode === 'enforce') {
    const continuation = continuationOf(moment.step.commands);
    if (continuation !== null) checkContinuation(moment, continuation);
    checkCounters(moment, continuation !== null);
    checkSends(moment, continuation);
    checkWaiting(moment);
    checkSettled(moment);
    checkDone(moment);
    noteRun(moment);
  } else checkUnseen(moment);
}

function checkDecision({ step: { decision, state }, policy }: Moment): void {
  if (decision === null) return;
  must(reasons.has(decision.reason), 'every decision has a known reason', decision);
  must(decision.sentence.trim() !== '', 'every decision has a sentence', decision);
  must(
    decision.answer === 'continue'
      ? decision.textKind !== null
      : decision.textKind === null,
    'only a continuation carries a text',
    decision,
  );
  must(
    decision.answer === 'let-go' || decision.outcome === null,
    'only what is let go has an outcome',
    decision,
  );
  must(
    decision.observed === (policy.settings.mode === 'observe'),
    'observed says the mode',
    decision,
  );
  must(
    decision.epoch === state.epoch,
    'a decision belongs to the epoch it was made in',
    decision,
  );
}

function checkEpochs({ before, event, seen, step: { state } }: Moment): void {
  must(state.epoch >= before.epoch, 'the epoch never falls', [before.epoch, state.epoch]);
  must(
    state.timer === null || state.timer.epoch === state.epoch,
    'a timer belongs to the current epoch, else it would be due for ever',
    state.timer,
  );
  must(
    state.timer?.purpose !== 'due' || state.parked !== null,
    'a countdown has a stop attempt to decide',
    state.timer,
  );
  const human =
    event.type === 'human-aborted' || event.type === 'human-paused' || seen.human;
  must(
    !human || state.epoch > before.epoch,
    'the epoch rises with each word of the human',
    event,
  );
}

/** V12: a stop or a pause after the end of a turn does not change its outcome. */
function checkEndedTurn({
  reference,
  before,
  event,
  seen,
  step: { state },
}: Moment): void {
  if (before.turn?.ended !== true || before.parked !== null) return;
  const isStopWord = event.type === 'human-spoke' && seen.human && reference.latched;
  const isHeld =
    event.type === 'human-aborted' || event.type === 'human-paused' || isStopWord;
  const kept = JSON.stringify(state.settled) === JSON.stringify(before.settled);
  must(
    !isHeld || kept,
    'an ended turn keeps its outcome, whatever is typed afterwards',
    state.settled,
  );
}

function checkContinuation(
  moment: Moment,
  continuation: InjectCommand | AnswerCommand,
): void {
  const { reference, event, policy, step, before } = moment;
  const { settings } = policy;
  const told = before.descriptor.mode === 'told';
  must(
    (continuation.type === 'inject') === told,
    'told hosts are injected, asked hosts are answered',
    continuation,
  );
  must(!reference.latched, 'after a latch nothing is continued', event);
  must(reference.paused === null, 'while paused nothing is continued', event);
  must(!reference.deleted, 'a deleted session is left alone', event);
  must(
    reference.total < settings.ceiling,
    'the ceiling holds, whatever the model does',
    reference.total,
  );
  must(
    continuation.epoch > reference.injectedEpoch &&
      continuation.epoch === step.state.epoch,
    'the same epoch never continues twice',
    continuation,
  );
  must(!reference.recovering, 'no continuation while recovering', event);
  must(!reference.compacting, 'no continuation while compacting', event);
  must(
    reference.permissions.size === 0,
    'no continuation while a permission is pending',
    event,
  );
  must(
    reference.questions.size === 0,
    'no continuation while a question is pending',
    event,
  );
  const waitEnds =
    (reference.waitedSince ?? event.at) + settings.backgroundWaitMinutes * 60_000;
  // An agent whose calls were cut is at work: it is asked to take stock, whatever runs
  // beside it.
  const subagent =
    reference.stopEnd !== 'iteration-budget' &&
    [...reference.jobs.values()].includes('subagent');
  must(
    !subagent || event.at >= waitEnds,
    'no continuation while a subagent works',
    event,
  );
  must(
    reference.limitedUntil === null || event.at >= reference.limitedUntil,
    'no continuation before the rate limit ends',
    reference.limitedUntil ?? 0,
  );
  checkEnding(moment);
  checkBudgets(moment);
  if (told && !before.descriptor.immediate) {
    const due = Math.max(
      reference.stopAt + settings.countdownSeconds * 1000,
      (reference.lastContinuationAt ?? 0) + settings.minIntervalSeconds * 1000,
    );
    must(event.at >= due, 'a told host is given its countdown', { at: event.at, due });
  }
  const open = step.state.plan.some(
    ({ status }) => status === 'pending' || status === 'in_progress',
  );
  must(
    open || isUnproved(moment),
    'none when nothing is open, checks passed and no challenge is due',
    event,
  );
  must(
    continuation.text?.startsWith('[TODO CONTINUATION] ') === true &&
      continuation.text.length < 6000,
    'a continuation has its marker and is short',
    continuation.text?.length ?? 0,
  );
  afterContinuation(moment, continuation.epoch);
}

/**
 * G2: cancelled, refused and filtered steps are never pressed; an error only once its
 * limit was waited for.
 */
function checkEnding({ reference, event }: Moment): void {
  const { stopEnd } = reference;
  const pressed =
    stopEnd === 'cancelled' || stopEnd === 'refusal' || stopEnd === 'content-filter';
  must(!pressed, 'a cancelled, refused or filtered step is never continued', event);
  must(
    stopEnd !== 'error' || reference.limited,
    'an error is not continued, a limit that ended is',
    event,
  );
}

function checkBudgets({
  reference,
  step: { state },
  policy: { settings },
}: Moment): void {
  must(
    reference.sameErrors < settings.circuitAfter,
    'an open circuit stays open',
    reference.sameErrors,
  );
  must(
    reference.overflows < 2,
    'two overflows that did not shrink end the turn',
    reference.overflows,
  );
  must(
    settings.maxTokens === null || reference.tokens < settings.maxTokens,
    'the token budget holds',
    reference.tokens,
  );
  must(
    settings.maxCost === null || reference.cost < settings.maxCost,
    'the cost budget holds',
    reference.cost,
  );
  const { contextTokens, contextLimit } = state.usage;
  must(
    contextTokens === null ||
      contextLimit === null ||
      contextTokens < contextLimit * settings.contextShare,
    'a full context is not continued',
    contextTokens ?? 0,
  );
}

/**
 * Nothing is open: only a failed goal check, a bulk challenge that is due, or late checks
 * justify going on. An agent whose calls were cut did not stop by itself: it is asked to
 * take stock.
 */
function isUnproved({
  reference,
  policy,
  step: {
    decision,
    state: { plan: todos, descriptor, emptyAnswers, jobs, namedJobs },
  },
}: Moment): boolean {
  const isRun = descriptor.judgesGoal === true;
  if (reference.stopEnd === 'iteration-budget') return true;
  // Said once, since no plan and no check would say it: it goes round in circles, its
  // answer was empty, its job runs.
  if (reference.loop.alarms > 0 && !reference.loop.told && todos.length === 0)
    return true;
  if (isRun && todos.length === 0 && reference.stopEnd === 'empty' && emptyAnswers === 1)
    return true;
  const isUntold = jobs.some(
    ({ id, kind }) => kind === 'shell' && !namedJobs.includes(id),
  );
  if (isRun && (isUntold || decision?.textKind === 'background-job')) return true;
  // A limit of the provider cut the work short before its goal could be checked.
  if (reference.stopEnd === 'error' && todos.length === 0 && policy.goalChecks.length > 0)
    return true;
  if (policy.goalChecks.some((check) => reference.goal.get(check) === 'failed'))
    return true;
  if (reference.overdue && hasRunningCheck(reference, todos)) return true;
  return dueChallenge(reference, todos, descriptor.seesTools) !== null;
}

function hasRunningCheck(reference: Reference, todos: readonly Todo[]): boolean {
  if (reference.unreported.size > 0 || [...reference.goal.values()].includes('running'))
    return true;
  return todos.some(({ verification }) => verification === 'running');
}

/**
 * V4: three or more, fewer other calls, nothing that can have changed the workspace since
 * the human's message.
 */
function dueChallenge(reference: Reference, todos: readonly Todo[], seesTools: boolean) {
  const { tree, heard, message } = reference;
  const { ended, challenged, calls, treeThen, unlooked } = message;
  if (!seesTools || !heard) return null;
  const isKnown = tree !== null && treeThen !== null;
  const runs = message.running > 0;
  const isUnchanged = isKnown
    ? tree === treeThen && !((unlooked && message.wrote) || runs)
    : !message.wrote && !runs;
  if (!isUnchanged) return null;
  for (const kind of ['claims', 'ends'] as const) {
    const said = todos.filter(
      ({ id, checks }) => ended.get(id) === kind && (kind === 'ends' || !checks.length),
    );
    if (said.length >= 3 && calls < said.length && !challenged.has(kind)) return kind;
  }
  return null;
}

function afterContinuation({ reference, event, step }: Moment, epoch: number): void {
  if (step.decision?.textKind === 'bulk-claim') {
    const due = dueChallenge(reference, step.state.plan, step.state.descriptor.seesTools);
    must(
      due !== null,
      'a bulk challenge is made once per human message, with reason',
      step.decision,
    );
    reference.message.challenged.add(due);
  }
  if (step.decision?.textKind === 'loop') reference.loop.told = true;
  reference.injectedEpoch = epoch;
  reference.sends = 1;
  reference.failedSince = false;
  reference.superseded = false;
  reference.lastContinuationAt = event.at;
  reference.limitedUntil = null;
  reference.overdue = false;
}

function checkSends(
  moment: Moment,
  continuation: InjectCommand | AnswerCommand | null,
): void {
  const { reference, step, policy } = moment;
  const again = step.commands.find(
    (command) => command.type === 'inject' && command.text === null,
  );
  if (again === undefined || again.type !== 'inject') return;
  reference.sends += 1;
  must(continuation === null, 'one event sends once', again);
  must(
    again.epoch === reference.injectedEpoch && reference.failedSince,
    'the same epoch is sent again only after it failed',
    again,
  );
  must(
    !reference.superseded,
    'a text is not sent again once a later stop was answered',
    again,
  );
  must(
    reference.sends <= policy.settings.sendAttempts,
    'sends are bounded',
    reference.sends,
  );
  must(
    !reference.latched && reference.paused === null,
    'a held session is sent nothing again',
    again,
  );
  reference.failedSince = false;
}

const cancels: ReadonlySet<string> = new Set([
  'activity-seen',
  'tool-started',
  'tool-ended',
  'error-occurred',
  'human-spoke',
  'human-aborted',
  'human-paused',
  'model-paused',
  'session-closed',
  'session-deleted',
]);

/**
 * A stop attempt that waits is never forgotten: something ends its wait, or something
 * cancelled it.
 */
function checkWaiting({ reference, before, event, step }: Moment): void {
  const { state, decision } = step;
  const forgotten = before.parked !== null && state.parked === null && decision === null;
  must(
    !forgotten || cancels.has(event.type),
    'a parked stop attempt is cancelled only as E2 says',
    event,
  );
  if (decision?.reason === 'subagent-at-work') reference.waitedSince ??= event.at;
  if (decision?.answer !== 'wait' || decision.reason === 'already-answered') return;
  if (before.descriptor.mode !== 'told' || state.timer !== null) return;
  const ends =
    reference.recovering ||
    reference.compacting ||
    reference.permissions.size + reference.questions.size > 0 ||
    decision.reason === 'repeated-question' ||
    hasRunningCheck(reference, state.plan) ||
    step.commands.some((command) => command.type === 'run-checks');
  must(ends, 'a wait without a timer has a cause that can end', decision);
}

/** A turn is settled on evidence: not while a check of its final run is out. */
function checkSettled({ reference, step: { decision, state } }: Moment): void {
  if (decision?.answer !== 'let-go' || decision.reason !== 'nothing-open') return;
  const completed = new Set(
    state.plan
      .filter(({ status }) => status === 'completed')
      .map(({ id }) => `${id}:own`),
  );
  const out = [...reference.unreported].filter(
    (key) =>
      key.startsWith('null:') ||
      key === `end:${state.lastStop?.eventId}` ||
      completed.has(key),
  );
  must(out.length === 0, 'a turn is not settled while its final checks are out', out);
  const due = dueChallenge(reference, state.plan, state.descriptor.seesTools);
  must(due === null, 'no bulk claim is settled before it was challenged', decision);
}

/**
 * V1: what a run calls done was seen: nothing open, every check passed on the final
 * state, something changed.
 */
function checkDone({ reference, policy, step: { decision, state } }: Moment): void {
  if (decision?.outcome !== 'done') return;
  const { plan, leftOver, descriptor } = state;
  const open = plan.filter(
    ({ status }) => status === 'pending' || status === 'in_progress',
  );
  must(
    open.length === 0 && leftOver === null,
    'done: nothing is open in any turn',
    decision,
  );
  must(
    !plan.some(({ status }) => status === 'blocked'),
    'done: nothing is blocked',
    decision,
  );
  if (!descriptor.judgesGoal) return;
  const given = policy.goalChecks;
  const passed = given.every((check) => reference.goal.get(check) === 'passed');
  must(passed, 'done: every check on the goal passed on the final state', [
    ...reference.goal,
  ]);
  const own = plan.filter(({ checks }) => checks.length > 0);
  must(
    own.every(
      ({ status, verification, evidence }) =>
        status === 'completed' &&
        verification === 'passed' &&
        !evidence.some(({ flaky }) => flaky),
    ),
    'done: every todo with a check of its own passed it, and not by luck',
    own,
  );
  must(
    given.length > 0 || own.length > 0,
    'done: without any check the best is claimed',
    decision,
  );
  const { baseline, tree, treeWrites, blind } = reference;
  const byCalls = baseline !== null && (blind || treeWrites > baseline.writes);
  const moved =
    byCalls && baseline.tree !== null && tree !== null && baseline.tree !== tree;
  const mended = given.some(
    (check) => (baseline?.checks.get(check) ?? 'passed') !== 'passed',
  );
  must(moved || mended, 'done: something changed since the goal was given', {
    baseline,
    tree,
  });
}

function noteRun({ reference, step: { commands } }: Moment): void {
  for (const command of commands) {
    if (command.type !== 'run-checks' || command.stop === null) continue;
    reference.unreported.clear();
    reference.unreported.add(`end:${command.stop}`);
    for (const { todoId, check } of command.checks) {
      reference.unreported.add(`${todoId}:${check}`);
      if (todoId === null) reference.goal.set(check, 'running');
    }
  }
}

/** C2: off and observe show the host nothing: no text, no word, no check, no count. */
function checkUnseen({ step: { state, commands } }: Moment): void {
  for (const command of commands) {
    const silent =
      command.type === 'reply' ||
      (command.type === 'answer' &&
        command.answer === 'let-go' &&
        command.text === null &&
        command.message === null);
    must(silent, 'observe and off change nothing that a host can see', command);
  }
  const { total, continuations, stagnant } = state.counters;
  must(
    total + continuations + stagnant === 0,
    'observe and off count nothing',
    state.counters,
  );
  must(
    state.timer === null && state.parked === null,
    'observe and off plan nothing',
    state.timer,
  );
}
