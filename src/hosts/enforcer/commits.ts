// Hands events to the engine and waits only until they are written down. Programs tell of a message while they take it:
// whoever waited for the injection to end in the queue of its session would wait for that very message.
import type { Event } from '../../core/events.ts';
import { UntildoneError } from '../../core/untildone-error.ts';
import type { Runtime } from '../../engine/runtime.ts';

export interface Commits {
  handle(event: Event): Promise<void>;
  /** Told of every commit with what was applied. */
  seen(events: readonly Event[]): void;
  use(runtime: Runtime): void;
}

export function createCommits(onError: (error: unknown) => void): Commits {
  const waiting = new Map<string, () => void>();
  let runtime: Runtime | null = null;
  return {
    async handle(event) {
      // A wake-up before the end of opening: it is made again when something happens.
      if (runtime === null) throw new UntildoneError('store-unavailable', 'The enforcer is still opening.');
      let written = false;
      const committed = new Promise<void>((resolve) => {
        waiting.set(event.id, () => {
          written = true;
          resolve();
        });
      });
      const performed = runtime.handle(event).then(
        () => {},
        (error: unknown) => {
          // Written down already: nobody waits for the rest any more, and the record says what was meant to happen.
          if (written) onError(error);
          else throw error;
        },
      );
      await Promise.race([committed, performed]).finally(() => waiting.delete(event.id));
    },
    seen(events) {
      for (const { id } of events) waiting.get(id)?.();
    },
    use(opened) {
      runtime = opened;
    },
  };
}
