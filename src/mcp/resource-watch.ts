// Tells subscribers that a resource changed, also when another process changed it (a hook settles the outcome). It
// looks after each call of ours and, once somebody has shown interest in a resource, every few seconds.
import type { Clock } from '../engine/clock.ts';

export interface ResourceWatch {
  /** Somebody reads or subscribes: from now on changes are looked for. */
  begin(): Promise<void>;
  /** After a call of ours. */
  look(): Promise<void>;
  end(): void;
}

/** A human who watches a plan does not notice two seconds; a read of two rows costs nothing in that time. */
const lookEveryMs = 2000;

export function createResourceWatch(
  clock: Clock,
  uris: readonly string[],
  /** By URI, what stands for its present text. */
  versions: () => Promise<ReadonlyMap<string, string>>,
  tell: (uri: string) => Promise<void>,
): ResourceWatch {
  let known: ReadonlyMap<string, string> | null = null;
  let cancel: (() => void) | null = null;
  let queue: Promise<void> = Promise.resolve();
  let begun = false;
  let ended = false;

  function arm(): void {
    if (ended) return;
    cancel = clock.wake(clock.now() + lookEveryMs, () => {
      // Safe: a look that failed is made again at the next one.
      look().then(arm, arm);
    });
  }

  /** One after the other: two calls at once must not tell of the same change twice. */
  function look(): Promise<void> {
    const looked = queue.then(lookNow);
    // Safe: whoever asked gets the failure; the next look begins anew.
    queue = looked.catch(() => {});
    return looked;
  }

  async function lookNow(): Promise<void> {
    if (ended) return;
    const before = known;
    const now = before === null ? null : await versions();
    known = now;
    for (const uri of uris) if (now === null || before?.get(uri) !== now.get(uri)) await tell(uri);
  }

  return {
    async begin() {
      if (begun) return;
      begun = true;
      try {
        known = await versions();
      } catch (error) {
        begun = false;
        throw error;
      }
      arm();
    },
    look,
    end() {
      ended = true;
      cancel?.();
    },
  };
}
