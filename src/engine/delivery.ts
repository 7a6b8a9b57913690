// Delivery of continuations to told hosts: intended → sent → observed. The outbox row was committed before anything
// is sent; right before sending it is looked at again, so that a human who spoke meanwhile is never talked over.
import type { Event } from '../core/events.ts';
import type { Session } from '../core/session.ts';
import type { Clock } from './clock.ts';
import type { EnginePoint, Handled } from './engine.ts';
import type { OutgoingText, ToldHost } from './host.ts';
import type { OutboxRow, Store } from './store.ts';

export interface Delivery {
  /** Sends the outbox row of this epoch, if it is still wanted. */
  send(sessionId: string, epoch: number): Promise<void>;
  /** After a restart: what was intended or sent and never observed is settled. */
  recover(instance: string): Promise<void>;
}

export interface DeliveryOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly host: ToldHost | undefined;
  readonly trace: (point: EnginePoint) => void;
  readonly handle: (event: Event) => Promise<Handled>;
}

export function createDelivery({ store, clock, host, trace, handle }: DeliveryOptions): Delivery {
  const underWay = new Set<string>();

  /** Null: nothing to send any more; the row is closed. */
  async function stillWanted(sessionId: string, epoch: number): Promise<OutgoingText | null> {
    return store.transact(async (transaction) => {
      const session = await transaction.session(sessionId);
      const row = await transaction.outboxRow(sessionId, epoch);
      if (session === null || row === null || (row.state !== 'intended' && row.state !== 'sent')) return null;
      const outdated =
        session.epoch !== epoch || session.latch !== null || session.pause !== null || session.deleted;
      if (!outdated && !isAsking(session))
        return { key: `${sessionId}:${epoch}`, session, epoch, text: row.text };
      await transaction.saveOutbox({ ...row, state: 'failed', updatedAt: clock.now() });
      return null;
    });
  }

  async function send(sessionId: string, epoch: number): Promise<void> {
    const key = `${sessionId}:${epoch}`;
    if (host === undefined || underWay.has(key)) return;
    underWay.add(key);
    try {
      const outgoing = await stillWanted(sessionId, epoch);
      if (outgoing === null) return;
      trace('before-send');
      const result = await host
        .inject(outgoing)
        .catch((error: unknown) => ({ taken: false as const, error: String(error) }));
      trace('after-send');
      const attempts = outgoing.session.injection?.attempts ?? 0;
      const base = { sessionId, at: clock.now(), epoch };
      await handle(
        result.taken
          ? { ...base, type: 'injection-sent', id: `${key}:sent:${attempts}` }
          : { ...base, type: 'injection-failed', id: `${key}:failed:${attempts}`, error: result.error },
      );
      trace('after-record');
    } finally {
      underWay.delete(key);
    }
  }

  async function recover(instance: string): Promise<void> {
    if (host === undefined) return;
    const rows = await store.read(async (reader) => reader.openOutbox(instance));
    for (const row of rows) if (row.mode === 'told') await settle(host, row);
  }

  /** The host's own record decides: what it shows was delivered. Unknown and already sent: again only if it idles. */
  async function settle(toldHost: ToldHost, row: OutboxRow): Promise<void> {
    const session = await store.read(async (reader) => reader.session(row.sessionId));
    if (session === null) return;
    const key = `${row.sessionId}:${row.epoch}`;
    const outgoing = { key, session, epoch: row.epoch, text: row.text };
    const found = await toldHost.find(outgoing).catch(() => 'unknown' as const);
    if (found === 'present') {
      const at = clock.now();
      await handle({
        type: 'injection-observed',
        id: `${key}:observed`,
        sessionId: row.sessionId,
        at,
        epoch: row.epoch,
      });
      return;
    }
    const mayRepeat =
      row.state === 'intended' || found === 'absent' || (await toldHost.isIdle(row.sessionId));
    const { sessionId, epoch } = row;
    if (!mayRepeat || (await stillWanted(sessionId, epoch)) === null) return;
    const at = clock.now();
    await handle({ type: 'injection-lost', id: `${key}:lost:${at}`, sessionId, at, epoch });
  }

  return { send, recover };
}

/** Whoever asks the human something is at work: it will stop again by itself. */
function isAsking({ waits }: Session): boolean {
  return waits.permissions.length > 0 || waits.questions.length > 0;
}
