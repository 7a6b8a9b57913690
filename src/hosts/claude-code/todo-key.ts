// How a task of Claude Code is called with us. The host counts tasks from 1 in every session, so that its number
// finds a todo only within its plan.

const plainNumber = /^[\w-]{1,40}$/u;

/** Null: what the host calls the task is not a plain name. */
export function todoKeyOf(taskId: unknown): string | null {
  const text = typeof taskId === 'number' ? String(taskId) : taskId;
  return typeof text === 'string' && plainNumber.test(text) ? `task-${text}` : null;
}
