// The runtime of a host that is told: the engine with toasts, a watchdog over continuations and a clean end. It is found
// again by its instance after a restart.
import type { Decision } from '../core/decision.ts';
import type { Event } from '../core/events.ts';
import { ownToast } from '../core/own-words.ts';
import { settingsForAgent } from '../core/settings.ts';
import { isOnItsWay, type Session, type State } from '../core/state.ts';
import { isOpen } from '../core/todo.ts';
import { askHost, createRuntime, type RuntimeOptions } from '../engine/runtime.ts';

/** The engine, and what ends with the process. Timers and outbox are found by `instance` after a restart. */
export type ToldRuntimeOptions = RuntimeOptions &
  Required<Pick<RuntimeOptions, 'host' | 'onError' | 'instance'>>;

/** More than anyone runs; then a name is made up. */
const mostCopies = 20;
/** Under the first name that no living process holds: a dead one's, with its countdowns, or a new one. */
export async function openToldRuntime(options: ToldRuntimeOptions) {
  const taken: ToldRuntime[] = [];
  for (let copy = 1; ; copy++) {
    const suffix = copy <= mostCopies ? copy : options.identifiers.next();
    const instance = copy === 1 ? options.instance : `${options.instance}#${suffix}`;
    const runtime = createToldRuntime({ ...options, instance });
    const dispose = async () => {
      await runtime.dispose();
      // Their plans are not ours to cancel.
      for (const other of taken) await other.detach();
    };
    if ((await runtime.attach()) || copy > mostCopies) return { runtime: { ...runtime, dispose }, instance };
    // It keeps trying: the holder may go.
    taken.push(runtime);
  }
}

export type ToldRuntime = ReturnType<typeof createToldRuntime>;
export function createToldRuntime(options: ToldRuntimeOptions) {
  const { store, clock, identifiers, instance, onError } = options;
  const host: typeof options.host = {
    ...options.host,
    inject: async (outgoing) =>
      disposed === null ? options.host.inject(outgoing) : { taken: false, error: 'the host has ended' },
  };
  const watchdog = createWatchdog({ ...options, host }, (event) => runtime.handle(event));
  const followers = [createToasts(options), watchdog];
  /** Sessions whose stop attempt waits, some without a timer. */
  const waiting = new Set<string>();
  let disposed: Promise<void> | null = null;
  const runtime = createRuntime({ ...options, host, watch });

  function watch(session: State, events: readonly Event[], decisions: readonly Decision[]) {
    options.watch?.(session, events, decisions);
    const { id, parked, timer } = session;
    if (session.descriptor.mode !== 'told') return;
    if (disposed !== null) {
      // It was on its way during the clean end.
      if (parked !== null || timer !== null) close(id).catch(onError);
      return;
    }
    if (parked === null) waiting.delete(id);
    else waiting.add(id);
    for (const { follow } of followers) follow(session, events);
  }

  const close = (sessionId: string) =>
    runtime.handle({ type: 'session-closed', id: identifiers.next(), sessionId, at: clock.now() });

  async function end() {
    for (const follower of followers) follower.end();
    try {
      // Any more are too old at the next start.
      const { due } = await store.timers(instance, Number.MAX_SAFE_INTEGER, 10_000);
      const planned = [...due, ...(await store.outbox({ instance }))].map(({ sessionId }) => sessionId);
      for (const id of new Set([...planned, ...waiting])) await close(id);
    } finally {
      // Even then: no wake-up may act for a host that is gone.
      await runtime.detach();
    }
  }

  return {
    ...runtime,
    /** What was planned is cancelled, on the record; nothing is injected afterwards. */
    dispose() {
      disposed ??= end();
      return disposed;
    },
  };
}

const second = 1000;
/** A toast each second of a countdown (E1), unless a restart took it over. */
function createToasts({ clock, policy, host, onError }: ToldRuntimeOptions) {
  /** As saved last: todos may be finished meanwhile. */
  const running = new Map<string, { session: State; cancel: () => void }>();

  function tick(id: string, dueAt: number) {
    const countdown = running.get(id);
    const seconds = Math.ceil((dueAt - clock.now()) / second);
    if (countdown === undefined || seconds <= 0) return;
    const { session } = countdown;
    const own = settingsForAgent(policy(session).settings, session.agent.name);
    const open = session.plan.filter(isOpen).length;
    const reason = `Resuming in ${seconds} s`;
    const ours = `${reason}, ${open} ${open === 1 ? 'todo' : 'todos'} remaining`;
    const message = ownToast(own.toasts, 'countdown', { reason, seconds, remaining: open }) ?? ours;
    const durationMs = Math.round(own.toastSeconds * 1000);
    const toast = { title: 'Todos remain', message, level: 'warning', durationMs } as const;
    // Safe: the countdown is in the store.
    host.notify(session, toast).catch(onError);
    // A long wait is told once, and counts down at its end.
    const before = Math.min(seconds - 1, Math.max(1, Math.ceil(own.countdownSeconds)));
    if (before >= 1) countdown.cancel = clock.wake(dueAt - before * second, () => tick(id, dueAt));
  }

  function stop(id: string) {
    running.get(id)?.cancel();
    running.delete(id);
  }

  return {
    follow(session: State) {
      const { id } = session;
      const timer = session.parked?.cause === 'not-yet' ? session.timer : null;
      const known = running.get(id);
      const before = known?.session.timer;
      if (known !== undefined && before?.dueAt === timer?.dueAt && before?.epoch === timer?.epoch) {
        known.session = session;
        return;
      }
      stop(id);
      if (timer === null) return;
      running.set(id, { session, cancel: () => {} });
      tick(id, timer.dueAt);
    },
    end: () => [...running.keys()].forEach(stop),
  };
}

/** An error does not make it `alive`: it may be the refusal. */
type Watch = { readonly epoch: number; alive: boolean; cancel: (() => void) | null };
/** Too short costs a question to the host, too long a human's time. */
const patienceMs = 5000;
const signsOfLife = new Set<Event['type']>(['activity-seen', 'tool-started', 'tool-ended']);
/** A host that took a continuation and shows no sign of life is asked. */
function createWatchdog(options: ToldRuntimeOptions, handle: (event: Event) => Promise<unknown>) {
  const { store, clock, host, onError } = options;
  const watches = new Map<string, Watch>();

  function drop(watch: Watch | undefined) {
    watch?.cancel?.();
    if (watch !== undefined) watch.cancel = null;
  }

  async function look(sessionId: string, watch: Watch) {
    const { epoch } = watch;
    const session = await store.state(sessionId);
    const row = (await store.outbox({ sessionId })).find((one) => one.epoch === epoch);
    if (session?.epoch !== epoch || row === undefined || !isAwaited(session)) return;
    if (watches.get(sessionId) !== watch || watch.alive) return;
    const key = `${sessionId}:${epoch}`;
    const seen = await askHost(host, { key, session, epoch, text: row.text }, clock.now());
    if (typeof seen !== 'string') return handle(seen);
    const isIdle = await host.isIdle(sessionId);
    const attempts = session.injection?.attempts ?? 0;
    const base = { id: `${key}:${isIdle ? 'unseen' : 'busy'}:${attempts}`, sessionId, at: clock.now() };
    // With this or something else: it will idle again.
    if (!isIdle) return handle({ ...base, type: 'activity-seen' });
    const error = `the host took it, and nothing followed within ${patienceMs / second} s`;
    return handle({ ...base, type: 'delivery-reported', epoch, news: 'failed', error });
  }

  return {
    follow(session: State, events: readonly Event[]) {
      const { id, epoch, injection } = session;
      const known = watches.get(id);
      const watch: Watch = known?.epoch === epoch ? known : { epoch, alive: false, cancel: null };
      if (watch !== known || !isAwaited(session)) drop(known);
      if (!isAwaited(session)) return watches.delete(id);
      watches.set(id, watch);
      watch.alive ||= events.some(({ type }) => signsOfLife.has(type));
      if (watch.alive || injection?.state !== 'sent') return drop(watch);
      watch.cancel ??= clock.wake(clock.now() + patienceMs, () => {
        watch.cancel = null;
        look(id, watch).catch(onError);
      });
    },
    end() {
      watches.forEach(drop);
      watches.clear();
    },
  };
}

function isAwaited({ injection, epoch, parked, settled, latch, pause, deleted }: Session): boolean {
  if (injection?.epoch !== epoch || !isOnItsWay(injection)) return false;
  return parked === null && settled === null && latch === null && pause === null && !deleted;
}
