// The runtime for hosts that only tell us when they idle: the engine with countdown
// toasts, a watchdog over continuations and a clean end. It finds its timers and outgoing
// texts by the name of its instance after a restart.
import type { Decision } from '../core/decision.ts';
import type { Event } from '../core/events.ts';
import { ownToast } from '../core/own-words.ts';
import { settingsForAgent } from '../core/settings.ts';
import { formatTodoCount } from '../core/settlement.ts';
import {
  isOnItsWay,
  type Session,
  type SessionTimer,
  type State,
} from '../core/state.ts';
import { isOpen } from '../core/todo.ts';
import { askHost, createRuntime, type RuntimeOptions } from './runtime.ts';

/** A runtime's options; the host, `onError` and the instance must be there. */
export type ToldRuntimeOptions = RuntimeOptions &
  Required<Pick<RuntimeOptions, 'host' | 'onError' | 'instance'>>;

/** Nobody runs more copies of one host. Beyond it, an instance gets a made-up name. */
const mostCopies = 20;
/**
 * Opens a runtime under the first name that no living process holds: that of a dead
 * process, whose countdowns it takes over, or a new one.
 */
export async function openToldRuntime(options: ToldRuntimeOptions) {
  const taken: ToldRuntime[] = [];
  for (let copy = 1; ; copy++) {
    const suffix = copy <= mostCopies ? copy : options.identifiers.next();
    const instance = copy === 1 ? options.instance : `${options.instance}#${suffix}`;
    const runtime = createToldRuntime({ ...options, instance });
    const dispose = async () => {
      await runtime.dispose();
      // Living processes hold these names: their countdowns are not ours to cancel.
      for (const other of taken) await other.detach();
    };
    if ((await runtime.attach()) || copy > mostCopies)
      return { runtime: { ...runtime, dispose }, instance };
    // The runtime keeps trying to get that name, since the process that holds it may end.
    taken.push(runtime);
  }
}

/** A runtime that also ends cleanly; see `dispose`. */
export type ToldRuntime = ReturnType<typeof createToldRuntime>;
/** Creates the runtime under exactly the given name, without taking its lease yet. */
export function createToldRuntime(options: ToldRuntimeOptions) {
  const { store, clock, identifiers, instance, onError } = options;
  const host: typeof options.host = {
    ...options.host,
    inject: async (outgoing) =>
      disposed === null
        ? options.host.inject(outgoing)
        : { taken: false, error: 'the host has ended' },
  };
  /** Wake-ups of the two watchers below; `end` cancels them all. */
  const pending = new Set<() => void>();
  function wake(at: number, callback: () => void) {
    const cancel = clock.wake(at, () => {
      pending.delete(cancel);
      callback();
    });
    pending.add(cancel);
    return cancel;
  }
  const watcherOptions = { ...options, host, clock: { now: () => clock.now(), wake } };
  const watchers = [
    watchCountdowns(watcherOptions),
    watchContinuations(watcherOptions, (event) => runtime.handle(event)),
  ];
  /** Sessions whose stop attempt waits; some of them have no timer. */
  const waiting = new Set<string>();
  let disposed: Promise<void> | null = null;
  const runtime = createRuntime({ ...options, host, watch });

  function watch(
    session: State,
    events: readonly Event[],
    decisions: readonly Decision[],
  ) {
    options.watch?.(session, events, decisions);
    const { id, parked, timer } = session;
    if (session.descriptor.mode !== 'told') return;
    if (disposed !== null) {
      // This change was still being handled when the clean end began.
      if (parked !== null || timer !== null) close(id).catch(onError);
      return;
    }
    if (parked === null) waiting.delete(id);
    else waiting.add(id);
    for (const watchSession of watchers) watchSession(session, events);
  }

  const close = (sessionId: string) =>
    runtime.handle({
      type: 'session-closed',
      id: identifiers.next(),
      sessionId,
      at: clock.now(),
    });

  async function endCleanly() {
    for (const cancel of pending) cancel();
    try {
      // More than these are too old to act on at the next start.
      const { due } = await store.timers(instance, Number.MAX_SAFE_INTEGER, 10_000);
      const planned = [...due, ...(await store.outbox({ instance }))].map(
        ({ sessionId }) => sessionId,
      );
      for (const id of new Set([...planned, ...waiting])) await close(id);
    } finally {
      // Even if closing failed: no wake-up may act for a host that is gone.
      await runtime.detach();
    }
  }

  return {
    ...runtime,
    /** Cancels what was planned, on the record; nothing is injected afterwards. */
    dispose() {
      disposed ??= endCleanly();
      return disposed;
    },
  };
}

const second = 1000;
/** Shows a toast in each second of a countdown (E1); not if a restart took it over. */
function watchCountdowns({ clock, policy, host, onError }: ToldRuntimeOptions) {
  /**
   * Each session as it was saved last, since todos may be finished meanwhile. A timer
   * that was replaced finds itself missing here and ends its toasts.
   */
  const running = new Map<string, { session: State; timer: SessionTimer }>();

  function showToast(id: string, timer: SessionTimer) {
    const countdown = running.get(id);
    const seconds = Math.ceil((timer.dueAt - clock.now()) / second);
    if (countdown?.timer !== timer || seconds <= 0) return;
    const { session } = countdown;
    const settings = settingsForAgent(policy(session).settings, session.agent.name);
    const open = session.plan.filter(isOpen).length;
    const reason = `Resuming in ${seconds} s`;
    const defaultMessage = `${reason}, ${formatTodoCount(open)} remaining`;
    const message =
      ownToast(settings.toasts, 'countdown', { reason, seconds, remaining: open }) ??
      defaultMessage;
    const durationMs = Math.round(settings.toastSeconds * 1000);
    // Safe: the countdown itself is in the store.
    host
      .notify(session, { title: 'Todos remain', message, level: 'warning', durationMs })
      .catch(onError);
    // A long wait is announced once, and counts down at its end.
    const before = Math.min(
      seconds - 1,
      Math.max(1, Math.ceil(settings.countdownSeconds)),
    );
    if (before >= 1)
      clock.wake(timer.dueAt - before * second, () => showToast(id, timer));
  }

  return (session: State): void => {
    const { id, parked, timer } = session;
    const before = running.get(id)?.timer;
    if (parked?.cause !== 'not-yet' || timer === null) return void running.delete(id);
    const isSame = before?.dueAt === timer.dueAt && before.epoch === timer.epoch;
    running.set(id, { session, timer: isSame ? before : timer });
    if (!isSame) showToast(id, timer);
  };
}

/**
 * `alive`: the host showed a sign of life; an error is none, since it may be a refusal.
 * `attempt`: the send that the host is asked about.
 */
type Watch = { readonly epoch: number; alive: boolean; attempt: number };
/**
 * How long we wait for a sign of life. If it is too short we ask the host for nothing; if
 * it is too long a human waits.
 */
const patienceMs = 5000;
const signsOfLife = new Set<Event['type']>([
  'activity-seen',
  'tool-started',
  'tool-ended',
]);
/** Asks a host that took a continuation and then shows no sign of life. */
function watchContinuations(
  options: ToldRuntimeOptions,
  handle: (event: Event) => Promise<unknown>,
) {
  const { store, clock, host, onError } = options;
  const watches = new Map<string, Watch>();

  async function askAboutSilence(sessionId: string, watch: Watch, attempt: number) {
    const { epoch } = watch;
    const session = await store.state(sessionId);
    const row = (await store.outbox({ sessionId })).find((one) => one.epoch === epoch);
    if (session?.epoch !== epoch || row === undefined || !isAwaited(session)) return;
    if (watches.get(sessionId) !== watch || watch.alive || row.attempts !== attempt)
      return;
    const key = `${sessionId}:${epoch}`;
    const found = await askHost(
      host,
      { key, session, epoch, text: row.text },
      clock.now(),
    );
    if (typeof found !== 'string') return handle(found);
    const isIdle = await host.isIdle(sessionId);
    const base = {
      id: `${key}:${isIdle ? 'unseen' : 'busy'}:${attempt}`,
      sessionId,
      at: clock.now(),
    };
    // The host is busy, with our text or with something else, and will idle again.
    if (!isIdle) return handle({ ...base, type: 'activity-seen' });
    const error = `the host took it, and nothing followed within ${patienceMs / second} s`;
    return handle({ ...base, type: 'delivery-reported', epoch, news: 'failed', error });
  }

  return (session: State, events: readonly Event[]): void => {
    const { id, epoch, injection } = session;
    if (injection === null || !isAwaited(session)) return void watches.delete(id);
    const known = watches.get(id);
    const watch = known?.epoch === epoch ? known : { epoch, alive: false, attempt: -1 };
    watches.set(id, watch);
    watch.alive ||= events.some(({ type }) => signsOfLife.has(type));
    const { state, attempts } = injection;
    if (watch.alive || state !== 'sent' || watch.attempt === attempts) return;
    watch.attempt = attempts;
    clock.wake(clock.now() + patienceMs, () =>
      askAboutSilence(id, watch, attempts).catch(onError),
    );
  };
}

function isAwaited({
  injection,
  epoch,
  parked,
  settled,
  latch,
  pause,
  deleted,
}: Session): boolean {
  if (injection?.epoch !== epoch || !isOnItsWay(injection)) return false;
  return (
    parked === null && settled === null && latch === null && pause === null && !deleted
  );
}
