// Plan changes from tools, hosts and files. The model gets a reply in every case; nothing here answers a stop.
import { settingsForAgent } from '../config/agent-settings.ts';
import type { Policy } from '../config/policy.ts';
import type { PlanWritten, TodoCompleted, TodosCreated, TodoUpdated } from '../events.ts';
import { createTodos } from '../plan/create-todos.ts';
import { createPlanDraft } from '../plan/plan-draft.ts';
import { completeTodo, updateTodo } from '../plan/update-todo.ts';
import { writeList } from '../plan/write-list.ts';
import type { Rows } from '../rows.ts';
import type { Session } from '../session.ts';
import { type Step, step } from '../step.ts';
import { checksOf } from './apply-checks.ts';

export type PlanEvent = TodosCreated | PlanWritten | TodoUpdated | TodoCompleted;

export function applyPlan(session: Session, event: PlanEvent, rows: Rows, policy: Policy): Step {
  const settings = settingsForAgent(policy.settings, session.agent.name);
  const draft = createPlanDraft(touch(session, event), event.actor, event.at);
  switch (event.type) {
    case 'todos-created':
      createTodos(draft, event.items, rows, settings);
      break;
    case 'plan-written':
      writeList(draft, event.items, rows, settings);
      break;
    case 'todo-updated':
      updateTodo(draft, event.todoId, event.changes, rows, settings);
      break;
    case 'todo-completed':
      completeTodo(draft, event.todoId, event.status, event.outcome, rows);
      break;
  }
  const { session: after, rowChanges, reply } = draft.finish();
  // Refused as a whole: not even the turn has touched the plan.
  if (reply.refused.length > 0 && !reply.applied) return step(session, [{ type: 'reply', reply }]);
  const claimed = reply.changed.concat(reply.created).filter(isUncheckedClaim);
  const checks = claimed.flatMap(checksOf);
  const run =
    checks.length > 0 && settings.mode === 'enforce'
      ? [{ type: 'run-checks' as const, checks, stop: null }]
      : [];
  return { session: after, rowChanges, commands: [{ type: 'reply', reply }, ...run], decision: null };
}

function isUncheckedClaim(todo: {
  status: string;
  verification: string;
  checks: readonly string[];
}): boolean {
  return todo.status === 'completed' && todo.checks.length > 0 && todo.verification === 'claimed';
}

/** A turn that changes the plan takes it up (T3). A session that was never told of a human still has a turn. */
export function touch(session: Session, event: Pick<PlanEvent, 'id' | 'at'>): Session {
  const turn = session.turn ?? {
    id: event.id,
    number: 1,
    startedAt: event.at,
    ended: false,
    touchedPlan: true,
    touchedWorkspace: false,
    goesOn: false,
    stopSeen: false,
  };
  return { ...session, turn: { ...turn, touchedPlan: true } };
}
