// Results of checks: a pass makes a claim final, a failure reopens the todo (V1, P31).
// Nothing here runs a check.
import { byEvent, type Step, step } from './decision.ts';
import type { EventOf } from './events.ts';
import { findTodo, PlanDraft } from './plan.ts';
import type { Policy } from './policy.ts';
import { findCheck } from './same-checks.ts';
import { type GoalCheck, newGoalCheck, type State } from './state.ts';
import { checksOf, isUnverified, type Todo, type TodoEvidence } from './todo.ts';
import { countProgress, waitForApproval } from './work.ts';

type CheckFinished = EventOf<'check-finished'>;

/** What checks and their results do to a session. */
export const checkReducers = byEvent({
  'check-started'(state, { todoId, check }) {
    if (todoId === null) return setGoalCheck(state, check, { state: 'running' });
    const todo = findTodo(state.plan, todoId);
    if (todo?.status !== 'completed' || todo.verification !== 'claimed') return state;
    return setVerification(state, todo, 'running');
  },
  'check-finished'(before, event) {
    const state = wasQuiet(before, event)
      ? absorbFingerprint(before, event.tree)
      : before;
    if (event.result === 'waiting') return waitForHuman(state, event);
    return event.todoId === null
      ? recordGoalResult(state, event)
      : recordTodoResult(state, event, event.todoId);
  },
  /** The first result of each check counts, because later ones see the agent's work. */
  'baseline-seen'(state, { fingerprint, checks }) {
    const absorbed = absorbFingerprint(state, fingerprint);
    const first = absorbed.baseline ?? { fingerprint, writes: state.work.writes };
    const results = Object.fromEntries(
      checks.map(({ check, result }) => [check, result]),
    );
    return {
      ...absorbed,
      baseline: { ...first, checks: { ...results, ...state.baseline?.checks } },
    };
  },
  /**
   * Running checks are asked for too, because their run may have been lost in a crash
   * (M8).
   */
  'verification-asked'(state, { todoId }, policy) {
    if (policy.settings.mode !== 'enforce') return state;
    const { plan, goal } = state;
    const one = todoId === null ? null : findTodo(plan, todoId);
    const completed = one?.status === 'completed' ? [one] : [];
    const todos = todoId === null ? plan.filter(isUnverified) : completed;
    const running = Object.keys(goal).filter(
      (check) => todoId === null && goal[check]?.state === 'running',
    );
    const checks = [
      ...todos.flatMap(checksOf),
      ...running.map((check) => ({ todoId: null, check })),
    ];
    return step(
      state,
      checks.length === 0 ? [] : [{ type: 'run-checks', checks, stop: null }],
    );
  },
  'final-run-ended'(state, event) {
    const { finalRun } = state;
    if (finalRun === null || finalRun.stop !== event.stop || finalRun.ended) return state;
    const { hidden = [] } = event;
    const ended: State = { ...state, hidden, finalRun: { ...finalRun, ended: true } };
    const draft = new PlanDraft(ended, 'system', event.at);
    if (event.edited.length > 0)
      draft.log('checks-edited', null, { files: event.edited.join(', ') });
    return draft.finish().edited;
  },
  'checks-replaced'(state, { checks, at }) {
    const goal = Object.fromEntries(
      Object.entries(state.goal).filter(([check]) => checks.includes(check)),
    );
    const draft = new PlanDraft({ ...state, goal }, 'human', at);
    draft.log('checks-edited', null, { checks: checks.join(', ') });
    return draft.finish().edited;
  },
  'record-broken': (state, { sentence }) => ({ ...state, recordBroken: sentence }),
  'checks-overdue': (state) => ({
    ...state,
    checksOverdue:
      state.parked?.cause === 'nothing-open' || state.parked?.cause === 'stagnant',
  }),
});

/**
 * If a check waits for a human, the stop waits as for any question: nothing has failed.
 */
function waitForHuman(state: State, { todoId, check, at }: CheckFinished): State | Step {
  const waiting = waitForApproval(state, check);
  if (todoId === null) return setGoalCheck(waiting, check, { state: 'none' });
  const todo = findTodo(state.plan, todoId);
  if (todo?.status !== 'completed') return waiting;
  // The ledger knows a running check as a claim already, but a pass that is taken back
  // must stand in it.
  if (todo.verification !== 'passed') return setVerification(waiting, todo, 'claimed');
  const draft = new PlanDraft(waiting, 'system', at);
  draft.put(todo, { ...todo, verification: 'claimed' }, 'edited');
  return draft.finish().edited;
}

function recordGoalResult(
  state: State,
  { check, result, flaky, tail }: CheckFinished,
): State {
  const passed = result === 'passed';
  const passedBefore = state.goal[check]?.passedBefore ?? false;
  const checked = setGoalCheck(state, check, {
    state: result === 'waiting' ? 'none' : result,
    passedBefore: passedBefore || passed,
    flaky,
    tail: passed ? null : tail,
  });
  return passed && !passedBefore ? countProgress(checked, 'first-pass') : checked;
}

/**
 * A new policy may give a check another of its names as id: what is known about the check
 * moves to the new id.
 */
export function renameChecks(state: State, { checks }: Policy, at: number): Step {
  const draft = new PlanDraft(state, 'system', at, checks);
  draft.renameChecks();
  const { edited } = draft.finish();
  const { baseline, goal, progress } = state;
  const keyById = <Value>(
    byName: Readonly<Record<string, Value>>,
  ): Readonly<Record<string, Value>> =>
    Object.fromEntries(
      Object.entries(byName).map(([name, value]) => [
        findCheck(checks, name)?.id ?? name,
        value,
      ]),
    );
  const renamed: State = {
    ...edited.state,
    // A new name of a check is no progress.
    progress,
    goal: keyById(goal),
    baseline: baseline && { ...baseline, checks: keyById(baseline.checks) },
  };
  return { ...edited, state: renamed };
}

function setGoalCheck(state: State, check: string, news: Partial<GoalCheck>): State {
  const before = state.goal[check] ?? newGoalCheck;
  return { ...state, goal: { ...state.goal, [check]: { ...before, ...news } } };
}

/**
 * Marks a todo as running or claimed. That changes no work, so the ledger does not tell
 * it.
 */
function setVerification(
  state: State,
  todo: Todo,
  verification: 'running' | 'claimed',
): State {
  const plan = state.plan.with(state.plan.indexOf(todo), { ...todo, verification });
  return { ...state, plan, progress: { ...state.progress, planMoved: true } };
}

/**
 * Applies a result to its todo. A result is too late if the todo is not completed any
 * more.
 */
function recordTodoResult(
  state: State,
  event: CheckFinished,
  todoId: string,
): State | Step {
  const todo = findTodo(state.plan, todoId);
  const { check, flaky } = event;
  if (todo?.status !== 'completed' || !todo.checks.includes(check)) return state;
  const draft = new PlanDraft(state, 'system', event.at);
  if (event.result === 'passed')
    draft.put(todo, provedTodo(todo, state, event), 'check-passed', { check, flaky });
  else if (event.result === 'cannot-start') {
    // The todo stays completed, because the work has not failed, whoever has to mend the
    // check. The stop says so in the end (P44).
    const evidence = todo.evidence.filter((known) => known.check !== check);
    const failureTail = event.tail ?? 'It cannot be started.';
    const unstarted: Todo = { ...todo, verification: 'claimed', evidence, failureTail };
    draft.put(todo, unstarted, 'check-failed', { check, cannotStart: true });
  } else {
    const reopened: Todo = {
      ...todo,
      status: 'in_progress',
      verification: 'failed',
      evidence: [],
      failureTail: event.tail,
      completedAt: null,
      attempts: todo.attempts + 1,
      endedIn: null,
    };
    draft.put(todo, reopened, 'check-failed', { check });
  }
  return draft.finish().edited;
}

function provedTodo(todo: Todo, state: State, event: CheckFinished): Todo {
  const { check, flaky } = event;
  const proof: TodoEvidence = {
    check,
    fingerprint: wasQuiet(state, event) ? event.fingerprint : null,
    flaky,
  };
  const proved = {
    ...todo,
    evidence: [...todo.evidence.filter((known) => known.check !== check), proof],
  };
  if (checksOf(proved).length > 0) return proved;
  const passedAt = todo.passedAt ?? event.at;
  return { ...proved, verification: 'passed', failureTail: null, passedAt };
}

/**
 * Files that only checks wrote are no work: if nothing had changed before the checks ran,
 * work is measured from what they left (V1). If calls are not reported, a later look
 * could not tell these files from the agent's work, so they count as looked at.
 */
function absorbFingerprint(state: State, fingerprint: string | null = null): State {
  const { baseline, descriptor } = state;
  if (fingerprint === null) return state;
  const work = descriptor.seesTools ? state.work : { ...state.work, fingerprint };
  if (baseline === null || hasWorked(state, baseline)) return { ...state, work };
  return { ...state, work, baseline: { ...baseline, fingerprint, writes: work.writes } };
}

function hasWorked(
  { work, descriptor }: State,
  { fingerprint, writes }: NonNullable<State['baseline']>,
) {
  if (descriptor.seesTools && work.writes === writes) return false;
  return work.writesSeen !== work.writes || work.fingerprint !== fingerprint;
}

/**
 * Whether nothing wrote while the check ran (V2). If the agent was sent on meanwhile,
 * only the counts of calls prove it. If calls are not reported, only an agent that has
 * stopped writes nothing.
 */
function wasQuiet({ work, finalRun, descriptor }: State, event: CheckFinished): boolean {
  if (event.writes === null || !descriptor.seesTools)
    return event.final && finalRun?.overdue !== true;
  return event.writes === work.writes && work.started === work.writes;
}
