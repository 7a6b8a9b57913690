import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../test/support/memory-store.ts';
import { defaultSettings } from '../core/settings.ts';
import {
  createSequentialIdentifiers,
  createSimulatedClock,
} from '../simulated/simulated-clock.ts';
import { sha256 } from './system.ts';
import { openToldRuntime, type ToldRuntimeOptions } from './told-runtime.ts';

function setUp() {
  const clock = createSimulatedClock();
  const store = createMemoryStore();
  let copies = 0;
  const options = (): ToldRuntimeOptions => ({
    store,
    clock,
    identifiers: createSequentialIdentifiers(`copy-${++copies}`),
    hash: sha256,
    policy: () => ({ settings: defaultSettings, goalChecks: [] }),
    host: {
      inject: async () => ({ taken: true }),
      find: async () => 'unknown',
      isIdle: async () => true,
      readPlan: async () => null,
      notify: async () => {},
    },
    instance: 'program',
    onError: () => {},
  });
  return { clock, open: () => openToldRuntime(options()) };
}

describe('copies of one program', () => {
  it('V5: have names of their own, and a name that is free again is taken by the next', async () => {
    const { open, clock } = setUp();
    const first = await open();
    const second = await open();
    const third = await open();
    expect([first, second, third].map(({ instance }) => instance)).toEqual([
      'program',
      'program#2',
      'program#3',
    ]);
    await second.runtime.dispose();
    const fourth = await open();
    expect(fourth.instance).toBe('program#2');
    for (const { runtime } of [first, third, fourth]) await runtime.dispose();
    expect(clock.pending(), 'nothing keeps waiting').toBe(0);
  });

  it('V5: beyond any number get one as well', async () => {
    const { open } = setUp();
    const names = new Set<string>();
    for (let copy = 0; copy < 24; copy++) names.add((await open()).instance);
    expect(names.size).toBe(24);
  });
});
