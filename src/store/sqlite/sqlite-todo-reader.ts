// Finding todos in SQLite (T4, T5): one statement per question, each on its own index.
import type { Needs, Rows } from '../../core/rows.ts';
import type { Session } from '../../core/session.ts';
import type { Todo, TodoStatus } from '../../core/todo.ts';
import type { TodoReader } from '../../engine/store.ts';
import { toColumn } from './column-text.ts';
import type { StatementScope } from './statement-scope.ts';
import type { StatementName } from './statements.ts';

export class SqliteTodoReader implements TodoReader {
  protected readonly scope: StatementScope;

  constructor(scope: StatementScope) {
    this.scope = scope;
  }

  findTodo(id: string): Todo | null {
    return this.scope.body('todoById', toColumn(id));
  }

  findTodosByTurn(turnId: string, statuses?: readonly TodoStatus[]): Todo[] {
    if (!statuses) return this.scope.bodies('todosByTurn', toColumn(turnId));
    return this.scope.bodies('todosByTurnAndStatus', toColumn(turnId), JSON.stringify(statuses));
  }

  countTodosByStatus(turnId: string): Record<TodoStatus, number> {
    const counts = { pending: 0, in_progress: 0, completed: 0, cancelled: 0, blocked: 0 };
    for (const row of this.scope.all('todoCounts', toColumn(turnId))) {
      counts[row['status'] as TodoStatus] = row['count'] as number;
    }
    return counts;
  }

  todosOfPlan(planId: string): Todo[] {
    return this.scope.bodies('todosOfPlan', toColumn(planId));
  }

  rows(session: Session, needs: Needs): Rows {
    const planId = toColumn(session.planId);
    return {
      plan: needs.plan ? this.todosOfPlan(session.planId) : [],
      byId: this.#byKeys(planId, needs.ids),
      byTitle: this.#byTitles(planId, needs.titleKeys),
      atPosition: this.#atPositions(planId, needs.positions),
      next: this.#first('todosNext', planId, needs.next),
      dropped: this.#first('todosDropped', planId, needs.dropped),
      failed: this.#first('todosFailed', planId, needs.failed),
      inProgress: this.#first('todosInProgress', planId, needs.inProgress),
      unverified: this.#first('todosUnverified', planId, needs.unverified),
      fingerprintSeen: needs.fingerprint !== null && this.#isSeen(session.id, needs.fingerprint),
    };
  }

  #first(name: StatementName, planId: string, limit: number): Todo[] {
    return limit > 0 ? this.scope.bodies(name, planId, limit) : [];
  }

  /** Each row once, in the order in which the keys name it; our own id goes before a host's key. */
  #byKeys(planId: string, keys: readonly string[]): Todo[] {
    const found = new Map<string, Todo>();
    for (const key of keys) {
      const column = toColumn(key);
      const own = this.scope.body<Todo>('todoOfPlanById', column, planId);
      if (own) found.set(own.id, own);
      for (const todo of this.scope.bodies<Todo>('todosByHostKey', planId, column)) {
        found.set(todo.id, todo);
      }
    }
    return [...found.values()];
  }

  #byTitles(planId: string, titleKeys: readonly string[]): Todo[] {
    const distinct = [...new Set(titleKeys)];
    return distinct.flatMap((titleKey) =>
      this.scope.bodies<Todo>('todosByTitle', planId, toColumn(titleKey)),
    );
  }

  #atPositions(planId: string, positions: readonly number[]): Record<number, Todo> {
    const found: Record<number, Todo> = {};
    for (const position of positions) {
      const todo = this.#atPosition(planId, position);
      if (todo !== null) found[position] = todo;
    }
    return found;
  }

  #atPosition(planId: string, position: number): Todo | null {
    if (!Number.isSafeInteger(position) || position < 1) return null;
    return this.scope.body('todoAtPosition', planId, position - 1);
  }

  #isSeen(sessionId: string, fingerprint: string): boolean {
    return this.scope.get('hasFingerprint', toColumn(sessionId), toColumn(fingerprint)) !== null;
  }
}
