// First-use 9 and 15: `init` gives the project a check, so that the first outcome can be
// `done`, and says what it set up.
import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hostNames } from '../../../test/support/host-named.ts';
import {
  createInstallBench,
  type InstallBench,
} from '../../../test/support/install-bench.ts';
import { readPolicy } from '../../engine/policy.ts';
import { readTrust } from '../../engine/trust.ts';

let bench: InstallBench;

beforeEach(() => {
  bench = createInstallBench({ git: true });
  bench.addProgram('claude', '2.1.325 (Claude Code)');
});

afterEach(() => bench.close());

const file = 'project/untildone.json';

/** What a host in this project goes by. */
function inForce() {
  const accepted = readTrust(bench.state);
  const sources = {
    projectDirectory: bench.project,
    userConfigDirectory: null,
    environment: {},
    accepted,
  };
  const result = readPolicy(sources);
  if (!result.ok) throw new Error('the configuration is wrong');
  const { goalChecks, checks } = result.policy;
  return {
    goal: goalChecks,
    checks: Object.keys(checks ?? {}),
    pending: result.project.pending,
  };
}

describe('init --check', () => {
  it.each([['claude-code'], ['opencode']])(
    'first-use 9: init %s --check writes a check that counts at once, without a question',
    async (host) => {
      const { code, out, err } = await bench.init(
        host,
        '--check',
        'npm test',
        '--check',
        'npm run lint',
      );
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out).toContain(
        `Wrote ${join(bench.project, 'untildone.json')}: npm test, npm run lint.\n`,
      );
      expect(JSON.parse(bench.read(file))).toMatchObject({
        goal: ['npm-test', 'npm-run-lint'],
      });
      expect(inForce()).toEqual({
        goal: ['npm-test', 'npm-run-lint'],
        checks: ['npm-test', 'npm-run-lint'],
        pending: null,
      });
    },
  );

  it('first-use 9: without a terminal and without --check nothing is written, and it says what to type', async () => {
    bench.write('project/package.json', '{"scripts":{"test":"\\u001b[2Jvitest"}}');
    const { code, out, err } = await bench.init('claude-code');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('untildone init claude-code --check "npm test"\n');
    expect(out).not.toContain('\u001b');
    expect(existsSync(join(bench.root, file))).toBe(false);
    await bench.init('claude-code', '--check', 'npm test');
    expect(
      (await bench.init('claude-code')).out,
      'and no more once there is one',
    ).not.toContain('--check');
  });

  it('V10: what else waits in the file is not accepted along with the check', async () => {
    bench.write(file, '{\n  // theirs\n  "mode": "off"\n}\n');
    const { code, err } = await bench.init('claude-code', '--check', 'npm test');
    expect(code).toBe(0);
    expect(err).toContain('asks for things that you have not accepted (mode');
    expect(inForce()).toMatchObject({
      goal: [],
      pending: { added: expect.arrayContaining([{ path: 'mode', value: 'off' }]) },
    });
    expect(bench.read(file)).toContain('// theirs\n  "mode": "off",\n');
  });

  it('an empty check is refused before anything is written, and so is one for --uninstall', async () => {
    const before = bench.picture();
    const empty = await bench.init('claude-code', '--check=', '--check', 'x');
    expect(empty).toMatchObject({
      code: 2,
      err: expect.stringContaining('--check is empty'),
    });
    expect((await bench.init('claude-code', '--uninstall', '--check', 'x')).code).toBe(2);
    expect(bench.picture()).toEqual(before);
  });

  it('a broken file is told, and nothing is installed beside it', async () => {
    bench.write(file, '{ "mode": ');
    const before = bench.picture();
    const { code, err } = await bench.init('claude-code', '--check', 'npm test');
    expect(code).toBe(1);
    expect(err).toContain('untildone.json is not valid JSON');
    expect(err).toContain('Nothing was changed.');
    expect(bench.picture()).toEqual(before);
  });

  it('a broken file is told without --check too, and no check is advised that it could not take', async () => {
    bench.write(file, '{ "mode": ');
    const { code, out, err } = await bench.init('claude-code');
    expect(code).toBe(0);
    expect(err).toContain('untildone.json');
    expect(err).toContain('cannot be used');
    expect(out).not.toContain('--check');
  });

  it('--dry-run shows the check too and writes nothing', async () => {
    const before = bench.picture();
    const { out } = await bench.init('claude-code', '--check', 'npm test', '--dry-run');
    expect(out).toContain('+      "command": "npm test"');
    expect(bench.picture()).toEqual(before);
  });

  it('V1: --check adds nothing if the file has the same command as a list of words', async () => {
    bench.write(
      file,
      '{ "checks": { "tests": { "command": ["npm", "test"] } }, "goal": ["tests"] }',
    );
    const before = bench.read(file);
    const { out } = await bench.init('claude-code', '--check', 'npm test');
    expect(out).toContain('Nothing to add to ');
    expect(bench.read(file)).toBe(before);
  });

  it('--user is for all projects: it asks for no check of this one', async () => {
    expect((await bench.init('claude-code', '--user')).out).not.toContain('--check');
  });
});

describe('init tries the check that it has accepted', () => {
  const script = (text: string) => {
    bench.write('project/check.sh', `#!/bin/sh\necho run >> runs.log\n${text}\n`);
    chmodSync(join(bench.project, 'check.sh'), 0o755);
  };
  const runs = () =>
    existsSync(join(bench.project, 'runs.log')) ? bench.read('project/runs.log') : '';
  const records = () => (existsSync(bench.state) ? readdirSync(bench.state) : []);

  it('V1: says once that the check passes, with --all too, and records nothing of it', async () => {
    bench.addProgram('codex', 'codex-cli 0.144.6');
    script('');
    const { code, out, err } = await bench.init('--all', '--check', './check.sh');
    expect({ code, err: err.includes('check.sh') }).toEqual({ code: 0, err: false });
    expect(out).toMatch(/^\.\/check\.sh passes, \d+\.\d s$/mu);
    expect(out, 'no line that is painted over').not.toMatch(/running \.\/check/u);
    expect(runs()).toBe('run\n');
    expect(records()).not.toContain('untildone.db');
    await bench.init('claude-code', '--check', './check.sh');
    expect(runs(), 'a check that was accepted before is not tried again').toBe('run\n');
  });

  it('V1: says that agents will be held by a check that fails, with the line that says what failed', async () => {
    script("printf 'not ok 2 - \\033[31mparses\\n'; exit 3");
    const { code, out } = await bench.init('claude-code', '--check', './check.sh');
    expect(code).toBe(0);
    expect(out).toContain(
      './check.sh fails now (exit 3): agents here will be held until it passes\n  not ok 2 - parses\n',
    );
    expect(runs(), 'once').toBe('run\n');
    expect(inForce()).toMatchObject({ goal: ['check-sh'], pending: null });
  });

  it.each([
    ['is not there', './nothing.sh', /not found/u],
    ['may not be run', './plain.txt', /[Pp]ermission denied/u],
  ])('P44: says why a program that %s cannot start', async (_, command, words) => {
    bench.write('project/plain.txt', 'echo never');
    const { out } = await bench.init('claude-code', '--check', command);
    expect(out).toContain(
      `${command} cannot start here: until it can, finished work ends as \`blocked\`, not \`done\`\n`,
    );
    expect(out).toMatch(words);
  });

  it.each([['--dry-run'], ['--no-try']])('V1: runs nothing with %s', async (option) => {
    script('');
    const { code, out } = await bench.init(
      'claude-code',
      '--check',
      './check.sh',
      option,
    );
    expect({ code, runs: runs() }).toEqual({ code: 0, runs: '' });
    expect(out).not.toMatch(/check\.sh passes/u);
  });

  it('V10: does not run a check that was not accepted because something else waits in the file', async () => {
    script('');
    bench.write(file, '{ "mode": "off" }');
    await bench.init('claude-code', '--check', './check.sh');
    expect(runs()).toBe('');
  });
});

describe('init', () => {
  it('first-use 15: says that untildone was set up, and notices a host that is not here', async () => {
    expect((await bench.init('claude-code')).out).toContain(
      'untildone is set up in Claude Code for ',
    );
    const { out } = await bench.init('opencode');
    expect(out).toContain('untildone is set up in OpenCode for ');
    expect(out).toContain(
      'OpenCode itself is not here: no program "opencode" is on PATH. → npm install',
    );
  });

  it('without a host it names those on PATH; the beginning of a name is recognised', async () => {
    expect((await bench.init()).err).toContain(
      `Known hosts: ${hostNames}; on PATH: claude-code.`,
    );
    expect((await bench.init('claude')).err).toContain('Did you mean claude-code?');
  });

  it('first-use, smaller: --dry-run says one command once, and which programs would be copied', async () => {
    const { out } = await bench.init('claude-code', '--dry-run');
    expect(out.split("hook.js' claude-code").length).toBe(2);
    expect(out).toContain(': hook.js, host-commands.js\n');
    expect(out.split('\n').length).toBeLessThan(100);
    for (const hook of ['Stop', 'PostToolUse', 'SessionEnd'])
      expect(out).toContain(`"${hook}": [`);
  });
});
