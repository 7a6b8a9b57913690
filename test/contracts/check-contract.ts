// Contract: the queue of checks, and the evidence that is kept of them.
import { describe, expect, it } from 'vitest';
import type { CheckRun, EvidenceRow } from '../../src/engine/host.ts';
import { anEvent, aSession } from '../support/builders.ts';
import { save } from './dump.ts';
import type { StoreUnderTest } from './store-contract.ts';

export function describeChecks({ store }: StoreUnderTest): void {
  const run = (id: string, changes: Partial<CheckRun> = {}): CheckRun => ({
    id,
    key: 'key',
    directory: '/work',
    spec: {
      kind: 'file',
      id: 'unit',
      path: 'a',
      expect: 'exists',
      files: [],
      timeoutMs: 1000,
    },
    exclude: [],
    before: null,
    state: 'asked',
    askers: [{ sessionId: 'session-1', todoId: null, final: true, writes: 3 }],
    askedAt: 1,
    startedAt: null,
    endedAt: null,
    finding: null,
    ...changes,
  });
  const row = (check: string): EvidenceRow => ({
    sessionId: 'session-1',
    todoId: 'todo-1',
    check,
    result: 'passed',
    flaky: false,
    sentence: 'It is there.',
    exitCode: null,
    milliseconds: 3,
    tail: '\u0000 tail',
    timedOut: false,
    fingerprint: null,
    at: 5,
  });
  const saveRuns = (...runs: CheckRun[]) =>
    store().changeChecks('/work', null, () => ({ result: null, runs }));

  describe('checks', () => {
    it('V1: runs are active while they wait or run, in the order in which they were asked for, by folder', async () => {
      await saveRuns(run('b'), run('a'), run('elsewhere', { directory: '/other' }));
      await saveRuns(run('b', { state: 'running', startedAt: 2 }));
      await saveRuns(run('c', { state: 'finished' }), run('d', { state: 'cancelled' }));
      const active = await store().checkRuns({ directory: '/work' });
      expect(active.map(({ id, state }) => [id, state])).toEqual([
        ['b', 'running'],
        ['a', 'asked'],
      ]);
      expect(
        await store().changeChecks('/work', null, (queue) => ({ result: queue.active })),
      ).toEqual(active);
      expect(await store().checkRuns({ id: 'b' })).toEqual([
        run('b', { state: 'running', startedAt: 2 }),
      ]);
      expect(await store().checkRuns({ id: 'nobody' })).toEqual([]);
    });

    it('V1: a change of the queue takes its lease first, and writes runs, evidence and news as one', async () => {
      const lease = (holder: string, now: number) => ({
        name: 'checks /work',
        holder,
        now,
        until: now + 10,
      });
      const news = anEvent.checkFinished({ id: 'news' });
      const first = await store().changeChecks('/work', lease('one', 0), ({ holds }) => ({
        result: holds,
        runs: [run('a')],
        evidence: [row('unit')],
        events: [news],
      }));
      expect(first).toBe(true);
      expect(await store().evidence('session-1', 5)).toEqual([row('unit')]);
      expect(await store().events({ sessionId: 'session-1', waiting: true })).toEqual([
        { applied: null, event: news },
      ]);
      const second = (now: number) =>
        store().changeChecks('/work', lease('two', now), ({ holds }) => ({
          result: holds,
        }));
      expect(await second(5)).toBe(false);
      await store().changeChecks('/work', lease('one', 6), () => ({
        result: null,
        release: true,
      }));
      expect(await second(7)).toBe(true);
      const failed = store().changeChecks('/work', null, () => {
        throw new Error('the work failed');
      });
      await expect(failed).rejects.toThrow('the work failed');
      expect(
        await store().changeChecks('/work', null, ({ holds }) => ({ result: holds })),
      ).toBe(false);
    });

    it('V1: evidence is kept whole, newest first, and does not mix with fingerprints that were seen', async () => {
      await save(store(), { fingerprints: [{ fingerprint: 'tree', at: 1 }] });
      await store().record({ evidence: ['one', 'two', 'three'].map(row) });
      await store().record({ evidence: [{ ...row('other'), sessionId: 'session-2' }] });
      expect(await store().evidence('session-1', 2)).toEqual([row('three'), row('two')]);
    });

    it('V1: an archived session brings its evidence back with it', async () => {
      await save(store(), { state: aSession({ id: 'session-1', updatedAt: 10 }) });
      await store().record({ evidence: [row('one')] });
      expect(await store().archive(100, 10)).toBe(1);
      expect(await store().evidence('session-1', 5)).toEqual([]);
      await save(store(), {}, 'session-1');
      expect(await store().evidence('session-1', 5)).toEqual([row('one')]);
    });
  });
}
