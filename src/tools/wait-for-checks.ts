// Waits for checks on behalf of a tool call, and says how todos with checks stand afterwards.

import type { Todo } from '../core/todo.ts';
import type { Handled } from '../engine/engine.ts';
import { shownNote, shownTitle } from './todo-view.ts';

/** What one call may wait at most (M8): hosts and models lose patience soon after. */
export const checkPatienceMs = 45_000;

/** False: they still run. */
export async function waitForChecks(checks: Handled['checks'], patienceMs: number): Promise<boolean> {
  if (checks === null) return true;
  let timer: ReturnType<typeof setTimeout> | null = null;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), patienceMs);
  });
  // Safe: a check that was not reported is run again at the next stop attempt, and is shown here as it stands.
  const ended = checks.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([ended, late]);
  } finally {
    if (timer !== null) clearTimeout(timer);
  }
}

/** A todo and what its checks said. */
export function viewChecked(todo: Todo) {
  return {
    id: todo.id,
    title: shownTitle(todo),
    status: todo.status,
    verification: todo.verification,
    ...(todo.failureTail === null ? {} : { failure: shownNote(todo.failureTail) }),
  };
}
