// `opencode run`, which leaves at the first idle: the decision must fall before it. The
// suite of all hosts runs under it; here is what only this host has, and checks that it
// waits for.
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  always,
  ask,
  callTool,
  complete,
  empty,
  fail,
  plan,
  runCommand,
  say,
  script,
  whenTold,
  writeFile,
} from '../../../src/scripted-model/index.ts';
import { quitter, titles } from '../harness/stories/story.ts';
import type { FolderSettings } from './opencode.ts';
import type { Kept } from './our-record.ts';
import { type Run, type RunOptions, runOpencode } from './run.ts';
import { createSurroundings, type Surroundings } from './stage.ts';
import { stubborn } from './stories.ts';

const failure = 'EXPECTED-FILE-IS-MISSING';
const program = `if(!require('fs').existsSync('parser.txt')){console.log('${failure}');process.exit(1)}`;
const parserCheck = { parser: { command: [process.execPath, '-e', program] } };

const liar = [
  plan('Write the parser'),
  complete('Write the parser'),
  say('I am done.'),
  whenTold(failure, writeFile('parser.txt', 'x')),
  complete('Write the parser'),
  always(say('Now I am done.')),
];

const scripts = [
  stubborn,
  quitter('quitter', ...titles),
  script('asker', [plan('parser', 'docs'), always(ask('Which parser shall I take?'))]),
  script('silent', [
    plan('parser', 'docs'),
    writeFile('parser.txt', 'x'),
    complete('parser'),
    empty(),
    writeFile('docs.txt', 'x'),
    complete('docs'),
    always(say('I am done.')),
  ]),
  script('silent-liar', [
    plan('Write the parser'),
    complete('Write the parser'),
    empty(),
    // Nothing was waited for, so that the check may still run: then it is told to wait
    // for it by a tool.
    whenTold('todo_verify', callTool('todo_verify', {})),
    writeFile('parser.txt', 'x'),
    complete('Write the parser'),
    always(say('Now I am done.')),
  ]),
  script('liar', liar),
  script('pauser', [
    plan('parser', 'docs'),
    callTool('todo_pause', { reason: 'I need the key.' }),
    always(say('I wait for the key.')),
  ]),
  script('shell', [
    plan('parser', 'docs'),
    runCommand('echo hi'),
    always(say('I am done.')),
  ]),
  script('broken', [plan('parser', 'docs'), always(fail(400))]),
];

let around: Surroundings;
beforeAll(async () => {
  around = await createSurroundings(scripts);
}, 60_000);
afterAll(() => around.close());

interface Played extends Run {
  readonly continuations: readonly string[];
  readonly kept: Kept | null;
  readonly files: readonly string[];
}

async function play(
  name: string,
  given: FolderSettings & Pick<RunOptions, 'words' | 'drive' | 'environment'> = {},
): Promise<Played> {
  const { words, drive, environment, ...settings } = given;
  // The defaults hold: a countdown would come too late, and there must be none.
  const directory = around.folder({ config: {}, ...settings });
  const run = await runOpencode(around.project, around.model, {
    directory,
    prompt: `[script:${name}] Do it.`,
    ...(words === undefined ? {} : { words }),
    ...(drive === undefined ? {} : { drive }),
    ...(environment === undefined ? {} : { environment }),
  });
  return {
    ...run,
    continuations: around.continuations(run.id),
    kept: await around.record.read(run.id),
    files: readdirSync(directory)
      .filter((file) => /\.txt$/.test(file))
      .sort(),
  };
}

describe('opencode run', () => {
  it('control: the host alone, and a plugin that injects at idle, leave after the first todo', async () => {
    const alone = await play('quitter', { plugins: [] });
    expect(alone.files).toEqual(['alpha.txt']);
    const bare = await play('quitter', {
      plugins: [new URL('bare-plugin.ts', import.meta.url).pathname],
    });
    expect(bare.files).toEqual(['alpha.txt']);
  });

  it('G8: a budget of tokens has a say at the stop of the very step that spent it', async () => {
    const played = await play('stubborn', { config: { maxTokens: 1 } });
    expect(played.continuations).toHaveLength(0);
    expect(played.kept?.session.settled).toMatchObject({
      outcome: 'exhausted',
      reason: 'token-budget',
    });
  });

  it('P8: ends in a question twice: one continuation, then paused, since nobody is there to answer', async () => {
    const played = await play('asker');
    expect(played.continuations).toHaveLength(1);
    expect(played.kept?.session.settled?.outcome).toBe('paused');
  });

  it('P14: a step without text is a stop like any other: sent on', async () => {
    const played = await play('silent');
    expect(played.continuations).toHaveLength(1);
    expect(played.files).toEqual(['docs.txt', 'parser.txt']);
    expect(played.kept?.session.settled?.outcome).toBe('claimed');
  });

  it('M6: todo_pause is honoured at once', async () => {
    const played = await play('pauser');
    expect(played.continuations).toHaveLength(0);
    expect(played.kept?.session.settled?.outcome).toBe('paused');
  });

  it('P26: the plan agent is never continued', async () => {
    const played = await play('stubborn', { words: ['--agent', 'plan'] });
    expect(played.continuations).toHaveLength(0);
    expect(played.kept?.decisions[0]?.answer).toBe('let-go');
  });

  it('P9: the host rejects what nobody is there to allow: paused, not pressed on', async () => {
    const played = await play('shell', {
      opencode: { permission: { '*': 'allow', bash: 'ask' } },
    });
    expect(played.continuations).toHaveLength(0);
    expect(played.kept?.session.pause).toMatchObject({ by: 'rejection' });
  });

  it('G2: HTTP 400 is not answered with a continuation', async () => {
    const played = await play('broken');
    expect(played.continuations).toHaveLength(0);
    expect(played.kept?.decisions.filter(({ answer }) => answer === 'continue')).toEqual(
      [],
    );
  });
});

describe('P31: checks under run', () => {
  it('a claim is checked while the host waits for the tool: its result carries the failure', async () => {
    const config = {
      checks: parserCheck,
      todoChecks: [{ title: 'Write the parser', checks: ['parser'] }],
    };
    const played = await play('liar', { config });
    const results = played.requests.flatMap(({ messages }) =>
      messages.flatMap(({ toolResults }) => toolResults),
    );
    expect(
      results.some(({ text }) => text.includes(failure)),
      'in the result of the tool',
    ).toBe(true);
    expect(played.files).toEqual(['parser.txt']);
    expect(played.kept?.session.settled?.outcome).toBe('done');
  });

  it('V1: also after a step without text, where the host has no hook that it waits for', async () => {
    const played = await play('silent-liar', {
      config: { checks: parserCheck, goal: ['parser'] },
    });
    expect(played.continuations).toHaveLength(1);
    expect(
      JSON.stringify(around.requests(played.id).at(-1)?.messages),
      'it was told why',
    ).toContain(failure);
    expect(played.files).toEqual(['parser.txt']);
    expect(played.kept?.session.settled?.outcome).toBe('done');
  });
});
