// Waiting inside our own loop: for a rate limit's reset, for a background job's end, for whatever the engine says.
// A human's stop ends every wait.
import type { Job } from '../../core/events.ts';
import { quoteForModel } from '../../core/safe-text.ts';
import type { Clock } from '../../engine/clock.ts';
import type { Control } from './control.ts';

/** The jobs of the workspace, as the loop sees them. */
export interface JobWatch {
  running(): readonly Job[];
  /** Calls back with each job that ends; returns a function that stops that. */
  onEnd(
    listener: (job: { readonly id: string; readonly description: string; readonly result: string }) => void,
  ): () => void;
}

export interface WaitEnd {
  /** What the model should be told; null: nothing. */
  readonly note: string | null;
  /** True: the next step may start. False: the stop attempt is to be decided again. */
  readonly goOn: boolean;
}

export interface Waits {
  running(): readonly Job[];
  wait(reason: string, dueAt: number | null): Promise<WaitEnd>;
}

/** A wait that names no end is looked at again after this time, so that a lost event cannot hold a run for ever. */
const longestWaitMs = 60_000;

export function createWaits(
  clock: Clock,
  control: Pick<Control, 'signal' | 'stopping'> & Partial<Pick<Control, 'onLook'>>,
  jobs: JobWatch,
): Waits {
  return {
    running: () => jobs.running(),
    wait(reason, dueAt) {
      return new Promise((resolve) => {
        const until = dueAt ?? clock.now() + longestWaitMs;
        const signal = AbortSignal.any([control.signal, control.stopping]);
        const end = (result: WaitEnd): void => {
          cancelWake();
          stopListening();
          stopHearing?.();
          signal.removeEventListener('abort', onAbort);
          resolve(result);
        };
        const onAbort = (): void => end({ note: null, goOn: false });
        const cancelWake = clock.wake(until, () => end({ note: null, goOn: false }));
        const stopListening =
          reason === 'background' ? jobs.onEnd((job) => end({ note: jobNote(job), goOn: true })) : () => {};
        // Whoever speaks need not wait; only a failed call waits its time.
        const stopHearing =
          reason === 'retry'
            ? undefined
            : control.onLook?.(({ words = [] }) => {
                if (words.length > 0) end({ note: null, goOn: true });
              });
        if (signal.aborted) onAbort();
        else signal.addEventListener('abort', onAbort, { once: true });
      });
    },
  };
}

function jobNote(job: {
  readonly id: string;
  readonly description: string;
  readonly result: string;
}): string {
  return `[background job ended] ${job.id} ${quoteForModel(job.description, 120)}: ${quoteForModel(job.result, 200)}. read_job shows its output.`;
}
