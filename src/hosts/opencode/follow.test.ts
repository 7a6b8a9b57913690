import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../../test/support/memory-store.ts';
import {
  createWaitingPlugin,
  sessionId,
  todo,
} from '../../../test/support/opencode-case.ts';
import { startPlugin, stoppedPlugin } from '../../../test/support/opencode-stage.ts';
import { createState } from '../../core/state.ts';
import { handleHostEvent, openCodeSession } from './follow.ts';
import { hostId } from './host.ts';

describe('idle with open todos', () => {
  it('P19 P34: a turn that died with its program is not joined by what a human asks in the next one', async () => {
    const store = createMemoryStore();
    const dead = await startPlugin({ store });
    await dead.host.says(sessionId, 'Do both.');
    await dead.host.writesTodos(sessionId, [todo('first'), todo('second')]);
    await dead.settle();
    const { host, clock, rest, decisions } = await startPlugin({ store });
    await clock.advance(60_000);
    host.keepsTodos(sessionId, dead.host.todos(sessionId));
    await host.says(sessionId, 'What is the capital of France?');
    await host.answers(sessionId, 'Paris.');
    await host.idles(sessionId);
    await rest();
    expect((await decisions())[0]?.decision.reason).toBe('plan-not-resumed');
    expect(host.injected(sessionId)).toEqual([]);
  });

  it('E1: a toast counts down, then the next todo is named', async () => {
    const { host, rest } = await stoppedPlugin();
    expect(host.toasts).toMatchObject([
      { title: 'Todos remain', message: 'Resuming in 2 s, 2 todos remaining' },
    ]);
    await rest();
    expect(host.toasts).toHaveLength(2);
    expect(host.injected(sessionId)).toEqual([expect.stringContaining('“first”')]);
  });

  it('P26: agent and model of the human are sent with it', async () => {
    const { host, rest } = await stoppedPlugin();
    await rest();
    const sent = host.messages(sessionId).findLast(({ info }) => info['role'] === 'user');
    expect(sent?.info).toMatchObject({
      agent: 'build',
      id: expect.stringMatching(/^msg_/),
    });
    expect(sent?.parts).toMatchObject([
      {
        synthetic: true,
        metadata: { untildone: { key: expect.stringContaining(sessionId) } },
      },
    ]);
  });

  it('V5: a continuation has arrived when the model answers it, and not before', async () => {
    const { host, rest, settle, store, session } = await stoppedPlugin();
    await rest();
    const row = async () => {
      const { epoch } = await session();
      return (await store.outbox({ sessionId })).find((one) => one.epoch === epoch);
    };
    const parentID = host.messages(sessionId).at(-1)?.info['id'];
    const info = {
      id: hostId('msg', 'step', 1_900_000_000_000),
      sessionID: sessionId,
      role: 'assistant',
      parentID,
    };
    await host.tells('message.updated', { sessionID: sessionId, info });
    await settle();
    expect((await row())?.state).toBe('sent');
    const part = { type: 'step-start', messageID: info.id, sessionID: sessionId };
    await host.tells('message.part.updated', { sessionID: sessionId, part });
    await settle();
    expect((await row())?.state).toBe('observed');
  });

  it('G7: the workspace is looked at only where something could have changed it', async () => {
    const { host, rest, store } = await stoppedPlugin();
    await rest();
    await host.calls(sessionId, 'read');
    await host.answers(sessionId, 'Looked.');
    await host.idles(sessionId);
    await rest();
    await host.calls(sessionId, 'write');
    await host.answers(sessionId, 'Written.');
    await host.idles(sessionId);
    await rest();
    const events = await store.events({ sessionId, after: 0, limit: 500 });
    const looked = events.flatMap(({ event }) =>
      event.type === 'stop-attempted' ? [event.fingerprint] : [],
    );
    expect(looked).toEqual([null, null, expect.any(String)]);
  });

  it('P38 V4: it is looked at with the first message, unless a call that may write overtook the look', async () => {
    const { host, settle, session } = await startPlugin();
    await host.says(sessionId, 'Do it.');
    await host.writesTodos(sessionId, [todo('first')]);
    await settle();
    expect((await session()).spoken?.fingerprint).toEqual(expect.any(String));
    const quick = await startPlugin();
    await quick.host.says(sessionId, 'Do it.');
    await quick.host.calls(sessionId, 'write');
    await quick.settle();
    expect((await quick.session()).spoken?.fingerprint).toBeNull();
  });

  it('trap 2, C3: an idle without anything before it, in a countdown, is a human who stops it', async () => {
    const { host, clock, rest, session } = await stoppedPlugin();
    await clock.advance(1000);
    await host.idles(sessionId);
    await rest();
    expect(host.injected(sessionId)).toEqual([]);
    expect((await session()).latch).toMatchObject({ how: 'stopped while idle' });
  });

  it('E4: the same idle in two words is one stop', async () => {
    const { host, rest } = await stoppedPlugin();
    await host.tells('session.status', {
      sessionID: sessionId,
      status: { type: 'idle' },
    });
    await rest();
    expect(host.injected(sessionId)).toHaveLength(1);
  });

  it('trap 2: outside a countdown such an idle means nothing', async () => {
    const { host, clock, rest, session } = await stoppedPlugin();
    await rest();
    await host.answers(sessionId, 'Still done!');
    await host.tells('session.idle', { sessionID: sessionId });
    await rest();
    await clock.advance(60_000);
    expect((await session()).latch).toBeNull();
  });

  it('C3: taking messages back stops it', async () => {
    const { host, rest, session, directory } = await stoppedPlugin();
    const info = { id: sessionId, directory, revert: { messageID: 'msg_1' } };
    await host.tells('session.updated', { sessionID: sessionId, info });
    await rest();
    expect(host.injected(sessionId)).toEqual([]);
    expect((await session()).latch).toMatchObject({ how: 'undone' });
  });

  it('E2: a command that the human runs in the chat ends the countdown, and their plan is not resumed', async () => {
    const { host, rest, decisions } = await stoppedPlugin();
    const part = {
      type: 'text',
      messageID: 'msg_z',
      synthetic: true,
      text: 'The following tool was executed by the user',
    };
    await host.tells('session.status', {
      sessionID: sessionId,
      status: { type: 'busy' },
    });
    await host.tells('message.part.updated', {
      sessionID: sessionId,
      part: { ...part, sessionID: sessionId },
    });
    await host.idles(sessionId);
    await rest();
    expect(host.injected(sessionId)).toEqual([]);
    expect((await decisions())[0]?.decision.reason).toBe('plan-not-resumed');
  });
});

describe('an abort right after the countdown', () => {
  it('P19: while the host has taken our text and not begun with it is a latch, and what it may begin is ended', async () => {
    const { host, clock, settle, rest, session } = await stoppedPlugin();
    host.hesitates();
    await clock.advance(2100);
    await settle();
    expect((await session()).injection?.state).toBe('sent');
    await host.tells('session.status', {
      sessionID: sessionId,
      status: { type: 'idle' },
    });
    await host.tells('session.idle', { sessionID: sessionId });
    await settle();
    expect((await session()).latch).not.toBeNull();
    expect(host.endedByPlugin).toEqual([sessionId]);
    await host.tells('session.idle', { sessionID: sessionId });
    await rest();
    expect(host.endedByPlugin, 'ended once').toEqual([sessionId]);
    expect(host.injected(sessionId)).toEqual([]);
  });
});

describe('broken turns', () => {
  it('trap 1: an abort whose error comes after the idle is a latch, and no countdown survives it', async () => {
    const { host, rest, session } = await startPlugin();
    await host.says(sessionId, 'Do it.');
    await host.writesTodos(sessionId, [todo('first')]);
    await host.aborts(sessionId);
    await rest();
    expect(host.injected(sessionId)).toEqual([]);
    expect((await session()).latch).toMatchObject({ how: 'interrupted' });
  });

  it('P19: an abort between two steps is told with the step alone, and told late it is no second one', async () => {
    const { host, clock, rest, session } = await startPlugin();
    await host.says(sessionId, 'Do it.');
    await host.writesTodos(sessionId, [todo('first')]);
    const error = { name: 'MessageAbortedError', data: { message: 'Aborted' } };
    await clock.advance(10);
    const info = {
      id: hostId('msg', 'aborted', clock.now()),
      sessionID: sessionId,
      role: 'assistant',
      error,
    };
    await host.tells('message.updated', { sessionID: sessionId, info });
    await host.idles(sessionId);
    await rest();
    expect((await session()).settled).toMatchObject({ outcome: 'aborted' });
    await host.says(sessionId, 'Go on.');
    await host.tells('message.updated', { sessionID: sessionId, info });
    await rest();
    expect((await session()).latch).toBeNull();
  });

  it('trap 1, G2: an error of the provider is not taken for an abort', async () => {
    const { host, clock, rest, session, decisions } = await startPlugin();
    await host.says(sessionId, 'Do it.');
    await host.writesTodos(sessionId, [todo('first')]);
    await host.idles(sessionId);
    // The host reports it well after the idle, but before the stop is decided.
    await clock.advance(200);
    const error = {
      name: 'APIError',
      data: { message: 'The request is not valid.', statusCode: 400 },
    };
    await host.tells('session.error', { sessionID: sessionId, error });
    await host.idles(sessionId);
    await rest();
    expect(host.injected(sessionId)).toEqual([]);
    expect((await session()).settled).toMatchObject({ outcome: 'failed' });
    expect((await decisions())[0]?.decision.reason).toBe('ended-abnormally');
  });

  it('trap 8: an overflow after which the host compacts and goes on is over', async () => {
    const { host, rest, decisions } = await startPlugin();
    await host.says(sessionId, 'Do it.');
    await host.writesTodos(sessionId, [todo('first')]);
    const error = {
      name: 'ContextOverflowError',
      data: { message: 'The context is too long.' },
    };
    await host.tells('session.error', { sessionID: sessionId, error });
    await host.hooks['experimental.session.compacting']?.(
      { sessionID: sessionId },
      { context: [] },
    );
    await host.tells('session.compacted', { sessionID: sessionId });
    await host.answers(sessionId, 'I am done.');
    await host.idles(sessionId);
    await rest();
    expect(host.injected(sessionId)).toHaveLength(1);
    expect((await decisions())[0]?.decision).toMatchObject({
      textKind: 'after-compaction',
    });
  });

  it('trap 7: a rejected permission is the human’s will', async () => {
    const { host, rest, session } = await startPlugin();
    await host.says(sessionId, 'Do it.');
    await host.writesTodos(sessionId, [todo('first')]);
    await host.tells('permission.asked', {
      id: 'per_1',
      sessionID: sessionId,
      permission: 'bash',
    });
    await host.tells('permission.replied', {
      sessionID: sessionId,
      requestID: 'per_1',
      reply: 'reject',
    });
    await host.idles(sessionId);
    await rest();
    expect(host.injected(sessionId)).toEqual([]);
    expect((await session()).pause).toMatchObject({ by: 'rejection' });
  });
});

describe('other sessions', () => {
  it('trap 10: a subagent is not held, and its parent waits until it idles', async () => {
    const { host, rest, settle, decisions } = await startPlugin();
    await host.says(sessionId, 'Do it.');
    await host.writesTodos(sessionId, [todo('first')]);
    await host.open('ses_child', sessionId, 'build');
    await host.says('ses_child', 'Look around.');
    await host.answers(sessionId, 'It runs in the background.');
    await host.idles(sessionId);
    await rest();
    expect(host.injected(sessionId)).toEqual([]);
    expect((await decisions())[0]?.decision.reason).toBe('subagent-at-work');
    await host.answers('ses_child', 'Seen.');
    await host.idles('ses_child');
    await host.flush('ses_child');
    await settle();
    await rest();
    expect(host.injected('ses_child')).toEqual([]);
    expect(host.injected(sessionId)).toHaveLength(1);
  });

  it('design: a deleted session is forgotten', async () => {
    const { host, rest, session } = await stoppedPlugin();
    await host.tells('session.deleted', {
      sessionID: sessionId,
      info: { id: sessionId },
    });
    await rest();
    expect(host.injected(sessionId)).toEqual([]);
    expect((await session()).deleted).toBe(true);
  });
});

describe('what is known at once', () => {
  const failing = (error: object) => ({
    id: 'evt_1',
    type: 'session.error',
    properties: { sessionID: sessionId, error },
  });

  it('P19: an abort is, before the record could be asked, and so is the word that lifts it', () => {
    const plugin = createWaitingPlugin();
    const isStopped = () =>
      [...plugin.told.of(sessionId).holds].some(({ why }) => why.includes('stopped'));
    const aborted = { name: 'MessageAbortedError', data: { message: 'Aborted' } };
    handleHostEvent(plugin, failing(aborted));
    expect(isStopped()).toBe(true);
    const agent = { name: 'build', model: null, variant: null };
    openCodeSession(plugin, sessionId).hearHuman({ id: 'msg_1', text: 'go', agent });
    expect(isStopped()).toBe(false);
    handleHostEvent(plugin, failing({ name: 'APIError' }));
    expect(isStopped()).toBe(false);
  });

  it('G4: a human who writes as the countdown ends is not talked over before the record has it', async () => {
    const canWrite = () => new Promise<never>(() => {});
    const calls = { session: async () => null, prompt: async () => null, canWrite };
    const plugin = createWaitingPlugin(calls, async () => createMemoryStore());
    const sends = {
      key: `${sessionId}:1`,
      session: createState(sessionId, 0),
      epoch: 1,
      text: 'Go on.',
    };
    expect(await plugin.told.host.inject(sends)).toEqual({ taken: true });
    const agent = { name: 'build', model: null, variant: null };
    openCodeSession(plugin, sessionId).hearHuman({ id: 'msg_1', text: 'Wait.', agent });
    expect(await plugin.told.host.inject(sends)).toMatchObject({ taken: false });
  });

  it('P19: what the record has is left to the record, so that it can be lifted elsewhere', async () => {
    const { told, clock } = createWaitingPlugin({}, async () => createMemoryStore());
    const hold = { why: 'the human stopped the agent', lingerMs: 1000 };
    const isStopped = () => told.of('a').holds.size > 0;
    await told.follow('a').after(async () => {}, hold);
    expect(isStopped()).toBe(true);
    await clock.advance(500);
    let record = () => {};
    const recorded = told
      .follow('a')
      .after(() => new Promise<void>((resolve) => (record = resolve)), hold);
    await clock.advance(5000);
    expect(isStopped()).toBe(true);
    record();
    await recorded;
    await clock.advance(1000);
    expect(isStopped()).toBe(false);
  });
});
