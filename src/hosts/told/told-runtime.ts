// The runtime of a told host: what every adapter that is told of idle sessions puts its events into. Around the engine
// it adds what passes with the process: a toast each second of a countdown, and a watchdog that sees whether the
// host acts on a continuation it took. It decides nothing.
import type { Event } from '../../core/events.ts';
import type { Session } from '../../core/session.ts';
import type { Handled } from '../../engine/engine.ts';
import type { ToldHost } from '../../engine/host.ts';
import { createRuntime, type Runtime, type RuntimeOptions } from '../../engine/runtime.ts';
import { closePlanned, closeSession } from './close-planned.ts';
import { createCountdownToasts, type Toast } from './countdown-toasts.ts';
import { createWatchdog } from './watchdog.ts';

export type { Toast } from './countdown-toasts.ts';

export interface ToldRuntimeOptions extends Omit<RuntimeOptions, 'host' | 'instance'> {
  readonly host: ToldHost;
  /**
   * Which running host this process is attached to. The same name after a restart: its timers and its outbox are
   * found by it. Two living processes must not share one.
   */
  readonly instance: string;
  /** Shows one toast of a countdown. May be slow or fail: nothing waits for it. */
  readonly toast: (session: Session, toast: Toast) => Promise<void> | void;
}

export interface ToldRuntime extends Runtime {
  /**
   * A clean end: planned continuations of this instance are cancelled, on the record, toasts and watchdogs end, and
   * the instance is free. Nothing is injected afterwards. May be called twice.
   */
  dispose(): Promise<void>;
}

export function createToldRuntime(options: ToldRuntimeOptions): ToldRuntime {
  const { store, clock, identifiers, instance } = options;
  const onError = options.onError ?? (() => {});
  const handle = (event: Event): Promise<Handled> => runtime.handle(event);
  const host: ToldHost = {
    inject: (outgoing) => (disposed === null ? options.host.inject(outgoing) : refuseDisposed()),
    find: (outgoing) => options.host.find(outgoing),
    isIdle: (sessionId) => options.host.isIdle(sessionId),
    readPlan: (session) => options.host.readPlan(session),
    notify: (session, notice) => options.host.notify(session, notice),
  };
  const planned = { store, clock, identifiers, instance, handle };
  const toasts = createCountdownToasts({ clock, policy: options.policy, toast: options.toast, onError });
  const watchdog = createWatchdog({ store, clock, host, handle, onError });
  const waiting = new Set<string>();
  let disposed: Promise<void> | null = null;

  function watch(session: Session, events: readonly Event[]): void {
    options.watch?.(session, events);
    if (session.descriptor.mode !== 'told') return;
    if (disposed !== null) {
      // An event that was on its way during the clean end: what it planned is cancelled like the rest.
      if (session.parked !== null || session.timer !== null) closeSession(planned, session.id).catch(onError);
      return;
    }
    if (session.parked === null) waiting.delete(session.id);
    else waiting.add(session.id);
    toasts.follow(session);
    watchdog.follow(session, events);
  }

  const runtime = createRuntime({ ...options, host, watch });

  async function end(): Promise<void> {
    toasts.end();
    watchdog.end();
    try {
      await closePlanned(planned, waiting);
    } finally {
      // Also when the store fails: a wake-up that stays would keep acting for a host that is gone.
      await runtime.detach();
    }
  }

  return {
    ...runtime,
    dispose() {
      disposed ??= end();
      return disposed;
    },
  };
}

async function refuseDisposed(): Promise<{ taken: false; error: string }> {
  return { taken: false, error: 'the host has ended' };
}
