// The human's hand on a running agent: Ctrl-C in this terminal, `untildone stop|pause|resume` in another one.
// Looks at the store twice a second; what it sees there aborts the step that runs.
import type { Session } from '../../core/session.ts';
import type { Clock } from '../../engine/clock.ts';
import type { Store } from '../../engine/store.ts';

/** Commands from another terminal take effect within a second; half of it is for everything else. */
const pollMs = 400;

export interface Control {
  /** Aborted as soon as the human wants the running step to end. */
  readonly signal: AbortSignal;
  /** Aborted once the human's stop is on the record: a wait is no step that could be finished. */
  readonly stopping: AbortSignal;
  /** The step ended or was aborted: a new one may be aborted again. */
  renew(): void;
  /** The human's stop lets the running step finish: what is seen in the store no longer aborts it. */
  letStepFinish(): void;
  /** Ends every wait, now and from now on; the latch is on the record. */
  endWaits(): void;
  /** Ends the running step at once. */
  abortStep(): void;
  /** Looks at the store now instead of at the next tick. */
  look(): Promise<void>;
  /** Calls back with the session at every look; returns a function that stops that. */
  onLook(listener: (session: Session) => void): () => void;
  /** Resolves when the session is neither latched nor paused by a human any more, or when it is latched. */
  whilePaused(): Promise<Session | null>;
  close(): void;
}

/** `onPause` is told once for each pause that holds the run up. */
export function createControl(
  store: Store,
  clock: Clock,
  sessionId: string,
  onPause: () => void = () => {},
): Control {
  let controller = new AbortController();
  let cancel: (() => void) | null = null;
  let waiting: (() => void) | null = null;
  let closed = false;
  let finishing = false;
  const stopped = new AbortController();
  const listeners = new Set<(session: Session) => void>();

  const session = () => store.read(async (reader) => reader.session(sessionId));

  async function poll(): Promise<void> {
    const current = await session();
    const stops = current?.latch || current?.pause?.by === 'human';
    if (stops && !finishing) controller.abort();
    waiting?.();
    if (current !== null) for (const listener of [...listeners]) listener(current);
  }

  function arm(): void {
    if (closed) return;
    cancel = clock.wake(clock.now() + pollMs, () => {
      const next = (): void => arm();
      // A store that cannot be read now is read again at the next tick; nothing is decided here.
      poll().then(next, next);
    });
  }
  arm();

  return {
    get signal() {
      return controller.signal;
    },
    stopping: stopped.signal,
    renew() {
      if (controller.signal.aborted) controller = new AbortController();
    },
    letStepFinish() {
      finishing = true;
    },
    endWaits: () => stopped.abort(),
    abortStep: () => controller.abort(),
    look: poll,
    onLook(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async whilePaused() {
      for (let told = false; ; told = true) {
        const current = await session();
        if (current === null || current.pause?.by !== 'human' || current.latch !== null) return current;
        if (!told) onPause();
        await new Promise<void>((resolve) => {
          waiting = resolve;
        });
        waiting = null;
      }
    },
    close() {
      closed = true;
      cancel?.();
      waiting?.();
    },
  };
}
