// What is known when nothing is left to do: which checks are due, run or passed, and what
// the outcome rests on (V1, V2).
import { bareCheck, protectedPathsId } from './check-specs.ts';
import type { StopContext } from './rules.ts';
import { displayName, oneLine } from './safe-text.ts';
import { openCount, type PlanCounts, planSize, type State } from './state.ts';
import { checksOf, isUnstartable } from './todo.ts';
import { hasWorkspaceMoved } from './work.ts';

/**
 * Always in a run that answers for its goal; in hosts only in a turn that touched the
 * plan or the workspace (V1).
 */
export function goalChecksDue({
  state: { turn, descriptor },
  goalChecks,
}: StopContext): boolean {
  if (goalChecks.length === 0) return false;
  return (
    descriptor.judgesGoal === true ||
    turn?.touchedPlan === true ||
    turn?.touchedWorkspace === true
  );
}

function goalStates({ state, goalChecks }: StopContext): string[] {
  return goalChecks.map((check) => state.goal[check]?.state ?? 'none');
}

export function goalFailed(context: StopContext): boolean {
  return goalChecksDue(context) && goalStates(context).includes('failed');
}

/**
 * So many, in any number of writes, make a bulk claim (V4). Two can be an honest
 * coincidence.
 */
const bulkSize = 3;

/**
 * Once per human message. An agent whose calls nobody tells of may have worked for hours.
 */
export function dueChallenge({ state, counts }: StopContext): 'claims' | 'ends' | null {
  const { challenged, descriptor, work } = state;
  if (!descriptor.seesTools || !work.heard || hasWorkspaceMoved(state)) return null;
  const calls = callsSinceMessage(state);
  const isBulk = (ended: number): boolean => ended >= bulkSize && calls < ended;
  if (isBulk(counts.claims) && !challenged.claims) return 'claims';
  return isBulk(counts.ends) && !challenged.ends ? 'ends' : null;
}

/** Of tools other than the todo tools. */
export function callsSinceMessage({ work, spoken }: State): number {
  return work.calls - spoken.calls;
}

export function checksRunning(context: StopContext): boolean {
  const { finalRun } = context.state;
  if (context.counts.running > 0 || goalStates(context).includes('running')) return true;
  return finalRun !== null && finalRun.stop === context.stop.eventId && !finalRun.ended;
}

/**
 * Once per stop attempt: what is unverified or stale, and always the goal checks (V2).
 */
export function finalRunDue(context: StopContext): boolean {
  const { unverified, passed } = context.counts;
  const any = goalChecksDue(context) || unverified > 0 || passed > 0;
  const { finalRun } = context.state;
  return any && (finalRun?.stop !== context.stop.eventId || finalRun.claimsOnly);
}

/**
 * While other todos are open: claims whose checks this stop has not seen. `late`: the
 * host's deadline came first.
 */
export function claimsWaitedFor(context: StopContext): 'due' | 'running' | 'late' | null {
  const { counts, settings, state, stop } = context;
  if (settings.mode !== 'enforce' || openCount(counts) === 0) return null;
  if (state.finalRun?.stop !== stop.eventId) return counts.unverified > 0 ? 'due' : null;
  if (state.finalRun.ended) return null;
  return state.checksOverdue ? 'late' : 'running';
}

/** Told to wait, the agent wrote nothing since: what passed meanwhile still counts. */
export function isFinalRunTakenUp({
  state: { finalRun, work, descriptor },
}: StopContext): boolean {
  if (finalRun?.overdue !== true || finalRun.claimsOnly) return false;
  return descriptor.seesTools && finalRun.writes === work.writes;
}

/** Of the goal where they are due, and of claims: there is no such program or file. */
export function unstartable(
  context: StopContext,
): { check: string; tail: string | null }[] {
  const { state, goalChecks } = context;
  const due = goalChecksDue(context) ? goalChecks : [];
  const goal = due.flatMap((check) => {
    const seen = state.goal[check];
    return seen?.state === 'cannot-start' ? [{ check, tail: seen.tail }] : [];
  });
  const claims = state.plan.filter(isUnstartable);
  return [
    ...goal,
    ...claims.flatMap((todo) =>
      checksOf(todo).map(({ check }) => ({ check, tail: todo.failureTail })),
    ),
  ];
}

/**
 * Those of the failed checks that failed before the first call of the model too (P51).
 * Without a baseline nobody ran them then, and none is named.
 */
export function findFailedBefore(
  { baseline }: Pick<State, 'baseline'>,
  failed: readonly string[],
): readonly string[] {
  return failed.filter((check) => baseline?.checks[check] === 'failed');
}

/**
 * The failed checks on the goal and of todos, each once. A todo with several checks names
 * none: the record does not say which of them failed.
 */
function listFailedChecks({ goal, plan }: State): string[] {
  const ofGoal = Object.keys(goal).filter((check) => goal[check]?.state === 'failed');
  const ofTodos = plan.filter(({ verification }) => verification === 'failed');
  return [
    ...new Set([
      ...ofGoal,
      ...ofTodos.flatMap(({ checks }) => (checks.length === 1 ? checks : [])),
    ]),
  ];
}

/**
 * For people, behind the sentence of the outcome. Empty: no check failed both before the
 * work and last.
 */
export function failedBeforeSentence(state: State): string {
  const checks = findFailedBefore(state, listFailedChecks(state));
  const named = checks
    .slice(0, 3)
    .map((check) => `"${oneLine(displayName(bareCheck(check)), 80)}"`);
  const more =
    checks.length > named.length ? ` and ${checks.length - named.length} more` : '';
  const subject = `The check${checks.length === 1 ? '' : 's'} ${named.join(', ')}${more}`;
  return checks.length === 0 ? '' : `${subject} failed before the work began too.`;
}

export function unnamedJobs({ state }: StopContext): State['jobs'] {
  return state.jobs.filter(({ id }) => !state.namedJobs.includes(id));
}

/**
 * Said to the agent once before a stop settles anything: of a run, that a job of its own
 * still runs (P18) and that its first answer was empty (P14); without a plan, that it
 * goes round in circles (P25).
 */
export function isToldFirst(context: StopContext): boolean {
  const { state, stop, counts } = context;
  const isRun = state.descriptor.judgesGoal === true;
  if (isRun && unnamedJobs(context).some(({ kind }) => kind === 'shell')) return true;
  if (planSize(counts) > 0) return false;
  return (
    (state.loopAlarms > 0 && !state.loopTold) ||
    (isRun && stop.end === 'empty' && state.emptyAnswers === 1)
  );
}

/**
 * The agent ended by itself with nothing open, and nothing has to be said to it first.
 */
export function settlesStop(context: StopContext): boolean {
  const { counts, stop } = context;
  if (stop.end === 'iteration-budget' || (stop.end === 'error' && planSize(counts) === 0))
    return false;
  return (
    openCount(counts) === 0 && dueChallenge(context) === null && !isToldFirst(context)
  );
}

/**
 * Every due check has answered for this stop, and none failed: only the outcome is left
 * to say.
 */
export function isSettled(context: StopContext): boolean {
  if (!settlesStop(context)) return false;
  if (context.settings.mode !== 'enforce') return true;
  return !finalRunDue(context) && !checksRunning(context) && !goalFailed(context);
}

/**
 * What a settled stop rests on; only `checks` is done, and only `word` is what
 * `--accept-claims` accepts (V1).
 */
export type Rest =
  | 'checks'
  | 'word'
  | 'unexplained'
  | 'unproved'
  | 'flaky'
  | 'unverified'
  | 'record';

export function restsOn(context: StopContext): Exclude<Rest, 'record'> {
  const { counts, state, goalChecks } = context;
  if (counts.unexplained > 0) return 'unexplained';
  if (counts.unproved > 0) return 'unproved';
  if (counts.flaky > 0 || goalChecks.some((check) => state.goal[check]?.flaky))
    return 'flaky';
  const isDue = goalChecksDue(context);
  // A check that waits for a human's answer has not passed.
  const isMissing = isDue && goalStates(context).some((now) => now !== 'passed');
  if (counts.unverified > 0 || isMissing) return 'unverified';
  if (isOnlyCancelled(counts)) return 'word';
  // Untouched paths prove no work: only another goal check covers todos without a check
  // (V1, P27).
  const goalProves = isDue && goalChecks.some((check) => check !== protectedPathsId);
  return goalProves || (counts.uncovered === 0 && counts.passed > 0) ? 'checks' : 'word';
}

function isOnlyCancelled(counts: PlanCounts): boolean {
  return counts.completed === 0 && counts.cancelled > 0;
}

export function describeRest(context: StopContext): string {
  const { counts } = context;
  const { unexplained, unproved } = counts;
  const rests = restsOn(context);
  if (rests === 'checks') return 'Nothing is open and every check passed.';
  if (isOnlyCancelled(counts)) return 'Nothing is open, but every todo was cancelled.';
  if (rests === 'unexplained')
    return `Nothing is open, but ${todos(unexplained)} ${were(unexplained)} cancelled without a reason.`;
  if (rests === 'unproved')
    return `Nothing is open, but ${todos(unproved)} with checks of ${unproved === 1 ? 'its' : 'their'} own ${were(unproved)} cancelled.`;
  if (rests === 'flaky')
    return 'Nothing is open, but a check failed before it passed: it cannot be relied on.';
  const unseen = counts.uncovered + counts.unverified;
  // Our own agent's end names its next command itself.
  const isCheckMissing =
    rests === 'word' &&
    context.goalChecks.length === 0 &&
    !context.state.descriptor.judgesGoal;
  const how = isCheckMissing
    ? ' For `done` give this project a check: untildone config init.'
    : '';
  if (unseen === 0 && rests === 'word')
    return `Nothing is open, but no check covers the work.${how}`;
  if (unseen === 0)
    return 'Nothing is open, but a check is still waiting for its answer.';
  return `Nothing is open; ${todos(unseen)} ${unseen === 1 ? 'rests' : 'rest'} on the agent's word alone.${how}`;
}

/**
 * Seen by the system since the goal was given: the files after a call that can write
 * (any, where calls are not seen), or a check that did not pass then and does now (V1).
 */
export function hasChanged({ state, goalChecks }: StopContext): boolean {
  const { baseline, work, plan, descriptor } = state;
  if (baseline === null) return false;
  const { fingerprint, writes, checks } = baseline;
  const areKnown = fingerprint !== null && work.fingerprint !== null;
  const hasWritten = !descriptor.seesTools || work.writesSeen > writes;
  if (areKnown && hasWritten && work.fingerprint !== fingerprint) return true;
  const given = new Set([...goalChecks, ...plan.flatMap((todo) => todo.checks)]);
  return Object.entries(checks).some(
    ([check, result]) => given.has(check) && result !== 'passed',
  );
}

export function todos(amount: number): string {
  return amount === 1 ? '1 todo' : `${amount} todos`;
}

function were(amount: number): string {
  return amount === 1 ? 'was' : 'were';
}
