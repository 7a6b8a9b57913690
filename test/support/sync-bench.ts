// For tests: a plan file beside a real engine over a store in memory.

import type { Event } from '../../src/core/events.ts';
import { defaultSettings } from '../../src/core/settings.ts';
import type { Todo } from '../../src/core/todo.ts';
import type { Handled } from '../../src/engine/engine.ts';
import type { Checker } from '../../src/engine/host.ts';
import { createRuntime } from '../../src/engine/runtime.ts';
import type { Store } from '../../src/engine/store.ts';
import { sha256 } from '../../src/engine/system.ts';
import {
  createPlanFileSync,
  type PlanFileSync,
  type PlanFileSyncOptions,
} from '../../src/plan-file/plan-file-sync.ts';

type Happening = Event extends infer E
  ? E extends Event
    ? Omit<E, 'id' | 'sessionId' | 'at'>
    : never
  : never;

export interface SyncBench {
  readonly sync: PlanFileSync;
  /** Another process: the same store, nothing remembered but what the memory keeps. */
  again(options?: Partial<PlanFileSyncOptions>): PlanFileSync;
  todos(): Promise<readonly Todo[]>;
  happens(happening: Happening): Promise<Handled>;
}

export function createSyncBench(
  path: string,
  store: Store,
  options: Partial<PlanFileSyncOptions> & { readonly checker?: Checker } = {},
): SyncBench {
  const sessionId = 'session-1';
  let count = 0;
  let now = 1_800_000_000_000;
  const identifiers = { next: () => `id-${++count}` };
  const clock = { now: () => ++now, wake: () => () => {} };
  const policy = { settings: defaultSettings, goalChecks: [] };
  const checker = options.checker ?? { run: async () => {} };
  const runtime = createRuntime({
    store,
    clock,
    identifiers,
    hash: sha256,
    policy: () => policy,
    checker,
  });
  const again = (more: Partial<PlanFileSyncOptions> = {}): PlanFileSync =>
    createPlanFileSync({
      path,
      engine: runtime,
      store,
      sessionId,
      clock,
      identifiers,
      allowedId: (check) => check,
      ...options,
      ...more,
    });
  return {
    sync: again(),
    again,
    todos: () => store.todos({ planId: sessionId }),
    happens: (happening) =>
      runtime.handle({
        ...happening,
        id: identifiers.next(),
        sessionId,
        at: clock.now(),
      } as Event),
  };
}
