// The runtime of hosts that tell us when a session idles. Around the engine it adds what passes with the process: a toast
// each second of a countdown, a watchdog that sees whether the host acts on a continuation, a name for this instance,
// and a clean end. It decides nothing.

import { decide } from '../core/decide.ts';
import type { Event, EventOf } from '../core/events.ts';
import { settingsForAgent } from '../core/settings.ts';
import type { Session, State } from '../core/state.ts';
import { isOpen } from '../core/todo.ts';
import type { ToldHost } from '../engine/host.ts';
import { readSnapshot } from '../engine/policy.ts';
import { createRuntime, type RuntimeOptions } from '../engine/runtime.ts';

export interface Toast {
  readonly title: string;
  readonly message: string;
  readonly level: 'info' | 'warning';
  readonly durationMs: number;
}

export interface ToldRuntimeOptions extends RuntimeOptions {
  readonly host: ToldHost;
  readonly onError: (error: unknown) => void;
  /** The same name after a restart: timers and outbox are found by it. Two living processes must not share one. */
  readonly instance: string;
  /** Shows one toast of a countdown. May be slow or fail: nothing waits for it. */
  readonly toast: (session: Session, toast: Toast) => Promise<void> | void;
}

/** More copies of one program than anyone runs beside each other; beyond that a name is made up, and dies with it. */
const mostCopies = 20;

/**
 * Opens a runtime under the first name that no living process holds. A program that starts again takes the name of its
 * dead predecessor, and with it the countdowns; a second copy beside it gets a name of its own, and takes over what
 * the other leaves behind if that one dies.
 */
export async function openToldRuntime(options: ToldRuntimeOptions) {
  const taken: ToldRuntime[] = [];
  for (let copy = 1; ; copy++) {
    const suffix = copy <= mostCopies ? `${copy}` : options.identifiers.next();
    const instance = copy === 1 ? options.instance : `${options.instance}#${suffix}`;
    const runtime = createToldRuntime({ ...options, instance });
    if ((await runtime.attach()) || copy > mostCopies) {
      const dispose = async (): Promise<void> => {
        await runtime.dispose();
        // What is planned under another name is not ours to cancel: its process may live.
        for (const other of taken) await other.detach();
      };
      return { runtime: { ...runtime, dispose }, instance };
    }
    // It goes on trying: a name that looks held may be that of a process which is gone, or will be.
    taken.push(runtime);
  }
}

/** More sessions than one host has waiting at once; what lies beyond is found at the next start, and by then too old. */
const mostTimers = 10_000;

export type ToldRuntime = ReturnType<typeof createToldRuntime>;

export function createToldRuntime(options: ToldRuntimeOptions) {
  const { store, clock, identifiers, instance, onError } = options;
  const host: ToldHost = {
    ...options.host,
    inject: async (outgoing) =>
      disposed === null ? options.host.inject(outgoing) : { taken: false, error: 'the host has ended' },
  };
  const followers = [
    createToasts(options),
    createWatchdog({ ...options, host }, (event) => runtime.handle(event)),
  ];
  /** Sessions whose stop attempt waits, some of them without a timer. */
  const waiting = new Set<string>();
  let disposed: Promise<void> | null = null;
  const runtime = createRuntime({ ...options, host, watch });

  function watch(session: State, events: readonly Event[]): void {
    options.watch?.(session, events);
    if (session.descriptor.mode !== 'told') return;
    if (disposed !== null) {
      // An event that was on its way during the clean end: what it planned is cancelled like the rest.
      if (session.parked !== null || session.timer !== null) close(session.id).catch(onError);
      return;
    }
    if (session.parked === null) waiting.delete(session.id);
    else waiting.add(session.id);
    for (const { follow } of followers) follow(session, events);
  }

  /** Through the engine, so that the record says why nothing came of what was planned. */
  function close(sessionId: string): Promise<unknown> {
    return runtime.handle({ type: 'session-closed', id: identifiers.next(), sessionId, at: clock.now() });
  }

  async function end(): Promise<void> {
    for (const follower of followers) follower.end();
    try {
      const { due } = await store.timers(instance, Number.MAX_SAFE_INTEGER, mostTimers);
      const planned = [...due, ...(await store.outbox({ instance }))].map(({ sessionId }) => sessionId);
      for (const id of new Set([...planned, ...waiting])) await close(id);
    } finally {
      // Also when the store fails: a wake-up that stays would keep acting for a host that is gone.
      await runtime.detach();
    }
  }

  return {
    ...runtime,
    /** What a stop attempt would lead to; nothing is recorded, counted or sent. For hosts that leave on idle. */
    foresee: (stop: EventOf<'stop-attempted'>) => foresee(options, stop),
    /**
     * A clean end: planned continuations of this instance are cancelled, on the record, toasts and watchdogs end, and
     * the instance is free. Nothing is injected afterwards. May be called twice.
     */
    dispose(): Promise<void> {
      disposed ??= end();
      return disposed;
    },
  };
}

/**
 * Checks that have to run first cannot be waited for once the host leaves: unless they belong to a plan that was worked
 * through, the agent is told to ask for them. Without a plan a text is as often a word between two calls as an answer.
 */
async function foresee(
  { store, policy }: ToldRuntimeOptions,
  stop: EventOf<'stop-attempted'>,
): Promise<'continue' | 'checks' | 'leave'> {
  const { sessionId, fingerprint } = stop;
  // A step that saves nothing: only there it is told whether the workspace was seen like this before.
  const { state, seen } = await store.step(sessionId, { fingerprint }, (result) => ({ result }));
  if (state === null) return 'leave';
  const { policyHash, turn, finalRun } = state;
  const frozen = policyHash === null ? null : readSnapshot(policyHash, await store.policy(policyHash));
  const known = fingerprint !== null && seen.has(fingerprint);
  const { decision } = decide(state, { ...stop, known }, frozen ?? policy(state));
  if (decision === null || decision.observed) return 'leave';
  if (decision.answer !== 'wait') return decision.answer === 'continue' ? 'continue' : 'leave';
  if (decision.reason !== 'nothing-open') return 'leave';
  const isFinal = turn?.touchedPlan === true || (finalRun?.overdue === true && turn?.ended === false);
  return isFinal ? 'checks' : 'continue';
}

interface Follower {
  /** Called after each commit with what was applied. */
  follow(session: State, events: readonly Event[]): void;
  end(): void;
}

interface Countdown {
  readonly dueAt: number;
  readonly epoch: number;
  /** As it was saved last: todos may be finished while it counts. */
  session: State;
  cancel: () => void;
}

const second = 1000;

/** A toast each second while a countdown runs (E1). A countdown that a restart takes over goes on without them. */
function createToasts({ clock, policy, toast, onError }: ToldRuntimeOptions): Follower {
  const running = new Map<string, Countdown>();

  function tick(countdown: Countdown): void {
    const { session, dueAt } = countdown;
    const seconds = Math.ceil((dueAt - clock.now()) / second);
    if (seconds <= 0) {
      stop(session.id);
      return;
    }
    const { settings } = policy(session);
    const { countdownSeconds, toastDuration } = settingsForAgent(settings, session.agent.name);
    const open = session.plan.filter(isOpen).length;
    const message = `Resuming in ${seconds} s, ${open} ${open === 1 ? 'todo' : 'todos'} remaining`;
    // A toast that cannot be shown changes nothing: the countdown is in the store.
    Promise.resolve({ title: 'Todos remain', message, level: 'warning', durationMs: toastDuration } as const)
      .then((shown) => toast(session, shown))
      .catch(onError);
    // A wait that a long minimum interval makes is told once; its last seconds are a countdown like any other.
    const before = Math.min(seconds - 1, Math.max(1, Math.ceil(countdownSeconds)));
    if (before >= 1) countdown.cancel = clock.wake(dueAt - before * second, () => tick(countdown));
  }

  function stop(sessionId: string): void {
    running.get(sessionId)?.cancel();
    running.delete(sessionId);
  }

  return {
    follow(session) {
      const known = running.get(session.id);
      const timer = session.parked?.cause === 'not-yet' ? session.timer : null;
      if (known !== undefined && known.dueAt === timer?.dueAt && known.epoch === timer.epoch) {
        known.session = session;
        return;
      }
      stop(session.id);
      if (timer === null || timer.dueAt <= clock.now()) return;
      const countdown: Countdown = { ...timer, session, cancel: () => {} };
      running.set(session.id, countdown);
      tick(countdown);
    },
    end: () => [...running.keys()].forEach(stop),
  };
}

interface Watch {
  readonly epoch: number;
  /** The host did something since the continuation was decided. An error is no sign of it: it may be the refusal. */
  alive: boolean;
  cancel: (() => void) | null;
}

/**
 * Hosts turn busy within a fraction of a second; a machine under load takes longer. Too short only costs a question
 * to the host, too long leaves a human before a session that does nothing.
 */
const patienceMs = 5000;
const signsOfLife: ReadonlySet<Event['type']> = new Set(['activity-seen', 'tool-started', 'tool-ended']);

/** A host that took a continuation must show some sign of life; if not it is asked, and the engine decides. */
function createWatchdog(options: ToldRuntimeOptions, handle: (event: Event) => Promise<unknown>): Follower {
  const { store, clock, host, onError } = options;
  const watches = new Map<string, Watch>();

  function drop(watch: Watch | undefined): void {
    watch?.cancel?.();
    if (watch !== undefined) watch.cancel = null;
  }

  async function look(sessionId: string, watch: Watch): Promise<void> {
    const { epoch } = watch;
    const session = await store.state(sessionId);
    const row = (await store.outbox({ sessionId })).find((one) => one.epoch === epoch);
    if (session === null || row === undefined || !isOnItsWay(session) || session.epoch !== epoch) return;
    if (watches.get(sessionId) !== watch || watch.alive) return;
    const key = `${sessionId}:${epoch}`;
    // A host that cannot be asked is treated as one that cannot look messages up: idle or not is what counts then.
    const found = await host.find({ key, session, epoch, text: row.text }).catch(() => 'unknown' as const);
    const isIdle = found === 'present' || (await host.isIdle(sessionId));
    const attempts = session.injection?.attempts ?? 0;
    const base = { sessionId, at: clock.now() };
    const news = { ...base, type: 'delivery-reported', epoch } as const;
    const error = `the host took it, and nothing followed within ${patienceMs / second} s`;
    if (found === 'present') await handle({ ...news, id: `${key}:observed`, news: 'observed', error: null });
    // Busy with this text or with something else: either way it will idle again, and that is decided then.
    else if (!isIdle) await handle({ ...base, type: 'activity-seen', id: `${key}:busy:${attempts}` });
    else await handle({ ...news, id: `${key}:unseen:${attempts}`, news: 'failed', error });
  }

  return {
    follow(session, events) {
      const known = watches.get(session.id);
      if (!isOnItsWay(session) || known?.epoch !== session.epoch) {
        drop(known);
        watches.delete(session.id);
      }
      if (!isOnItsWay(session)) return;
      const watch = watches.get(session.id) ?? { epoch: session.epoch, alive: false, cancel: null };
      watches.set(session.id, watch);
      watch.alive ||= events.some(({ type }) => signsOfLife.has(type));
      if (watch.alive || session.injection?.state !== 'sent') drop(watch);
      else
        watch.cancel ??= clock.wake(clock.now() + patienceMs, () => {
          watch.cancel = null;
          look(session.id, watch).catch(onError);
        });
    },
    end() {
      watches.forEach(drop);
      watches.clear();
    },
  };
}

function isOnItsWay({ injection, epoch, parked, settled, latch, pause, deleted }: Session): boolean {
  if (injection?.epoch !== epoch || (injection.state !== 'intended' && injection.state !== 'sent'))
    return false;
  return parked === null && settled === null && latch === null && pause === null && !deleted;
}
