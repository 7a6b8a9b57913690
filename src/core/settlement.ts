// What is known when nothing is left to do: which checks are due, run or passed, and what
// the outcome rests on (V1, V2). The rules ask; nothing here starts a check or changes
// the state.
import { bareCheck, protectedPathsId } from './check-specs.ts';
import type { StopContext } from './rules.ts';
import { displayName, oneLine } from './safe-text.ts';
import { openCount, type PlanCounts, planSize, type State } from './state.ts';
import { checksOf, isUnstartable } from './todo.ts';
import { hasWorkspaceMoved } from './work.ts';

/**
 * Whether the checks on the goal must answer: always in a run that answers for its goal,
 * in a host only if the turn touched the plan or the workspace (V1).
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

/** Whether a check on the goal has to answer and has failed. */
export function hasGoalCheckFailed(context: StopContext): boolean {
  return goalChecksDue(context) && goalStates(context).includes('failed');
}

/**
 * How many ends, in any number of writes, make a bulk claim (V4). Two can be an honest
 * coincidence.
 */
const bulkSize = 3;

/**
 * What the agent has to look at again, once per human message; null: nothing. If calls
 * are not reported, the agent may have worked for hours and is not asked.
 */
export function dueChallenge({ state, counts }: StopContext): 'claims' | 'ends' | null {
  const { challenged, descriptor, work } = state;
  if (!descriptor.seesTools || !work.heard || hasWorkspaceMoved(state)) return null;
  const calls = callsSinceMessage(state);
  const isBulk = (ended: number): boolean => ended >= bulkSize && calls < ended;
  if (isBulk(counts.claims) && !challenged.claims) return 'claims';
  return isBulk(counts.ends) && !challenged.ends ? 'ends' : null;
}

/** Calls of tools other than the todo tools. */
export function callsSinceMessage({ work, spoken }: State): number {
  return work.calls - spoken.calls;
}

/** Whether a check is running whose result this stop needs. */
export function checksRunning(context: StopContext): boolean {
  const { finalRun } = context.state;
  if (context.counts.running > 0 || goalStates(context).includes('running')) return true;
  return finalRun !== null && finalRun.stop === context.stop.eventId && !finalRun.ended;
}

/**
 * Whether this stop attempt still has to start its one run of the checks: those of
 * unverified and stale todos, and always those on the goal (V2).
 */
export function finalRunDue(context: StopContext): boolean {
  const { unverified, passed } = context.counts;
  const any = goalChecksDue(context) || unverified > 0 || passed > 0;
  const { finalRun } = context.state;
  return any && (finalRun?.stop !== context.stop.eventId || finalRun.claimsOnly);
}

/**
 * Claims whose checks this stop has not seen, while other todos are open. `late`: the
 * host's deadline came first. Null: there are none.
 */
export function claimsWaitedFor(context: StopContext): 'due' | 'running' | 'late' | null {
  const { counts, settings, state, stop } = context;
  if (settings.mode !== 'enforce' || openCount(counts) === 0) return null;
  if (state.finalRun?.stop !== stop.eventId) return counts.unverified > 0 ? 'due' : null;
  if (state.finalRun.ended) return null;
  return state.checksOverdue ? 'late' : 'running';
}

/**
 * Whether this stop takes the last run up. If the agent was told to wait and wrote
 * nothing since, the checks that passed meanwhile still count.
 */
export function isFinalRunTakenUp({
  state: { finalRun, work, descriptor },
}: StopContext): boolean {
  if (finalRun?.overdue !== true || finalRun.claimsOnly) return false;
  return descriptor.seesTools && finalRun.writes === work.writes;
}

/**
 * The checks that cannot start, on the goal if they have to answer, and of claims: there
 * is no such program or file.
 */
export function findUnstartableChecks(
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
 * The failed checks that failed before the first call of the model too (P51). Without a
 * baseline nobody ran them then, and none is named.
 */
export function findFailedBefore(
  { baseline }: Pick<State, 'baseline'>,
  failed: readonly string[],
): readonly string[] {
  return failed.filter((check) => baseline?.checks[check] === 'failed');
}

/**
 * The failed checks on the goal and of todos, each once. A todo with several checks names
 * none, because the record does not say which of them failed.
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
 * For people, after the sentence of the outcome. Empty: no check failed both before the
 * work and at the end.
 */
export function failedBeforeSentence(state: State): string {
  const checks = findFailedBefore(state, listFailedChecks(state));
  const named = checks.slice(0, 3).map((check) => {
    const name = oneLine(displayName(bareCheck(check)), 80);
    // A name that is not plain has quotes already.
    return name.startsWith('"') ? name : `"${name}"`;
  });
  const more =
    checks.length > named.length ? ` and ${checks.length - named.length} more` : '';
  const subject = `The check${checks.length === 1 ? '' : 's'} ${named.join(', ')}${more}`;
  return checks.length === 0 ? '' : `${subject} failed before the work began too.`;
}

/** Background jobs that no continuation has named to the agent yet. */
export function unnamedJobs({ state }: StopContext): State['jobs'] {
  return state.jobs.filter(({ id }) => !state.namedJobs.includes(id));
}

/**
 * Whether the agent must hear something once before a stop settles: in a run, that a job
 * of its own still runs (P18) or that its first answer was empty (P14); without a plan,
 * that it goes round in circles (P25).
 */
export function mustTellAgentFirst(context: StopContext): boolean {
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
 * Whether the agent ended by itself, nothing is open, and it has heard all that it must.
 */
export function isOutcomeKnown(context: StopContext): boolean {
  const { counts, stop } = context;
  if (stop.end === 'iteration-budget' || (stop.end === 'error' && planSize(counts) === 0))
    return false;
  return (
    openCount(counts) === 0 &&
    dueChallenge(context) === null &&
    !mustTellAgentFirst(context)
  );
}

/**
 * Whether every due check has answered for this stop and none failed, so that the outcome
 * is clear.
 */
export function isSettled(context: StopContext): boolean {
  if (!isOutcomeKnown(context)) return false;
  if (context.settings.mode !== 'enforce') return true;
  return !finalRunDue(context) && !checksRunning(context) && !hasGoalCheckFailed(context);
}

/**
 * What a settled stop rests on: its weakest part. Only `checks` is done, and only `word`
 * is what `--accept-claims` accepts (V1). `record`: the record is damaged.
 */
export type OutcomeBasis =
  | 'checks'
  | 'word'
  | 'unexplained'
  | 'unproved'
  | 'flaky'
  | 'unverified'
  | 'record';

/** The weakest part of what the outcome rests on. */
export function outcomeBasis(context: StopContext): Exclude<OutcomeBasis, 'record'> {
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
  // Protected paths that nobody touched prove no work: only another check on the goal
  // covers todos without checks (V1, P27).
  const goalProves = isDue && goalChecks.some((check) => check !== protectedPathsId);
  return goalProves || (counts.uncovered === 0 && counts.passed > 0) ? 'checks' : 'word';
}

function isOnlyCancelled(counts: PlanCounts): boolean {
  return counts.completed === 0 && counts.cancelled > 0;
}

/** The sentence for people about what the outcome rests on. */
export function describeRest(context: StopContext): string {
  const { counts } = context;
  const { unexplained, unproved } = counts;
  const rests = outcomeBasis(context);
  if (rests === 'checks') return 'Nothing is open and every check passed.';
  if (isOnlyCancelled(counts)) return 'Nothing is open, but every todo was cancelled.';
  if (rests === 'unexplained')
    return `Nothing is open, but ${formatTodoCount(unexplained)} ${were(unexplained)} cancelled without a reason.`;
  if (rests === 'unproved')
    return `Nothing is open, but ${formatTodoCount(unproved)} with checks of ${unproved === 1 ? 'its' : 'their'} own ${were(unproved)} cancelled.`;
  if (rests === 'flaky')
    return 'Nothing is open, but a check failed before it passed: it cannot be relied on.';
  const unseen = counts.uncovered + counts.unverified;
  // Our own agent names its next command itself when it ends.
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
  return `Nothing is open; ${formatTodoCount(unseen)} ${unseen === 1 ? 'rests' : 'rest'} on the agent's word alone.${how}`;
}

/**
 * Whether the system saw a change since the goal was given (V1): other files after a call
 * that can write (after any, if calls are not reported), or a check that did not pass
 * then and does now.
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

/** An amount of todos in words. */
export function formatTodoCount(amount: number): string {
  return amount === 1 ? '1 todo' : `${amount} todos`;
}

function were(amount: number): string {
  return amount === 1 ? 'was' : 'were';
}
