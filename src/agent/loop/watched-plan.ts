// The plan of a run as its watchers and the guard see it: told to watchers whenever something in it changed.
import type { Session } from '../../core/session.ts';
import type { Clock } from '../../engine/clock.ts';
import type { Store } from '../../engine/store.ts';
import type { Emit } from '../agent-event.ts';
import { planOf, todoViews } from './views.ts';

export interface WatchedPlan {
  /** As a string that differs whenever the plan does. */
  read(): Promise<string>;
  /** Tells watchers, unless they know. */
  show(): Promise<void>;
}

export interface WatchedPlanOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly sessionId: string;
  readonly session: () => Promise<Session | null>;
  readonly emit: Emit;
}

export function createWatchedPlan({
  store,
  clock,
  sessionId,
  session,
  emit,
}: WatchedPlanOptions): WatchedPlan {
  let shown = '';

  async function read(): Promise<string> {
    const current = await session();
    return current === null ? '[]' : JSON.stringify(todoViews(await planOf(store, current)));
  }

  return {
    read,
    async show() {
      const plan = await read();
      if (plan === shown) return;
      shown = plan;
      const todos = JSON.parse(plan) as ReturnType<typeof todoViews>;
      const completed = todos.filter(({ status }) => status === 'completed').length;
      emit({ type: 'plan-changed', at: clock.now(), sessionId, todos, completed, total: todos.length });
    },
  };
}
