// A host that took a continuation has not acted on it yet: some sign of life must follow within a few seconds. If none
// does, the host itself is asked, and what it says becomes an event; the engine decides whether to send again.
import type { Event } from '../../core/events.ts';
import type { Session } from '../../core/session.ts';
import type { Clock } from '../../engine/clock.ts';
import type { Handled } from '../../engine/engine.ts';
import type { OutgoingText, ToldHost } from '../../engine/host.ts';
import type { Store } from '../../engine/store.ts';

/**
 * Hosts turn busy within a fraction of a second; a machine under load takes longer. Too short only costs a question
 * to the host, too long leaves a human before a session that does nothing.
 */
const patienceMs = 5000;

export interface WatchdogOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly host: ToldHost;
  readonly handle: (event: Event) => Promise<Handled>;
  readonly onError: (error: unknown) => void;
}

export interface Watchdog {
  /** Called after each commit with what was applied. */
  follow(session: Session, events: readonly Event[]): void;
  end(): void;
}

interface Watch {
  readonly epoch: number;
  /** The host did something since the continuation was decided. An error is no sign of it: it may be the refusal. */
  alive: boolean;
  cancel: (() => void) | null;
}

const signsOfLife: ReadonlySet<Event['type']> = new Set(['activity-seen', 'tool-started', 'tool-ended']);

export function createWatchdog(options: WatchdogOptions): Watchdog {
  const { store, clock, host, handle, onError } = options;
  const watches = new Map<string, Watch>();

  function follow(session: Session, events: readonly Event[]): void {
    const watch = watchOf(session);
    if (watch === null) return;
    watch.alive ||= events.some(({ type }) => signsOfLife.has(type));
    if (watch.alive || session.injection?.state !== 'sent') {
      drop(watch);
      return;
    }
    watch.cancel ??= clock.wake(clock.now() + patienceMs, () => {
      watch.cancel = null;
      look(session.id, watch).catch(onError);
    });
  }

  /** Null: nothing is on its way to this session. */
  function watchOf(session: Session): Watch | null {
    const known = watches.get(session.id);
    if (!isOnItsWay(session)) {
      if (known !== undefined) drop(known);
      watches.delete(session.id);
      return null;
    }
    if (known?.epoch === session.epoch) return known;
    if (known !== undefined) drop(known);
    const watch: Watch = { epoch: session.epoch, alive: false, cancel: null };
    watches.set(session.id, watch);
    return watch;
  }

  async function look(sessionId: string, watch: Watch): Promise<void> {
    const outgoing = await store.read(async (reader) => {
      const session = await reader.session(sessionId);
      const row = await reader.outboxRow(sessionId, watch.epoch);
      if (session === null || row === null || !isOnItsWay(session) || session.epoch !== watch.epoch)
        return null;
      return { key: `${sessionId}:${watch.epoch}`, session, epoch: watch.epoch, text: row.text };
    });
    if (outgoing === null || watches.get(sessionId) !== watch || watch.alive) return;
    await handle(await askHost(outgoing));
  }

  async function askHost(outgoing: OutgoingText): Promise<Event> {
    const { key, epoch, session } = outgoing;
    // A host that cannot be asked is treated as one that cannot look messages up: idle or not is what counts then.
    const found = await host.find(outgoing).catch(() => 'unknown' as const);
    const base = { sessionId: session.id, at: clock.now() };
    if (found === 'present') return { ...base, type: 'injection-observed', id: `${key}:observed`, epoch };
    const attempts = session.injection?.attempts ?? 0;
    // Busy with this text or with something else: either way it will idle again, and that is decided then.
    if (!(await host.isIdle(session.id)))
      return { ...base, type: 'activity-seen', id: `${key}:busy:${attempts}` };
    const error = `the host took it, and nothing followed within ${patienceMs / 1000} s`;
    return { ...base, type: 'injection-failed', id: `${key}:unseen:${attempts}`, epoch, error };
  }

  function drop(watch: Watch): void {
    watch.cancel?.();
    watch.cancel = null;
  }

  return {
    follow,
    end() {
      for (const watch of watches.values()) drop(watch);
      watches.clear();
    },
  };
}

function isOnItsWay(session: Session): boolean {
  const { injection, epoch, parked, settled, latch, pause, deleted } = session;
  if (injection === null || injection.epoch !== epoch) return false;
  if (injection.state !== 'intended' && injection.state !== 'sent') return false;
  return parked === null && settled === null && latch === null && pause === null && !deleted;
}
