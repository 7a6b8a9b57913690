// Timers that survive restarts: one wake-up for the earliest of a host instance. Only the holder of its lease acts.
import type { State } from '../core/state.ts';
import type { Engine } from './engine.ts';
import type { RuntimeOptions } from './runtime.ts';
import type { DueTimer } from './store.ts';
import { isHolderAlive, processHolder } from './system.ts';

/** A dead process on another machine holds its lease this long; a live one renews it after a third of it. */
const leaseMs = 30_000;
/** Bounds the memory, however many are due. */
const batchSize = 200;
const never = Number.POSITIVE_INFINITY;

interface TimersOptions extends RuntimeOptions, Pick<Engine, 'handle'> {
  /** Each time the lease comes to us. */
  readonly recover: (instance: string) => Promise<void>;
}

export function createTimers(options: TimersOptions) {
  const { store, clock, host, instance = 'unattached', handle } = options;
  const holder = processHolder(options.identifiers.next());
  let cancelWake: (() => void) | null = null;
  let wakeAt = never;
  let leaseUntil = 0;
  let attached = false;
  let firing: Promise<number> | null = null;
  const renewAt = (): number => leaseUntil - (leaseMs * 2) / 3;

  async function takeLease(): Promise<boolean> {
    const now = clock.now();
    const hadIt = leaseUntil > now;
    const take = () => store.lease(instance, holder, now, now + leaseMs);
    let held = await take();
    // Nobody need wait until the lease of a dead process runs out.
    if (held !== null && held !== holder && !isHolderAlive(held)) {
      await store.lease(instance, held, now, null);
      held = await take();
    }
    const taken = held === holder;
    leaseUntil = taken ? now + leaseMs : 0;
    if (taken && !hadIt) await options.recover(instance);
    return taken;
  }

  function wake(at: number): void {
    const next = Math.min(at, leaseUntil === 0 ? never : renewAt());
    if (!attached || next >= wakeAt) return;
    cancelWake?.();
    wakeAt = next;
    cancelWake = clock.wake(next, () => {
      wakeAt = never;
      // Safe: a store that fails now is tried again at the next wake-up.
      fireDue().catch((error: unknown) => {
        options.onError?.(error);
        wake(clock.now() + 1000);
      });
    });
  }

  async function wakeForNext(): Promise<void> {
    wake((await store.timers(instance, 0, 0)).nextAt ?? never);
  }

  function fireDue(): Promise<number> {
    firing ??= fireAll().finally(() => {
      firing = null;
    });
    return firing;
  }

  async function fireAll(): Promise<number> {
    if (clock.now() >= renewAt() && !(await takeLease())) {
      wake(clock.now() + leaseMs);
      return 0;
    }
    for (let fired = 0; ; ) {
      const { due } = await store.timers(instance, clock.now(), batchSize);
      for (const timer of due) await fire(timer);
      fired += due.length;
      if (due.length === batchSize) continue;
      await wakeForNext();
      return fired;
    }
  }

  async function fire({ sessionId, epoch, dueAt, purpose }: DueTimer): Promise<void> {
    const session = await store.state(sessionId);
    if (session === null || session.timer?.epoch !== epoch || session.timer.dueAt !== dueAt) {
      // Void: what the session says is written, or the row would be due for ever.
      await store.step(sessionId, {}, ({ state }) => ({ result: null, timer: state?.timer ?? null }));
      return;
    }
    // The host's list at the moment of acting; one that cannot be read holds nothing up (G5).
    const plan = purpose === 'due' ? ((await host?.readPlan(session).catch(() => null)) ?? null) : null;
    if (plan !== null) await handle(plan);
    const now = clock.now();
    const id = `${sessionId}:timer:${epoch}:${dueAt}:${now}`;
    await handle({ type: 'timer-fired', id, sessionId, at: now, epoch, dueAt });
  }

  return {
    async attach(): Promise<boolean> {
      attached = true;
      const taken = await takeLease();
      if (taken) await wakeForNext();
      else wake(clock.now() + leaseMs);
      return taken;
    },
    changed({ timer }: State): void {
      if (timer !== null) wake(timer.dueAt);
    },
    fireDue,
    async detach(): Promise<void> {
      attached = false;
      cancelWake?.();
      wakeAt = never;
      await firing;
      await store.lease(instance, holder, clock.now(), null);
    },
  };
}
