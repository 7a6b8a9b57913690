// What a configuration says about our own agent, which goes by the name `run`, and about
// what it may cost: through the real command line.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommand, type Step, say } from '../../src/scripted-model/index.ts';
import { type CommandLine, openCommandLine } from './command-line.ts';

const files = {
  user: ({ environment }: CommandLine) =>
    join(environment['HOME'] ?? '', '.config', 'untildone', 'untildone.json'),
  project: ({ project }: CommandLine) => join(project, 'untildone.json'),
};

async function configured(
  which: keyof typeof files,
  config: object,
  steps: readonly Step[] = [say('Hello.')],
) {
  const line = await openCommandLine({ steps });
  const path = files[which](line);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(config));
  return line;
}

type AskedBody = Readonly<{
  reasoning?: { effort?: string };
  max_output_tokens?: number;
  temperature?: number;
}>;

const modelsAsked = ({ model }: CommandLine) => [
  ...new Set(model.requests.map((request) => request.model)),
];

describe('settings under agents.run', () => {
  it('C1: the model there is that of our own agent, and a flag or the environment overrules it', async () => {
    const line = await configured('user', {
      model: 'openai/common',
      agents: { run: { model: 'openai/own' } },
    });
    await line.run('run', 'Say hello.');
    expect(modelsAsked(line)).toEqual(['own']);
    await line.run('run', 'Say hello.', '--model', 'openai/named');
    expect(modelsAsked(line)).toEqual(['own', 'named']);
    line.set({ UNTILDONE_MODEL: 'openai/set' });
    await line.run('run', 'Say hello.');
    expect(modelsAsked(line)).toEqual(['own', 'named', 'set']);
  });

  it('C1: a limit there holds, and the same limit as a flag overrules it', async () => {
    const line = await configured('user', { agents: { Run: { maxMinutes: 0 } } }, [
      runCommand('true'),
      say('Hello.'),
    ]);
    const spent = await line.run('run', 'Work.', '--auto');
    expect(spent.out).toContain('outcome: exhausted');
    const longer = await line.run('run', 'Work.', '--auto', '--max-minutes', '5');
    expect(longer.out).not.toContain('outcome: exhausted');
  });

  const allowed = { agents: { run: { tools: { shellAllow: ['touch made.txt'] } } } };
  const touching = [runCommand('touch made.txt'), say('Touched.')];

  it('C1: commands that the user allows there may run', async () => {
    const line = await configured('user', allowed, touching);
    const { out } = await line.run('run', 'Touch it.', '--json');
    expect(out).toContain('"ok":true');
  });

  it('C1: a project’s file grants nothing there', async () => {
    const line = await configured('project', allowed, touching);
    const { out } = await line.run('run', 'Touch it.', '--json');
    expect(out).toContain('"ok":false');
    expect(out).not.toContain('"ok":true');
  });
});

describe('how the model is asked', () => {
  const thinking = ['--model', 'openai/gpt-5.2'];
  const asked = ({ model }: CommandLine) => {
    const body = (model.requests.at(-1)?.body ?? {}) as AskedBody;
    const { reasoning, max_output_tokens: most, temperature } = body;
    return [reasoning?.effort, most, temperature];
  };

  it('C1: what stands under agents.run is asked for, and a flag or the environment overrules it', async () => {
    const line = await configured('user', {
      reasoningEffort: 'low',
      agents: {
        run: { reasoningEffort: 'none', maxOutputTokens: 2000, temperature: 0.2 },
      },
    });
    await line.run('run', 'Say hello.', ...thinking);
    expect(asked(line)).toEqual(['none', 2000, 0.2]);
    line.set({ UNTILDONE_MAX_OUTPUT_TOKENS: '3000' });
    await line.run('run', 'Say hello.', ...thinking, '--temperature=0.9');
    expect(asked(line)).toEqual(['none', 3000, 0.9]);
    const high = await line.run(
      'run',
      'Say hello.',
      ...thinking,
      '--reasoning-effort',
      'high',
    );
    expect(asked(line)).toEqual(['high', 3000, undefined]);
    expect(high.out).toContain(
      'openai/gpt-5.2 does not take temperature 0.2 as it is set',
    );
  });

  it('C1: a wrong word or number is told in one sentence with its flag, before anything is asked', async () => {
    const line = await openCommandLine({ steps: [say('Hello.')] });
    const wrong = await line.run(
      'run',
      'Say hello.',
      ...thinking,
      '--reasoning-effort',
      'hihg',
    );
    expect(wrong).toMatchObject({ code: 2, out: '' });
    expect(wrong.err).toMatch(
      /--reasoning-effort: must be one of none, .*got "hihg"; did you mean "high"\?\n/,
    );
    const hot = await line.run('run', 'Say hello.', ...thinking, '--temperature', '3');
    expect(hot.err).toContain(
      '--temperature: must be a number from 0 to 2, or null, got 3',
    );
    expect(line.model.requests).toEqual([]);
  });

  it('V2: a session goes on as it was begun, whatever the files say now, unless a flag says otherwise', async () => {
    const line = await configured('user', { maxOutputTokens: 2000 });
    const flags = ['--reasoning-effort', 'none', '--temperature', '0.3'];
    await line.run('run', 'Say hello.', ...thinking, ...flags);
    writeFileSync(
      files.user(line),
      JSON.stringify({ maxOutputTokens: 4000, temperature: 1 }),
    );
    await line.run('run', 'And again.', '--resume');
    expect(asked(line)).toEqual(['none', 2000, 0.3]);
    await line.run('run', 'And again.', '--resume', '--max-output-tokens', '5000');
    expect(asked(line)).toEqual(['none', 5000, 0.3]);
    await line.run('run', 'And again.', '--resume');
    expect(asked(line)).toEqual(['none', 5000, 0.3]);
  });

  it('V10: what a project’s file asks for counts once a human accepted it', async () => {
    const line = await configured('project', {
      temperature: 0.4,
      agents: { run: { reasoningEffort: 'none' } },
    });
    const { err } = await line.run('run', 'Say hello.', ...thinking);
    expect(asked(line)).toEqual([undefined, undefined, undefined]);
    expect(err).toMatch(/asks for things that you have not accepted \(.*temperature.*\)/);
    await line.run('run', 'Say hello.', ...thinking, '--trust');
    expect(asked(line)).toEqual(['none', undefined, 0.4]);
  });
});

describe('maxCost', () => {
  it('G8: without a price it is wrong usage, told before anything is spent', async () => {
    const line = await configured('user', { maxCost: 5 });
    const refused = await line.run('run', 'Say hello.', '--model', 'openai/odd');
    expect(refused).toMatchObject({ code: 2, out: '' });
    expect(refused.err).toMatch(
      /maxCost is 5, but the price of openai\/odd is not known.*"prices"/,
    );
    expect(line.model.requests).toEqual([]);
    await expect(line.session()).rejects.toThrow('There is no session.');
  });

  it('G8: a worker whose model has no price counts too', async () => {
    const line = await configured('user', {
      maxCost: 5,
      prices: { 'openai/priced': { input: 1, output: 1 } },
      workers: { tester: { model: 'openai/odd' } },
    });
    const refused = await line.run('run', 'Say hello.', '--model', 'openai/priced');
    expect(refused).toMatchObject({ code: 2, out: '' });
    expect(refused.err).toContain('openai/odd');
  });

  it('G8: with a price it is a limit, and the cost is told; without either nobody speaks of prices', async () => {
    const prices = { 'openai/priced': { input: 1000, output: 1000 } };
    const line = await configured('user', { prices }, [
      runCommand('true'),
      say('Hello.'),
    ]);
    const priced = ['--model', 'openai/priced', '--auto'];
    const spent = await line.run('run', 'Work.', ...priced, '--max-cost', '0.01');
    expect(spent.out).toContain('outcome: exhausted');
    expect(spent.out).toMatch(/tokens in.*; \$\d/);
    const plain = await line.run('run', 'Work.', '--model', 'openai/odd', '--auto');
    expect(plain.out).toMatch(/tokens in.*out$/m);
    expect(plain.out).not.toMatch(/price|cost|\$\d/i);
  });
});
