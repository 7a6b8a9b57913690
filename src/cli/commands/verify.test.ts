import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type CommandBench,
  createCommandBench,
} from '../../../test/support/command-bench.ts';
import { protectPolicy } from '../../checks/protected-paths.ts';
import { type CheckSpec, createCommandCheck } from '../../core/check-specs.ts';
import type { Policy } from '../../core/policy.ts';
import { defaultSettings } from '../../core/settings.ts';
import type { EvidenceRow } from '../../engine/host.ts';
import { digestFile } from '../../engine/policy.ts';
import type { ScriptedHost } from '../../simulated/scripted-host.ts';
import { storePath } from '../../store/state-directory.ts';

let bench: CommandBench;

beforeEach(() => {
  bench = createCommandBench();
  bench.env['PATH'] = process.env['PATH'];
});

afterEach(() => bench.close());

const shell = (id: string, line: string): CheckSpec =>
  createCommandCheck(id, { shell: line });
const look: CheckSpec = {
  kind: 'human',
  id: 'look',
  question: 'Does it look right?',
  files: [],
  timeoutMs: 1,
};

function policyOf(
  specs: readonly CheckSpec[],
  goalChecks: readonly string[] = [],
): Policy {
  const checks = Object.fromEntries(specs.map((spec) => [spec.id, spec]));
  return { settings: defaultSettings, goalChecks, checks };
}

type Item = readonly [title: string, ...checks: string[]];

async function addSession(
  policy: Policy,
  items: readonly Item[] = [],
): Promise<ScriptedHost> {
  const checker = { run: async () => {} };
  const host = await bench.host({
    sessionId: 'alpha-0001',
    policy: () => policy,
    checker,
  });
  await host.open();
  await host.says('Work');
  await host.happens({
    type: 'todos-created',
    actor: 'agent',
    items: items.map(([title, ...checks], index) => ({ id: `t${index}`, title, checks })),
  });
  return host;
}

async function evidence(): Promise<readonly EvidenceRow[]> {
  return (await bench.store()).evidence('alpha-0001', 50);
}

async function plan() {
  return (await bench.store()).todos({ planId: 'alpha-0001' });
}

function write(name: string, text: string): void {
  writeFileSync(join(bench.project, name), text);
}

function configure(config: unknown): void {
  write('untildone.json', JSON.stringify(config));
}

describe('verify: a session', () => {
  it('V1: runs the checks of the goal and of the todos, each once, and tells them line by line', async () => {
    const unit = shell('unit', 'echo x >> .git/runs');
    const lint = shell('lint', 'echo "a.ts:4 unused"; exit 1');
    await addSession(policyOf([unit, lint], ['unit']), [
      ['Write it', 'unit'],
      ['Test it', 'unit', 'lint'],
    ]);
    const { code, out, err } = await bench.run('verify');
    expect(err).toBe('');
    expect(code).toBe(1);
    expect(readFileSync(join(bench.project, '.git', 'runs'), 'utf8')).toBe('x\n');
    const lines = out.replace(/\d+ ms|\d+\.\d s/g, '0 ms').split('\n');
    expect(lines).toEqual([
      `2 checks of session alpha-0001 “Work” in ${bench.project}`,
      '[1/2] running unit',
      '✓ check "unit" passed (0 ms): for the goal and 2 todos',
      '[2/2] running lint',
      '[2/2] failed, running once more: lint',
      '✗ check "lint" failed (0 ms): echo "a.ts:4 unused"; exit 1 exited with 1 instead of 0. For “Test it”.',
      '  │ a.ts:4 unused',
      '',
      'Failed: 1 of 2 checks.',
      '',
    ]);
  });

  it('V1: records what it saw as evidence and leaves the plan as it is', async () => {
    await addSession(
      policyOf([shell('unit', 'true'), shell('own', 'echo no; exit 1')], ['unit']),
      [['Write it', 'own']],
    );
    const before = await plan();
    expect((await bench.run('verify', 'alpha')).code).toBe(1);
    expect(await plan()).toEqual(before);
    const rows = await evidence();
    expect(rows).toMatchObject([
      { check: 'own', result: 'failed', todoId: 't0', exitCode: 1, tail: 'no' },
      { check: 'unit', result: 'passed', todoId: null, exitCode: 0 },
    ]);
    expect(rows[1]?.fingerprint).toMatch(/^[0-9a-f]{64}$/);
  });

  it('V2: goes by the snapshot of the last message, and tells of a configuration that was changed since', async () => {
    configure({ checks: { unit: { command: 'false' } }, goal: ['unit'] });
    const path = join(bench.project, 'untildone.json');
    const policy = policyOf([shell('unit', 'true')], ['unit']);
    await addSession({ ...policy, sources: [{ path, digest: digestFile(path) }] });
    const calm = await bench.run('verify');
    expect(calm.code).toBe(0);
    expect(calm.out).not.toContain('was changed since');
    configure({ goal: [] });
    const { code, out } = await bench.run('verify');
    expect(code).toBe(0);
    expect(out).toContain(`${path} was changed since your message`);
  });

  it('P27: a changed protected path fails it until it is restored', async () => {
    mkdirSync(join(bench.project, 'test'));
    write('test/a.test.ts', 'strict');
    const policy = { ...policyOf([]), protect: ['test/**'] };
    const prepared = await protectPolicy(await bench.store(), policy, bench.project);
    if (!prepared.ok) throw new Error(prepared.error);
    await addSession(prepared.policy);
    expect((await bench.run('verify')).code).toBe(0);
    write('test/a.test.ts', 'lenient');
    const changed = await bench.run('verify');
    expect(changed.code).toBe(1);
    expect(changed.out).toContain('test/a.test.ts');
    write('test/a.test.ts', 'strict');
    expect((await bench.run('verify')).code).toBe(0);
  });

  it('V1: a check that passes only when it is run again is flaky and exits 3', async () => {
    const odd = shell(
      'odd',
      'if [ -e .git/seen ]; then exit 0; else touch .git/seen; exit 1; fi',
    );
    await addSession(policyOf([odd], ['odd']));
    const { code, out } = await bench.run('verify');
    expect(code).toBe(3);
    expect(out).toContain('passed only when run again (flaky)');
    expect(out).toContain(
      'Flaky: 1 of 1 check. A check that passes only sometimes proves nothing.',
    );
    expect(await evidence()).toMatchObject([
      { check: 'odd', result: 'passed', flaky: true },
    ]);
  });

  it('V1: a check for a human waits and exits 3; asking is no answer and leaves no evidence', async () => {
    await addSession(policyOf([shell('unit', 'true'), look], ['unit', 'look']));
    const { code, out } = await bench.run('verify');
    expect(code).toBe(3);
    expect(out).toContain('Waits for a human to approve: Does it look right?');
    expect(out).toContain('`untildone approve` answers it');
    expect((await evidence()).map(({ check }) => check)).toEqual(['unit']);
  });

  it('V1: a failed check outweighs one that waits', async () => {
    await addSession(policyOf([shell('bad', 'false'), look], ['look', 'bad']));
    expect((await bench.run('verify')).code).toBe(1);
  });

  it('V1: a check that the snapshot does not know has failed, by whatever name', async () => {
    await addSession(policyOf([]), [
      ['Write it', 'toString'],
      ['Test it', '$ make'],
    ]);
    const { code, out } = await bench.run('verify');
    expect(code).toBe(1);
    expect(out.match(/no check with this name/g)).toHaveLength(2);
    expect(out).toContain('`untildone verify --plan FILE`');
  });

  it('V2: names a file that was ignored since the last message', async () => {
    const policy = policyOf([shell('unit', 'true')], ['unit']);
    const texts = { [join(bench.project, '.gitignore')]: '' };
    await addSession({ ...policy, ignoreRules: { excludesFile: '/dev/null', texts } });
    writeFileSync(join(bench.project, 'secret.txt'), 'x');
    const said =
      'These files are ignored only since your message, so they count: secret.txt.';
    expect((await bench.run('verify')).out).not.toContain(said);
    writeFileSync(join(bench.project, '.gitignore'), 'secret.txt\n');
    expect((await bench.run('verify')).out).toContain(said);
  });

  it('V4: a snapshot that was edited in the store is not gone by', async () => {
    await addSession(policyOf([shell('unit', 'false')], ['unit']));
    const database = new DatabaseSync(storePath(bench.env));
    const easy = JSON.stringify(policyOf([shell('unit', 'true')], ['unit']));
    database.prepare('UPDATE policies SET body = ?').run(easy);
    database.close();
    const { code, out, err } = await bench.run('verify');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('it was edited in the store');
  });

  it('V1: cancelled todos are not asked for proof', async () => {
    const host = await addSession(policyOf([shell('bad', 'false')]), [
      ['Write it', 'bad'],
    ]);
    const changes = { status: 'cancelled', reason: 'not wanted' } as const;
    await host.happens({ type: 'todo-updated', actor: 'human', todoId: 't0', changes });
    expect((await bench.run('verify')).code).toBe(3);
  });

  it('V4: a session of claims alone has nothing to verify, and it says so', async () => {
    await addSession(policyOf([]), [['Write it'], ['Test it']]);
    const { code, out } = await bench.run('verify');
    expect(code).toBe(3);
    expect(out).toBe(
      'Nothing to verify: session alpha-0001 “Work” has no checks.\n2 todos without a check: only the agent’s word covers that.\n',
    );
  });

  it('C3: --json is one document with every result', async () => {
    await addSession(policyOf([shell('unit', 'echo fine'), look], ['unit']), [
      ['Write it', 'look'],
    ]);
    const { code, out } = await bench.run('verify', '--json');
    expect(code).toBe(3);
    expect(out.indexOf('\n')).toBe(out.length - 1);
    expect(JSON.parse(out)).toMatchObject({
      result: 'waiting',
      exitCode: 3,
      source: 'session',
      session: 'alpha-0001',
      wanted: 2,
      checks: [
        {
          check: 'unit',
          kind: 'command',
          goal: true,
          todos: [],
          result: 'passed',
          exitCode: 0,
          tail: 'fine',
        },
        {
          check: 'look',
          goal: false,
          todos: [{ id: 't0', title: 'Write it' }],
          result: 'waiting',
        },
      ],
    });
  });

  it('security: hostile titles, names and outputs have no power over the terminal, and a secret stays secret', async () => {
    const evil =
      'x\u001b]52;c;aGk=\u0007\u001b[2J\u009b0m\nINJECTED\r\u202Eesrever\u0000\u007f';
    bench.env['SOME_TOKEN'] = 'hunter2-hunter2';
    const bad = createCommandCheck(evil, [
      process.execPath,
      '-e',
      'process.stdout.write("\\u001b[2J\\rINJECTED hunter2-hunter2\\u0007\\n".repeat(99)); process.exit(1)',
    ]);
    await addSession(policyOf([bad, { ...look, id: 'q', question: evil }], ['q']), [
      [evil, evil],
    ]);
    const powers =
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
    for (const extra of [[], ['--json']]) {
      const { code, out, err } = await bench.run('verify', ...extra);
      expect(code).toBe(1);
      expect(`${out}${err}`).not.toMatch(powers);
      expect(`${out}${err}`).not.toMatch(/^INJECTED/m);
      expect(`${out}${err}`).not.toContain('hunter2');
    }
    expect((await bench.run('verify')).out.split('\n').length).toBeLessThan(60);
  });

  it('C4: on a terminal the running check is one line that is painted over', async () => {
    await addSession(policyOf([shell('unit', 'true')], ['unit']));
    const { out } = await bench.runWith(
      { isTTY: true, env: { ...bench.env, NO_COLOR: '1' } },
      'verify',
    );
    // A busy machine paints more than once.
    const painted = out.replaceAll('\r\u001b[2K', '|');
    expect(painted).toMatch(
      /(?:\|\[1\/1\] running unit, \d+ s)+\|✓ check "unit" passed/u,
    );
    expect(out).not.toContain('running unit\n');
    const dumb = await bench.runWith(
      { isTTY: true, env: { ...bench.env, TERM: 'dumb' } },
      'verify',
    );
    expect(dumb.out).not.toContain('\u001b');
  });
});

describe('verify: a plan file', () => {
  it('V1: runs its checks without a store or a session, by name from the configuration here', async () => {
    configure({ checks: { unit: { command: 'true' } }, goal: [] });
    write(
      'PLAN.md',
      '---\nchecks:\n  - echo goal\n---\n- [ ] Write it\n  check: Unit\n- [x] Test it\n  check: test -e PLAN.md\n- [ ] Say it\n',
    );
    const { code, out, err } = await bench.run('verify', '--plan', 'PLAN.md');
    expect(err).toBe('');
    expect(code).toBe(0);
    expect(out).toContain('3 checks of PLAN.md');
    expect(out).toContain('\nPassed: 3 checks.\n');
    expect(out).toMatch(/^✓ check "echo goal" passed \([\d.]+ m?s\): for the goal$/m);
    expect(out).toMatch(/"unit" passed \([\d.]+ m?s\): for “Write it”$/m);
    expect(out).toMatch(/"test -e PLAN\.md" passed \([\d.]+ m?s\): for “Test it”$/m);
    expect(existsSync(bench.home)).toBe(false);
  });

  it('V1: one failed check exits 1, and a human’s cannot be answered there', async () => {
    configure({ checks: { look: { human: 'Good?' } } });
    write('PLAN.md', '- [ ] Write it\n  check: "look"\n');
    const waits = await bench.run('verify', '--plan', 'PLAN.md');
    expect(waits.code).toBe(3);
    expect(waits.out).toContain('It is answered in a session.');
    write('PLAN.md', '- [ ] Write it\n  check: "look"\n- [ ] Test it\n  check: exit 4\n');
    expect((await bench.run('verify', '--plan', 'PLAN.md')).code).toBe(1);
  });

  it.each([
    ['is missing', null, 'PLAN.md: the file cannot be read (ENOENT).'],
    [
      'names an unknown check',
      '- [ ] One\n  check: ghost\n- [ ] Two\n  check: touch ran\n',
      'no check named "ghost"',
    ],
    [
      'has a check that cannot be read',
      '- [ ] One\n  check: ``\n- [ ] Two\n  check: touch ran\n',
      'line 2',
    ],
  ])(
    'V3: a file that %s is wrong configuration, and nothing runs',
    async (_what, text, sentence) => {
      if (text !== null) write('PLAN.md', text);
      const { code, out, err } = await bench.run('verify', '--plan', 'PLAN.md');
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(err).toContain(sentence);
      expect(existsSync(join(bench.project, 'ran'))).toBe(false);
    },
  );

  it('V1: a file without checks has nothing to verify', async () => {
    write('PLAN.md', '- [x] Write it\n');
    const { code, out } = await bench.run('verify', '--plan', 'PLAN.md');
    expect(code).toBe(3);
    expect(out).toContain('Nothing to verify: PLAN.md has no checks.');
  });

  it('C3: a session and a file at once is wrong usage', async () => {
    const { code, err } = await bench.run('verify', 'alpha', '--plan', 'PLAN.md');
    expect(code).toBe(2);
    expect(err).toContain('Name a session or say --plan FILE, not both.');
  });
});

describe('verify: neither', () => {
  it('V1: where no session is, the goal of the configuration is checked, and no store is made', async () => {
    configure({ checks: { unit: { file: 'done.txt' } }, goal: ['unit'] });
    const missing = await bench.run('verify');
    expect(missing.code).toBe(1);
    expect(missing.out).toContain('1 check of the configuration');
    write('done.txt', '');
    expect((await bench.run('verify')).code).toBe(0);
    expect(existsSync(bench.home)).toBe(false);
  });

  it('V1: sessions of other directories do not count', async () => {
    await addSession(policyOf([shell('bad', 'false')], ['bad']));
    const cwd = join(bench.project, '..');
    const { code, out } = await bench.runWith({ cwd }, 'verify');
    expect(code).toBe(3);
    expect(out).toContain(
      'Nothing to verify: there are no sessions yet in this directory',
    );
  });

  it('C1: a broken configuration exits 2, an unknown session 1', async () => {
    configure({ goal: ['ghost'] });
    expect((await bench.run('verify')).code).toBe(2);
    const { code, err } = await bench.run('verify', 'nobody');
    expect(code).toBe(1);
    expect(err).toContain('There are no sessions yet.');
  });
});

describe('verify: as a process', () => {
  it('V1: Ctrl-C exits 130 and ends the whole tree of the running check', async () => {
    configure({
      checks: {
        first: { command: 'true' },
        slow: { command: 'sleep 61 & sleep 62 & echo $! > .git/pid; wait' },
      },
      goal: ['first', 'slow'],
    });
    const program = fileURLToPath(new URL('../bin.ts', import.meta.url));
    const child = spawn(
      process.execPath,
      ['--no-warnings', program, 'verify', '--json'],
      {
        cwd: bench.project,
        env: { PATH: process.env['PATH'], ...bench.env },
      },
    );
    let out = '';
    child.stdout.on('data', (chunk) => (out += chunk));
    const pidFile = join(bench.project, '.git', 'pid');
    for (let waited = 0; waited < 20_000 && !hasText(pidFile); waited += 20)
      await sleep(20);
    const pid = Number(readFileSync(pidFile, 'utf8'));
    expect(isAlive(pid)).toBe(true);
    const closed = once(child, 'close');
    child.kill('SIGINT');
    expect(await closed).toEqual([130, null]);
    expect(isAlive(pid)).toBe(false);
    expect(JSON.parse(out)).toMatchObject({
      result: 'interrupted',
      exitCode: 130,
      checks: [{ check: 'first' }],
    });
  }, 30_000);
});

function hasText(path: string): boolean {
  return existsSync(path) && readFileSync(path, 'utf8').endsWith('\n');
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    // Safe: a process that cannot be found is not alive.
    return false;
  }
}
