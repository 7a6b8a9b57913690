import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acceptProject } from '../../../test/support/accept-project.ts';
import {
  createInstallBench,
  type InstallBench,
} from '../../../test/support/install-bench.ts';
import { expectOnlyRemark, remarksOn } from '../../../test/support/install-story.ts';
import { makeOlderStore, olderStoreSentence } from '../../../test/support/older-store.ts';
import { defaultSettings } from '../../core/settings.ts';
import { sha256 } from '../../engine/system.ts';
import { createScriptedHost } from '../../simulated/scripted-host.ts';
import {
  createSequentialIdentifiers,
  createSimulatedClock,
} from '../../simulated/simulated-clock.ts';
import { openSqliteStore, openUserStore } from '../../store/sqlite/sqlite-store.ts';

let bench: InstallBench;

beforeEach(async () => {
  bench = createInstallBench({ git: true });
  bench.addProgram('claude', '2.1.325 (Claude Code)');
});

afterEach(() => bench.close());

const settings = 'project/.claude/settings.local.json';

const findings = () => remarksOn(bench, 'claude-code');
const expectOnly = (name: string, level: string, sentence: string, mend: string | null) =>
  expectOnlyRemark(bench, 'claude-code', { name, level, sentence, mend });

describe('doctor', () => {
  it('C3: a fresh install is healthy: exit code 0, and no store is made by looking', async () => {
    await bench.init('claude-code');
    const { code, out, err } = await bench.doctor();
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('ok      Claude Code 2.1.325 at');
    expect(out).toContain('ok      Installed for this project: 11 hooks, complete.');
    expect(out).toContain('note    Nothing has come from Claude Code yet');
    expect(out, 'C4').toContain(
      'ok      When a turn ends, Claude Code shows one line that says how. `claude -p` prints none; use `untildone status --exit-code` there.',
    );
    expect(out).toContain(
      'ok      The hook was called as Claude Code calls it, and answers.',
    );
    expect(out).toContain('ok      The MCP server was started, and answers.');
    expect(out).toMatch(
      /\nNothing is broken\. Not set up: a check .*, a model for untildone run\.\n$/,
    );
    expect(existsSync(join(bench.state, 'untildone.db'))).toBe(false);
  });

  it('C3: where nothing is installed it names the command, and nothing is broken: `run` may be all that is wanted', async () => {
    const { code, out } = await bench.doctor();
    expect(code).toBe(0);
    expect(out).toContain(
      '`untildone run` needs none.\n          → untildone init claude-code\n',
    );
    expect(out).toMatch(/note {4}Not found on PATH: (.+, )?OpenCode\b/);
    expect(out).toContain(
      'Nothing is broken. Not set up: an agent program (untildone init), ',
    );
    expect(existsSync(bench.state)).toBe(false);
  });

  it('C3: without any host on PATH nothing is broken: `untildone run` needs none', async () => {
    rmSync(join(bench.root, 'programs/claude'));
    const { code, out } = await bench.doctor();
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringContaining('note    untildone is set up in no agent program'),
    });
  });

  it('C1: what `run` would refuse is no configuration that holds', async () => {
    bench.write(
      'project/untildone.json',
      '{"workers":{"reviewer":{"purpose":"reviews","tools":["sudo"]}}}',
    );
    acceptProject(bench.state, join(bench.root, 'project'));
    const { out } = await bench.doctor();
    expect(out).toContain(
      'broken  The configuration is wrong: workers.reviewer.tools: there is no tool "sudo"',
    );
  });

  it('C3: a host that is missing or of another version is told', async () => {
    await bench.init('claude-code');
    bench.addProgram('claude', '9.9.9 (Claude Code)');
    await expectOnly('host', 'note', 'Claude Code 9.9.9 at', null);
    bench.addProgram('claude', 'what?');
    await expectOnly('host', 'note', 'does not say its version', null);
    rmSync(join(bench.root, 'programs/claude'));
    await expectOnly(
      'host',
      'broken',
      'was not found on PATH',
      'npm install --global @anthropic-ai/claude-code',
    );
  });

  it('C3: a hook that is gone, damaged or of another version is told with the command that mends it', async () => {
    const mend = 'untildone init claude-code';
    await bench.init('claude-code');
    const hook = join(bench.state, 'bin/0.0.0-source/hook.js');
    writeFileSync(hook, 'half of it');
    await expectOnly(
      'hook-file',
      'broken',
      `the hook is not the one of this version: ${hook}`,
      mend,
    );
    rmSync(hook);
    await expectOnly('hook-file', 'broken', `the hook itself is gone: ${hook}`, mend);
    await bench.init('claude-code');
    expect(await findings()).toEqual([]);
    const old = bench.read(settings).replaceAll('0.0.0-source', '0.0.1');
    bench.write(settings, old);
    mkdirSync(join(bench.state, 'bin/0.0.1'));
    copyFileSync(hook, join(bench.state, 'bin/0.0.1/hook.js'));
    await expectOnly(
      'hook-version',
      'note',
      'by untildone 0.0.1; this is 0.0.0-source',
      mend,
    );
    bench.write(settings, old.replaceAll(process.execPath, '/gone/node'));
    await expectOnly(
      'hook-file',
      'broken',
      'the Node that runs the hook is gone: /gone/node',
      mend,
    );
  });

  it('first-use 15: a hook that starts and cannot work is found by calling it, in a moment and without a trace', async () => {
    const program = join(bench.root, 'dist/hook.js');
    writeFileSync(
      program,
      "console.log('{}'); // a file beside it is gone: it answers, and does nothing\n",
    );
    await bench.init('claude-code');
    await expectOnly(
      'hook-call',
      'broken',
      'called as Claude Code calls it, and does not work',
      'untildone init claude-code',
    );
    writeFileSync(join(bench.root, 'dist/host-commands.js'), 'process.exit(1);\n');
    await bench.init('claude-code');
    expect((await findings()).map(({ name }) => name)).toEqual([
      'hook-call',
      'server-call',
    ]);
    expect(existsSync(join(bench.state, 'untildone.db'))).toBe(false);
  });

  it("V10: a program that a project's own settings name as our hook is not called", async () => {
    await bench.init('claude-code');
    const evil = join(bench.project, 'bin/0.0.1/hook.js');
    bench.write('project/bin/0.0.1/hook.js', `touch '${bench.root}/raised'\n`);
    const ours = new RegExp(`'${process.execPath}' '[^']*hook\\.js'`, 'gu');
    bench.write(settings, bench.read(settings).replace(ours, `'/bin/sh' '${evil}'`));
    expect(await findings()).toMatchObject([{ name: 'hook-version', level: 'note' }]);
    expect(existsSync(join(bench.root, 'raised'))).toBe(false);
  });

  it('first-use 15: what `run` needs is looked at: a model, its key, a local server, a check', async () => {
    const general = async () => {
      const { general: all, unset } = JSON.parse((await bench.doctor('--json')).out);
      const of = (name: string) => all.find((one: { name: string }) => one.name === name);
      return { model: of('model'), check: of('check'), unset };
    };
    await bench.init('claude-code');
    expect(await general()).toMatchObject({
      model: { level: 'note', sentence: expect.stringContaining('No model is chosen') },
      check: { level: 'note', mend: 'untildone config init' },
      unset: ['check', 'model'],
    });
    bench.env['OPENAI_API_KEY'] = 'sk-secret-of-the-bench';
    await bench.init('claude-code', '--check', 'make test');
    const { model, check, unset } = await general();
    expect({ unset, check: check.sentence }).toEqual({
      unset: [],
      check: expect.stringContaining('make-test'),
    });
    expect(model).toMatchObject({
      level: 'ok',
      sentence: expect.stringContaining('the key in OPENAI_API_KEY'),
    });
    expect(model.sentence).not.toContain('sk-secret');
    expect((await bench.doctor()).out.endsWith('\nNothing is broken.\n')).toBe(true);
    bench.env['UNTILDONE_MODEL'] = 'local/qwen';
    const server = createServer((_request, response) => response.end('ok'));
    const port = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () =>
        resolve((server.address() as AddressInfo).port),
      );
    });
    bench.env['UNTILDONE_MODELS'] = JSON.stringify({
      local: { baseUrl: `http://127.0.0.1:${port}/v1` },
    });
    expect((await general()).model).toMatchObject({
      level: 'ok',
      sentence: expect.stringContaining('which answers'),
    });
    await new Promise((resolve) => server.close(resolve));
    expect((await general()).model).toMatchObject({
      level: 'broken',
      sentence: expect.stringContaining('nobody answers at'),
    });
  });

  it('C1: doctor warns of the same in the configuration as `config` does', async () => {
    bench.write('project/untildone.json', '{ "tools": { "shellAllow": ["rm"] } }');
    const { out } = await bench.doctor();
    expect(out).toContain(
      '  note    tools.shellAllow: is ignored in the project’s untildone.json',
    );
    expect(out).not.toContain('The configuration is right.');
  });

  it('first-use 15: records that cannot be kept are told with the way out, by doctor and by what needs them', async () => {
    bench.env['UNTILDONE_HOME'] = join(bench.write('file', ''), 'untildone');
    const { code, out } = await bench.doctor();
    expect(code).toBe(1);
    expect(out).toContain('cannot be written (ENOTDIR)');
    expect(out).toContain('→ export UNTILDONE_HOME=');
    await expect(openUserStore(bench.env)).rejects.toThrow(
      'set UNTILDONE_HOME to another directory',
    );
  });

  it('C3: an install that somebody took a piece out of is told', async () => {
    await bench.init('claude-code', '--user');
    const path = 'home/.claude/settings.json';
    const value = JSON.parse(bench.read(path));
    delete value.hooks.PreCompact;
    bench.write(path, JSON.stringify(value));
    await expectOnly(
      'hooks',
      'broken',
      `"hooks.PreCompact" in ${join(bench.root, path)} is missing`,
      'untildone init claude-code --user',
    );
  });

  it('C3: settings that the host cannot read, or that switch hooks off, are told', async () => {
    await bench.init('claude-code');
    const shared = join(bench.project, '.claude/settings.json');
    writeFileSync(shared, '{ /* c */ }');
    expect(await findings()).toMatchObject([
      {
        name: 'trust',
        level: 'broken',
        mend: `make ${shared} plain JSON`,
        sentence: expect.stringContaining(`ignores ${shared} as a whole`),
      },
      // Nobody knows which variables the broken file was meant to set (V10).
      { name: 'variables', level: 'note' },
    ]);
    writeFileSync(shared, '{ "disableAllHooks": true }');
    await expectOnly(
      'trust',
      'broken',
      `switched off in ${shared}`,
      `take "disableAllHooks" out of ${shared}`,
    );
  });

  it('C3: it reports todo tools that are off', async () => {
    bench.write(settings, '{ "env": { "CLAUDE_CODE_ENABLE_TODO_TOOLS": "0" } }');
    await bench.init('claude-code');
    await expectOnly(
      'todo-tools',
      'broken',
      'The todo tools are off',
      'untildone init claude-code',
    );
  });

  it('C3: it reports the setting of an older init that makes every request larger', async () => {
    bench.write(settings, '{ "env": { "ENABLE_TOOL_SEARCH": "auto" } }');
    await bench.init('claude-code');
    const path = join(bench.root, settings);
    await expectOnly(
      'tool-search',
      'note',
      `${path} sets ENABLE_TOOL_SEARCH to "auto"`,
      `untildone init claude-code; if you set it yourself, take "ENABLE_TOOL_SEARCH" out of ${path}`,
    );
    bench.write(settings, bench.read(settings).replace('"auto"', '"true"'));
    expect(await findings(), 'any other value is a choice of the human').toEqual([]);
  });

  it('V10: it reports variables that the project sets in the host and that hooks ignore', async () => {
    await bench.init('claude-code');
    const shared = 'project/.claude/settings.json';
    bench.write(
      shared,
      '{ "env": { "DATABASE_URL": "x", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "500" } }',
    );
    expect(await findings(), 'hooks ignore none of these').toEqual([]);
    bench.write(
      shared,
      '{ "env": { "AI_AGENT": "x", "UNTILDONE_MODE": "off", "DATABASE_URL": "x" } }',
    );
    const set =
      'The settings of Claude Code in this project set AI_AGENT, UNTILDONE_MODE';
    await expectOnly('variables', 'note', `${set}: untildone's hooks ignore that.`, null);
    bench.write(shared, '{ "env": { "NODE_OPTIONS": "-r ./x.cjs" } }');
    const ignored = "set NODE_OPTIONS: untildone's hooks ignore that.";
    await expectOnly('variables', 'note', ignored, null);
    bench.write(
      shared,
      '{ "env": { "NODE_OPTIONS": "-r ./x.cjs", "LD_PRELOAD": "./x.so" } }',
    );
    await expectOnly(
      'variables',
      'note',
      'LD_PRELOAD can still change what a hook does',
      'take LD_PRELOAD out of them',
    );
    bench.write(shared, `{ "x": "${'x'.repeat(1_100_000)}" }`);
    await expectOnly('variables', 'note', 'cannot be read', 'make them short and plain');
  });

  it('V10: of a committed hook it says that NODE_OPTIONS can still change what it does', async () => {
    await bench.init('claude-code', '--shared');
    const shared = 'project/.claude/settings.json';
    const { env, ...rest } = JSON.parse(bench.read(shared));
    const set = { ...rest, env: { ...env, NODE_OPTIONS: '-r ./x.cjs' } };
    bench.write(shared, JSON.stringify(set));
    expect(await findings()).toContainEqual(
      expect.objectContaining({
        name: 'variables',
        sentence: expect.stringContaining('NODE_OPTIONS can still change'),
      }),
    );
  });

  it('V10: it does not report the state directory that init wrote into the settings', async () => {
    bench.env['UNTILDONE_HOME'] = join(bench.root, 'elsewhere');
    await bench.init('claude-code');
    expect(bench.read(settings)).toContain('UNTILDONE_HOME');
    expect(await findings()).toEqual([]);
    delete bench.env['UNTILDONE_HOME'];
    expect((await findings()).map(({ name }) => name)).not.toContain('variables');
  });

  it('C3: a server that is not registered or gone is told', async () => {
    await bench.init('claude-code');
    rmSync(join(bench.state, 'bin/0.0.0-source/host-commands.js'));
    await expectOnly(
      'server',
      'broken',
      'its program is gone',
      'untildone init claude-code',
    );
    rmSync(join(bench.home, '.claude.json'));
    expect((await findings()).map(({ name }) => name)).toEqual(['hooks', 'server']);
  });

  it('C3: grants that the host does not take are told', async () => {
    bench.write(settings, '{}');
    execFileSync('git', ['-C', bench.project, 'add', '-f', '.claude'], {
      env: bench.env,
    });
    await bench.init('claude-code');
    await expectOnly(
      'grants',
      'note',
      'is tracked by git',
      'git rm --cached .claude/settings.local.json',
    );
    await bench.init('claude-code', '--uninstall');
    await bench.init('claude-code', '--shared');
    await expectOnly(
      'grants',
      'note',
      'Grants in a committed file',
      'untildone init claude-code',
    );
    const trusted = { projects: { [bench.project]: { hasTrustDialogAccepted: true } } };
    bench.write('home/.claude.json', JSON.stringify(trusted));
    expect(await findings()).toEqual([]);
  });

  it('C3: a damaged store and a wrong configuration are told', async () => {
    await bench.init('claude-code');
    writeFileSync(
      join(bench.state, 'untildone.db'),
      'not a database, but long enough to be taken for one'.repeat(9),
    );
    bench.write('project/untildone.json', '{ "maxStagnant": "x" }');
    const found = await findings();
    expect(found.map(({ name, level }) => [name, level])).toEqual([
      ['configuration', 'broken'],
      ['store', 'broken'],
    ]);
    expect((await bench.doctor()).code).toBe(1);
  });

  it('C3, V7: a store that an unpublished version made is broken, with its path and what to do', async () => {
    await bench.init('claude-code');
    const path = join(bench.state, 'untildone.db');
    await makeOlderStore(path);
    const { code, out } = await bench.doctor();
    expect(code).toBe(1);
    expect(out).toContain(`broken  The store was ${olderStoreSentence(path)}`);
    expect(out).toContain('          → untildone init\n');
  });

  it('V10: a state directory, or programs in it, that others can write is told', async () => {
    await bench.init('claude-code');
    const told = async (path: string) => {
      chmodSync(path, 0o777);
      const { code, out } = await bench.doctor();
      chmodSync(path, 0o700);
      expect(code).toBe(1);
      expect(out).toContain(`broken  ${path} can be written by others (mode 777)`);
    };
    await told(bench.state);
    await told(join(bench.state, 'bin'));
    expect((await bench.doctor()).code).toBe(0);
  });

  it('C3: a store that is whole says so, and when each host last spoke', async () => {
    await bench.init('claude-code');
    const clock = createSimulatedClock();
    const store = await openSqliteStore({
      path: join(bench.state, 'untildone.db'),
      clock,
    });
    const host = createScriptedHost({
      store,
      clock,
      identifiers: createSequentialIdentifiers(),
      hash: sha256,
      mode: 'asked',
      policy: () => ({ settings: defaultSettings, goalChecks: [] }),
      descriptor: { host: 'claude-code', directory: bench.project },
    });
    await host.open();
    await store.close();
    const { out } = await bench.doctor();
    expect(out).toContain('opens and is whole.');
    expect(out).toMatch(/ok +The last event came 0 s ago\./);
    const { hosts } = JSON.parse((await bench.doctor('--json')).out);
    expect(hosts[0].lastSeen).toBe(clock.now());
  });

  it('C3: the plugin counts as installed; with init beside it every hook would run twice', async () => {
    bench.write(
      'home/.claude/settings.json',
      '{ "enabledPlugins": { "untildone@untildone": true } }',
    );
    expect(await findings()).toEqual([]);
    expect((await bench.doctor()).out).toContain('Installed as a plugin of Claude Code');
    await bench.init('claude-code');
    await expectOnly(
      'plugin',
      'broken',
      'Installed twice',
      'claude plugin uninstall untildone@untildone',
    );
    bench.write(
      'project/.claude/settings.json',
      '{ "enabledPlugins": { "untildone@untildone": false } }',
    );
    expect(await findings()).toEqual([]);
  });
});
