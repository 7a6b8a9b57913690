// While a stop waits for background work of which the program gives only a number, the number is asked for again: no
// event would tell that it fell to zero, and a wait must end by itself when its cause ends (G3).
import type { Session } from '../../core/session.ts';
import type { Clock } from '../../engine/clock.ts';

/** A look costs the program one callback; a human does not notice the difference between this and at once. */
const intervalMs = 2000;

export interface BackgroundWatch {
  follow(session: Session): void;
  end(): void;
}

export function createBackgroundWatch(
  clock: Clock,
  look: (session: Session) => Promise<void>,
  onError: (error: unknown) => void,
): BackgroundWatch {
  const waiting = new Map<string, Session>();
  let cancel: (() => void) | null = null;

  function wake(): void {
    if (waiting.size === 0 || cancel !== null) return;
    cancel = clock.wake(clock.now() + intervalMs, () => {
      lookAtAll()
        .catch(onError)
        .finally(() => {
          cancel = null;
          wake();
        });
    });
  }

  async function lookAtAll(): Promise<void> {
    for (const session of [...waiting.values()]) if (waiting.has(session.id)) await look(session);
  }

  return {
    follow(session) {
      if (session.parked?.cause === 'background') waiting.set(session.id, session);
      else waiting.delete(session.id);
      wake();
    },
    end() {
      waiting.clear();
      cancel?.();
    },
  };
}
