// Timers through the runtime: what is read again at the moment of acting, and which
// timers are void by then.
import { describe, expect, it } from 'vitest';
import { anEvent } from '../../test/support/builders.ts';
import { createMemoryStore } from '../../test/support/memory-store.ts';
import type { Event } from '../core/events.ts';
import { defaultSettings } from '../core/settings.ts';
import {
  createSequentialIdentifiers,
  createSimulatedClock,
} from '../simulated/simulated-clock.ts';
import type { ToldHost } from './host.ts';
import { createRuntime } from './runtime.ts';
import { sha256 } from './system.ts';

async function inCountdown(readPlan: () => Promise<Event | null>) {
  const clock = createSimulatedClock();
  const store = createMemoryStore();
  const injected: string[] = [];
  const host: ToldHost = {
    async inject({ text }) {
      injected.push(text);
      return { taken: true };
    },
    find: async () => 'unknown',
    isIdle: async () => true,
    readPlan,
    notify: async () => {},
  };
  const runtime = createRuntime({
    store,
    clock,
    identifiers: createSequentialIdentifiers(),
    hash: sha256,
    policy: () => ({ settings: defaultSettings, goalChecks: [] }),
    host,
    instance: 'instance-1',
  });
  const at = clock.now();
  await runtime.attach();
  await runtime.handle(anEvent.sessionOpened({ at }));
  await runtime.handle(anEvent.humanSpoke({ at, messageId: 'message-1' }));
  await runtime.handle(
    anEvent.todosCreated({ at, items: [{ id: 'todo-1', title: 'write the parser' }] }),
  );
  await runtime.handle(anEvent.toolEnded({ at }));
  await runtime.handle(anEvent.stopAttempted({ at }));
  return { clock, store, runtime, injected };
}

describe('a countdown that ends', () => {
  it("G5: reads the host's own list again before it acts", async () => {
    const items = [
      { content: 'write the parser', status: 'completed', freshId: 'fresh-1' },
    ];
    const { clock, store, injected } = await inCountdown(async () =>
      anEvent.planWritten({ items }),
    );
    await clock.advance(3000);
    expect(injected).toEqual([]);
    const session = await store.state('session-1');
    expect(session?.settled?.reason).toBe('nothing-open');
  });

  it('G5: goes on when the list cannot be read', async () => {
    const { clock, injected } = await inCountdown(() =>
      Promise.reject(new Error('the host is busy')),
    );
    await clock.advance(3000);
    expect(injected).toHaveLength(1);
  });

  it('V5: a row that outlived its timer is put away and fires nothing, again and again', async () => {
    const { clock, store, runtime, injected } = await inCountdown(async () => null);
    const timer = { purpose: 'due', dueAt: clock.now() + 1000, epoch: 99 } as const;
    await store.step('session-1', () => ({ result: null, timer }));
    await clock.advance(1000);
    expect(await runtime.fireDue()).toBe(1);
    expect(injected).toEqual([]);
    expect(await runtime.fireDue()).toBe(0);
    const due = (await store.timers('instance-1', clock.now(), 10)).due;
    expect(due).toEqual([]);
    await clock.advance(2000);
    expect(injected, 'the real one still comes').toHaveLength(1);
  });
});
