import { describe, expect, it } from 'vitest';
import {
  createCoreDriver,
  type DriverOptions,
} from '../../test/properties/core-driver.ts';

function planned(titles: readonly string[], options: DriverOptions = {}) {
  const driver = createCoreDriver({
    settings: { maxStagnant: 50, maxContinuations: 50 },
    ...options,
  });
  driver.says();
  const ids = driver.plans(...titles);
  return { driver, ids, first: ids[0] ?? '', second: ids[1] ?? '' };
}

const counters = (stagnant: number, continuations: number, total: number) => ({
  stagnant,
  continuations,
  total,
});

describe('finals', () => {
  it('G7: a todo that becomes final for the first time is progress of the strong kind', () => {
    const { driver, first } = planned(['a', 'b']);
    driver.stops();
    driver.stops();
    driver.completes(first);
    expect(driver.state.counters).toEqual(counters(0, 0, 2));
  });

  it('G7: when a todo was first finished is never forgotten', () => {
    const { driver, first } = planned(['a', 'b']);
    driver.completes(first);
    const { finalAt } = driver.todo(first);
    driver.now += 5000;
    driver.updates(first, { status: 'pending' });
    driver.completes(first);
    expect(driver.todo(first)).toMatchObject({ finalAt, completedAt: driver.now });
  });

  it('P5: toggling the same todo for ever is bounded', () => {
    const { driver, first } = planned(['a', 'b'], { settings: { maxStagnant: 3 } });
    let stops = 0;
    for (; driver.stops().decision?.answer === 'continue' && stops < 100; stops++) {
      driver.completes(first);
      driver.updates(first, { status: 'pending' });
      driver.updates(first, { status: 'in_progress' });
    }
    expect(driver.state.settled?.reason).toBe('stagnant');
    expect(stops).toBeLessThan(12);
  });

  it('G7: cancelling, blocking and rewording are not progress', () => {
    const { driver, ids } = planned(['a', 'b', 'c', 'd']);
    driver.stops();
    driver.completes(ids[0] ?? '', 'cancelled');
    driver.updates(ids[1] ?? '', { status: 'blocked', reason: 'no key' });
    driver.updates(ids[2] ?? '', { title: 'c, but nicer' });
    driver.updates(ids[3] ?? '', { priority: 'high' });
    driver.works('todo');
    driver.works('read');
    expect(driver.state.counters).toEqual(counters(1, 1, 1));
    expect(driver.state.progress.planMoved).toBe(true);
  });

  it('P4: a duplicate write is not progress', () => {
    const { driver } = planned(['a', 'b']);
    driver.stops();
    driver.writes('a', 'b');
    expect(driver.state.counters.stagnant).toBe(1);
    expect(driver.ledger).toContain('duplicate-write');
  });

  it('P6: a todo that was added after the first stop counts only with work before its completion', () => {
    const { driver } = planned(['a']);
    driver.stops();
    driver.stops();
    const [idle] = driver.plans('trivial');
    driver.completes(idle ?? '');
    expect(driver.state.counters.continuations).toBe(2);
    const [worked] = driver.plans('real');
    driver.works('read');
    driver.completes(worked ?? '');
    expect(driver.state.counters.continuations).toBe(0);
  });

  it('P6: work that comes after its completion does not make it count', () => {
    const { driver } = planned(['a']);
    driver.stops();
    const [idle] = driver.plans('trivial');
    driver.completes(idle ?? '');
    driver.works();
    driver.updates(idle ?? '', { context: 'a note' });
    expect(driver.todo(idle ?? '').finalAt).toBeNull();
    expect(driver.state.counters.continuations).toBe(1);
  });

  it('P6: todos of the first plan count without any call: what the agent thought up front is its plan', () => {
    const { driver, first } = planned(['a', 'b']);
    driver.completes(first);
    expect(driver.todo(first)).toMatchObject({ late: false, finalAt: driver.now });
  });
});

describe('the workspace', () => {
  it('P7: a tree never seen before, after a call that can write, zeroes stagnation alone', () => {
    const { driver } = planned(['a', 'b']);
    driver.stops({ fingerprint: 'tree-1' });
    driver.works();
    driver.stops({ fingerprint: 'tree-2' });
    expect(driver.state.counters).toEqual(counters(1, 2, 2));
    driver.works();
    driver.happens({ type: 'workspace-seen', fingerprint: 'tree-3' });
    expect(driver.state.counters).toEqual(counters(0, 2, 2));
  });

  it('G7: the first tree is the baseline', () => {
    const { driver } = planned(['a']);
    driver.stops();
    driver.works();
    driver.happens({ type: 'workspace-seen', fingerprint: 'tree-1' });
    expect(driver.state.counters.stagnant).toBe(1);
  });

  it('G7: a tree without a call that can write is somebody else at work', () => {
    const { driver } = planned(['a']);
    driver.stops({ fingerprint: 'tree-1' });
    driver.works('read');
    driver.happens({ type: 'workspace-seen', fingerprint: 'tree-2' });
    expect(driver.state.counters.stagnant).toBe(1);
    driver.works();
    driver.happens({ type: 'workspace-seen', fingerprint: 'tree-3' });
    driver.stops();
    driver.happens({ type: 'workspace-seen', fingerprint: 'tree-4' });
    expect(driver.state.counters.stagnant, 'the call before tree-3 is used up').toBe(1);
  });

  it('G7: a tree that was seen before is no progress, in whatever order they come back', () => {
    const { driver } = planned(['a']);
    driver.stops({ fingerprint: 'tree-1' });
    driver.works();
    driver.stops({ fingerprint: 'tree-2' });
    for (const fingerprint of ['tree-1', 'tree-2', 'tree-1']) {
      driver.works();
      driver.stops({ fingerprint });
    }
    expect(driver.state.counters.stagnant).toBe(4);
  });

  it('G7: a call that changed nothing is still good for the tree that comes later', () => {
    const { driver } = planned(['a']);
    driver.stops({ fingerprint: 'tree-1' });
    driver.works();
    driver.stops({ fingerprint: 'tree-1' });
    driver.happens({ type: 'workspace-seen', fingerprint: 'tree-2' });
    expect(driver.state.counters.stagnant).toBe(0);
  });

  it('G7: a call before the human’s message is not good for what the human changes after it', () => {
    const { driver } = planned(['a', 'b']);
    driver.stops({ fingerprint: 'tree-1' });
    driver.works();
    driver.says('go on', 'message-2', 'tree-1');
    driver.stops({ fingerprint: 'tree-1' });
    driver.stops({ fingerprint: 'tree-2' });
    expect(driver.state.counters).toEqual(counters(2, 2, 2));
  });
});

describe('weak changes', () => {
  it('G7: without fingerprints calls that can write count, at most twice in a row', () => {
    const { driver } = planned(['a']);
    driver.says();
    const stagnant = [1, 2, 3, 4].map(() => {
      driver.works();
      driver.stops();
      return driver.state.counters.stagnant;
    });
    expect(stagnant).toEqual([1, 1, 2, 3]);
  });

  it('G7: once fingerprints are known, calls alone count no more', () => {
    const { driver } = planned(['a']);
    driver.stops({ fingerprint: 'tree-1' });
    driver.works();
    driver.stops();
    expect(driver.state.counters.stagnant).toBe(2);
  });

  it('G7: adding todos, starting one and claiming a checked one count, at most twice in a row', () => {
    const { driver, first } = planned(['a']);
    driver.says();
    driver.stops();
    driver.updates(first, { status: 'in_progress' });
    expect(driver.state.counters.stagnant).toBe(0);
    driver.stops();
    const [checked] = driver.plans({ title: 'b', checks: ['own'] });
    expect(driver.state.counters.stagnant).toBe(0);
    driver.stops();
    driver.completes(checked ?? '');
    expect(driver.state.counters.stagnant).toBe(1);
  });

  it('G7: claiming a checked todo for the first time is weak progress, claiming it again is none', () => {
    const driver = createCoreDriver({ settings: { maxStagnant: 50 } });
    driver.says();
    const [checked] = driver.plans({ title: 'a', checks: ['own'] }, 'b');
    driver.says();
    driver.stops();
    driver.completes(checked ?? '');
    expect(driver.state.counters).toEqual(counters(0, 1, 1));
    driver.happens({
      type: 'check-finished',
      todoId: checked ?? '',
      check: 'own',
      result: 'failed',
      flaky: false,
      tail: null,
      fingerprint: null,
      final: true,
      writes: null,
    });
    driver.stops();
    driver.completes(checked ?? '');
    expect(driver.state.counters.stagnant).toBe(1);
  });

  it('G7: many between two continuations count as one, and strong progress allows two more', () => {
    const { driver, first } = planned(['a', 'b']);
    driver.says();
    driver.plans('c');
    driver.plans('d');
    expect(driver.state.progress.weakInRow).toBe(1);
    driver.stops();
    driver.plans('e');
    driver.stops();
    driver.plans('f');
    expect(driver.state.counters.stagnant).toBe(1);
    driver.completes(first);
    expect(driver.state.progress.weakInRow).toBe(0);
    driver.stops();
    driver.plans('g');
    expect(driver.state.counters.stagnant).toBe(0);
  });

  it('P32: what one session does never moves the counters of another', () => {
    const one = planned(['a']);
    const other = planned(['a']);
    one.driver.stops();
    other.driver.completes(other.first);
    expect(one.driver.state.counters).toEqual(counters(1, 1, 1));
  });
});
