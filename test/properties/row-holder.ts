// Holds the rows of one session for tests of core: what a store does for decide(), in memory and without a promise.
// It hands out exactly the rows that `needs` names, so that a rule which looks at more is found out.
import type { Needs, RowChanges, Rows } from '../../src/core/rows.ts';
import type { Session } from '../../src/core/session.ts';
import type { Todo } from '../../src/core/todo.ts';
import { findRows } from '../../src/store/memory/find-rows.ts';

export interface RowHolder {
  rows(session: Session, needs: Needs): Rows;
  save(changes: RowChanges): void;
  /** The todos of one plan, in order of arrival. */
  plan(planId: string): Todo[];
  readonly fingerprints: ReadonlySet<string>;
}

export function createRowHolder(): RowHolder {
  const plans = new Map<string, Map<string, Todo>>();
  const fingerprints = new Set<string>();

  function planOf(planId: string): Map<string, Todo> {
    const plan = plans.get(planId) ?? new Map<string, Todo>();
    plans.set(planId, plan);
    return plan;
  }

  function saveTodo(todo: Todo, isNew: boolean): void {
    const plan = planOf(todo.planId);
    if (plan.has(todo.id) === isNew) {
      throw new Error(`todo ${todo.id} was ${isNew ? 'created twice' : 'updated before it was created'}`);
    }
    plan.set(todo.id, todo);
  }

  return {
    fingerprints,
    rows(session, needs) {
      const seen = needs.fingerprint !== null && fingerprints.has(needs.fingerprint);
      return findRows(planOf(session.planId).values(), needs, seen);
    },
    save({ created, updated, fingerprints: seen }) {
      for (const todo of created) saveTodo(todo, true);
      for (const todo of updated) saveTodo(todo, false);
      for (const fingerprint of seen) fingerprints.add(fingerprint);
    },
    plan: (planId) => [...planOf(planId).values()],
  };
}
