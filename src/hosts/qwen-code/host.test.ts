// What is read from Qwen Code's files, and what a project may not say.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { continuationOf, createHookCase } from '../../../test/support/hook-case.ts';
import {
  qwenPrompt,
  qwenSession,
  qwenStop,
  qwenTool,
  qwenWrite,
} from '../../../test/support/qwen-payloads.ts';
import { qwenCode, readTodoList } from './host.ts';

let home: string;
let project: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'untildone-qwen-'));
  project = join(home, 'project');
});
afterEach(() => rmSync(home, { recursive: true }));

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function callOf(environment: Record<string, string> = { HOME: home }) {
  const read = qwenCode.translate(qwenStop({ cwd: project }), {
    at: 1,
    environment,
    toolPrefix: null,
  });
  if (!read.ok) throw new Error('it was not understood');
  return read.call;
}

describe('the cap in force', () => {
  const settings = () => join(project, '.qwen', 'settings.json');
  const own = () => join(home, '.qwen', 'settings.json');

  it("is the project's, then the user's, then the host's own eight", () => {
    expect(callOf().asks).toMatchObject({ blockCap: 7 });
    put(own(), '{"stopHookBlockingCap": 20}');
    expect(callOf().asks).toMatchObject({ blockCap: 19 });
    put(settings(), '{ // ours\n"stopHookBlockingCap": 100 /* most */ }');
    expect(callOf().asks).toMatchObject({ blockCap: 99 });
    const environment = { HOME: home, QWEN_CODE_STOP_HOOK_BLOCK_CAP: '3' };
    expect(callOf(environment).asks).toMatchObject({ blockCap: 2 });
  });

  it('counts through tool calls: the last continuation is announced, and then the record says how the turn ended', async () => {
    const environment = { HOME: home, QWEN_CODE_STOP_HOOK_BLOCK_CAP: '3' };
    const hooks = createHookCase({
      host: { ...qwenCode, readList: () => null },
      environment,
    });
    const list = ['alpha', 'beta', 'gamma', 'delta'];
    const write = (done: number) =>
      hooks.send(
        qwenWrite(
          list.map((content, id) => ({
            id: String(id),
            content,
            status: id < done ? 'completed' : 'pending',
          })),
          `write-${done}`,
        ),
      );
    await hooks.send(qwenPrompt('Do all of it.'));
    await write(0);
    const answers: object[] = [];
    for (const done of [1, 2, 3]) {
      await hooks.send(qwenTool('write_file', `work-${done}`, {}, ''));
      await write(done);
      answers.push(
        await hooks.send(qwenStop({ last_assistant_message: `Done ${done}.` })),
      );
    }
    expect(answers.map(continuationOf)).toEqual([
      expect.any(String),
      expect.any(String),
      null,
    ]);
    expect(answers[1]).toMatchObject({
      systemMessage: expect.stringContaining('once more. The host then ends'),
    });
    expect(answers[2]).toMatchObject({
      systemMessage: expect.stringContaining('exhausted'),
    });
    const [last] = await hooks.store.decisions(qwenSession, 1);
    expect(last?.decision).toMatchObject({ reason: 'host-cap' });
  });
});

describe('the list of Qwen Code', () => {
  const file = () => join(home, '.qwen', 'todos', `${qwenSession}.json`);
  const todos = [{ id: '1', content: 'alpha', status: 'in_progress' }];

  it('G5: is read from its own file, wherever that was moved', () => {
    put(file(), JSON.stringify({ planId: 'p', todos, sessionId: qwenSession }));
    const listed = [{ key: null, title: 'alpha', status: 'in_progress' }];
    expect(readTodoList(qwenSession, { HOME: home })).toMatchObject(listed);
    expect(readTodoList(qwenSession, { QWEN_HOME: join(home, '.qwen') })).toMatchObject(
      listed,
    );
    expect(
      readTodoList(qwenSession, { QWEN_RUNTIME_DIR: join(home, '.qwen') }),
    ).toMatchObject(listed);
    expect(readTodoList('other', { HOME: home })).toEqual([]);
    put(file(), '{"todos":[{"id":');
    expect(readTodoList(qwenSession, { HOME: home })).toBeNull();
  });

  it('P43: what no hook told us of is found at the stop, and counts once', async () => {
    put(file(), JSON.stringify({ todos }));
    const hooks = createHookCase({ host: qwenCode, environment: { HOME: home } });
    await hooks.send(qwenPrompt('Do it.'));
    expect(continuationOf(await hooks.send(qwenStop()))).toContain('alpha');
    const [todo] = (await hooks.store.state(qwenSession))?.plan ?? [];
    expect(todo).toMatchObject({ title: 'alpha', status: 'in_progress' });
    const events = await hooks.store.events({
      sessionId: qwenSession,
      after: 0,
      limit: 100,
    });
    await hooks.send(qwenStop({ last_assistant_message: 'Still done.' }));
    const later = await hooks.store.events({
      sessionId: qwenSession,
      after: 0,
      limit: 100,
    });
    const writes = (all: typeof events) =>
      all.filter(({ event }) => event.type === 'plan-written').length;
    expect([writes(events), writes(later)]).toEqual([1, 1]);
  });

  it('G5: a list that a hook told us of is not written again by reading it', async () => {
    const hooks = createHookCase({ host: qwenCode, environment: { HOME: home } });
    await hooks.send(qwenPrompt('Do it.'));
    await hooks.send(qwenWrite(todos, 'c1'));
    put(file(), JSON.stringify({ todos }));
    await hooks.send(qwenStop());
    const events = await hooks.store.events({
      sessionId: qwenSession,
      after: 0,
      limit: 100,
    });
    expect(events.filter(({ event }) => event.type === 'plan-written')).toHaveLength(1);
  });
});

describe('V10: the variables that a project sets', () => {
  const variables = () => qwenCode.projectVariables?.(project, {});

  it('are those of its settings and of every .env that the host may load', () => {
    expect(variables()).toEqual([]);
    put(
      join(project, '.qwen', 'settings.json'),
      '{"env":{"UNTILDONE_MODE":"off"}, // a remark\n"x":"//"}',
    );
    put(join(project, '.qwen', '.env'), 'export UNTILDONE_HOME=/theirs\n# HOME=/x\n');
    put(join(project, '.env'), "A='x\ny'\nHOME: /theirs\n");
    put(join(home, '.env'), 'XDG_STATE_HOME=/above');
    expect(variables()).toEqual([
      'UNTILDONE_MODE',
      'UNTILDONE_HOME',
      'A',
      'HOME',
      'XDG_STATE_HOME',
    ]);
  });

  it.each([
    ['.qwen/settings.json', '{"env":{"UNTILDONE_MODE":'],
    ['.qwen/settings.json', `{"x":"${'\\"'.repeat(400_000)}`],
    ['.env', `A=${'a'.repeat(1_100_000)}`],
  ])('may be any, if %s cannot be read', (path, text) => {
    put(join(project, path), text);
    expect(variables()).toBeNull();
  });
});

it('an agent in its shell is no human; its hooks are not its shell', () => {
  const shell = { QWEN_CODE: '1', QWEN_CODE_SESSION_ID: 's' };
  const of = (set: Record<string, string>) =>
    qwenCode.agentCommandOf((name) => set[name]);
  expect(of(shell)).toEqual({ sessionId: 's' });
  expect(of({ QWEN_CODE_SESSION_ID: 's' })).toBeNull();
});
