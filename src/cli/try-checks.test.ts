import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createCommandCheck } from '../core/check-specs.ts';
import { isProcessAlive } from '../engine/system.ts';
import { createSimulatedClock } from '../simulated/simulated-clock.ts';
import type { Io } from './io.ts';
import { chooseRows, readTestCommand, setUpChecks } from './project-trust.ts';
import { tryChecks } from './try-checks.ts';

let directory: string;
let out: string;

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-try-')));
  out = '';
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

const shell = (line: string) => createCommandCheck(`$ ${line}`, { shell: line });
const slow = shell('echo $$ > began; sleep 60');

const createIo = (fields: Partial<Io>): Io => ({
  stdout: { write: (text) => (out += text) },
  stderr: { write: () => {} },
  env: { PATH: process.env['PATH'], HOME: directory, MY_TOKEN: 'secret-0123456789' },
  cwd: directory,
  isTTY: false,
  clock: createSimulatedClock(),
  whyNoHuman: async () => null,
  agentAbove: async () => null,
  agentSessions: async () => [],
  ...fields,
});

const tryThem = (
  checks: Parameters<typeof tryChecks>[1],
  fields: Partial<Io> = {},
  patienceSeconds = 60,
) => tryChecks(createIo(fields), checks, { directory, patienceSeconds });

async function pidOf(name: string): Promise<number> {
  const path = join(directory, name);
  while (!existsSync(path) || readFileSync(path, 'utf8') === '') await sleep(20);
  return Number(readFileSync(path, 'utf8'));
}

it('V1: a check that takes too long is ended with its processes, and the line says so', async () => {
  await tryThem([slow], {}, 0.3);
  expect(out).toBe(
    `${slow.id.slice(2)} was still running after 0.3 s, so it was ended; agents will wait for it at each stop\n`,
  );
  expect(isProcessAlive(await pidOf('began'))).toBe(false);
});

it('V1: a check that exceeds its own timeout fails now', async () => {
  await tryThem([{ ...slow, timeoutMs: 200 }]);
  expect(out).toContain(
    'fails now (it did not end within 0.2 s and was stopped): agents here will be held',
  );
});

it('first-use: Ctrl-C ends the try and its processes, skips the other checks, and says that the check stays', async () => {
  const tried = tryThem([slow, shell('echo begun > second')]);
  const pid = await pidOf('began');
  process.emit('SIGINT');
  await tried;
  expect(out).toMatch(
    /^You ended the try of echo .* after \d+\.\d s, and its processes with it\.\n/u,
  );
  expect(out).toContain(
    'All that was set up stays, the check too: agents here will be held until it passes.\n',
  );
  expect(isProcessAlive(pid)).toBe(false);
  expect(existsSync(join(directory, 'second'))).toBe(false);
  expect(process.listenerCount('SIGINT'), 'a later Ctrl-C is not caught').toBe(0);
});

it('first-use: a terminal shows which check runs and for how long, and afterwards only its result', async () => {
  await tryThem([shell('sleep 1.2')], { isTTY: true });
  expect(out).toContain('running sleep 1.2 once (Ctrl-C ends that), 1 s');
  const left = out.split('\r\u001b[2K').at(-1);
  expect(left).toMatch(/^sleep 1\.2 passes, 1\.\d s\n$/u);
});

it('security: a tried check gets the environment of a real check, and its secrets are not shown', async () => {
  await tryThem([{ ...shell('echo "token: $MY_TOKEN"; exit 1'), environment: [] }]);
  expect(out).toContain('\n  token:\n');
  out = '';
  await tryThem([
    { ...shell('echo "token: $MY_TOKEN"; exit 1'), environment: ['MY_TOKEN'] },
  ]);
  expect(out).not.toContain('secret-0123456789');
});

it.each([
  ['an agent', 'Only a human may do this, and Claude Code called it.', []],
  ['a human', null, ['ran']],
])('V10: a check that %s names runs only if it was accepted', async (_, whyNot, ran) => {
  const io = createIo({ whyNoHuman: async () => whyNot });
  const request = { commands: ['echo run > ran'], command: 'untildone init pi' };
  const how = { isNew: false, isDry: false, isTried: true };
  expect(await setUpChecks(io, { ...request, ...how })).toBe(0);
  expect(readdirSync(directory).filter((name) => name === 'ran')).toEqual(ran);
  expect(existsSync(join(directory, 'untildone.json'))).toBe(true);
});

describe('the trust question of init', () => {
  const committed = {
    checks: {
      fine: { command: 'echo run >> fine.log' },
      red: { command: 'echo "not ok 1 - adds"; exit 3' },
    },
    goal: ['fine', 'red'],
  };

  /** Somebody sits here and answers each question so. */
  function sitDown(answer: string): Io {
    writeFileSync(join(directory, 'untildone.json'), JSON.stringify(committed));
    const input = Object.assign(new PassThrough(), { isTTY: true });
    const before = Object.getOwnPropertyDescriptor(process, 'stdin') ?? {};
    Object.defineProperty(process, 'stdin', { value: input, configurable: true });
    onTestFinished(() => void Object.defineProperty(process, 'stdin', before));
    const write = process.stderr.write.bind(process.stderr);
    process.stderr.write = ((text: string) => {
      if (text.includes('leave it as it is]')) input.write(`${answer}\n`);
      return true;
    }) as typeof write;
    onTestFinished(() => {
      process.stderr.write = write;
    });
    return createIo({ isTTY: true });
  }

  const how = { command: 'untildone init pi', isNew: false, isDry: false };
  const ranFine = () =>
    existsSync(join(directory, 'fine.log'))
      ? readFileSync(join(directory, 'fine.log'), 'utf8')
      : '';

  it.each([[[]], [['echo more']]])(
    'V1: each check that a teammate’s yes accepts is run once, with %j of --check',
    async (commands) => {
      const io = sitDown('y');
      expect(await setUpChecks(io, { ...how, commands, isTried: true })).toBe(0);
      expect(ranFine()).toBe('run\n');
      expect(out).toContain('echo run >> fine.log passes');
      expect(out).toContain('fails now (exit 3): agents here will be held');
      for (const command of commands) expect(out).toContain(`${command} passes`);
    },
  );

  it('V1: none is run with --no-try, nor after a bare Enter', async () => {
    for (const [answer, isTried] of [
      ['', true],
      ['y', false],
    ] as const)
      await setUpChecks(sitDown(answer), { ...how, commands: [], isTried });
    expect(ranFine()).toBe('');
  });
});

it.each([
  ['', []],
  ['n', []],
  ['No', []],
  ['y', [0, 1]],
  ['YES', [0, 1]],
  ['2', [1]],
  ['2, 1', [0, 1]],
  ['maybe', null],
  ['yess', null],
  ['3', null],
  [',', null],
])('first-use 14: %j is understood as %j, and null asks again', (said, rows) => {
  expect(chooseRows(said, 2)).toEqual(rows);
});

it.each([
  ['make test', ['make test']],
  ['', []],
  ['no', []],
  ['yes', null],
  ['y', null],
  ['yep', null],
])(
  'first-use 14: %j as the command that tests the project is understood as %j',
  (said, commands) => {
    expect(readTestCommand(said)).toEqual(commands);
  },
);
