// How a command gets the queue of checks worked through: by a process of its own that outlives it, or, where this
// program cannot be started again (in tests), within this process.
import { runQueue, startDetachedRunner } from '../checks/queue.ts';
import type { Store } from '../engine/store.ts';
import type { Io } from './io.ts';

export function createRunnerStart(io: Io, store: Store): (directory: string, holder: string) => void {
  return (directory, holder) => {
    if (io.program !== null) return startDetachedRunner(io.program, directory, holder, io.env);
    // Whoever waits sees that the lease ran out, and starts another.
    runQueue({ store, clock: io.clock, directory, holder, environment: io.env }).catch(() => {});
  };
}
