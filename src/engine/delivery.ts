// Delivery of continuations to told hosts: intended → sent → observed. The outbox row was committed before anything
// is sent; right before sending it is looked at again, so that a human who spoke meanwhile is never talked over.
import type { Event } from '../core/events.ts';
import type { EnginePoint, Handled } from './engine.ts';
import type { OutgoingText, ToldHost } from './host.ts';
import type { RuntimeOptions } from './runtime.ts';
import type { OutboxRow } from './store.ts';

export interface DeliveryOptions extends Pick<RuntimeOptions, 'store' | 'clock'> {
  readonly host: ToldHost | undefined;
  readonly trace: (point: EnginePoint) => void;
  readonly handle: (event: Event) => Promise<Handled>;
}

export function createDelivery({ store, clock, host, trace, handle }: DeliveryOptions) {
  const underWay = new Set<string>();

  /** Null: nothing to send any more; the row is closed. */
  function stillWanted(sessionId: string, epoch: number): Promise<OutgoingText | null> {
    return store.step(sessionId, { epochs: [epoch] }, ({ state, outbox }) => {
      const row = outbox.get(epoch) ?? null;
      if (state === null || row === null || (row.state !== 'intended' && row.state !== 'sent'))
        return { result: null };
      const isOutdated =
        state.epoch !== epoch || state.latch !== null || state.pause !== null || state.deleted;
      // Whoever asks the human something is at work: it will stop again by itself.
      const isAsking = state.waits.permissions.length > 0 || state.waits.questions.length > 0;
      if (!isOutdated && !isAsking)
        return { result: { key: `${sessionId}:${epoch}`, session: state, epoch, text: row.text } };
      return { result: null, outbox: [{ ...row, state: 'failed', updatedAt: clock.now() }] };
    });
  }

  /** Sends the outbox row of this epoch, if it is still wanted. */
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
      const news = result.taken ? 'sent' : 'failed';
      const id = `${key}:${news}:${outgoing.session.injection?.attempts ?? 0}`;
      const error = result.taken ? null : result.error;
      await handle({ type: 'delivery-reported', id, sessionId, at: clock.now(), epoch, news, error });
      trace('after-record');
    } finally {
      underWay.delete(key);
    }
  }

  /** After a restart: what was intended or sent and never observed is settled. */
  async function recover(instance: string): Promise<void> {
    if (host === undefined) return;
    for (const row of await store.outbox({ instance })) if (row.mode === 'told') await settle(host, row);
  }

  /** The host's own record decides: what it shows was delivered. Unknown and already sent: again only if it idles. */
  async function settle(toldHost: ToldHost, { sessionId, epoch, text, state }: OutboxRow): Promise<void> {
    const session = await store.state(sessionId);
    if (session === null) return;
    const key = `${sessionId}:${epoch}`;
    const found = await askHost(toldHost, { key, session, epoch, text }, clock.now());
    if (typeof found !== 'string') return void (await handle(found));
    const mayRepeat = state === 'intended' || found === 'absent' || (await toldHost.isIdle(sessionId));
    if (!mayRepeat || (await stillWanted(sessionId, epoch)) === null) return;
    const base = { id: `${key}:lost:${clock.now()}`, sessionId, at: clock.now(), epoch };
    await handle({ ...base, type: 'delivery-reported', news: 'lost', error: null });
  }

  return { send, recover };
}

/**
 * Does the host show this continuation? Then the answer is the event that says so. A host that cannot be asked is like
 * one that cannot look messages up: whether it idles is what counts then.
 */
async function askHost(
  host: ToldHost,
  outgoing: OutgoingText,
  at: number,
): Promise<Event | 'absent' | 'unknown'> {
  const found = await host.find(outgoing).catch(() => 'unknown' as const);
  if (found !== 'present') return found;
  const base = { id: `${outgoing.key}:observed`, sessionId: outgoing.session.id, at, epoch: outgoing.epoch };
  return { ...base, type: 'delivery-reported', news: 'observed', error: null };
}
