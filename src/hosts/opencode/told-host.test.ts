import { describe, expect, it } from 'vitest';
import { createSession, type Session } from '../../core/session.ts';
import type { OutgoingText } from '../../engine/host.ts';
import { createSequentialIdentifiers, createSimulatedClock } from '../../simulated/simulated-clock.ts';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import { createHostList } from '../told/host-list.ts';
import type { HostCalls, ShownMessage } from './host-calls.ts';
import type { PromptBodyLike } from './plugin-types.ts';
import { createSessionMemories } from './session-memory.ts';
import { createOpenCodeHost } from './told-host.ts';

const at = 1_800_000_000_000;
const agent = { name: 'plan', canWrite: 'no', model: 'lab/family/model', variant: 'high' } as const;
const session: Session = {
  ...createSession('ses_1', at),
  agent,
  epoch: 3,
  injection: { epoch: 3, state: 'intended', attempts: 0, at },
};
const outgoing: OutgoingText = { key: 'ses_1:3', session, epoch: 3, text: 'Go on.' };

function createHost(overrides: Partial<HostCalls> = {}, isStopped = false) {
  const sent: PromptBodyLike[] = [];
  const calls: HostCalls = {
    session: async () => null,
    todos: async () => null,
    messages: async () => [],
    isIdle: async () => true,
    canWrite: async () => 'yes',
    async prompt(_id, body) {
      sent.push(body);
      return null;
    },
    show: async () => null,
    abort: async () => {},
    toast: async () => {},
    ...overrides,
  };
  const clock = createSimulatedClock(at);
  const list = createHostList({
    store: createMemoryStore(),
    clock,
    identifiers: createSequentialIdentifiers(),
  });
  const memories = createSessionMemories();
  const host = createOpenCodeHost({
    ...{ calls, list, isStopped: () => isStopped, memoryOf: memories.of, notify: async () => {} },
  });
  return { host, sent, memory: memories.of('ses_1') };
}

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
      parts: [{ type: 'text', text: 'Go on.', synthetic: true, metadata: { untildone: { key: 'ses_1:3' } } }],
    });
    expect(memory.sent.get(sent[0]?.messageID ?? '')).toBe(3);
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
    memory.held = { stepId: 'msg_1', messageId: 'msg_held', partId: 'prt_held', isWanted: false, text: null };
    await host.inject(outgoing);
    memory.held.isWanted = true;
    await host.inject(outgoing);
    expect(sent.map(({ messageID }) => messageID)).toEqual([expect.not.stringMatching('held'), 'msg_held']);
    expect(memory.held.text).toBe('Go on.');
  });

  it('P19: nothing is sent once the human’s abort was heard, recorded or not', async () => {
    const { host, sent } = createHost({}, true);
    expect(await host.inject(outgoing)).toMatchObject({ taken: false });
    expect(sent).toEqual([]);
  });

  it('trap 5: what the host refuses is said in a sentence', async () => {
    const { host } = createHost({ prompt: async () => 'Agent not found' });
    expect(await host.inject(outgoing)).toEqual({ taken: false, error: 'Agent not found' });
  });
});

describe('looking up', () => {
  async function lookUp(answer: Partial<ShownMessage> | null, isIdle: boolean | null = true) {
    const first = createHost();
    await first.host.inject(outgoing);
    const ours = shown(first.sent[0]);
    const reply = { info: { role: 'assistant', parentID: ours.info['id'] }, parts: [], ...answer };
    const messages = async () => (answer === null ? [ours] : [ours, reply]);
    return createHost({ messages, isIdle: async () => isIdle }).host.find(outgoing);
  }

  it('V5: a message that is not there is absent, and a host that cannot be asked knows nothing', async () => {
    expect(await createHost().host.find(outgoing)).toBe('absent');
    expect(await createHost({ messages: async () => null }).host.find(outgoing)).toBe('unknown');
  });

  it('V5: one that a step answers has arrived, even if the step failed', async () => {
    expect(await lookUp({ parts: [{ type: 'step-start' }] })).toBe('present');
    expect(await lookUp({ info: { role: 'assistant', parentID: expect.anything(), finish: 'stop' } })).toBe(
      'absent',
    );
  });

  it('trap 6, V5: one that nobody answers is sent again once the host sits idle', async () => {
    expect(await lookUp(null)).toBe('absent');
    expect(await lookUp({ parts: [] })).toBe('absent');
    expect(await lookUp(null, false)).toBe('unknown');
    expect(await lookUp(null, null)).toBe('unknown');
  });
});
