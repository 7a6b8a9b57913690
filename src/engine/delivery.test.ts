// Delivery alone: one row of the outbox, one host, and what happens to them.
import { describe, expect, it } from 'vitest';
import { save } from '../../test/contracts/dump.ts';
import { anOutboxRow, aSession } from '../../test/support/builders.ts';
import { createMemoryStore } from '../../test/support/memory-store.ts';
import type { Session } from '../core/state.ts';
import { createSimulatedClock } from '../simulated/simulated-clock.ts';
import type { Handled } from './engine.ts';
import type { ToldHost } from './host.ts';
import { createDelivery } from './runtime.ts';
import type { OutboxRow } from './store.ts';

interface HostAnswers {
  readonly found?: 'present' | 'absent' | 'unknown';
  readonly idle?: boolean;
}

/** A row of epoch 1 in a session that still wants it. */
async function setUp(
  row: Partial<OutboxRow> = {},
  { found = 'unknown', idle = true }: HostAnswers = {},
  session: Partial<Session> = {},
) {
  const store = createMemoryStore();
  await save(store, {
    state: aSession({ epoch: 1, ...session }),
    outbox: [anOutboxRow(row)],
  });

  const sent: string[] = [];
  const events: string[] = [];
  const host: ToldHost = {
    async inject({ key }) {
      sent.push(key);
      await Promise.resolve();
      return { taken: true };
    },
    find: async () => found,
    isIdle: async () => idle,
    readPlan: async () => null,
    notify: async () => {},
  };
  const delivery = createDelivery({
    store,
    clock: createSimulatedClock(),
    host,
    trace: () => {},
    handle: async (event) => {
      events.push(event.type === 'delivery-reported' ? event.news : event.type);
      return {} as Handled;
    },
  });
  const readRow = async (epoch: number) =>
    (await store.outbox({ sessionId: 'session-1' })).find(
      (found) => found.epoch === epoch,
    ) ?? null;
  return { delivery, sent, events, row: readRow };
}

describe('sending', () => {
  it('V5: two senders at once send once', async () => {
    const { delivery, sent, events } = await setUp();
    await Promise.all([delivery.send('session-1', 1), delivery.send('session-1', 1)]);
    expect(sent).toEqual(['session-1:1']);
    expect(events).toEqual(['sent']);
  });

  it('V5: what was observed, given up or never written is not sent', async () => {
    for (const state of ['observed', 'failed', 'unanswered'] as const) {
      const { delivery, sent } = await setUp({ state });
      await delivery.send('session-1', 1);
      expect(sent, state).toEqual([]);
    }
    const { delivery, sent } = await setUp();
    await delivery.send('session-1', 2);
    await delivery.send('session-2', 1);
    expect(sent).toEqual([]);
  });
});

describe('while the human is asked something', () => {
  it('P9: nothing is sent, and the row is closed: whoever asks will stop again by itself', async () => {
    const idle = { recovering: false, compacting: false, permissions: [], questions: [] };
    for (const waits of [
      { ...idle, permissions: ['permission-1'] },
      { ...idle, questions: ['question-1'] },
    ]) {
      const { delivery, sent, row } = await setUp({}, {}, { waits });
      await delivery.send('session-1', 1);
      expect(sent).toEqual([]);
      expect((await row(1))?.state).toBe('failed');
    }
  });
});

describe('after a restart', () => {
  it('V5: what was intended and is not shown by the host is lost; the core says whether it is sent again', async () => {
    const { delivery, sent, events } = await setUp(
      { state: 'intended' },
      { idle: false },
    );
    await delivery.recover('instance-1');
    expect(events).toEqual(['lost']);
    expect(sent, 'not without being asked').toEqual([]);
  });

  it('V5: what nobody wants any more is closed, so that it is not looked up at every start', async () => {
    const { delivery, events, row } = await setUp({ epoch: 0 });
    await delivery.recover('instance-1');
    expect(events).toEqual([]);
    expect((await row(0))?.state).toBe('failed');
  });

  it('V5: what the host shows was delivered, and is not doubled', async () => {
    for (const state of ['intended', 'sent'] as const) {
      const { delivery, sent, events } = await setUp({ state }, { found: 'present' });
      await delivery.recover('instance-1');
      expect(sent).toEqual([]);
      expect(events).toEqual(['observed']);
    }
  });

  it('V5: what was sent and cannot be looked up is lost only if the host is idle', async () => {
    const busy = await setUp({ state: 'sent' }, { idle: false });
    await busy.delivery.recover('instance-1');
    expect(busy.events).toEqual([]);
    const idle = await setUp({ state: 'sent' }, { idle: true });
    await idle.delivery.recover('instance-1');
    expect(idle.events).toEqual(['lost']);
    const absent = await setUp({ state: 'sent' }, { found: 'absent', idle: false });
    await absent.delivery.recover('instance-1');
    expect(absent.events).toEqual(['lost']);
  });

  it('V5: the answer to an asked host, and what belongs to another instance, is left alone', async () => {
    const asked = await setUp({ mode: 'asked' });
    await asked.delivery.recover('instance-1');
    expect(asked.events).toEqual([]);
    const other = await setUp({ instance: 'instance-2' });
    await other.delivery.recover('instance-1');
    expect(other.events).toEqual([]);
  });
});
