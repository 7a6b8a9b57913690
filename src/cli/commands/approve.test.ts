import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type CommandBench,
  createCommandBench,
} from '../../../test/support/command-bench.ts';
import { createChecker } from '../../checks/checker.ts';
import type { HumanCheck } from '../../core/check-specs.ts';
import type { Policy } from '../../core/policy.ts';
import { defaultSettings } from '../../core/settings.ts';
import { createIdentifiers, sha256 } from '../../engine/system.ts';
import type { ScriptedHost, ScriptedHostOptions } from '../../simulated/scripted-host.ts';
import { readApproval } from '../ask-at-terminal.ts';

let bench: CommandBench;

beforeEach(() => {
  bench = createCommandBench();
  mkdirSync(join(bench.project, 'src'));
  write('src/a.ts', '1');
});

afterEach(() => bench.close());

function write(name: string, text: string): void {
  writeFileSync(join(bench.project, name), text);
}

function human(id: string, files: readonly string[] = []): HumanCheck {
  return { kind: 'human', id, question: `Is ${id} right?`, files, timeoutMs: 1000 };
}

const look = human('look');

function policyOf(specs: readonly HumanCheck[], goalChecks: readonly string[]): Policy {
  const checks = Object.fromEntries(specs.map((spec) => [spec.id, spec]));
  return { settings: { ...defaultSettings, countdownSeconds: 0 }, goalChecks, checks };
}

interface Work extends Partial<ScriptedHostOptions> {
  readonly specs?: readonly HumanCheck[];
  readonly goal?: readonly string[];
  /** Checks of the one todo. */
  readonly own?: readonly string[];
}

/** A session whose one todo is completed; the checks for a human are really asked for. */
async function addSession({
  specs = [look],
  goal = [],
  own = [],
  ...options
}: Work): Promise<ScriptedHost> {
  const store = await bench.store();
  const place = {
    store,
    clock: bench.clock,
    identifiers: createIdentifiers(bench.clock),
    hash: sha256,
  };
  const { signal } = new AbortController();
  const checker = createChecker({
    ...place,
    startRunner: () => {},
    signal: () => signal,
  });
  const policy = policyOf(specs, goal);
  const host = await bench.host({
    sessionId: 'alpha-0001',
    policy: () => policy,
    checker,
    ...options,
  });
  await host.open();
  await host.says('Work');
  const items = [{ id: `${host.sessionId} todo`, title: 'Draw it', checks: own }];
  await host.happens({ type: 'todos-created', actor: 'agent', items });
  await host.works();
  await (await host.completes(`${host.sessionId} todo`)).checks;
  return host;
}

async function stop(host: ScriptedHost) {
  const handled = await host.stops();
  return (await handled.checks)?.decision ?? handled.decision;
}

async function session(id = 'alpha-0001') {
  const found = await (await bench.store()).state(id);
  if (found === null) throw new Error('There is no such session.');
  return found;
}

async function todo() {
  return (await (await bench.store()).todos({ ids: ['alpha-0001 todo'] }))[0] ?? null;
}

async function evidence() {
  return (await bench.store()).evidence('alpha-0001', 10);
}

describe('approve', () => {
  it('V1: a yes lets a goal that waited for it be done', async () => {
    const host = await addSession({ goal: ['look'] });
    expect(await stop(host)).toMatchObject({
      answer: 'wait',
      reason: 'question-pending',
    });
    const { code, out, err } = await bench.run('approve', '--check', 'look', '--yes');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain(
      'Approved look. It counts until a file of the workspace changes.',
    );
    expect(out).toContain('The answer is used when the agent next tries to stop.');
    expect((await session()).waits.questions).toEqual([]);
    expect(await stop(host)).toMatchObject({ answer: 'let-go', outcome: 'done' });
  });

  it('V1: a no to the goal keeps the agent at work, and it reads the reason', async () => {
    const host = await addSession({ goal: ['look'] });
    await stop(host);
    const { code, out } = await bench.run(
      'approve',
      '--check',
      'look',
      '--reject',
      'the button is blue',
    );
    expect(code).toBe(0);
    expect(out).toContain('Recorded a no to look: the button is blue');
    const handled = await (await host.stops()).checks;
    expect(handled?.decision).toMatchObject({ answer: 'continue' });
    expect(handled?.answer?.text).toContain('the button is blue');
  });

  it('V1: a no to a todo opens it again at once', async () => {
    await addSession({ own: ['look'] });
    expect((await session()).waits.questions).toEqual(['approve look']);
    await bench.run('approve', '--check', 'look', '--reject', 'too small');
    expect(await todo()).toMatchObject({ status: 'in_progress', verification: 'failed' });
    expect((await todo())?.failureTail).toContain('too small');
  });

  it.each([
    ['--yes', { answer: 'let-go', outcome: 'done' }],
    ['--reject=not like this', { answer: 'continue' }],
  ])(
    'V1: %s decides a stop attempt that a told host has parked',
    async (said, decision) => {
      const host = await addSession({
        goal: ['look'],
        own: ['own'],
        specs: [look, human('own')],
        mode: 'told',
      });
      await bench.run('approve', '--check', 'own', '--yes');
      expect(await stop(host)).toMatchObject({
        answer: 'wait',
        reason: 'question-pending',
      });
      const { out } = await bench.run('approve', '--check', 'look', said, '--json');
      expect(JSON.parse(out)).toMatchObject({ answered: true, waited: true, decision });
    },
  );

  it('V2: an approval ends with a change of the files that the check depends on, and only of those', async () => {
    const host = await addSession({ specs: [human('look', ['src/**'])], goal: ['look'] });
    await stop(host);
    expect((await bench.run('approve', '--check', 'look', '--yes')).out).toContain(
      'until a file that matches src/** changes',
    );
    write('notes.md', 'beside it');
    expect(await stop(host)).toMatchObject({ outcome: 'done' });
    write('src/a.ts', '2');
    await host.says('And now?');
    await host.works();
    expect(await stop(host)).toMatchObject({
      answer: 'wait',
      reason: 'question-pending',
    });
    expect((await bench.run('verify')).code).toBe(3);
    write('src/a.ts', '1');
    expect((await bench.run('verify')).code, 'what was approved is there again').toBe(0);
  });

  it('V2: a change between the approval and the stop attempt voids it', async () => {
    const host = await addSession({ goal: ['look'] });
    await stop(host);
    await bench.run('approve', '--check', 'look', '--yes');
    write('src/a.ts', '2');
    expect(await stop(host)).toMatchObject({
      answer: 'wait',
      reason: 'question-pending',
    });
  });

  it('V1: a check can be answered before the agent gets to it', async () => {
    const host = await addSession({ goal: ['look'] });
    const { code, out } = await bench.run('approve', '--check', 'Look', '--yes');
    expect(code).toBe(0);
    expect(out).toBe(
      'Approved look, ahead of the question. It counts until a file of the workspace changes.\n',
    );
    expect(await stop(host)).toMatchObject({ outcome: 'done' });
  });

  it('V1: several questions that wait are named, and one must be chosen', async () => {
    const host = await addSession({
      specs: [look, human('sound')],
      goal: ['look', 'sound'],
    });
    await stop(host);
    const { code, out } = await bench.run('approve');
    expect(code).toBe(2);
    expect(out).toBe(
      [
        '2 questions wait in session alpha-0001 “Work”. Say which one you answer:',
        '  --check look   Is look right?',
        '  --check sound  Is sound right?',
        '',
      ].join('\n'),
    );
    expect(await evidence()).toEqual([]);
    const { questions } = JSON.parse((await bench.run('approve', '--json')).out);
    expect(questions).toMatchObject([
      { check: 'look', waits: true, goal: true, todos: [] },
      { check: 'sound', waits: true },
    ]);
  });

  it('C3: where nothing waits it says so, and what could be answered', async () => {
    await addSession({ goal: ['look'] });
    const { code, out } = await bench.run('approve');
    expect(code).toBe(0);
    expect(out).toBe(
      'No question waits in session alpha-0001 “Work”. --check NAME answers one ahead: look.\n',
    );
  });

  it('C3: without a name it means the session here in which a question waits', async () => {
    await stop(await addSession({ goal: ['look'] }));
    await bench.clock.advance(5000);
    await addSession({ sessionId: 'beta-0002', specs: [] });
    const { out } = await bench.run('approve', '--check', 'look', '--yes', '--json');
    expect(JSON.parse(out)).toMatchObject({ session: 'alpha-0001', approved: true });
    await stop(await addSession({ sessionId: 'gamma-0003', goal: ['look'] }));
    await stop(await addSession({ sessionId: 'delta-0004', goal: ['look'] }));
    const both = await bench.run('approve');
    expect(both.code).toBe(2);
    expect(both.err).toContain(
      'Questions wait in 2 sessions here; name one: delta-0004 “Work”, gamma-0003 “Work”.',
    );
  });

  it('V1: the question of a check that was taken away holds nobody up', async () => {
    const host = await addSession({ goal: ['look'] });
    await stop(host);
    await host.happens({
      type: 'wait-started',
      wait: { kind: 'question', requestId: 'approve gone' },
    });
    const { code, out } = await bench.run('approve', '--check', 'gone', '--yes');
    expect(code).toBe(0);
    expect(out).toContain(
      'The configuration has no check gone any more; its question is closed.',
    );
    expect((await session()).waits.questions).toEqual(['approve look']);
    expect(await evidence()).toEqual([]);
  });

  it.each([
    [['--yes'], 'Name what you answer: --check NAME or --request ID.'],
    [['--reject', 'no'], 'Name what you answer: --check NAME or --request ID.'],
    [
      ['--check', 'look', '--yes', '--reject', 'no'],
      '--yes and --reject contradict each other.',
    ],
    [['--check', 'unit', '--yes'], 'has no check for a human named "unit"; it has look.'],
  ])('C3: %j is wrong usage and records nothing', async (argv, sentence) => {
    await stop(await addSession({ goal: ['look'] }));
    const { code, err } = await bench.run('approve', ...argv);
    expect(code).toBe(2);
    expect(err).toContain(sentence);
    expect(await evidence()).toEqual([]);
  });

  it('design: an agent must not approve itself', async () => {
    const host = await addSession({ goal: ['look'] });
    await stop(host);
    const whyNoHuman = async () => 'Only a human may do this, and Claude Code called it.';
    const { code, out, err } = await bench.runWith(
      { whyNoHuman },
      'approve',
      '--check',
      'look',
      '--yes',
    );
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('Claude Code called it');
    expect(await evidence()).toEqual([]);
    expect((await session()).waits.questions).toEqual(['approve look']);
  });

  it('security: a hostile question, name and reason have no power over the terminal', async () => {
    const evil =
      'x\u001b]52;c;aGk=\u0007\u001b[2J\u009b0m\nINJECTED\r\u202Eesrever\u007f';
    const check = { ...human(evil, [evil]), question: evil };
    const powers =
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
    await stop(
      await addSession({ specs: [check, human('other')], goal: [evil, 'other'] }),
    );
    for (const argv of [
      [],
      ['--json'],
      ['--check', evil, '--reject', evil],
      ['--check', evil, '--yes', '--json'],
    ]) {
      const { out, err } = await bench.run('approve', ...argv);
      expect(`${out}${err}`, argv.join(' ')).not.toMatch(powers);
      expect(`${out}${err}`, argv.join(' ')).not.toMatch(/^INJECTED/m);
    }
  });
});

describe('approve: at a terminal', () => {
  it.each([
    ['', null],
    ['  ', null],
    ['y', { approved: true, reason: '' }],
    [' YES ', { approved: true, reason: '' }],
    ['n', { approved: false, reason: '' }],
    ['No', { approved: false, reason: '' }],
    ['yep', null],
    ['nope', null],
    [
      'yes, but the button is blue',
      { approved: false, reason: 'yes, but the button is blue' },
    ],
  ])('%j is read as it is meant', (said, answer) =>
    expect(readApproval(said)).toEqual(answer),
  );

  const program = fileURLToPath(new URL('../bin.ts', import.meta.url));
  let runs = 0;

  /** Far from the processes above this test, which may themselves be an agent's. */
  async function atTerminal(keys: string): Promise<string> {
    runs += 1;
    const out = join(bench.project, '..', `out-${runs}`);
    const command = `${process.execPath} --no-warnings ${program} approve`;
    const lines = [
      `printf '${keys}' | script -qec '${command}' /dev/null >${out} 2>&1`,
      `echo "exit $?" >>${out}`,
      `mv ${out} ${out}.done`,
    ];
    const env = { PATH: process.env['PATH'], ...bench.env };
    const argv = ['-c', 'exec setsid --fork /bin/bash -c "$1"', 'bash', lines.join('\n')];
    spawn('bash', argv, { env, cwd: bench.project, stdio: 'ignore' });
    for (let waited = 0; !existsSync(`${out}.done`); waited += 25) {
      if (waited > 20_000) throw new Error('The command did not end.');
      await sleep(25);
    }
    return readFileSync(`${out}.done`, 'utf8');
  }

  it('V1: shows question and state, and takes a yes; a bare Enter leaves it open', async () => {
    const host = await addSession({ goal: ['look'], own: ['look'] });
    await stop(host);
    expect(await atTerminal('\\r')).toMatch(
      /Left open; nothing was recorded\.\s+exit 3\n$/,
    );
    expect(
      await atTerminal('yep\\r'),
      'first-use 30: a near yes is no reason for a no',
    ).toMatch(
      /"yep" was not understood; answer y, n or a reason\. Left open; nothing was recorded\.\s+exit 3\n$/,
    );
    expect(await evidence()).toEqual([]);
    const shown = await atTerminal('y\\r');
    expect(shown).toContain('Session alpha-0001 “Work” (scripted) in ');
    expect(shown).toContain('waiting for your answer to a question');
    expect(shown).toContain('look for the goal and “Draw it”');
    expect(shown).toContain('Is look right?');
    expect(shown).toContain('Approved look.');
    expect(shown).toMatch(/exit 0\n$/);
    expect(await stop(host)).toMatchObject({ outcome: 'done' });
  }, 60_000);
});
