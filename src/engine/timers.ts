// Timers that survive restarts. One wake-up for the earliest due timer of this host instance, never one per idle
// session and never a scan: the cost follows the sessions that are due. Only the holder of the lease acts.
import type { Event } from '../core/events.ts';
import type { Handled } from './engine.ts';
import type { ToldHost } from './host.ts';
import type { RuntimeOptions } from './runtime.ts';
import type { DueTimer } from './store.ts';
import { isHolderAlive } from './system.ts';

/** A dead process holds its lease this long; a live one renews it three times as often. */
const leaseMs = 30_000;
/** Due timers taken at once: bounded memory, however many are due. */
const batchSize = 200;

export interface TimersOptions extends Pick<RuntimeOptions, 'store' | 'clock'> {
  readonly host: ToldHost | undefined;
  readonly instance: string;
  readonly holder: string;
  readonly handle: (event: Event) => Promise<Handled>;
  /** A failure while nobody waits for an answer: recorded by the caller, the next wake-up tries again. */
  readonly onError: (error: unknown) => void;
  /** Each time the lease comes to us, from nobody or from a dead process. */
  readonly onAttached: () => Promise<void>;
}

export function createTimers(options: TimersOptions) {
  const { store, clock, host, instance, holder, handle } = options;
  let cancelWake: (() => void) | null = null;
  let wakeAt = Number.POSITIVE_INFINITY;
  let leaseUntil = 0;
  let attached = false;
  let firing: Promise<number> | null = null;

  async function takeLease(): Promise<boolean> {
    const now = clock.now();
    const hadIt = leaseUntil > now;
    const take = () => store.lease(instance, holder, now, now + leaseMs);
    let held = await take();
    // The process behind it is gone: a new one takes over at once, and need not wait until the lease runs out.
    if (held !== null && held !== holder && !isHolderAlive(held)) {
      await store.lease(instance, held, now, null);
      held = await take();
    }
    const taken = held === holder;
    leaseUntil = taken ? now + leaseMs : 0;
    if (taken && !hadIt) await options.onAttached();
    return taken;
  }

  function wake(at: number): void {
    const renewal = leaseUntil === 0 ? Number.POSITIVE_INFINITY : leaseUntil - (leaseMs * 2) / 3;
    const next = Math.min(at, renewal);
    if (!attached || next >= wakeAt) return;
    cancelWake?.();
    wakeAt = next;
    cancelWake = clock.wake(next, () => {
      wakeAt = Number.POSITIVE_INFINITY;
      // Nobody awaits a wake-up; a store that fails now is tried again at the next one.
      fireDue().catch((error: unknown) => {
        options.onError(error);
        wake(clock.now() + 1000);
      });
    });
  }

  async function wakeForNext(): Promise<void> {
    const { nextAt } = await store.timers(instance, 0, 0);
    wake(nextAt ?? Number.POSITIVE_INFINITY);
  }

  function fireDue(): Promise<number> {
    firing ??= fireAll().finally(() => {
      firing = null;
    });
    return firing;
  }

  async function fireAll(): Promise<number> {
    if (clock.now() >= leaseUntil - (leaseMs * 2) / 3 && !(await takeLease())) {
      wake(clock.now() + leaseMs);
      return 0;
    }
    let fired = 0;
    for (;;) {
      const now = clock.now();
      const { due } = await store.timers(instance, now, batchSize);
      for (const timer of due) await fire(timer);
      fired += due.length;
      if (due.length < batchSize) break;
    }
    await wakeForNext();
    return fired;
  }

  /** The host's own list is read again at the moment of acting, not from memory (G5). */
  async function fire(timer: DueTimer): Promise<void> {
    const { sessionId, epoch, dueAt } = timer;
    const session = await store.state(sessionId);
    if (session === null || session.timer?.epoch !== epoch || session.timer.dueAt !== dueAt) {
      // The row outlived its session's timer: void. Writing what the session says keeps it from being due for ever.
      await store.step(sessionId, {}, ({ state }) => ({ result: null, timer: state?.timer ?? null }));
      return;
    }
    if (timer.purpose === 'due' && host !== undefined) {
      // A list that cannot be read does not hold the continuation up (G5).
      const plan = await host.readPlan(session).catch(() => null);
      if (plan !== null) await handle(plan);
    }
    const now = clock.now();
    const id = `${sessionId}:timer:${epoch}:${dueAt}:${now}`;
    await handle({ type: 'timer-fired', id, sessionId, at: now, epoch, dueAt });
  }

  return {
    /** Takes the lease and starts waking up. False: another process is attached to this instance. */
    async attach(): Promise<boolean> {
      attached = true;
      const taken = await takeLease();
      if (!taken) {
        wake(clock.now() + leaseMs);
        return false;
      }
      await wakeForNext();
      return true;
    },
    /** A session's timer changed: wake up earlier if needed. */
    changed(dueAt: number | null): void {
      if (dueAt !== null) wake(dueAt);
    },
    /** Fires everything that is due now. */
    fireDue,
    async detach(): Promise<void> {
      attached = false;
      cancelWake?.();
      wakeAt = Number.POSITIVE_INFINITY;
      await firing;
      await store.lease(instance, holder, clock.now(), null);
    },
  };
}
