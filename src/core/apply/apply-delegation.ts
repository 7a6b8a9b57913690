// A todo goes to a worker and comes back (S4, S6). Who does the work changes nothing about what proves it: the agent
// that delegated marks the todo, and a worker that failed twice leaves it blocked, so that the others go on.
import { settingsForAgent } from '../config/agent-settings.ts';
import type { Policy } from '../config/policy.ts';
import type { DelegationEnded, DelegationStarted, WorkerResult } from '../events.ts';
import { createPlanDraft, type PlanDraft } from '../plan/plan-draft.ts';
import { setStatus } from '../plan/set-status.ts';
import { findRow, noticeSecondActive } from '../plan/update-todo.ts';
import type { Rows } from '../rows.ts';
import { oneLine } from '../safe-text.ts';
import type { Session } from '../session.ts';
import { type Step, step } from '../step.ts';
import { isOpen, type Todo } from '../todo.ts';
import { touch } from './apply-plan.ts';

/** Once more after the first failure; a third would only cost (S6). */
const mostFailures = 2;

export function delegationStarted(
  session: Session,
  event: DelegationStarted,
  rows: Rows,
  policy: Policy,
): Step {
  const { workerId, agentType, callId, at } = event;
  const draft = createPlanDraft(touch(session, event), 'agent', at);
  const row = findRow(draft, event.todoId, rows);
  if (row !== null && isFree(draft, row)) {
    const request = { status: 'in_progress' } as const;
    const started = setStatus(row, request, draft.session(), 'agent', at)?.todo ?? row;
    draft.put(row, started, 'delegated', { worker: workerId, agentType });
    draft.setSession({
      ...draft.session(),
      delegation: { workerId, todoId: row.id, agentType, callId, startedAt: at, ended: null },
    });
    if (settingsForAgent(policy.settings, session.agent.name).singleInProgress)
      noticeSecondActive(draft, row, rows);
  }
  const { session: after, rowChanges, reply } = draft.finish();
  if (!reply.applied) return step(session, [{ type: 'reply', reply }]);
  return { session: after, rowChanges, commands: [{ type: 'reply', reply }], decision: null };
}

function isFree(draft: PlanDraft, row: Todo): boolean {
  const { delegation } = draft.session();
  const title = oneLine(row.title, 80);
  if (delegation?.ended === null) {
    const sentence = 'Another worker is still at work; wait for its result. Nothing was delegated.';
    draft.refuse({ index: null, code: 'worker-busy', sentence });
    return false;
  }
  if (isOpen(row)) return true;
  const why = row.status === 'blocked' ? `blocked: ${oneLine(row.reason ?? '', 200)}` : row.status;
  const sentence = `Todo "${title}" is ${why}. Only an open todo can be delegated; set it to pending if there is something new to try.`;
  draft.refuse({ index: null, code: 'not-open', sentence });
  return false;
}

/** A second word about the same worker, as after a crash, changes nothing. */
export function delegationEnded(session: Session, event: DelegationEnded, rows: Rows, policy: Policy): Step {
  const { workerId, result, at } = event;
  const { delegation } = session;
  if (delegation?.workerId !== workerId || delegation.ended !== null) return step(session);
  const sentence = oneLine(event.sentence, 300);
  const ended = { ...delegation, ended: { result, sentence, at } };
  const draft = createPlanDraft({ ...session, delegation: ended }, 'system', at);
  const detail = { worker: workerId, agentType: delegation.agentType, result, sentence };
  const row = rows.byId.find(({ id }) => id === delegation.todoId);
  // Whoever settled it meanwhile knew better than the worker.
  if (row === undefined || !isOpen(row) || !isFailure(result))
    draft.log('worker-ended', delegation.todoId, detail);
  else countFailure(draft, row, detail, settingsForAgent(policy.settings, session.agent.name).mode);
  const { session: after, rowChanges } = draft.finish();
  return { session: after, rowChanges, commands: [], decision: null };
}

function isFailure(result: WorkerResult): boolean {
  return result !== 'done' && result !== 'interrupted';
}

function countFailure(
  draft: PlanDraft,
  row: Todo,
  detail: { readonly sentence: string },
  mode: 'off' | 'observe' | 'enforce',
): void {
  const workerFailures = (row.workerFailures ?? 0) + 1;
  const failed = draft.put(
    row,
    { ...row, attempts: row.attempts + 1, workerFailures },
    'worker-ended',
    detail,
  );
  // C2: what is only observed is not set aside.
  if (workerFailures < mostFailures || mode !== 'enforce') return;
  const reason = `its worker failed ${workerFailures} times, at last so: ${detail.sentence}`;
  const blocked = setStatus(failed, { status: 'blocked', reason }, draft.session(), 'system', draft.at);
  if (blocked !== null) draft.put(failed, blocked.todo, 'blocked', { reason: 'its worker failed twice' });
}
