// The workers of our own agent, read from the ledger of the plan that they worked on: it
// says which worker got which todo and how it ended. Their own sessions stand below the
// session that the human sees.
import type { WorkerResult } from '../core/events.ts';
import type { Session } from '../core/state.ts';
import type { Store } from './store.ts';

/** One worker as people see it. */
export interface WorkerView {
  readonly id: string;
  readonly agentType: string;
  readonly todoId: string | null;
  readonly title: string | null;
  readonly startedAt: number;
  /** Null: the worker still runs, or its run was killed. */
  readonly result: WorkerResult | null;
  readonly sentence: string | null;
}

/** The workers of the session's present plan, oldest first. */
export async function readWorkers(
  store: Store,
  { planId }: Session,
): Promise<WorkerView[]> {
  const titles = new Map(
    (await store.todos({ planId })).map(({ id, title }) => [id, title]),
  );
  const workers = new Map<string, WorkerView>();
  for (const { change, detail, todoId, at } of await store.ledger(planId)) {
    const id = detail['worker'];
    if (typeof id !== 'string') continue;
    if (change === 'delegated') {
      const title = titles.get(todoId ?? '') ?? null;
      const agentType = String(detail['agentType']);
      workers.set(id, {
        id,
        agentType,
        todoId,
        title,
        startedAt: at,
        result: null,
        sentence: null,
      });
    }
    const known = workers.get(id);
    if (change !== 'worker-ended' || known === undefined) continue;
    const result = detail['result'] as WorkerResult;
    workers.set(id, { ...known, result, sentence: String(detail['sentence']) });
  }
  return [...workers.values()];
}

/** Tells whether a session belongs to a worker of our own agent. */
export function isWorker({ descriptor }: Pick<Session, 'descriptor'>): boolean {
  return descriptor.host === 'untildone' && descriptor.parentId !== null;
}
