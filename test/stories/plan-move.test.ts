// A plan goes from one agent to the next (V7): hooks of Claude Code, OpenCode's plugin
// and `untildone run` over one store, and a human who moves the plan on a terminal.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { State } from '../../src/core/state.ts';
import { systemClock } from '../../src/engine/system.ts';
import { createOpenCodePlugin } from '../../src/hosts/opencode/index.ts';
import {
  always,
  complete,
  listTodos,
  pause,
  plan,
  say,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { startFakeOpencode } from '../conformance/fake-opencode.ts';
import { acceptProject } from '../support/accept-project.ts';
import { continuationOf } from '../support/hook-case.ts';
import {
  createPayload,
  promptPayload,
  stopPayload,
  updatePayload,
} from '../support/payload-cases.ts';
import { type CommandLine, openCommandLine } from './command-line.ts';

const runOptions = ['--auto', '--model', 'openai/story'];

/** Claude Code as far as we see it: one process for each hook. */
function claudeIn(line: CommandLine, id: string) {
  let prompts = 0;
  return (payload: object): object => {
    if ('prompt' in payload) prompts += 1;
    const input = JSON.stringify({
      ...payload,
      session_id: id,
      cwd: line.project,
      prompt_id: `prompt-${prompts}`,
    });
    const [program = '', ...words] = line.words('hook', 'claude-code');
    const place = {
      cwd: line.project,
      env: line.environment,
      encoding: 'utf8',
      input,
    } as const;
    return JSON.parse(execFileSync(program, words, place));
  };
}

async function stateOf(line: CommandLine, id: string): Promise<State | null> {
  const store = await openSqliteStore({ path: line.storePath, clock: systemClock });
  const state = await store.state(id);
  await store.close();
  return state;
}

const standing = (state: State | null) =>
  state?.plan.map(({ title, status, verification }) => [title, status, verification]);

async function move(line: CommandLine, id: string, to: string): Promise<string> {
  const { code, out } = await line.runOnTerminal('plan', 'move', id, to);
  expect(code, out).toBe(0);
  return /next: untildone run --resume (\S+)/u.exec(out)?.[1] ?? '';
}

describe('V7: one plan, several agents', () => {
  it('V7, P41: Claude Code begins it, OpenCode goes on, run ends it as done', async () => {
    const steps = [
      listTodos(),
      writeFile('gamma.txt', 'x'),
      complete('gamma'),
      always(say('All is done.')),
    ];
    const line = await openCommandLine({ steps });
    const { project, environment } = line;
    const titles = ['alpha', 'beta', 'gamma'];
    const config = {
      checks: Object.fromEntries(
        titles.map((title) => [title, { file: `${title}.txt` }]),
      ),
      todoChecks: titles.map((title) => ({ title, checks: [title] })),
    };
    writeFileSync(join(project, 'untildone.json'), JSON.stringify(config));
    acceptProject(environment['UNTILDONE_HOME'] ?? '', project);

    const claude = claudeIn(line, 'claude-1');
    claude(promptPayload('Write the files.'));
    for (const [index, title] of titles.entries())
      claude(createPayload(String(index + 1), title));
    writeFileSync(join(project, 'alpha.txt'), 'x');
    claude(updatePayload('1', 'completed', 'call-9'));
    expect(continuationOf(claude(stopPayload()))).toContain('beta');
    const busy = await line.runOnTerminal('plan', 'move', 'claude-1', 'opencode');
    expect(busy.out).toContain('is at work in Claude Code.');
    await line.run('stop', 'claude-1');
    await move(line, 'claude-1', 'opencode');
    expect(JSON.stringify(claude(stopPayload()))).toContain(
      'You moved the plan to OpenCode: it goes on there.',
    );
    expect(standing(await stateOf(line, 'claude-1'))).toEqual([]);

    const opencode = await startFakeOpencode(
      createOpenCodePlugin({ environment }),
      project,
      Date.now,
    );
    onTestFinished(() => opencode.hooks.dispose?.());
    await opencode.open('ses_1', null, 'build');
    await opencode.says('ses_1', 'go on');
    // The message reaches the model with the plan behind it, and the human sees what was
    // taken up.
    expect(opencode.injected('ses_1')[0]).toContain(
      'Your human moved a plan to this session',
    );
    expect(opencode.injected('ses_1')[0]).toContain('beta');
    await opencode.flush('ses_1');
    expect(JSON.stringify(opencode.toasts)).toContain(
      'the plan that you moved here goes on in this session',
    );
    writeFileSync(join(project, 'beta.txt'), 'x');
    const list = [
      { content: 'beta', status: 'completed', priority: 'medium' },
      { content: 'gamma', status: 'pending', priority: 'medium' },
    ];
    await opencode.writesTodos('ses_1', list);
    await opencode.flush('ses_1');
    await line.run('stop', 'ses_1');
    const taken = await stateOf(line, 'ses_1');
    expect(taken?.plan.map(({ title, status }) => [title, status])).toEqual([
      ['alpha', 'completed'],
      ['beta', 'completed'],
      ['gamma', 'pending'],
    ]);
    const id = await move(line, 'ses_1', 'run');

    const ended = await line.run('run', '--resume', id, ...runOptions);
    expect(ended.code, ended.err).toBe(0);
    expect(JSON.stringify(line.model.requests[0]?.messages)).toContain(
      'Work through the plan.',
    );
    const state = await stateOf(line, id);
    expect(state?.settled?.outcome).toBe('done');
    expect(standing(state)).toEqual(
      titles.map((title) => [title, 'completed', 'passed']),
    );
    expect((await line.run('ledger', 'verify', '--all')).out).toContain('intact');
    expect((await line.run('report', id)).out).toContain('alpha');
  });

  it('V7, V3: a check that was given to run holds the agent of Claude Code, which nobody told of it', async () => {
    const steps = [
      plan('alpha', 'beta'),
      writeFile('alpha.txt', 'x'),
      complete('alpha'),
      pause('No key.'),
    ];
    const line = await openCommandLine({ steps: [...steps, always(say('I wait.'))] });
    const begun = await line.run(
      'run',
      'Build it',
      '--check',
      'test -s done.txt',
      ...runOptions,
    );
    expect(begun.code, begun.err).toBe(7);
    const { id } = await line.session();
    await move(line, id, 'claude-code');
    const again = await line.run('run', '--resume', id, ...runOptions);
    expect(again.err).toContain(
      'to Claude Code. Words after --resume begin something new.',
    );
    expect(again.code).toBe(2);

    const claude = claudeIn(line, 'claude-1');
    const heard = claude(promptPayload('go on'));
    expect(continuationOf(heard)).toContain('beta');
    expect(JSON.stringify(heard)).toContain(
      'goes on in this session: 1 of 2 todos are open.',
    );
    // Only once: the next message, and another session, find nothing that waits.
    expect(continuationOf(claudeIn(line, 'claude-2')(promptPayload('hello')))).toBeNull();
    expect(continuationOf(claude(stopPayload()))).toContain('beta');

    // Its own list joins the todo of the same title.
    claude(createPayload('1', 'beta'));
    writeFileSync(join(line.project, 'beta.txt'), 'x');
    claude(updatePayload('1', 'completed', 'call-9'));
    expect(
      continuationOf(claude(stopPayload({ last_assistant_message: 'Done.' }))),
    ).toContain('test -s done.txt');
    writeFileSync(join(line.project, 'done.txt'), 'x');
    claude({
      ...updatePayload('1', 'completed', 'call-10'),
      tool_name: 'Write',
      tool_input: {},
    });
    expect(
      continuationOf(claude(stopPayload({ last_assistant_message: 'Now.' }))),
    ).toBeNull();
    const state = await stateOf(line, 'claude-1');
    expect(state?.settled?.outcome).toBe('done');
    expect(state?.plan.map(({ title, status }) => [title, status])).toEqual([
      ['alpha', 'completed'],
      ['beta', 'completed'],
    ]);
  });
});
