import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { openNoticeServer } from '../../../test/support/notice-server.ts';
import { makeOlderStore, olderStoreSentence } from '../../../test/support/older-store.ts';
import { type PluginCase, sessionId, todo } from '../../../test/support/opencode-case.ts';
import { startPlugin, stoppedPlugin } from '../../../test/support/opencode-stage.ts';
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts';

describe('what the host is given', () => {
  it('C2: nothing at all where it is switched off', async () => {
    for (const settings of [{ mode: 'off' }, { enabled: false }]) {
      const { host } = await startPlugin({ settings });
      expect(host.hooks).toEqual({});
    }
  });

  it('C2: where only one agent is on, it is there', async () => {
    const { host } = await startPlugin({
      settings: { enabled: false, agents: { build: { enabled: true } } },
    });
    expect(host.hooks.event).toBeDefined();
  });

  it('C2: an observer adds no tool, sends nothing, and records what it would have done', async () => {
    const { host, rest, decisions } = await stoppedPlugin({
      settings: { mode: 'observe' },
    });
    await rest();
    expect(host.hooks.tool).toEqual({});
    expect(host.injected(sessionId)).toEqual([]);
    expect(host.toasts).toEqual([]);
    expect((await decisions())[0]?.decision).toMatchObject({
      answer: 'continue',
      observed: true,
    });
    const output = { context: [] };
    await host.hooks['experimental.session.compacting']?.(
      { sessionID: sessionId },
      output,
    );
    expect(output.context).toEqual([]);
    const answer = { output: '[]' };
    await host.tells('todo.updated', {
      sessionID: sessionId,
      todos: [todo('first'), todo('second')],
    });
    await host.hooks['tool.execute.after']?.(
      { tool: 'todowrite', sessionID: sessionId, callID: 'c' },
      answer,
    );
    expect(answer.output).toBe('[]');
  });

  it('M6, P17: the way out and the waiting always, all tools where the host’s own are taken away', async () => {
    const { host } = await startPlugin();
    expect(Object.keys(host.hooks.tool ?? {})).toEqual(['todo_pause', 'todo_verify']);
    await host.hooks.config?.({ tools: { todowrite: false } } as object);
    expect(Object.keys(host.hooks.tool ?? {})).toContain('create_todo');
  });

  it('M8: the model is shown which arguments it may leave out', async () => {
    const { host } = await startPlugin();
    const output: { jsonSchema?: { required: string[] } } = {};
    await host.hooks['tool.definition']?.({ toolID: 'todo_verify' }, output);
    expect(output.jsonSchema?.required).toEqual([]);
    const other = {};
    await host.hooks['tool.definition']?.({ toolID: 'bash' }, other);
    expect(other).toEqual({});
  });
});

describe('issue 14.8: being told elsewhere', () => {
  it('of a question and of the end of a turn, each once', async () => {
    const { url, posted } = await openNoticeServer();
    const { host, settle, rest } = await startPlugin({
      environment: { UNTILDONE_NOTIFY_WEBHOOK: url },
    });
    const events = () =>
      posted
        .map(({ body }) => JSON.parse(body))
        .map(({ event, outcome }) => [event, outcome]);
    await host.says(sessionId, 'Do both.');
    await host.writesTodos(sessionId, [todo('first', 'completed')]);
    await host.tells('permission.asked', { id: 'per_1', sessionID: sessionId });
    await settle();
    await vi.waitFor(() => expect(events()).toEqual([['permission', null]]));
    await host.tells('permission.replied', {
      requestID: 'per_1',
      sessionID: sessionId,
      reply: 'once',
    });
    await host.answers(sessionId, 'All done!');
    await host.idles(sessionId);
    await host.idles(sessionId);
    await settle();
    await rest();
    await vi.waitFor(() =>
      expect(events()).toEqual([
        ['permission', null],
        ['outcome', 'claimed'],
      ]),
    );
  });
});

describe('V10, P40: a project’s file that nobody accepted', () => {
  it('neither runs nor switches anything, and is told at the message and at the stop', async () => {
    const { host, rest, directory } = await startPlugin();
    const pending = () =>
      host.toasts.filter(({ message }) => String(message).includes('untildone trust'));
    writeFileSync(
      join(directory, 'untildone.json'),
      '{"mode":"off","maxContinuations":1}',
    );
    await host.says(sessionId, 'Do it.');
    await rest();
    expect(pending()).toHaveLength(1);
    await host.writesTodos(sessionId, [todo('first')]);
    await host.answers(sessionId, 'Done.');
    await host.idles(sessionId);
    await rest();
    expect(host.injected(sessionId)).toHaveLength(1);
    await host.writesTodos(sessionId, [todo('first', 'completed')]);
    await host.answers(sessionId, 'Done.');
    await host.idles(sessionId);
    await rest();
    expect(pending()).toHaveLength(2);
  });
});

describe('failing open', () => {
  it('C1: a broken configuration of the user is told once, and nothing is continued', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'untildone-opencode-'));
    mkdirSync(join(directory, '.config/untildone'), { recursive: true });
    writeFileSync(
      join(directory, '.config/untildone/untildone.json'),
      '{"maxStagnant":"many"}',
    );
    const { host, rest } = await stoppedPlugin({ directory });
    await host.says(sessionId, 'And now?');
    await rest();
    expect(host.injected(sessionId)).toEqual([]);
    const told = host.toasts.filter(({ message }) =>
      String(message).includes('maxStagnant'),
    );
    expect(told).toHaveLength(1);
  });

  it('design: a store that cannot be opened is told once, and no hook throws', async () => {
    const openStore = vi.fn(async () => Promise.reject(new Error('The disk is gone.')));
    const { host } = await stoppedPlugin({ openStore });
    await host.says(sessionId, 'Again.');
    await host.flush(sessionId);
    expect(host.toasts).toMatchObject([
      { message: expect.stringContaining('The disk is gone.') },
    ]);
    expect(openStore).toHaveBeenCalledTimes(1);
  });

  it('V7: where the store of an unpublished version is stands in a toast, once', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'untildone-older-')), 'untildone.db');
    await makeOlderStore(path);
    const { host } = await stoppedPlugin({ openStore: () => openSqliteStore({ path }) });
    await host.says(sessionId, 'Again.');
    await host.flush(sessionId);
    expect(host.toasts).toMatchObject([
      { message: expect.stringContaining(olderStoreSentence(path)) },
    ]);
    expect(host.injected(sessionId)).toEqual([]);
  });

  it('design: a tool whose store fails says so to the model and throws nothing at the host', async () => {
    const { host, store } = await stoppedPlugin();
    await store.close();
    const called = host.hooks.tool?.['todo_verify']?.execute(
      {},
      { sessionID: sessionId },
    );
    await expect(called).resolves.toBe(
      'todo_verify could not be carried out and nothing changed.',
    );
  });

  it('design: the second of two copies in one process does nothing', async () => {
    const { host, directory } = await startPlugin();
    const second = await startPlugin({ directory });
    expect(host.hooks.event).toBeDefined();
    expect(second.host.hooks).toEqual({});
    await vi.waitFor(() =>
      expect(second.host.toasts).toMatchObject([
        { message: expect.stringContaining('twice') },
      ]),
    );
  });

  it('E2: a clean end cancels the countdown and frees the folder', async () => {
    const { host, clock, directory } = await stoppedPlugin();
    await host.hooks.dispose?.();
    await clock.advance(10_000);
    expect(host.injected(sessionId)).toEqual([]);
    await host.says(sessionId, 'Too late.');
    expect(host.toasts).toHaveLength(1);
    const next = await startPlugin({ directory });
    expect(next.host.hooks.event).toBeDefined();
  });
});

describe('the agent', () => {
  it('P4: a list written twice is answered with the todo that is active', async () => {
    const { host } = await startPlugin();
    await host.says(sessionId, 'Do both.');
    await host.writesTodos(sessionId, [todo('first')]);
    const output = { output: '[]' };
    await host.tells('todo.updated', { sessionID: sessionId, todos: [todo('first')] });
    await host.hooks['tool.execute.after']?.(
      { tool: 'todowrite', sessionID: sessionId, callID: 'c' },
      output,
    );
    expect(output.output).toContain('[]\n\nuntildone: This list equals the current one');
  });

  it('M6: todo_pause ends the continuations, and a subagent may not call it', async () => {
    const { host, rest, settle, session } = await startPlugin();
    await host.says(sessionId, 'Do both.');
    await host.writesTodos(sessionId, [todo('first')]);
    const call = (
      id: string,
      name = 'todo_pause',
      input: object = { reason: 'I need a key' },
    ) => host.hooks.tool?.[name]?.execute(input, { sessionID: id });
    await host.open('ses_child', sessionId, 'build');
    expect(await call('ses_child')).toContain('Workers do not change the plan');
    expect(await call(sessionId, 'todo_pause', {})).toContain('"reason" is missing');
    expect(JSON.parse((await call(sessionId)) ?? '')).toMatchObject({
      paused: true,
      remaining: 1,
    });
    expect(JSON.parse((await call(sessionId, 'todo_verify', {})) ?? '')).toMatchObject({
      finished: true,
    });
    await host.answers(sessionId, 'I wait.');
    await host.idles(sessionId);
    await settle();
    await rest();
    expect(host.injected(sessionId)).toEqual([]);
    expect((await session()).settled).toMatchObject({ outcome: 'paused' });
  });

  it('P23: the plan is given to the summary, and again afterwards', async () => {
    const { host, rest } = await stoppedPlugin();
    const output: { context: string[] } = { context: [] };
    await host.hooks['experimental.session.compacting']?.(
      { sessionID: sessionId },
      output,
    );
    expect(output.context.join()).toContain('“first”');
    await host.tells('session.compacted', { sessionID: sessionId });
    await rest();
    expect(host.injected(sessionId).join()).toContain('The conversation was compacted');
  });

  it('P23: a compaction that never ends does not hold the next stop up', async () => {
    const { host, rest } = await startPlugin();
    await host.says(sessionId, 'Do both.');
    await host.writesTodos(sessionId, [todo('first')]);
    await host.hooks['experimental.session.compacting']?.(
      { sessionID: sessionId },
      { context: [] },
    );
    await host.answers(sessionId, 'Done.');
    await host.idles(sessionId);
    await rest();
    expect(host.injected(sessionId)).toHaveLength(1);
  });
});

describe('V12: commands of the agent', () => {
  it('are told whose session they belong to, and terminals of the human are not', async () => {
    const { host } = await startPlugin();
    const ofAgent = { env: {} };
    const ofHuman = { env: {} };
    await host.hooks['shell.env']?.({ sessionID: sessionId }, ofAgent);
    await host.hooks['shell.env']?.({}, ofHuman);
    expect(ofAgent.env).toEqual({ UNTILDONE_AGENT_SESSION: sessionId });
    expect(ofHuman.env).toEqual({});
  });
});

describe('commands of the human', () => {
  const type = (host: PluginCase['host'], command: string, words = '') =>
    host.hooks['command.execute.before']?.(
      { command, sessionID: sessionId, arguments: words },
      {},
    );
  const shown = (host: PluginCase['host']) =>
    host
      .messages(sessionId)
      .flatMap(({ parts }) =>
        parts.filter(({ ignored }) => ignored === true).map(({ text }) => text),
      )
      .join('\n');

  it('C3: they are offered, and a command of the human’s own keeps its name', async () => {
    const { host } = await startPlugin();
    const config: { command: Record<string, { template: string }> } = { command: {} };
    config.command['untildone-why'] = { template: 'mine' };
    await host.hooks.config?.(config);
    expect(Object.keys(config.command).sort()).toEqual(
      ['pause', 'resume', 'status', 'why'].map((name) => `untildone-${name}`),
    );
    expect(config.command['untildone-why']).toEqual({ template: 'mine' });
  });

  it('C3: pause ends the countdown, status shows it, resume goes on, and no model is asked', async () => {
    const { host, rest } = await stoppedPlugin();
    await expect(type(host, 'untildone-pause', 'lunch')).rejects.toThrow(
      'no model is asked',
    );
    await rest();
    expect(host.injected(sessionId)).toEqual([]);
    await expect(type(host, 'untildone-status')).rejects.toThrow();
    await expect(type(host, 'untildone-why')).rejects.toThrow();
    expect(shown(host)).toMatch(
      /paused by you[\s\S]*2 open[\s\S]*next: first[\s\S]*it waits \(not-yet\)/,
    );
    await expect(type(host, 'untildone-resume')).rejects.toThrow();
    await rest();
    expect(host.injected(sessionId)).toHaveLength(1);
  });

  it('V12: status names the outcome of an ended turn and the pause that came after it', async () => {
    const { host, rest } = await startPlugin();
    await host.says(sessionId, 'Do it.');
    await host.writesTodos(sessionId, [{ ...todo('first'), status: 'completed' }]);
    await host.answers(sessionId, 'Done.');
    await host.idles(sessionId);
    await rest();
    await expect(type(host, 'untildone-pause')).rejects.toThrow();
    await expect(type(host, 'untildone-status')).rejects.toThrow();
    expect(shown(host)).toContain('the last turn ended as claimed; paused by you');
  });

  it('P19: resume lifts an abort, and what it shows is no word of a human', async () => {
    const { host, rest, session } = await startPlugin();
    await host.says(sessionId, 'Do both.');
    await host.writesTodos(sessionId, [todo('first')]);
    await host.aborts(sessionId);
    await rest();
    await expect(type(host, 'untildone-status')).rejects.toThrow();
    expect((await session()).latch).not.toBeNull();
    await expect(type(host, 'untildone-resume')).rejects.toThrow();
    await rest();
    expect(host.injected(sessionId)).toHaveLength(1);
  });

  it('C3: while the agent works the answer is a toast, because a message would be answered', async () => {
    const { host } = await startPlugin();
    await host.says(sessionId, 'Do both.');
    await expect(type(host, 'untildone-status')).rejects.toThrow();
    expect(shown(host)).toBe('');
    expect(host.toasts).toMatchObject([
      { title: '/untildone-status', message: expect.stringContaining('plan:') },
    ]);
  });

  it('design: other commands are left to the host', async () => {
    const { host } = await startPlugin();
    await expect(type(host, 'init')).resolves.toBeUndefined();
  });
});
