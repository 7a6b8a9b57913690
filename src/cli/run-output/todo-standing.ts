// Where a todo stands, in words: what the system saw of it, or that it saw nothing (V1, V8).
// It takes the record as it is and never calls a claim checked.
import type { TodoView } from '../../agent/agent-event.ts';
import type { TodoStatus } from '../../core/todo.ts';
import type { Style } from '../print.ts';

/** In the order in which a human wants to see them when not all can be shown. */
export const standings = ['open', 'blocked', 'claimed', 'cancelled', 'covered', 'checked'] as const;
export type Standing = (typeof standings)[number];

export const standingNames: Readonly<Record<Standing, string>> = {
  open: 'open',
  blocked: 'blocked',
  claimed: 'claimed, not checked',
  cancelled: 'cancelled',
  covered: 'checked by the goal check',
  checked: 'checked',
};

/** The marks of `plan show`. */
export const todoMarks: Readonly<Record<TodoStatus, readonly [mark: string, style: Style]>> = {
  pending: ['[ ]', 'bold'],
  in_progress: ['[>]', 'yellow'],
  completed: ['[x]', 'green'],
  cancelled: ['[-]', 'dim'],
  blocked: ['[!]', 'red'],
};

/** `goalPassed`: a passed goal check covers the todos that have no check of their own. */
export function standingOf({ status, verification }: TodoView, goalPassed: boolean): Standing {
  if (status === 'blocked' || status === 'cancelled') return status;
  if (status !== 'completed') return 'open';
  if (verification === 'passed') return 'checked';
  return goalPassed && verification !== 'failed' ? 'covered' : 'claimed';
}

/** With the reason, or with the agent's own word where there is nothing better; still a stranger's text. */
export function describeStanding(todo: TodoView, goalPassed: boolean): string {
  const standing = standingOf(todo, goalPassed);
  const name = standingNames[standing];
  switch (standing) {
    case 'checked':
    case 'covered':
      return name;
    case 'claimed':
      return `${name}${doubt(todo)}${todo.outcome === null ? '' : `: ${todo.outcome}`}`;
    case 'blocked':
    case 'cancelled':
      return todo.reason === null ? `${name} without a reason` : `${name}: ${todo.reason}`;
    case 'open':
      return `${name}${todo.dropped ? ', dropped from the list' : ''}${doubt(todo)}`;
  }
}

function doubt({ verification }: TodoView): string {
  if (verification === 'failed') return ', its check failed';
  return verification === 'running' ? ', its check still runs' : '';
}
