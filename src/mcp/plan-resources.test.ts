import { describe, expect, it } from 'vitest';
import { aSession, aTodo } from '../../test/support/builders.ts';
import { createSimulatedClock } from '../simulated/simulated-clock.ts';
import { createResourceWatch } from './serve-mcp.ts';

function openWatch() {
  const clock = createSimulatedClock();
  const seen = { state: aSession({ plan: [aTodo({ title: 'One' })] }), broken: false };
  const told: string[] = [];
  const watch = createResourceWatch(
    clock,
    async () => {
      if (seen.broken) throw new Error('the store is locked');
      return seen.state;
    },
    async (uri) => {
      told.push(uri.replace('untildone://', ''));
    },
  );
  const reword = (title: string): void => {
    seen.state = {
      ...seen.state,
      plan: seen.state.plan.map((todo) => ({ ...todo, title })),
    };
  };
  return { clock, seen, reword, told, watch };
}

describe('the watch over resources', () => {
  it('C3: tells of what another process changed, once, and of nothing else', async () => {
    const { clock, seen, told, watch } = openWatch();
    await watch.begin();
    await clock.advance(10_000);
    expect(told).toEqual([]);
    seen.state = {
      ...seen.state,
      settled: { outcome: 'done', reason: 'done', at: clock.now() },
    };
    await clock.advance(10_000);
    expect(told).toEqual(['outcome']);
  });

  it('C3: after a call it tells at once, and two calls at a time tell of one change once', async () => {
    const { reword, told, watch } = openWatch();
    await watch.begin();
    reword('Two');
    await Promise.all([watch.look(), watch.look()]);
    expect(told).toEqual(['plan', 'plan.json']);
  });

  it('C3: before anybody read anything nothing is looked up; a call counts as a change of everything', async () => {
    const { clock, told, watch } = openWatch();
    await watch.look();
    expect(told).toEqual(['plan', 'plan.json', 'outcome']);
    expect(clock.pending()).toBe(0);
  });

  it('C3: a look that fails is made again, and after the end none is made', async () => {
    const { clock, seen, reword, told, watch } = openWatch();
    await watch.begin();
    seen.broken = true;
    await clock.advance(5000);
    seen.broken = false;
    reword('Two');
    await clock.advance(5000);
    expect(told).toEqual(['plan', 'plan.json']);
    watch.end();
    reword('Three');
    await clock.advance(5000);
    expect(told).toEqual(['plan', 'plan.json']);
    expect(clock.pending()).toBe(0);
  });
});
