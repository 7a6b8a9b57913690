// What a configuration says about our own agent, which goes by the name `run`, and about what it may cost: through the
// real command line.
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

const modelsAsked = ({ model }: CommandLine) => [...new Set(model.requests.map((request) => request.model))];

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

describe('maxCost', () => {
  it('G8: without a price it is wrong usage, told before anything is spent', async () => {
    const line = await configured('user', { maxCost: 5 });
    const refused = await line.run('run', 'Say hello.', '--model', 'openai/odd');
    expect(refused).toMatchObject({ code: 2, out: '' });
    expect(refused.err).toMatch(/maxCost is 5, but the price of openai\/odd is not known.*"prices"/);
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
    const line = await configured('user', { prices }, [runCommand('true'), say('Hello.')]);
    const priced = ['--model', 'openai/priced', '--auto'];
    const spent = await line.run('run', 'Work.', ...priced, '--max-cost', '0.01');
    expect(spent.out).toContain('outcome: exhausted');
    expect(spent.out).toMatch(/tokens in.*; \$\d/);
    const plain = await line.run('run', 'Work.', '--model', 'openai/odd', '--auto');
    expect(plain.out).toMatch(/tokens in.*out$/m);
    expect(plain.out).not.toMatch(/price|cost|\$\d/i);
  });
});
