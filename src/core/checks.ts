// Results of checks: a pass makes a claim final, a failure reopens the todo with the failure's tail (V1, P31).
// Nothing is run here: checks that are due are commands, and what they saw comes back as events.

import { type Step, step } from './decision.ts';
import type { EventOf } from './events.ts';
import { findTodo, PlanDraft } from './plan.ts';
import type { Policy } from './policy.ts';
import { settingsForAgent } from './settings.ts';
import type { GoalCheck, State } from './state.ts';
import { checksOf, isUnverified, type Todo, type TodoEvidence } from './todo.ts';
import { waitForApproval } from './waits.ts';
import { countProgress } from './work.ts';

type Finished = EventOf<'check-finished'>;

const unknownCheck: GoalCheck = {
  state: 'none',
  passedBefore: false,
  flaky: false,
  tail: null,
  fingerprint: null,
};

export function checkStarted(state: State, { todoId, check }: EventOf<'check-started'>): State {
  if (todoId === null) return setGoal(state, check, { state: 'running' });
  const todo = findTodo(state.plan, todoId);
  if (todo?.status !== 'completed' || todo.verification !== 'claimed') return state;
  return setVerification(state, todo, 'running');
}

export function checkFinished(state: State, event: Finished): Step {
  if (event.result === 'waiting') return checkWaits(state, event);
  return event.todoId === null ? step(goalChecked(state, event)) : todoChecked(state, event, event.todoId);
}

/** Only a human can answer it: the stop waits as it does for any question, and nothing has failed. */
function checkWaits(state: State, { todoId, check, at }: Finished): Step {
  const asked = waitForApproval(state, check);
  if (todoId === null) return step(setGoal(asked, check, { state: 'none' }));
  const todo = findTodo(state.plan, todoId);
  if (todo?.status !== 'completed') return step(asked);
  // For the ledger a running check is a claim already; a pass that is taken back has to stand in it.
  if (todo.verification !== 'passed') return step(setVerification(asked, todo, 'claimed'));
  const draft = new PlanDraft(asked, 'system', at);
  draft.put(todo, { ...todo, verification: 'claimed' }, 'edited');
  return draft.finish().edited;
}

function goalChecked(state: State, { check, result, flaky, tail, fingerprint }: Finished): State {
  const passed = result === 'passed';
  const passedBefore = state.goal[check]?.passedBefore ?? false;
  const checked = setGoal(state, check, {
    state: passed ? 'passed' : 'failed',
    passedBefore: passedBefore || passed,
    flaky,
    tail: passed ? null : tail,
    fingerprint,
  });
  return passed && !passedBefore ? countProgress(checked, 'first-pass') : checked;
}

function setGoal(state: State, check: string, news: Partial<GoalCheck>): State {
  const before = state.goal[check] ?? unknownCheck;
  return { ...state, goal: { ...state.goal, [check]: { ...before, ...news } } };
}

/** That a check runs or waits is no change of the work: the ledger does not tell it. */
function setVerification(state: State, todo: Todo, verification: 'running' | 'claimed'): State {
  const plan = state.plan.with(state.plan.indexOf(todo), { ...todo, verification });
  return { ...state, plan, progress: { ...state.progress, planMoved: true } };
}

/** A result for a todo that is no longer completed is too late to mean anything. */
function todoChecked(state: State, event: Finished, todoId: string): Step {
  const todo = findTodo(state.plan, todoId);
  const { check, flaky } = event;
  if (todo?.status !== 'completed' || !todo.checks.includes(check)) return step(state);
  const draft = new PlanDraft(state, 'system', event.at);
  if (event.result === 'passed')
    draft.put(todo, provedTodo(todo, state, event), 'check-passed', { check, flaky });
  else {
    const reopened: Todo = {
      ...todo,
      status: 'in_progress',
      verification: 'failed',
      evidence: [],
      failureTail: event.tail,
      completedAt: null,
      attempts: todo.attempts + 1,
      idleEnd: false,
    };
    draft.put(todo, reopened, 'check-failed', { check });
  }
  return draft.finish().edited;
}

/** A todo with several checks has passed when all of them have. */
function provedTodo(todo: Todo, state: State, event: Finished): Todo {
  const { check, flaky } = event;
  const proof: TodoEvidence = { check, fingerprint: isCalm(state, event) ? event.fingerprint : null, flaky };
  const evidence = [...todo.evidence.filter((known) => known.check !== check), proof];
  const proved = { ...todo, evidence };
  if (checksOf(proved).length > 0) return proved;
  const passedAt = todo.passedAt ?? event.at;
  return { ...proved, verification: 'passed', failureTail: null, passedAt, idleEnd: false };
}

/**
 * Nothing could write while the check ran, so that what it saw is what its fingerprint says (V2). An agent that had
 * stopped may have been sent on before the result came: then only equal counts of writing calls prove it.
 */
function isCalm({ work, finalRun }: State, event: Finished): boolean {
  if (event.writes === null) return event.final && finalRun?.overdue !== true;
  return event.writes === work.writes && work.started === work.writes;
}

/** M8: what is claimed is run, and what runs is waited for; a run that was lost in a crash is made again. */
export function verificationAsked(state: State, event: EventOf<'verification-asked'>, policy: Policy): Step {
  if (settingsForAgent(policy.settings, state.agent.name).mode !== 'enforce') return step(state);
  const { todoId } = event;
  const { plan, goal } = state;
  const one = todoId === null ? null : findTodo(plan, todoId);
  const wanted = todoId === null ? plan.filter(isUnverified) : one?.status === 'completed' ? [one] : [];
  const running = Object.keys(goal).filter((check) => todoId === null && goal[check]?.state === 'running');
  const checks = [...wanted.flatMap(checksOf), ...running.map((check) => ({ todoId: null, check }))];
  return step(state, checks.length === 0 ? [] : [{ type: 'run-checks', checks, stop: null }]);
}

export function finalRunEnded(state: State, event: EventOf<'final-run-ended'>): Step {
  const { finalRun } = state;
  if (finalRun === null || finalRun.stop !== event.stop || finalRun.ended) return step(state);
  const draft = new PlanDraft({ ...state, finalRun: { ...finalRun, ended: true } }, 'system', event.at);
  if (event.edited.length > 0) draft.log('checks-edited', null, { files: event.edited.join(', ') });
  return draft.finish().edited;
}
