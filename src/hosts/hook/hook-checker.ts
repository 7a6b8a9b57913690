// The checker of a hook: it asks the queue of the folder, whose runner is nobody's child, and waits. When the host
// ends the hook, the checks go on and their results wait for the next call.
import { createChecker } from '../../checks/checker.ts';
import { startDetachedRunner } from '../../checks/queue.ts';
import type { Clock, Identifiers } from '../../engine/clock.ts';
import type { Checker } from '../../engine/host.ts';
import type { Store } from '../../engine/store.ts';
import { sha256 } from '../../engine/system.ts';
import type { HookMoment } from './hook-request.ts';

export interface HookCheckerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly identifiers: Identifiers;
  readonly environment: HookMoment['environment'];
  /** The command line that starts this program again; it knows `check-runner`. */
  readonly program: readonly string[];
}

export function hookChecker({ environment, program, ...place }: HookCheckerOptions): Checker {
  // A hook that is broken off leaves its checks running: others may wait for them. Made when it is first asked for,
  // because most calls run no checks.
  let never: AbortSignal | null = null;
  return createChecker({
    ...place,
    hash: sha256,
    startRunner: (directory, holder) => startDetachedRunner(program, directory, holder, environment),
    signal: () => {
      never ??= new AbortController().signal;
      return never;
    },
  });
}
