// A toast each second while a countdown runs (E1). It follows the session that was saved: what ends the countdown ends
// the toasts. It keeps nothing: a countdown that a restart takes over goes on without them.
import { settingsForAgent } from '../../core/config/agent-settings.ts';
import { openCount, type Session } from '../../core/session.ts';
import type { Clock } from '../../engine/clock.ts';
import type { CurrentPolicy } from '../../engine/policies.ts';

export interface Toast {
  readonly title: string;
  readonly message: string;
  readonly level: 'info' | 'warning';
  readonly durationMs: number;
}

export interface CountdownToastsOptions {
  readonly clock: Clock;
  readonly policy: CurrentPolicy;
  readonly toast: (session: Session, toast: Toast) => Promise<void> | void;
  readonly onError: (error: unknown) => void;
}

export interface CountdownToasts {
  /** Starts, goes on with or ends the toasts of this session. */
  follow(session: Session): void;
  end(): void;
}

interface Countdown {
  readonly dueAt: number;
  readonly epoch: number;
  /** As it was saved last: todos may be finished while it counts. */
  session: Session;
  cancel: () => void;
}

const second = 1000;

export function createCountdownToasts(options: CountdownToastsOptions): CountdownToasts {
  const { clock, policy, onError } = options;
  const running = new Map<string, Countdown>();

  function follow(session: Session): void {
    const known = running.get(session.id);
    const { timer, parked } = session;
    if (timer === null || parked?.cause !== 'not-yet') {
      stop(session.id);
      return;
    }
    if (known?.dueAt === timer.dueAt && known.epoch === timer.epoch) {
      known.session = session;
      return;
    }
    stop(session.id);
    if (timer.dueAt <= clock.now()) return;
    const { dueAt, epoch } = timer;
    const countdown: Countdown = { dueAt, epoch, session, cancel: () => {} };
    running.set(session.id, countdown);
    tick(countdown);
  }

  function tick(countdown: Countdown): void {
    const left = countdown.dueAt - clock.now();
    if (left <= 0) {
      stop(countdown.session.id);
      return;
    }
    const { countdownSeconds, toastDuration } = settingsOf(countdown.session);
    show(countdown.session, Math.ceil(left / second), toastDuration);
    // A wait that a long minimum interval makes is told once; its last seconds are a countdown like any other.
    const before = Math.min(Math.ceil(left / second) - 1, Math.max(1, Math.ceil(countdownSeconds)));
    if (before < 1) return;
    countdown.cancel = clock.wake(countdown.dueAt - before * second, () => tick(countdown));
  }

  function show(session: Session, seconds: number, durationMs: number): void {
    const open = openCount(session.counts);
    const message = `Resuming in ${seconds} s, ${open} ${open === 1 ? 'todo' : 'todos'} remaining`;
    const toast: Toast = { title: 'Todos remain', message, level: 'warning', durationMs };
    // A toast that cannot be shown changes nothing: the countdown is in the store.
    Promise.resolve()
      .then(() => options.toast(session, toast))
      .catch(onError);
  }

  function settingsOf(session: Session) {
    return settingsForAgent(policy(session).settings, session.agent.name);
  }

  function stop(sessionId: string): void {
    running.get(sessionId)?.cancel();
    running.delete(sessionId);
  }

  return {
    follow,
    end() {
      for (const sessionId of [...running.keys()]) stop(sessionId);
    },
  };
}
