// Results of checks: a pass makes a claim final, a failure reopens the todo with the failure's tail (V1, P31).
import type { CheckFinished, CheckStarted } from '../events.ts';
import { createPlanDraft } from '../plan/plan-draft.ts';
import { countProgress } from '../progress.ts';
import type { Rows } from '../rows.ts';
import type { GoalCheck, Session } from '../session.ts';
import { type Step, step } from '../step.ts';

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
  if (todo === undefined || todo.status !== 'completed' || todo.verification === 'running')
    return step(session);
  const draft = createPlanDraft(session, 'system', event.at);
  draft.put(todo, { ...todo, verification: 'running' }, 'edited', { verification: 'running' });
  const { session: after, rowChanges } = draft.finish();
  return { session: after, rowChanges: { ...rowChanges, ledger: [] }, commands: [], decision: null };
}

export function checkFinished(session: Session, event: CheckFinished, rows: Rows): Step {
  return event.todoId === null ? goalChecked(session, event) : todoChecked(session, event, rows);
}

function goalChecked(session: Session, event: CheckFinished): Step {
  const before = session.goal[event.check] ?? unknownCheck;
  const passed = event.result === 'passed';
  const goal = {
    ...session.goal,
    [event.check]: {
      state: event.result,
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
  if (todo === undefined || todo.status !== 'completed') return step(session);
  const draft = createPlanDraft(session, 'system', event.at);
  if (event.result === 'passed') {
    draft.put(
      todo,
      {
        ...todo,
        verification: 'passed',
        failureTail: null,
        checkedFingerprint: event.fingerprint,
        passedAt: todo.passedAt ?? event.at,
        idleEnd: false,
      },
      'check-passed',
      { check: event.check, flaky: event.flaky },
    );
  } else {
    draft.put(
      todo,
      {
        ...todo,
        status: 'in_progress',
        verification: 'failed',
        failureTail: event.tail,
        completedAt: null,
        attempts: todo.attempts + 1,
        idleEnd: false,
      },
      'check-failed',
      { check: event.check },
    );
  }
  const { session: after, rowChanges } = draft.finish();
  return { session: after, rowChanges, commands: [], decision: null };
}
