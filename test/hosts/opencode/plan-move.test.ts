// One plan through three agents (V7): the real Claude Code begins it, the real OpenCode
// goes on, `untildone run` ends it. The human moves it twice, on a terminal, as people
// do.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  always,
  callTool,
  complete,
  listTodos,
  plan,
  say,
  script,
  startScriptedModel,
  writeFile,
} from '../../../src/scripted-model/index.ts';
import { startClaude } from '../claude-code/claude.ts';
import { installHost } from '../harness/install-host.ts';
import { createProject, type Project } from '../harness/project.ts';
import { readRecord, type SessionRecord } from '../harness/record.ts';
import { untildone } from '../harness/untildone.ts';
import { seedHome, settleFolder } from './opencode.ts';
import { runOpencode } from './run.ts';

const titles = ['alpha', 'beta', 'gamma'];
const pause = (tool: string) =>
  callTool(tool, { reason: 'The limit of this subscription is reached.' });
const work = (title: string) => [writeFile(`${title}.txt`, 'x'), complete(title)];
const scripts = [
  script('first', [
    plan(...titles),
    ...work('alpha'),
    pause('mcp__untildone__todo_pause'),
    always(say('I wait.')),
  ]),
  script('second', [
    plan('beta', 'gamma'),
    ...work('beta'),
    pause('todo_pause'),
    always(say('I wait.')),
  ]),
  script('third', [listTodos(), ...work('gamma'), always(say('All is done.'))]),
];

const program = fileURLToPath(new URL('../../../dist/bin.js', import.meta.url));
const run = promisify(execFile);

/** Only a human may move a plan: on a terminal of its own. */
async function move(project: Project, ...words: readonly string[]): Promise<string> {
  const line = [process.execPath, program, 'plan', 'move', ...words]
    .map((word) => `'${word}'`)
    .join(' ');
  const place = { cwd: project.directory, env: project.environment };
  // What it said is what a failed test shows.
  return run('script', ['-qec', line, '/dev/null'], place).then(
    ({ stdout }) => stdout,
    ({ stdout }) => stdout,
  );
}

const standing = (record: SessionRecord | undefined) =>
  record?.todos.map(({ title, status, verification }) => [title, status, verification]);

let project: Project;
beforeAll(() => {
  installHost('claude-code');
  project = createProject();
}, 300_000);
afterAll(() => project.remove());

it('V7, P41: a plan is begun in Claude Code, goes on in OpenCode and ends as done in run, with its checks', async () => {
  const model = await startScriptedModel({ scripts });
  try {
    seedHome(project);
    const config = {
      checks: Object.fromEntries(
        titles.map((title) => [title, { file: `${title}.txt` }]),
      ),
      todoChecks: titles.map((title) => ({ title, checks: [title] })),
    };
    settleFolder(project.directory, project, model, { config });
    await untildone(project, 'init', 'claude-code');

    const claude = startClaude(project, model, {
      prompt: '[script:first] Write the files.',
    });
    expect((await claude.ended).code, claude.printed()).toBe(0);
    const [begun] = await readRecord(project);
    expect(standing(begun)).toEqual([
      ['alpha', 'completed', 'passed'],
      ['beta', 'pending', 'none'],
      ['gamma', 'pending', 'none'],
    ]);
    expect(begun).toMatchObject({ outcome: 'paused', reason: 'paused-by-model' });
    expect(await move(project, begun?.id ?? '', 'opencode')).toContain(
      'Moved 3 todos, 2 of them open,',
    );

    const { directory } = project;
    const second = await runOpencode(project, model, {
      directory,
      prompt: '[script:second] Go on.',
    });
    expect(JSON.stringify(second.requests[0]?.messages)).toContain(
      'Your human moved a plan to this session',
    );
    const taken = (await readRecord(project)).find(({ id }) => id === second.id);
    expect(standing(taken), second.printed).toEqual([
      ['alpha', 'completed', 'passed'],
      ['beta', 'completed', 'passed'],
      ['gamma', 'pending', 'none'],
    ]);
    const refused = untildone(
      project,
      'run',
      '--resume',
      second.id,
      '--model',
      'openai/x',
    );
    await expect(refused).rejects.toThrow(/untildone plan move \S+ run/);
    const moved = await move(project, second.id, 'run');
    const [, id = ''] = /next: untildone run --resume (\S+)/u.exec(moved) ?? [];

    const variables = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'sk-0123456789' };
    const own = { ...project, environment: { ...project.environment, ...variables } };
    const words = [
      'run',
      '--resume',
      id,
      '[script:third] Go on.',
      '--auto',
      '--model',
      'openai/x',
    ];
    // It rejects unless the exit code is that of `done`.
    expect(await untildone(own, ...words)).toContain('done');
    const records = await readRecord(project);
    const ended = records.find((record) => record.id === id);
    expect(ended?.outcome).toBe('done');
    expect(standing(ended)).toEqual(
      titles.map((title) => [title, 'completed', 'passed']),
    );
    expect(
      ended?.todos.map(({ evidence }) => evidence.map(({ check }) => check)),
    ).toEqual(titles.map((title) => [title]));
    // One plan, one owner.
    const before = records.filter((record) => record.id !== id);
    expect(before.flatMap(({ todos }) => todos)).toEqual([]);
    expect(await untildone(project, 'ledger', 'verify', '--all')).toContain('intact');
  } finally {
    await model.close();
  }
});
