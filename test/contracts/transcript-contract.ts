// Contract: the conversations of our own agent, and the tool calls whose step was never
// written down.
import { describe, expect, it } from 'vitest';
import type { CallRow } from '../../src/engine/host.ts';
import { aSession } from '../support/builders.ts';
import { save } from './dump.ts';
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
  const ended = (row: CallRow): CallRow => ({ ...row, result: '"done"', endedAt: 5 });
  const calls = async () => (await store().transcript('session-1', 0)).calls;

  describe('transcript', () => {
    it('V5: messages keep their order and count from 1 in each session', async () => {
      await store().record({ messages: [message('one'), message('two')] });
      await store().record({
        messages: [{ ...message('elsewhere'), sessionId: 'session-2' }],
      });
      await store().record({ messages: [message('three')] });
      const { messages } = await store().transcript('session-1', 0);
      expect(messages.map(({ sequence, body }) => [sequence, body])).toEqual([
        [1, 'one'],
        [2, 'two'],
        [3, 'three'],
      ]);
      expect(
        (await store().transcript('session-1', 2)).messages.map(({ body }) => body),
      ).toEqual(['three']);
      expect(
        (await store().transcript('session-2', 0)).messages.map(
          ({ sequence }) => sequence,
        ),
      ).toEqual([1]);
    });

    it('C3: what a run showed keeps its order in each session, and is read from any place on', async () => {
      const row = (sessionId: string, body: string) => ({ sessionId, body });
      await store().record({
        shown: [row('session-1', 'one'), row('session-2', 'elsewhere')],
      });
      await store().record({ shown: [row('session-1', 'two')] });
      expect(await store().shown('session-1', 0)).toEqual([
        { sequence: 1, body: 'one' },
        { sequence: 2, body: 'two' },
      ]);
      expect(await store().shown('session-1', 1)).toEqual([{ sequence: 2, body: 'two' }]);
      expect(await store().shown('session-3', 0)).toEqual([]);
    });

    it('V5: a call is unsettled from its start until its step is written down', async () => {
      const a = call('a', 'step-1');
      const b = { ...call('b', 'step-1'), readOnly: false };
      const c = call('c', 'step-2');
      await store().record({ calls: [a, b, c] });
      await store().record({ calls: [ended(b)] });
      expect(await calls()).toEqual([a, ended(b), c]);
      const settled = { sessionId: 'session-1', stepId: 'step-1' };
      await store().record({ messages: [message('answer')], settled });
      expect((await calls()).map(({ callId }) => callId)).toEqual(['c']);
    });

    it('V5: a call that is made again keeps its row, and a recorded result is never taken back', async () => {
      const a = call('a', 'step-1');
      const b = call('b', 'step-1');
      await store().record({ calls: [a, { ...a, startedAt: 9 }, b] });
      await store().record({ calls: [ended(b)] });
      await store().record({ calls: [{ ...b, startedAt: 9 }] });
      expect(await calls()).toEqual([{ ...a, startedAt: 9 }, ended(b)]);
    });

    it('V5: an archived session brings its conversation back with it', async () => {
      await save(store(), { state: aSession({ id: 'session-1', updatedAt: 10 }) });
      await store().record({ messages: [message('one')], calls: [call('a', 'step-1')] });
      expect(await store().archive(100, 10)).toBe(1);
      expect(await store().transcript('session-1', 0)).toEqual({
        messages: [],
        calls: [],
      });
      await save(store(), {}, 'session-1');
      const { messages } = await store().transcript('session-1', 0);
      expect(messages.map(({ body }) => body)).toEqual(['one']);
      expect(await calls()).toEqual([call('a', 'step-1')]);
    });
  });
}
