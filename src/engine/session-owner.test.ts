import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../test/support/memory-store.ts';
import { createSimulatedClock } from '../simulated/simulated-clock.ts';
import { findProcessState, ownSession } from './session-owner.ts';

async function own() {
  const clock = createSimulatedClock();
  const store = createMemoryStore();
  const owned = await ownSession({ store, clock }, 's1');
  if (!owned.ok) throw new Error('It is owned already.');
  return {
    owned,
    clock,
    store,
    lease: (who: string, until: number | null) => store.lease('run s1', who, 1e15, until),
  };
}

describe('V5: the store of an owner', () => {
  it('V5: takes its writes for as long as it runs, and nobody else gets the session', async () => {
    const { owned, clock, store } = await own();
    await clock.advance(600_000);
    expect(await store.lease('run s1', 'elsewhere/12/34', clock.now(), 2e15)).toContain(
      `/${process.pid}/`,
    );
    await expect(owned.store.record({})).resolves.toBeUndefined();
    await owned.release();
  });

  it.each([
    ['holds it', false, 'process 12 on elsewhere'],
    ['gave it back', true, 'another process'],
  ] as const)(
    'V5: takes nothing once another process took the session and %s',
    async (_how, isBack, name) => {
      const { owned, lease } = await own();
      await lease('elsewhere/12/34', 2e15);
      if (isBack) await lease('elsewhere/12/34', null);
      const taken = { code: 'session-taken', message: expect.stringContaining(name) };
      await expect(owned.store.record({})).rejects.toMatchObject(taken);
      await expect(owned.store.append([])).rejects.toMatchObject(taken);
      await expect(
        owned.store.step('s1', () => ({ result: null })),
      ).rejects.toMatchObject(taken);
      await owned.release();
    },
  );
});

describe('V5: the process of a session', () => {
  it('V5: is alive from when it takes the session until it leaves it', async () => {
    const { owned, clock, store } = await own();
    await clock.advance(600_000);
    expect(await findProcessState(store, 's1', clock.now())).toBe('alive');
    await owned.release();
    expect(await findProcessState(store, 's1', clock.now())).toBe('left');
  });

  it('V5: is gone if another process has its number, or, on another machine, if its lease has ended', async () => {
    const { owned, lease, store } = await own();
    await owned.release();
    const reused = `${hostname()}/${process.pid}/12345/1`;
    await lease(reused, 2e15);
    expect(await findProcessState(store, 's1', 1e15)).toBe('gone');
    await lease(reused, null);
    await lease('elsewhere/12/34/1', 2e15);
    expect(await findProcessState(store, 's1', 1e15)).toBe('alive');
    expect(await findProcessState(store, 's1', 3e15)).toBe('gone');
  });
});
