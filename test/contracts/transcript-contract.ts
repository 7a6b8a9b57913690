// Contract: the conversations of our own agent, and the tool calls whose step was never written down.
import { describe, expect, it } from 'vitest';
import type { CallRow } from '../../src/engine/transcript.ts';
import { aSession } from '../support/builders.ts';
import type { StoreUnderTest } from './store-contract.ts';

export function describeTranscript({ store }: StoreUnderTest): void {
  const message = (body: string) =>
    ({ sessionId: 'session-1', turnId: null, at: 1, kind: 'agent', body }) as const;
  const call = (callId: string, stepId: string): CallRow => ({
    sessionId: 'session-1',
    callId,
    stepId,
    tool: 'read_file',
    readOnly: true,
    input: '{}',
    startedAt: 1,
    result: null,
    endedAt: null,
  });

  describe('transcript', () => {
    it('V5: messages keep their order and count from 1 in each session', async () => {
      await store().transact(async (tx) => {
        await tx.addMessages([message('one'), message('two')]);
        await tx.addMessages([{ ...message('elsewhere'), sessionId: 'session-2' }]);
        await tx.addMessages([message('three')]);
      });
      await store().read(async (reader) => {
        const rows = await reader.messages('session-1', 0);
        expect(rows.map(({ sequence, body }) => [sequence, body])).toEqual([
          [1, 'one'],
          [2, 'two'],
          [3, 'three'],
        ]);
        expect((await reader.messages('session-1', 2)).map(({ body }) => body)).toEqual(['three']);
        expect((await reader.messages('session-2', 0)).map(({ sequence }) => sequence)).toEqual([1]);
      });
    });

    it('V5: a call is unsettled from its start until its step is written down', async () => {
      await store().transact(async (tx) => {
        await tx.startCall(call('a', 'step-1'));
        await tx.startCall(call('b', 'step-1'));
        await tx.startCall(call('c', 'step-2'));
        await tx.finishCall('session-1', 'b', '"done"', 5);
      });
      expect(await store().read(async (reader) => reader.unsettledCalls('session-1'))).toEqual([
        call('a', 'step-1'),
        { ...call('b', 'step-1'), result: '"done"', endedAt: 5 },
        call('c', 'step-2'),
      ]);
      await store().transact(async (tx) => tx.settleCalls('session-1', 'step-1'));
      const left = await store().read(async (reader) => reader.unsettledCalls('session-1'));
      expect(left.map(({ callId }) => callId)).toEqual(['c']);
    });

    it('V5: a call that is made again keeps its row, and a recorded result is never taken back', async () => {
      await store().transact(async (tx) => {
        await tx.startCall(call('a', 'step-1'));
        await tx.startCall({ ...call('a', 'step-1'), startedAt: 9 });
        await tx.startCall(call('b', 'step-1'));
        await tx.finishCall('session-1', 'b', '"done"', 5);
        await tx.startCall({ ...call('b', 'step-1'), startedAt: 9 });
      });
      expect(await store().read(async (reader) => reader.unsettledCalls('session-1'))).toEqual([
        { ...call('a', 'step-1'), startedAt: 9 },
        { ...call('b', 'step-1'), result: '"done"', endedAt: 5 },
      ]);
    });

    it('V5: an archived session brings its conversation back with it', async () => {
      await store().transact(async (tx) => {
        await tx.saveSession(aSession({ id: 'session-1', planId: 'session-1', updatedAt: 10 }));
        await tx.addMessages([message('one')]);
        await tx.startCall(call('a', 'step-1'));
        expect(await tx.archive(100, 10)).toBe(1);
      });
      expect(await store().read(async (reader) => reader.messages('session-1', 0))).toEqual([]);
      await store().transact(async (tx) => tx.session('session-1'));
      await store().read(async (reader) => {
        expect((await reader.messages('session-1', 0)).map(({ body }) => body)).toEqual(['one']);
        expect(await reader.unsettledCalls('session-1')).toEqual([call('a', 'step-1')]);
      });
    });
  });
}
