// Changes of one todo by its id (M3, M4): completing, cancelling, starting, blocking, editing.
// An unknown id, a final todo or a missing outcome changes nothing and is answered with a sentence.
import type { Settings } from '../config/settings.ts';
import type { TodoChanges } from '../events.ts';
import type { Rows } from '../rows.ts';
import { oneLine } from '../safe-text.ts';
import { isFinal, normaliseTitle, type Todo } from '../todo.ts';
import { refuseAgentType } from './create-todos.ts';
import type { PlanDraft } from './plan-draft.ts';
import { refuseItem } from './refusals.ts';
import { setStatus } from './set-status.ts';

export function completeTodo(
  draft: PlanDraft,
  todoId: string,
  status: 'completed' | 'cancelled',
  outcome: string,
  rows: Rows,
): void {
  const row = findRow(draft, todoId, rows);
  if (row === null) return;
  if (outcome.trim() === '') {
    const wanted = status === 'completed' ? 'what was done' : 'why it is cancelled';
    refuse(
      draft,
      'no-outcome',
      `Todo "${oneLine(row.title, 80)}" needs an outcome: say ${wanted}. Nothing changed.`,
    );
    return;
  }
  // A cancellation without a reason is not final (T2): it can still be explained.
  if (isFinal(row) || (row.status === status && status === 'completed')) {
    refuse(
      draft,
      'already-final',
      `Todo "${oneLine(row.title, 80)}" is already ${row.status}. Nothing changed.`,
    );
    return;
  }
  const request = status === 'completed' ? { status, outcome } : { status, reason: outcome };
  const change = setStatus(row, request, draft.session(), draft.actor, draft.at);
  if (change !== null) draft.put(row, change.todo, change.change, { outcome: oneLine(outcome, 200) });
}

export function updateTodo(
  draft: PlanDraft,
  todoId: string,
  changes: TodoChanges,
  rows: Rows,
  settings: Settings,
): void {
  const row = findRow(draft, todoId, rows);
  if (row === null) return;
  if (changes.status === 'blocked' && (changes.reason ?? '').trim() === '') {
    refuse(
      draft,
      'no-reason',
      `Todo "${oneLine(row.title, 80)}" needs a reason to be blocked: what is missing from outside? Nothing changed.`,
    );
    return;
  }
  const title = changes.title?.trim() ?? row.title;
  const malformed =
    refuseItem({ title, priority: changes.priority }, null, settings) ??
    refuseAgentType(changes, null, settings);
  if (malformed !== null) {
    draft.refuse(malformed);
    return;
  }
  const edited = editFields(draft, row, changes, title);
  if (changes.status === undefined) return;
  const request = { status: changes.status, reason: changes.reason ?? null };
  const change = setStatus(edited, request, draft.session(), draft.actor, draft.at);
  if (change === null) return;
  draft.put(
    edited,
    change.todo,
    change.change,
    changes.reason ? { reason: oneLine(changes.reason, 200) } : {},
  );
  if (changes.status === 'in_progress' && settings.singleInProgress) noticeSecondActive(draft, row, rows);
}

function editFields(draft: PlanDraft, row: Todo, changes: TodoChanges, title: string): Todo {
  const edited: Todo = {
    ...row,
    title,
    titleKey: normaliseTitle(title),
    context: changes.context ?? row.context,
    completionCriteria: changes.completionCriteria ?? row.completionCriteria,
    priority: changes.priority ?? row.priority,
    agentType: changes.agentType ?? row.agentType,
  };
  const same = (Object.keys(edited) as (keyof Todo)[]).every((key) => edited[key] === row[key]);
  if (same) return row;
  const reworded = edited.titleKey !== row.titleKey;
  return draft.put(
    row,
    edited,
    reworded ? 'reworded' : 'edited',
    reworded ? { from: row.title, to: title } : {},
  );
}

export function noticeSecondActive(draft: PlanDraft, row: Todo, rows: Rows): void {
  const other = rows.inProgress.find((candidate) => candidate.id !== row.id);
  if (other === undefined) return;
  draft.notice(
    `Todo "${oneLine(other.title, 80)}" is in progress too; work on one at a time, highest priority first.`,
  );
}

export function findRow(draft: PlanDraft, todoId: string, rows: Rows): Todo | null {
  const row =
    rows.byId.find(({ id }) => id === todoId) ?? rows.byId.find(({ hostKey }) => hostKey === todoId) ?? null;
  if (row === null) {
    refuse(
      draft,
      'unknown-id',
      `There is no todo with the id "${oneLine(todoId, 60)}" in this plan; list_todo shows the ids. Nothing changed.`,
    );
  }
  return row;
}

function refuse(draft: PlanDraft, code: string, sentence: string): void {
  draft.refuse({ index: null, code, sentence });
}
