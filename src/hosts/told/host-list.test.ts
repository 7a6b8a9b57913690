import { describe, expect, it } from 'vitest';
import { anEvent } from '../../../test/support/builders.ts';
import { createSequentialIdentifiers, createSimulatedClock } from '../../simulated/simulated-clock.ts';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import { createHostList } from './host-list.ts';

function setUp() {
  const store = createMemoryStore();
  const clock = createSimulatedClock();
  let starts = 0;
  const start = () =>
    createHostList({ store, clock, identifiers: createSequentialIdentifiers(`p${++starts}`) });
  return { store, start };
}

const items = [{ content: 'write the parser', status: 'pending' }];

describe("a host's whole list", () => {
  it('M5: is a write when it differs from the one before, and nothing when it does not', async () => {
    const list = setUp().start();
    expect(await list.read('session-1', items)).toMatchObject({
      type: 'plan-written',
      actor: 'agent',
      items,
    });
    expect(await list.read('session-1', items)).toBeNull();
    expect(await list.read('session-2', items), 'each session has its own').not.toBeNull();
    expect(await list.read('session-1', [])).toMatchObject({ items: [] });
  });

  it('M5: that was never written is empty: an empty one is no news', async () => {
    expect(await setUp().start().read('session-1', [])).toBeNull();
  });

  it('V5: is known from the record after a restart, whatever else was written to the plan', async () => {
    const { store, start } = setUp();
    const written = await start().read('session-1', items);
    if (written === null) throw new Error('the first list must be news');
    await store.transact(async (transaction) => {
      await transaction.markApplied(written);
      for (let count = 0; count < 600; count++) await transaction.markApplied(anEvent.activitySeen());
      await transaction.markApplied(anEvent.planWritten({ items: [] }));
    });
    expect(await start().read('session-1', items)).toBeNull();
    expect(await start().read('session-1', [])).not.toBeNull();
  });
});
