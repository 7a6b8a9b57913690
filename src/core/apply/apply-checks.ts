// Results of checks: a pass makes a claim final, a failure reopens the todo with the failure's tail (V1, P31).
import { settingsForAgent } from '../config/agent-settings.ts';
import type { Policy } from '../config/policy.ts';
import type {
  CheckFinished,
  CheckStarted,
  FinalRunEnded,
  RecordBroken,
  VerificationAsked,
} from '../events.ts';
import { createPlanDraft } from '../plan/plan-draft.ts';
import { countProgress } from '../progress.ts';
import type { Rows } from '../rows.ts';
import type { GoalCheck, Session } from '../session.ts';
import { type Step, step } from '../step.ts';
import type { Todo, TodoEvidence } from '../todo.ts';
import { waitForApproval } from './apply-waits.ts';

const unknownCheck: GoalCheck = {
  state: 'none',
  passedBefore: false,
  flaky: false,
  tail: null,
  fingerprint: null,
};

export function checkStarted(session: Session, event: CheckStarted, rows: Rows): Step {
  if (event.todoId === null) {
    const before = session.goal[event.check] ?? unknownCheck;
    return step({ ...session, goal: { ...session.goal, [event.check]: { ...before, state: 'running' } } });
  }
  const todo = rows.byId[0];
  if (todo?.status !== 'completed' || todo.verification !== 'claimed') return step(session);
  const draft = createPlanDraft(session, 'system', event.at);
  draft.put(todo, { ...todo, verification: 'running' }, 'edited', {});
  const { session: after, rowChanges } = draft.finish();
  return { session: after, rowChanges: { ...rowChanges, ledger: [] }, commands: [], decision: null };
}

export function checkFinished(session: Session, event: CheckFinished, rows: Rows): Step {
  if (event.result === 'waiting') return checkWaits(session, event, rows);
  return event.todoId === null ? goalChecked(session, event) : todoChecked(session, event, rows);
}

/** Only a human can answer it: the stop waits as it does for any question, and nothing has failed. */
function checkWaits(session: Session, event: CheckFinished, rows: Rows): Step {
  const asked = waitForApproval(session, event.check);
  if (event.todoId === null) {
    const before = session.goal[event.check] ?? unknownCheck;
    return step({ ...asked, goal: { ...session.goal, [event.check]: { ...before, state: 'none' } } });
  }
  const todo = rows.byId[0];
  if (todo?.status !== 'completed') return step(asked);
  const draft = createPlanDraft(asked, 'system', event.at);
  draft.put(todo, { ...todo, verification: 'claimed' }, 'edited', {});
  const { session: after, rowChanges } = draft.finish();
  return { session: after, rowChanges: { ...rowChanges, ledger: [] }, commands: [], decision: null };
}

function goalChecked(session: Session, event: CheckFinished): Step {
  const before = session.goal[event.check] ?? unknownCheck;
  const passed = event.result === 'passed';
  const goal = {
    ...session.goal,
    [event.check]: {
      state: passed ? ('passed' as const) : ('failed' as const),
      passedBefore: before.passedBefore || passed,
      flaky: event.flaky,
      tail: passed ? null : event.tail,
      fingerprint: event.fingerprint,
    },
  };
  const checked: Session = { ...session, goal };
  return step(passed && !before.passedBefore ? countProgress(checked, 'first-pass') : checked);
}

/** A result for a todo that is no longer completed is too late to mean anything. */
function todoChecked(session: Session, event: CheckFinished, rows: Rows): Step {
  const todo = rows.byId[0];
  if (todo?.status !== 'completed' || !todo.checks.includes(event.check)) return step(session);
  const draft = createPlanDraft(session, 'system', event.at);
  const detail = { check: event.check, flaky: event.flaky };
  if (event.result === 'passed') draft.put(todo, provedTodo(todo, session, event), 'check-passed', detail);
  else {
    const reopened = {
      ...todo,
      status: 'in_progress' as const,
      verification: 'failed' as const,
      evidence: [],
      failureTail: event.tail,
      completedAt: null,
      attempts: todo.attempts + 1,
      idleEnd: false,
    };
    draft.put(todo, reopened, 'check-failed', { check: event.check });
  }
  const { session: after, rowChanges } = draft.finish();
  return { session: after, rowChanges, commands: [], decision: null };
}

/** A todo with several checks has passed when all of them have. */
function provedTodo(todo: Todo, session: Session, event: CheckFinished): Todo {
  const proof: TodoEvidence = {
    check: event.check,
    fingerprint: isCalm(session, event) ? event.fingerprint : null,
    flaky: event.flaky,
  };
  const evidence = [...todo.evidence.filter(({ check }) => check !== event.check), proof];
  const passed = todo.checks.every((id) => evidence.some(({ check }) => check === id));
  if (!passed) return { ...todo, evidence };
  return {
    ...todo,
    evidence,
    verification: 'passed',
    failureTail: null,
    passedAt: todo.passedAt ?? event.at,
    idleEnd: false,
  };
}

/**
 * Nothing could write while the check ran, so that what it saw is what its fingerprint says (V2). An agent that had
 * stopped may have been sent on before the result came: then only equal counts of writing calls prove it.
 */
function isCalm({ work, finalRun }: Session, event: CheckFinished): boolean {
  if (event.writes === null) return event.final && finalRun?.overdue !== true;
  return event.writes === work.writes && work.started === work.writes;
}

/** M8: what is claimed is run, and what runs is waited for; a run that was lost in a crash is made again. */
export function verificationAsked(
  session: Session,
  event: VerificationAsked,
  rows: Rows,
  policy: Policy,
): Step {
  if (settingsForAgent(policy.settings, session.agent.name).mode !== 'enforce') return step(session);
  const wanted = (event.todoId === null ? rows.unverified : rows.byId).filter(
    ({ status }) => status === 'completed',
  );
  const goal = event.todoId === null ? runningGoalChecks(session) : [];
  const checks = [...wanted.flatMap(checksOf), ...goal.map((check) => ({ todoId: null, check }))];
  return step(session, checks.length === 0 ? [] : [{ type: 'run-checks', checks, stop: null }]);
}

function runningGoalChecks({ goal }: Session): string[] {
  return Object.keys(goal).filter((check) => goal[check]?.state === 'running');
}

/** The checks of a todo that have not passed since it was claimed. */
export function checksOf(todo: Todo): { readonly todoId: string; readonly check: string }[] {
  return todo.checks
    .filter((id) => !todo.evidence.some(({ check }) => check === id))
    .map((check) => ({ todoId: todo.id, check }));
}

export function finalRunEnded(session: Session, event: FinalRunEnded): Step {
  const { finalRun } = session;
  if (finalRun === null || finalRun.stop !== event.stop || finalRun.ended) return step(session);
  const draft = createPlanDraft(session, 'system', event.at);
  if (event.edited.length > 0) draft.log('checks-edited', null, { files: event.edited.join(', ') });
  const { rowChanges } = draft.finish();
  return { ...step({ ...session, finalRun: { ...finalRun, ended: true } }), rowChanges };
}

export function recordBroken(session: Session, event: RecordBroken): Step {
  return step({ ...session, recordBroken: event.sentence });
}
