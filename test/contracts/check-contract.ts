// Contract: the queue of checks, and the evidence that is kept of them.
import { describe, expect, it } from 'vitest';
import type { CheckRun, EvidenceRow } from '../../src/engine/check-queue.ts';
import { aSession } from '../support/builders.ts';
import type { StoreUnderTest } from './store-contract.ts';

export function describeChecks({ store }: StoreUnderTest): void {
  const run = (id: string, changes: Partial<CheckRun> = {}): CheckRun => ({
    id,
    key: 'key',
    directory: '/work',
    spec: { kind: 'file', id: 'unit', path: 'a', expect: 'exists', files: [], timeoutMs: 1000 },
    exclude: [],
    state: 'asked',
    askers: [{ sessionId: 'session-1', todoId: null, final: true, writes: 3 }],
    askedAt: 1,
    startedAt: null,
    endedAt: null,
    verdict: null,
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

  describe('checks', () => {
    it('V1: runs are active while they wait or run, in the order in which they were asked for, by folder', async () => {
      await store().transact(async (tx) => {
        await tx.saveCheckRun(run('b'));
        await tx.saveCheckRun(run('a'));
        await tx.saveCheckRun(run('elsewhere', { directory: '/other' }));
        await tx.saveCheckRun(run('b', { state: 'running', startedAt: 2 }));
        await tx.saveCheckRun(run('c', { state: 'finished' }));
        await tx.saveCheckRun(run('d', { state: 'cancelled' }));
      });
      await store().read(async (reader) => {
        const active = await reader.activeCheckRuns('/work');
        expect(active.map(({ id, state }) => [id, state])).toEqual([
          ['b', 'running'],
          ['a', 'asked'],
        ]);
        expect(await reader.checkRun('b')).toEqual(run('b', { state: 'running', startedAt: 2 }));
        expect(await reader.checkRun('nobody')).toBeNull();
      });
    });

    it('V1: evidence is kept whole, newest first, and does not mix with fingerprints that were seen', async () => {
      await store().transact(async (tx) => {
        await tx.addFingerprint('session-1', 'tree', 1);
        for (const check of ['one', 'two', 'three']) await tx.addEvidence(row(check));
        await tx.addEvidence({ ...row('other'), sessionId: 'session-2' });
      });
      expect(await store().read(async (reader) => reader.evidence('session-1', 2))).toEqual([
        row('three'),
        row('two'),
      ]);
    });

    it('V1: an archived session brings its evidence back with it', async () => {
      await store().transact(async (tx) => {
        await tx.saveSession(aSession({ id: 'session-1', planId: 'session-1', updatedAt: 10 }));
        await tx.addEvidence(row('one'));
        expect(await tx.archive(100, 10)).toBe(1);
      });
      expect(await store().read(async (reader) => reader.evidence('session-1', 5))).toEqual([]);
      await store().transact(async (tx) => tx.session('session-1'));
      expect(await store().read(async (reader) => reader.evidence('session-1', 5))).toEqual([row('one')]);
    });
  });
}
