// S6, P12: a todo at which the agent stopped after a tool error twice is set aside as blocked; the others go on.
import { createPlanDraft } from './plan/plan-draft.ts';
import { setStatus } from './plan/set-status.ts';
import type { Rows } from './rows.ts';
import type { StopContext } from './rules/rule.ts';
import type { Step } from './step.ts';

/** Null: the next todo has not failed twice. */
export function blockFailing({ session, stop, at, settings }: StopContext, rows: Rows): Step | null {
  const todo = rows.next[0];
  if (stop.toolError === null || todo === undefined || session.toolErrorTodo !== todo.id) return null;
  if (settings.mode === 'observe') return null;
  const draft = createPlanDraft({ ...session, toolErrorTodo: null }, 'system', at);
  const reason = `stopped after a tool error twice: ${stop.toolError}`;
  const change = setStatus(todo, { status: 'blocked', reason }, session, 'system', at);
  if (change === null) return null;
  draft.put(todo, { ...change.todo, attempts: todo.attempts + 1 }, 'blocked', { reason: 'tool error twice' });
  const { session: after, rowChanges } = draft.finish();
  return { session: after, rowChanges, commands: [], decision: null };
}
