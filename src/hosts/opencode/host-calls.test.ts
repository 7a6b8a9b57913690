import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../simulated/simulated-clock.ts';
import { createHostCalls } from './host-calls.ts';
import type { ClientLike } from './plugin-types.ts';

type Parts = { session?: object; app?: object; tui?: object };

function callsOf({ session = {}, app = {}, tui = {} }: Parts) {
  const clock = createSimulatedClock();
  return { clock, calls: createHostCalls({ session, app, tui } as unknown as ClientLike, clock) };
}

describe("the host's answers", () => {
  it('design: a call that fails, throws or gives something else is null, or a sentence', async () => {
    const failing = { error: { name: 'NotFoundError', data: { message: 'Session not found' } } };
    const answers = [async () => failing, async () => ({ data: 7 }), () => Promise.reject(new Error('gone'))];
    for (const call of answers) {
      const { calls } = callsOf({ session: { get: call, todo: call, messages: call, status: call } });
      expect(await calls.session('s')).toBeNull();
      expect(await calls.todos('s')).toBeNull();
      expect(await calls.messages('s')).toBeNull();
    }
    const { calls } = callsOf({ session: { promptAsync: async () => failing, status: async () => failing } });
    expect(await calls.prompt('s', { parts: [] })).toBe('Session not found');
    expect(await calls.isIdle('s')).toBeNull();
  });

  it('design: a host that does not answer is not waited for', async () => {
    const { clock, calls } = callsOf({ session: { promptAsync: () => new Promise(() => {}) } });
    const sent = calls.prompt('s', { parts: [] });
    await clock.advance(10_001);
    expect(await sent).toContain('no answer');
  });

  it('trap 5: idle is what the host does not list, or lists as idle', async () => {
    const status = async () => ({ data: { a: { type: 'busy' }, b: { type: 'retry' }, c: { type: 'idle' } } });
    const { calls } = callsOf({ session: { status } });
    expect(await Promise.all(['a', 'b', 'c', 'd'].map((id) => calls.isIdle(id)))).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  it('P26: agents are read once, and again for one that is not known', async () => {
    let asked = 0;
    const agents = async () => {
      asked += 1;
      return {
        data: [{ name: 'build', permission: [{ permission: '*', pattern: '*', action: 'allow' }] }, 7],
      };
    };
    const { calls } = callsOf({ app: { agents } });
    expect(await calls.canWrite('build')).toBe('yes');
    expect(await calls.canWrite('build')).toBe('yes');
    expect(asked).toBe(1);
    expect(await calls.canWrite('new')).toBe('unknown');
    expect(asked).toBe(2);
    expect(await calls.canWrite(null)).toBe('unknown');
  });

  it('design: what a toast shows is one line without escapes', async () => {
    const shown: unknown[] = [];
    const showToast = async ({ body }: { body: unknown }) => {
      shown.push(body);
      return {};
    };
    const { calls } = callsOf({ tui: { showToast } });
    await calls.toast({ title: 'a\u001b[31m', message: 'b\nc', level: 'info', durationMs: 900 });
    expect(shown).toEqual([{ title: 'a', message: 'b c', variant: 'info', duration: 900 }]);
  });
});
