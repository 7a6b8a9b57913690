import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createWaitingPlugin, sessionId } from '../../../test/support/opencode-case.ts';
import { recordOf } from '../untrusted.ts';
import { handleHostEvent } from './follow.ts';
import type { Plugin, SessionMemory } from './host.ts';
import { canEdit, isTodoToolOn, readMessage, splitModel } from './translate.ts';

const recorded = JSON.parse(
  readFileSync(new URL('./fixtures/events.json', import.meta.url), 'utf8'),
) as Record<string, { type: string; properties: Record<string, unknown> }>;

/** What `follow.ts` tells the engine about events, and what it notes of their session. */
function heard(
  events: readonly unknown[],
  known: Partial<SessionMemory> = {},
  headless = false,
) {
  const plugin = createWaitingPlugin();
  const tells: unknown[] = [];
  const told: Plugin['told'] = {
    ...plugin.told,
    follow: (id) => ({
      ...plugin.told.follow(id),
      async later(happening) {
        tells.push(happening);
        return null;
      },
      tell: async (happening) => tells.push(happening) as never,
      // Safe: these tests look at nothing that needs a store.
      after: async (work) => work().catch(() => null),
    }),
  };
  const memory = Object.assign(told.of(sessionId), known);
  for (const event of events) handleHostEvent({ ...plugin, told, headless }, event);
  return { tells, memory, sessions: told.all().length };
}

const named = (name: string) => ({
  ...recorded[name],
  properties: { ...recorded[name]?.properties, sessionID: sessionId },
});
const signal = (name: string, known: Partial<SessionMemory> = {}, headless = false) =>
  heard([named(name)], known, headless);
const whole = { finish: null, error: null, summary: false };
const nothing = {
  tells: [],
  memory: { lastStep: null, lastText: null, info: null, busy: false },
};

describe("OpenCode's recorded events", () => {
  it('design: each one is the signal that it stands for', () => {
    expect(signal('sessionCreated').memory.info).toMatchObject({
      parentId: null,
      reverted: false,
    });
    expect(signal('childCreated').memory.info).toMatchObject({
      parentId: expect.stringMatching(/^ses_/),
    });
    expect(signal('sessionDeleted').tells).toMatchObject([{ type: 'session-deleted' }]);
    expect(signal('statusBusy').memory.busy).toBe(true);
    expect(signal('idle', { busy: true }).memory.busy).toBe(false);
    expect(signal('compacted').tells).toMatchObject([
      { type: 'wait-ended', wait: { kind: 'compaction', shrunk: true } },
    ]);
    expect(signal('textEnded').memory.lastText?.text).toContain(' ');
    expect(signal('toolRunning').tells).toMatchObject([
      { type: 'tool-started', tool: 'bash' },
    ]);
    expect(signal('toolRunning').memory.toolError).toBeNull();
    expect(signal('toolCompleted').tells).toMatchObject([
      { type: 'tool-started' },
      { type: 'tool-ended' },
    ]);
    const { messageID } = recordOf(recorded['stepStarted']?.properties['part']);
    const lastStep = { messageId: String(messageID), parentId: 'msg_1', ...whole };
    const sent = { messageId: 'msg_1', epoch: 1 };
    expect(signal('stepStarted', { lastStep, sent }).tells).toEqual([
      { type: 'activity-seen' },
    ]);
    expect(signal('stepStopped', {}, true).memory.answeredSinceBusy).toBe(true);
    expect(signal('stepCalledTools', {}, true).memory.answeredSinceBusy).toBe(false);
    expect(signal('assistantBegan').memory.lastStep).toMatchObject(whole);
    expect(signal('assistantFinished').memory.lastStep).toMatchObject({ finish: 'stop' });
  });

  it('trap 3: a message of a user is no signal, however late it is told: the hook tells of new ones', () => {
    expect(signal('userMessage')).toMatchObject(nothing);
    expect(signal('humanText')).toMatchObject(nothing);
  });

  it('trap 7: a rejection is known by its request', () => {
    const [asked] = signal('permissionAsked').tells as { wait: { requestId: string } }[];
    const requestId = asked?.wait.requestId ?? '';
    expect(requestId).not.toBe('');
    expect(signal('permissionRejected').tells).toMatchObject([
      { type: 'wait-ended', wait: { kind: 'permission', requestId, granted: false } },
    ]);
    expect(signal('questionRejected').tells).toMatchObject([
      { type: 'wait-ended', wait: { kind: 'question', rejected: true } },
    ]);
    expect(signal('toolFailed').memory.toolError).toContain('rejected');
  });

  it('trap 8: the summary of a compaction is known as one', () => {
    expect(signal('summaryMessage').memory.lastStep).toMatchObject({ summary: true });
  });

  it('trap 9: a retry is busy, and an idle comes as its own event', () => {
    expect(signal('statusRetry').memory.busy).toBe(true);
    expect(signal('statusIdle', { busy: true }).memory.busy).toBe(true);
  });

  it('G9: an error is given on as it is', () => {
    expect(signal('badRequest').tells).toMatchObject([
      { type: 'error-occurred', signature: expect.stringContaining('APIError') },
    ]);
    expect(signal('failedMessage').memory.lastStep?.error).toMatchObject({
      name: 'APIError',
    });
  });

  it('C3: a command that the human ran in the chat is known', () => {
    const { holds } = signal('shellText', {
      holds: new Set([{ why: 'stopped' }]),
    }).memory;
    expect(holds.size, 'a word of the human lifts a stop').toBe(0);
  });

  it('M5: the list of todos comes whole and without ids', () => {
    expect(signal('todosWritten').tells).toMatchObject([
      {
        type: 'plan-written',
        items: [
          { content: 'Write parser', status: 'pending', priority: 'medium' },
          { content: 'Write tests' },
        ],
      },
    ]);
  });

  it('G8: tokens that were read from a cache are spent too', () => {
    const { properties, ...step } = named('stepStopped');
    const tokens = { input: 10, output: 5, reasoning: 2, cache: { read: 30, write: 1 } };
    const part = { ...recordOf(recordOf(properties)['part']), tokens };
    expect(heard([{ ...step, properties: { ...properties, part } }]).tells).toMatchObject(
      [{ inputTokens: 41, outputTokens: 7 }],
    );
  });
});

describe('hostile events', () => {
  it('T6: what has no shape is no signal and throws nothing', () => {
    const prototype = { type: '__proto__', id: 'e' };
    const values = [null, undefined, 1, 'x', [], {}, { type: 'session.idle' }, prototype];
    const placed = { ...prototype, properties: { sessionID: 'other' } };
    expect(heard([...values, placed])).toMatchObject({ ...nothing, sessions: 1 });
    const properties = { sessionID: sessionId, part: [], info: 7 };
    for (const { type } of Object.values(recorded))
      expect(() => heard([{ id: 'e', type, properties }])).not.toThrow();
  });

  it('T6: a todo that is no object keeps its place and has no title', () => {
    const properties = { sessionID: sessionId, todos: [7, { content: 'a' }] };
    expect(heard([{ id: 'e', type: 'todo.updated', properties }]).tells).toMatchObject([
      { items: [{ content: '' }, { content: 'a' }] },
    ]);
  });
});

describe('whether the model has the todo tool', () => {
  it('P17: a permission says it before a switch does, for all calls or by patterns', () => {
    expect(isTodoToolOn({ tools: { todowrite: false } })).toBe(false);
    expect(
      isTodoToolOn({ tools: { todowrite: false }, permission: { todowrite: 'ask' } }),
    ).toBe(true);
    expect(isTodoToolOn({ permission: { todowrite: { '*': 'deny' } } })).toBe(false);
    expect(isTodoToolOn({ permission: 'deny' })).toBe(false);
    expect(isTodoToolOn({ permission: { edit: 'deny' }, tools: 7 })).toBeNull();
  });
});

describe('a message that the host is about to keep', () => {
  const model = { providerID: 'lab', modelID: 'family/scripted', variant: 'high' };
  const message = { id: 'msg_1', role: 'user', agent: 'build', model };

  it('trap 4: agent, model and variant of the human are kept', () => {
    const read = readMessage(message, [{ type: 'text', text: 'do it' }]);
    expect(read).toEqual({
      id: 'msg_1',
      text: 'do it',
      agent: { name: 'build', model: 'lab/family/scripted', variant: 'high' },
    });
    expect(splitModel(read?.agent.model ?? null)).toEqual({
      providerID: 'lab',
      modelID: 'family/scripted',
    });
  });

  it('G4: what the host or a plugin wrote by itself is no word of a human', () => {
    const synthetic = {
      type: 'text',
      text: 'Continue if you have next steps',
      synthetic: true,
    };
    expect(readMessage(message, [synthetic])?.text).toBeNull();
    expect(readMessage(message, [{ type: 'compaction', auto: false }])?.text).toBeNull();
    expect(
      readMessage(message, [{ type: 'text', text: 'shown only', ignored: true }])?.text,
    ).toBeNull();
    expect(
      readMessage(message, [synthetic, { type: 'file', url: 'file:///a' }])?.text,
    ).toBe('');
  });

  it('T6: one that cannot be read is none', () => {
    expect(readMessage(null, [])).toBeNull();
    expect(splitModel('no-provider')).toBeNull();
    expect(splitModel('/model')).toBeNull();
  });
});

const agents = JSON.parse(
  readFileSync(new URL('./fixtures/agents.json', import.meta.url), 'utf8'),
) as readonly { name: string; permission: unknown }[];
const permissionOf = (name: string) =>
  agents.find((agent) => agent.name === name)?.permission;

describe('who may write', () => {
  it("P26: of the host's own agents build and general may, plan and explore may not", () => {
    expect(canEdit(permissionOf('build'))).toBe('yes');
    expect(canEdit(permissionOf('general'))).toBe('yes');
    expect(canEdit(permissionOf('plan'))).toBe('no');
    expect(canEdit(permissionOf('explore'))).toBe('no');
  });

  it('P26: the last match wins, and a rule for single files makes no writer', () => {
    const deny = { permission: 'edit', pattern: '*', action: 'deny' };
    expect(canEdit([deny, { permission: '*', pattern: '*', action: 'allow' }])).toBe(
      'yes',
    );
    expect(
      canEdit([deny, { permission: 'edit', pattern: 'plans/*.md', action: 'allow' }]),
    ).toBe('no');
    expect(canEdit([{ permission: 'edit', pattern: '*', action: 'ask' }])).toBe('yes');
  });

  it('G4: what cannot be read is unknown', () => {
    for (const permission of [
      undefined,
      null,
      'allow',
      {},
      [],
      [7],
      [{ permission: 'edit' }],
    ])
      expect(canEdit(permission)).toBe('unknown');
    expect(canEdit([{ permission: 'edit', pattern: '*', action: 'maybe' }])).toBe(
      'unknown',
    );
  });

  it('G4: a hostile pattern is neither matched nor paid for', () => {
    expect(
      canEdit([{ permission: '*'.repeat(5000), pattern: '*', action: 'allow' }]),
    ).toBe('unknown');
    expect(canEdit([{ permission: 'ed(it', pattern: '[*', action: 'allow' }])).toBe(
      'unknown',
    );
  });
});
