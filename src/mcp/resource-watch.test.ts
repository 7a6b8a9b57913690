import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../simulated/simulated-clock.ts';
import { createResourceWatch } from './resource-watch.ts';

function openWatch() {
  const clock = createSimulatedClock();
  const state = { plan: 'one', outcome: 'none', broken: false };
  const told: string[] = [];
  const watch = createResourceWatch(
    clock,
    ['plan', 'outcome'],
    async () => {
      if (state.broken) throw new Error('the store is locked');
      return new Map([
        ['plan', state.plan],
        ['outcome', state.outcome],
      ]);
    },
    async (uri) => {
      told.push(uri);
    },
  );
  return { clock, state, told, watch };
}

describe('the watch over resources', () => {
  it('C3: tells of what another process changed, once, and of nothing else', async () => {
    const { clock, state, told, watch } = openWatch();
    await watch.begin();
    await clock.advance(10_000);
    expect(told).toEqual([]);
    state.outcome = 'done';
    await clock.advance(10_000);
    expect(told).toEqual(['outcome']);
  });

  it('C3: after a call it tells at once, and two calls at a time tell of one change once', async () => {
    const { state, told, watch } = openWatch();
    await watch.begin();
    state.plan = 'two';
    await Promise.all([watch.look(), watch.look()]);
    expect(told).toEqual(['plan']);
  });

  it('C3: before anybody read anything nothing is looked up; a call counts as a change of everything', async () => {
    const { clock, told, watch } = openWatch();
    await watch.look();
    expect(told).toEqual(['plan', 'outcome']);
    expect(clock.pending()).toBe(0);
  });

  it('C3: a look that fails is made again, and after the end none is made', async () => {
    const { clock, state, told, watch } = openWatch();
    await watch.begin();
    state.broken = true;
    await clock.advance(5000);
    state.broken = false;
    state.plan = 'two';
    await clock.advance(5000);
    expect(told).toEqual(['plan']);
    watch.end();
    state.plan = 'three';
    await clock.advance(5000);
    expect(told).toEqual(['plan']);
    expect(clock.pending()).toBe(0);
  });
});
