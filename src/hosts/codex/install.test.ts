// What `init codex` writes is what Codex reads and trusts, and uninstalling leaves every
// file as it was.
import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createInstallBench,
  type InstallBench,
} from '../../../test/support/install-bench.ts';
import { expectOnlyRemark, remarksOn } from '../../../test/support/install-story.ts';
import { parseToml } from '../install/toml-text.ts';
import { recordOf } from '../untrusted.ts';
import { trustedHash } from './install.ts';

let bench: InstallBench;

beforeEach(() => {
  bench = createInstallBench({ git: true });
  bench.addProgram('codex', 'codex-cli 0.166.0');
});

afterEach(() => bench.close());

const userConfig = 'home/.codex/config.toml';
const projectHooks = 'project/.codex/hooks.json';
const projectConfig = 'project/.codex/config.toml';

async function init(...argv: string[]): Promise<string> {
  const { code, out, err } = await bench.init('codex', ...argv);
  expect(code, err).toBe(0);
  return out + err;
}

const tablesOf = (path: string, ...keys: string[]) =>
  keys.reduce((table, key) => recordOf(table[key]), parseToml(bench.read(path)));
const trustOf = () => tablesOf(userConfig, 'hooks', 'state');
const hooksOf = (path: string) =>
  JSON.parse(bench.read(path)).hooks as Record<
    string,
    { hooks: { command: string }[] }[]
  >;

const odd: Record<string, Record<string, string>> = {
  'no files at all': {},
  'settings of a person': {
    [userConfig]:
      '# mine\nmodel = "x" # best\n\n[mcp_servers.other]\ncommand = "y"\nenv = { A = "b" }\n',
    [projectConfig]: '[tools]\nview_image = true',
    [projectHooks]: '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"own"}]}]}}',
  },
  'lines of Windows, and a project that is trusted': {
    [userConfig]:
      '[projects."/elsewhere"]\r\ntrust_level = "trusted"\r\n\r\n[tools.update_plan]\r\nenabled = true\r\n',
  },
};

describe('init codex', () => {
  it('C1: the hash is the one that Codex takes of a hook', () => {
    // Recorded from `hooks/list` of `codex app-server`.
    const command = (hook: string) => `node /tmp/codex-lab/log.mjs ${hook}`;
    expect(trustedHash({ hook: 'Stop', seconds: 900, group: {} }, command('Stop'))).toBe(
      'sha256:27f7f8d2e55b9f52e441a5872f466380a42800c4940f2d09449d730209a3c9f9',
    );
    expect(
      trustedHash({ hook: 'SessionEnd', seconds: 3, group: {} }, command('SessionEnd')),
    ).toBe('sha256:f0fa7a2b2524733e99b80dad50b897832970e7b175ddc038b4927a58fde66ee6');
  });

  describe.each(Object.entries(odd))('over %s', (_name, texts) => {
    it.each([[], ['--user'], ['--shared']])(
      'C1: %j is found well, changes nothing twice, and goes again',
      async (...scope) => {
        for (const [path, text] of Object.entries(texts)) bench.write(path, text);
        const before = bench.picture();
        await init(...scope, '--dry-run');
        expect(bench.picture()).toEqual(before);
        await init(...scope);
        const installed = bench.picture();
        expect(await remarksOn(bench, 'codex')).toEqual([]);
        await init(...scope);
        expect(bench.picture()).toEqual(installed);
        await init(...scope, '--uninstall');
        expect(bench.picture()).toEqual(before);
      },
    );
  });

  it('C1: every hook is trusted at its place, behind those of a person', async () => {
    for (const [path, text] of Object.entries(odd['settings of a person'] ?? {}))
      bench.write(path, text);
    const out = await init();
    const file = join(bench.root, projectHooks);
    const { command = '' } = hooksOf(projectHooks)['Stop']?.[1]?.hooks[0] ?? {};
    expect(trustOf()).toMatchObject({
      [`${file}:stop:1:0`]: {
        trusted_hash: trustedHash({ hook: 'Stop', seconds: 900, group: {} }, command),
      },
      [`${file}:pre_tool_use:0:0`]: {
        trusted_hash: trustedHash(
          { hook: 'PreToolUse', seconds: 120, group: { matcher: '^update_plan$' } },
          command,
        ),
      },
    });
    expect(Object.keys(trustOf())).toHaveLength(
      Object.keys(hooksOf(projectHooks)).length,
    );
    expect(tablesOf(userConfig, 'projects', bench.project)).toEqual({
      trust_level: 'trusted',
    });
    expect(out).toContain(`trusts ${bench.project} now`);
    expect(tablesOf(projectConfig)).toMatchObject({
      tools: { view_image: true, update_plan: { enabled: true } },
      mcp_servers: {
        untildone: {
          command: process.execPath,
          default_tools_approval_mode: 'approve',
          args: [
            expect.stringContaining('host-commands.js'),
            'mcp',
            '--tools',
            'todo_pause,todo_verify',
          ],
        },
      },
    });
    expect(bench.read('project/.git/info/exclude')).toContain(
      '/.codex/hooks.json\n/.codex/config.toml\n',
    );
  });

  it('C1: where Codex has put its tables into another order, a second and a third init change nothing', async () => {
    await init();
    // As Codex writes a project of its own.
    const other = '[projects."/elsewhere"]\ntrust_level = "trusted"\n\n';
    bench.write(
      userConfig,
      bench.read(userConfig).replace('[hooks.state.', `${other}[hooks.state.`),
    );
    const moved = bench.read(userConfig);
    for (const _again of [1, 2]) {
      expect(await init()).toContain('already; nothing changed.');
      expect(bench.read(userConfig)).toBe(moved);
    }
    await init('--uninstall');
    expect(bench.read(userConfig).trim()).toBe(other.trim());
  });

  it('C1: --shared names no folder of this machine in what is committed', async () => {
    await init('--shared');
    for (const file of [projectHooks, projectConfig])
      expect(bench.read(file)).not.toContain(bench.root);
    expect(hooksOf(projectHooks)['Stop']?.[0]?.hooks[0]?.command).toMatch(
      /^npx -y .* hook codex --tools=/,
    );
  });

  it('C1: a state directory that was moved is found by hooks and server', async () => {
    bench.env['UNTILDONE_HOME'] = join(bench.home, "my 'state'");
    await init('--user');
    const { command = '' } =
      hooksOf('home/.codex/hooks.json')['Stop']?.[0]?.hooks[0] ?? {};
    expect(command).toMatch(/^UNTILDONE_HOME='/);
    const printed = execFileSync(
      '/bin/sh',
      ['-c', command.replace(/'[^ ]*\/node' .*/, 'printenv UNTILDONE_HOME')],
      {
        encoding: 'utf8',
      },
    );
    expect(printed.trim()).toBe(bench.env['UNTILDONE_HOME']);
    expect(tablesOf(userConfig, 'mcp_servers', 'untildone')['env']).toEqual({
      UNTILDONE_HOME: bench.env['UNTILDONE_HOME'],
    });
    expect(await remarksOn(bench, 'codex')).toEqual([]);
  });

  it('C1: CODEX_HOME moves what is the user’s, behind links as Codex names it', async () => {
    mkdirSync(join(bench.home, 'real'));
    symlinkSync('real', join(bench.home, 'link'));
    bench.env['CODEX_HOME'] = join(bench.home, 'link');
    await init('--user');
    const keys = Object.keys(tablesOf('home/real/config.toml', 'hooks', 'state'));
    expect(keys).toContain(`${join(bench.home, 'real/hooks.json')}:stop:0:0`);
  });

  it('C1: in a worktree the hooks go where Codex reads them, into the main working tree', async () => {
    const git = (...words: string[]) =>
      execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x', ...words], {
        cwd: bench.project,
        env: bench.env,
      });
    git('commit', '--quiet', '--allow-empty', '--message', 'x');
    git('worktree', 'add', '--quiet', '../tree');
    const { code } = await bench.initIn(join(bench.root, 'tree'), 'codex');
    expect(code).toBe(0);
    expect(Object.keys(trustOf())).toContain(
      `${join(bench.root, projectHooks)}:stop:0:0`,
    );
    expect(tablesOf('tree/.codex/config.toml', 'tools', 'update_plan')).toEqual({
      enabled: true,
    });
  });

  it('C1: settings that are not TOML are refused, and nothing is written', async () => {
    bench.write(userConfig, 'model = \n');
    const before = bench.picture();
    const { code, err } = await bench.init('codex');
    expect(code).not.toBe(0);
    expect(err).toContain('is not valid TOML: line');
    expect(bench.picture()).toEqual(before);
  });
});

describe('doctor on Codex', () => {
  const expectOnly = (name: string, sentence: string, mend: string) =>
    expectOnlyRemark(bench, 'codex', { name, level: 'broken', sentence, mend });
  const edit = (path: string, from: string | RegExp, to: string) =>
    bench.write(path, bench.read(path).replace(from, to));

  it('C3: a hook that was edited is no longer trusted, and that shows', async () => {
    await init();
    edit(projectHooks, /"timeout": 900/, '"timeout": 901');
    await expectOnly('hooks', 'not complete', 'untildone init codex');
    await init();
    expect(await remarksOn(bench, 'codex')).toEqual([]);
  });

  it('C3: trust that is gone, and hooks of a person that moved ours, show', async () => {
    await init();
    edit(userConfig, /trusted_hash = "sha256:./, 'trusted_hash = "sha256:z');
    await expectOnly('hooks', 'is missing', 'untildone init codex');
    await init();
    edit(
      projectHooks,
      '"Stop": [',
      '"Stop": [{ "hooks": [{ "type": "command", "command": "own" }] },',
    );
    await expectOnly('hooks', ':stop:1:0', 'untildone init codex');
    await init();
    expect(await remarksOn(bench, 'codex')).toEqual([]);
  });

  it.each([
    [
      'a project that nobody trusts',
      userConfig,
      'trust_level = "trusted"',
      'trust_level = "untrusted"',
      'trust',
      'skips its hooks',
    ],
    [
      'hooks that are off',
      userConfig,
      /^/,
      '[features]\nhooks = false\n',
      'trust',
      'switched off in the settings',
    ],
    [
      'a hook that is off',
      userConfig,
      'trusted_hash',
      'enabled = false\ntrusted_hash',
      'trust',
      'is switched off',
    ],
    [
      'a plan tool that is off',
      projectConfig,
      'enabled = true',
      'enabled = false',
      'todo-tools',
      'plan tool is off',
    ],
  ])('C3: %s: it says so', async (_name, path, from, to, finding, sentence) => {
    await init();
    edit(path, from, to);
    const remarks = await remarksOn(bench, 'codex');
    expect(remarks).toMatchObject([{ name: finding, level: 'broken' }]);
    expect(remarks[0]?.sentence).toContain(sentence);
  });

  it('V10: a server that a project names is not started, unless it is our own copy', async () => {
    await init('--user');
    const evil = `[mcp_servers.untildone]\ncommand = "/bin/touch"\nargs = ["${bench.root}/started"]\n`;
    bench.write(projectConfig, evil);
    await bench.doctor();
    renameSync(join(bench.root, projectConfig), join(bench.root, 'aside'));
    expect(() => bench.read('started')).toThrow();
  });
});
