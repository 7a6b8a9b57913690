import { describe, expect, it } from 'vitest';
import { createWaitingPlugin } from '../../../test/support/opencode-case.ts';
import { createState, type Session } from '../../core/state.ts';
import type { OutgoingText } from '../../engine/host.ts';
import { createSimulatedClock } from '../../simulated/simulated-clock.ts';
import { createHostCalls, type HostCalls, hostId } from './host.ts';
import type { ClientLike, PromptBodyLike } from './translate.ts';

type Parts = { session?: object; app?: object; tui?: object };

function callsOf({ session = {}, app = {}, tui = {} }: Parts) {
  const clock = createSimulatedClock();
  return {
    clock,
    calls: createHostCalls({ session, app, tui } as unknown as ClientLike, clock),
  };
}

describe("the host's answers", () => {
  it('design: a call that fails, throws or gives something else is null, or a sentence', async () => {
    const failing = {
      error: { name: 'NotFoundError', data: { message: 'Session not found' } },
    };
    const answers = [
      async () => failing,
      async () => ({ data: 7 }),
      () => Promise.reject(new Error('gone')),
    ];
    for (const call of answers) {
      const { calls } = callsOf({
        session: { get: call, todo: call, messages: call, status: call },
      });
      expect(await calls.session('s')).toBeNull();
      expect(await calls.todos('s')).toBeNull();
      expect(await calls.messages('s')).toBeNull();
    }
    const { calls } = callsOf({
      session: { promptAsync: async () => failing, status: async () => failing },
    });
    expect(await calls.prompt('s', { parts: [] })).toBe('Session not found');
    expect(await calls.isIdle('s')).toBeNull();
  });

  it('design: a host that does not answer is not waited for', async () => {
    const { clock, calls } = callsOf({
      session: { promptAsync: () => new Promise(() => {}) },
    });
    const sent = calls.prompt('s', { parts: [] });
    await clock.advance(10_001);
    expect(await sent).toContain('no answer');
  });

  it('trap 5: idle is what the host does not list, or lists as idle', async () => {
    const status = async () => ({
      data: { a: { type: 'busy' }, b: { type: 'retry' }, c: { type: 'idle' } },
    });
    const { calls } = callsOf({ session: { status } });
    expect(await Promise.all(['a', 'b', 'c', 'd'].map((id) => calls.isIdle(id)))).toEqual(
      [false, false, true, true],
    );
  });

  it('P26: agents are read once, and again for one that is not known', async () => {
    let asked = 0;
    const agents = async () => {
      asked += 1;
      return {
        data: [
          {
            name: 'build',
            permission: [{ permission: '*', pattern: '*', action: 'allow' }],
          },
          7,
        ],
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
    await calls.toast({
      title: 'a\u001b[31m',
      message: 'b\nc',
      level: 'info',
      durationMs: 900,
    });
    expect(shown).toEqual([
      { title: 'a', message: 'b c', variant: 'info', duration: 900 },
    ]);
  });
});

describe('ids of messages', () => {
  it('V5: the same continuation has the same id, another one another', () => {
    expect(hostId('msg', 'ses_1:4', 1000)).toBe(hostId('msg', 'ses_1:4', 1000));
    expect(hostId('msg', 'ses_1:5', 1000)).not.toBe(hostId('msg', 'ses_1:4', 1000));
    expect(hostId('prt', 'ses_1:4', 1000).slice(3)).not.toBe(
      hostId('msg', 'ses_1:4', 1000).slice(3),
    );
  });

  it("design: they look like the host's own and rise with time", () => {
    // As the host made it for a message of this moment.
    const own = 'msg_1dfd1747c001JDyF75mOmtLR7c';
    const ours = hostId('msg', 'ses_1:4', 1_794_756_408_445);
    expect(ours).toMatch(/^msg_[0-9a-f]{12}[0-9A-Za-z]{14}$/);
    expect(ours > own).toBe(true);
    expect(hostId('msg', 'ses_1:4', 1_794_756_408_443) < own).toBe(true);
  });
});

const at = 1_800_000_000_000;
const agent = {
  name: 'plan',
  canWrite: 'no',
  model: 'lab/family/model',
  variant: 'high',
} as const;
const session: Session = {
  ...createState('ses_1', at),
  agent,
  epoch: 3,
  injection: { epoch: 3, state: 'intended', attempts: 0, at },
};
const outgoing: OutgoingText = { key: 'ses_1:3', session, epoch: 3, text: 'Go on.' };

function createHost(overrides: Partial<HostCalls> = {}) {
  const sent: PromptBodyLike[] = [];
  const { told } = createWaitingPlugin({
    messages: async () => [],
    isIdle: async () => true,
    async prompt(_id, body) {
      sent.push(body);
      return null;
    },
    ...overrides,
  });
  return { host: told.host, sent, memory: told.of('ses_1') };
}

type ShownMessage = NonNullable<Awaited<ReturnType<HostCalls['messages']>>>[number];

/** How the host shows a message that was sent with this body. */
function shown(body: PromptBodyLike | undefined): ShownMessage {
  return {
    info: { id: body?.messageID, role: 'user' },
    parts: (body?.parts ?? []).map((part) => ({ ...part })),
  };
}

describe('sending', () => {
  it('trap 4: agent, model and variant are those of the human, and the text is marked as ours', async () => {
    const { host, sent, memory } = createHost();
    expect(await host.inject(outgoing)).toEqual({ taken: true });
    expect(sent[0]).toMatchObject({
      agent: 'plan',
      model: { providerID: 'lab', modelID: 'family/model' },
      variant: 'high',
      parts: [
        {
          type: 'text',
          text: 'Go on.',
          synthetic: true,
          metadata: { untildone: { key: 'ses_1:3' } },
        },
      ],
    });
    expect(memory.sent).toEqual({ messageId: sent[0]?.messageID, epoch: 3 });
  });

  it('V5: sent again it has the same ids, so that the host replaces it', async () => {
    const { host, sent } = createHost();
    await host.inject(outgoing);
    await host.inject({ ...outgoing, session: { ...session, updatedAt: at + 90_000 } });
    expect(sent[1]?.messageID).toBe(sent[0]?.messageID);
    expect(sent[1]?.parts[0]?.id).toBe(sent[0]?.parts[0]?.id);
  });

  it('design: a place that is kept is taken only when its step was the last', async () => {
    const { host, sent, memory } = createHost();
    memory.held = {
      stepId: 'msg_1',
      messageId: 'msg_held',
      partId: 'prt_held',
      isWanted: false,
      text: null,
    };
    await host.inject(outgoing);
    memory.held.isWanted = true;
    await host.inject(outgoing);
    expect(sent.map(({ messageID }) => messageID)).toEqual([
      expect.not.stringMatching('held'),
      'msg_held',
    ]);
    expect(memory.held.text).toBe('Go on.');
  });

  it('P19: nothing is sent once the human’s abort was heard, recorded or not', async () => {
    const { host, sent, memory } = createHost();
    memory.holds.add({ why: 'the human stopped the agent' });
    expect(await host.inject(outgoing)).toMatchObject({ taken: false });
    expect(sent).toEqual([]);
  });

  it('trap 5: what the host refuses is said in a sentence', async () => {
    const { host } = createHost({ prompt: async () => 'Agent not found' });
    expect(await host.inject(outgoing)).toEqual({
      taken: false,
      error: 'Agent not found',
    });
  });
});

describe('looking up', () => {
  async function lookUp(
    answer: Partial<ShownMessage> | null,
    isIdle: boolean | null = true,
  ) {
    const first = createHost();
    await first.host.inject(outgoing);
    const ours = shown(first.sent[0]);
    const reply = {
      info: { role: 'assistant', parentID: ours.info['id'] },
      parts: [],
      ...answer,
    };
    const messages = async () => (answer === null ? [ours] : [ours, reply]);
    return createHost({ messages, isIdle: async () => isIdle }).host.find(outgoing);
  }

  it('V5: a message that is not there is absent, and a host that cannot be asked knows nothing', async () => {
    expect(await createHost().host.find(outgoing)).toBe('absent');
    expect(await createHost({ messages: async () => null }).host.find(outgoing)).toBe(
      'unknown',
    );
  });

  it('V5: one that a step answers has arrived, even if the step failed', async () => {
    expect(await lookUp({ parts: [{ type: 'step-start' }] })).toBe('present');
    expect(
      await lookUp({
        info: { role: 'assistant', parentID: expect.anything(), finish: 'stop' },
      }),
    ).toBe('absent');
  });

  it('trap 6, V5: one that nobody answers is sent again once the host sits idle', async () => {
    expect(await lookUp(null)).toBe('absent');
    expect(await lookUp({ parts: [] })).toBe('absent');
    expect(await lookUp(null, false)).toBe('unknown');
    expect(await lookUp(null, null)).toBe('unknown');
  });
});
