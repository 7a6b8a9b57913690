import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { canEdit, readMessage, splitModel, translate } from './translate.ts';

const recorded = JSON.parse(
  readFileSync(new URL('./fixtures/events.json', import.meta.url), 'utf8'),
) as Record<string, { properties: Record<string, unknown> }>;
const signal = (name: string) => translate(recorded[name]);

describe("OpenCode's recorded events", () => {
  it('design: each one is the signal that it stands for', () => {
    expect(signal('sessionCreated')).toMatchObject({
      type: 'session',
      info: { parentId: null, reverted: false },
    });
    expect(signal('childCreated')).toMatchObject({
      type: 'session',
      info: { parentId: expect.stringMatching(/^ses_/) },
    });
    expect(signal('sessionDeleted')).toMatchObject({ happening: { type: 'session-deleted' } });
    expect(signal('statusBusy')).toMatchObject({ type: 'busy' });
    expect(signal('idle')).toMatchObject({ type: 'idle' });
    expect(signal('compacted')).toMatchObject({
      happening: { type: 'wait-ended', wait: { kind: 'compaction', shrunk: true } },
    });
    expect(signal('textEnded')).toMatchObject({ type: 'text', text: expect.stringContaining(' ') });
    expect(signal('toolRunning')).toMatchObject({
      type: 'tool',
      call: { tool: 'bash' },
      state: 'running',
      error: null,
    });
    expect(signal('toolCompleted')).toMatchObject({ type: 'tool', state: 'completed' });
    expect(signal('stepStarted')).toMatchObject({ type: 'step-started' });
    expect(signal('stepStopped')).toMatchObject({ type: 'step-ended', reason: 'stop' });
    expect(signal('stepCalledTools')).toMatchObject({ type: 'step-ended', reason: 'tool-calls' });
    expect(signal('assistantBegan')).toMatchObject({
      type: 'assistant',
      finish: null,
      error: null,
      summary: false,
    });
    expect(signal('assistantFinished')).toMatchObject({ type: 'assistant', finish: 'stop' });
  });

  it('trap 3: a message of a user is no signal, however late it is told: the hook tells of new ones', () => {
    expect(signal('userMessage')).toBeNull();
    expect(signal('humanText')).toBeNull();
  });

  it('trap 7: a rejection is known by its request', () => {
    const { happening } = signal('permissionAsked') as { happening: { wait: { requestId: string } } };
    const { requestId } = happening.wait;
    expect(signal('permissionRejected')).toMatchObject({
      happening: { type: 'wait-ended', wait: { kind: 'permission', requestId, granted: false } },
    });
    expect(signal('questionRejected')).toMatchObject({
      happening: { type: 'wait-ended', wait: { kind: 'question', rejected: true } },
    });
    expect(signal('toolFailed')).toMatchObject({
      state: 'error',
      error: expect.stringContaining('rejected'),
    });
  });

  it('trap 8: the summary of a compaction is known as one', () => {
    expect(signal('summaryMessage')).toMatchObject({ type: 'assistant', summary: true });
  });

  it('trap 9: a retry is busy, and an idle comes as its own event', () => {
    expect(signal('statusRetry')).toMatchObject({ type: 'busy' });
    expect(signal('statusIdle')).toBeNull();
  });

  it('G9: an error is given on as it is', () => {
    expect(signal('badRequest')).toMatchObject({ type: 'error', error: { name: 'APIError' } });
    expect(signal('failedMessage')).toMatchObject({ type: 'assistant', error: { name: 'APIError' } });
  });

  it('C3: a command that the human ran in the chat is known', () => {
    expect(signal('shellText')).toMatchObject({ type: 'shell', messageId: expect.stringMatching(/^msg_/) });
  });

  it('M5: the list of todos comes whole and without ids', () => {
    expect(signal('todosWritten')).toMatchObject({
      type: 'todos',
      todos: [{ title: 'Write parser', status: 'pending', priority: 'medium' }, { title: 'Write tests' }],
    });
  });

  it('G8: tokens that were read from a cache are spent too', () => {
    const step = structuredClone(recorded['stepStopped']) as {
      properties: { part: Record<string, unknown> };
    };
    step.properties.part['tokens'] = { input: 10, output: 5, reasoning: 2, cache: { read: 30, write: 1 } };
    expect(translate(step)).toMatchObject({ usage: { inputTokens: 41, outputTokens: 7 } });
  });
});

describe('hostile events', () => {
  it('T6: what has no shape is no signal and throws nothing', () => {
    const values = [
      null,
      undefined,
      1,
      'x',
      [],
      {},
      { type: 'session.idle' },
      { type: '__proto__', id: 'e' },
    ];
    for (const value of values) expect(translate(value)).toBeNull();
    for (const type of Object.values(recorded).map((event) => (event as unknown as { type: string }).type))
      expect(() =>
        translate({ id: 'e', type, properties: { sessionID: 's', part: [], info: 7 } }),
      ).not.toThrow();
  });

  it('T6: a todo that is no object keeps its place and has no title', () => {
    const event = {
      id: 'e',
      type: 'todo.updated',
      properties: { sessionID: 's', todos: [7, { content: 'a' }] },
    };
    expect(translate(event)).toMatchObject({ todos: [{ title: '' }, { title: 'a' }] });
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
    expect(splitModel(read?.agent.model ?? null)).toEqual({ providerID: 'lab', modelID: 'family/scripted' });
  });

  it('G4: what the host or a plugin wrote by itself is no word of a human', () => {
    const synthetic = { type: 'text', text: 'Continue if you have next steps', synthetic: true };
    expect(readMessage(message, [synthetic])?.text).toBeNull();
    expect(readMessage(message, [{ type: 'compaction', auto: false }])?.text).toBeNull();
    expect(readMessage(message, [{ type: 'text', text: 'shown only', ignored: true }])?.text).toBeNull();
    expect(readMessage(message, [synthetic, { type: 'file', url: 'file:///a' }])?.text).toBe('');
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
const permissionOf = (name: string) => agents.find((agent) => agent.name === name)?.permission;

describe('who may write', () => {
  it("P26: of the host's own agents build and general may, plan and explore may not", () => {
    expect(canEdit(permissionOf('build'))).toBe('yes');
    expect(canEdit(permissionOf('general'))).toBe('yes');
    expect(canEdit(permissionOf('plan'))).toBe('no');
    expect(canEdit(permissionOf('explore'))).toBe('no');
  });

  it('P26: the last match wins, and a rule for single files makes no writer', () => {
    const deny = { permission: 'edit', pattern: '*', action: 'deny' };
    expect(canEdit([deny, { permission: '*', pattern: '*', action: 'allow' }])).toBe('yes');
    expect(canEdit([deny, { permission: 'edit', pattern: 'plans/*.md', action: 'allow' }])).toBe('no');
    expect(canEdit([{ permission: 'edit', pattern: '*', action: 'ask' }])).toBe('yes');
  });

  it('G4: what cannot be read is unknown', () => {
    for (const permission of [undefined, null, 'allow', {}, [], [7], [{ permission: 'edit' }]])
      expect(canEdit(permission)).toBe('unknown');
    expect(canEdit([{ permission: 'edit', pattern: '*', action: 'maybe' }])).toBe('unknown');
  });

  it('G4: a hostile pattern is neither matched nor paid for', () => {
    expect(canEdit([{ permission: '*'.repeat(5000), pattern: '*', action: 'allow' }])).toBe('unknown');
    expect(canEdit([{ permission: 'ed(it', pattern: '[*', action: 'allow' }])).toBe('unknown');
  });
});
