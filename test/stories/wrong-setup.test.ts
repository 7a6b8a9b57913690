// A new user's first mistakes, with real processes: each is one sentence that says what
// to do, without a stack trace and without a key (must hold 7).
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { complete, fail, plan, say, writeFile } from '../../src/scripted-model/index.ts';
import { openCommandLine } from './command-line.ts';

const key = 'sk-story-key-0123456789';

interface Said {
  readonly out: string;
  readonly err: string;
}

function expectPlainWords({ out, err }: Said): void {
  expect(`${out}${err}`).not.toContain(key);
  expect(`${out}${err}`).not.toMatch(/^\s+at /m);
  expect(`${out}${err}`).not.toMatch(
    /\b(?:AI_)?APICallError|AI SDK Warning|ExperimentalWarning/,
  );
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('the first run', () => {
  it.each([
    ['openai/story', { OPENAI_API_KEY: key }, 'OPENAI_BASE_URL', 'OPENAI_API_KEY'],
    [
      'anthropic/story',
      { ANTHROPIC_API_KEY: key },
      'ANTHROPIC_BASE_URL',
      'ANTHROPIC_API_KEY',
    ],
    [
      'google/story',
      { GEMINI_API_KEY: key },
      'GOOGLE_GENERATIVE_AI_BASE_URL',
      'GEMINI_API_KEY',
    ],
  ])(
    '%s by environment variables alone: it works, and a wrong key is told by its name',
    async (name, keys, address, variable) => {
      const line = await openCommandLine({
        steps: [
          plan('Write alpha'),
          writeFile('alpha.txt', 'a'),
          complete('Write alpha'),
          say('Written.'),
          fail(401, { times: 9, message: `bad key ${key}` }),
        ],
        environment: {},
      });
      line.set({ ...keys, [address]: line.model.url });
      const good = await line.run(
        'run',
        'Do the work.',
        '--accept-claims',
        '--model',
        name,
      );
      expectPlainWords(good);
      expect(good.err).toBe('');
      expect(good.code).toBe(0);
      expect(good.out).toContain('Written.');

      const other = await line.run('run', 'Do more.', '--resume', '--model', name);
      expectPlainWords(other);
      expect(other.code).toBe(1);
      expect(other.out).toMatch(
        new RegExp(
          `The key in ${variable} was refused by http://127\\.0\\.0\\.1:\\d+: check it and set it again\\.`,
        ),
      );
    },
  );

  it('a wrong model name is told, with what to do', async () => {
    const line = await openCommandLine({ steps: [fail(404, { times: 9 })] });
    const said = await line.run('run', 'Do the work.', '--model', 'openai/gpt-0');
    expectPlainWords(said);
    expect(said.code).toBe(1);
    expect(said.out).toMatch(
      /openai\/gpt-0 is not known at http:\/\/127\.0\.0\.1:\d+: check its name, or choose another with --model/,
    );
    expect(line.model.requests).toHaveLength(1);
  });

  it('an address where nothing listens is told, with what to do', async () => {
    const line = await openCommandLine({
      steps: [],
      environment: { OPENAI_API_KEY: key },
    });
    const url = `http://127.0.0.1:${await freePort()}`;
    line.set({ OPENAI_BASE_URL: url });
    const said = await line.run(
      'run',
      'Do the work.',
      '--model',
      'openai/story',
      '--circuit-after',
      '2',
    );
    expectPlainWords(said);
    expect(said.code).toBe(1);
    expect(said.out).toContain('outcome: failed\n');
    expect(said.out).toContain(
      `${url} cannot be reached: nothing listens there; start the server or correct its address.`,
    );
  });

  it('no key at all is wrong usage: told before anything is started', async () => {
    const line = await openCommandLine({ steps: [], environment: {} });
    const none = await line.run('run', 'Do the work.');
    expectPlainWords(none);
    expect(none).toMatchObject({ code: 2, out: '' });
    expect(none.err).toMatch(
      /^untildone: No model is chosen: set ANTHROPIC_API_KEY, .*untildone demo.*\n$/,
    );
    const named = await line.run('run', 'Do the work.', '--model', 'openai/story');
    expect(named).toMatchObject({ code: 2, out: '' });
    expect(named.err).toContain('No key for openai: set OPENAI_API_KEY');
    await expect(line.session()).rejects.toThrow('There is no session.');
  });
});
