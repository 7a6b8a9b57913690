import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createInstallBench,
  type InstallBench,
} from '../../../test/support/install-bench.ts';
import { expectOnlyRemark, remarksOn } from '../../../test/support/install-story.ts';

let bench: InstallBench;

beforeEach(() => {
  bench = createInstallBench({ git: true });
  bench.addProgram('opencode', '1.18.33');
});

afterEach(() => bench.close());

const settings = 'project/opencode.json';
const findings = () => remarksOn(bench, 'opencode');
const expectOnly = (name: string, level: string, sentence: string, mend: string | null) =>
  expectOnlyRemark(bench, 'opencode', { name, level, sentence, mend });

describe('doctor on OpenCode', () => {
  it.each(['', '--user', '--shared'])(
    'C3: a fresh install %s is healthy',
    async (scope) => {
      await bench.init('opencode', ...(scope === '' ? [] : [scope]));
      expect(await findings()).toEqual([]);
      const { code, out } = await bench.doctor();
      expect(code).toBe(0);
      expect(out).toContain('ok      OpenCode 1.18.33 at');
      expect(out).toMatch(/note {4}Not found on PATH: Claude Code\b/);
      expect(out).not.toContain('\nClaude Code\n');
    },
  );

  it('first-use 15: OpenCode itself is asked whether it has loaded the plugin, where it knows the question', async () => {
    await bench.init('opencode');
    bench.addProgram(
      'opencode',
      '1.18.33 { "plugin": [], "command": { "untildone-status": {} } }',
    );
    expect((await bench.doctor()).out).toContain(
      'ok      OpenCode was started, and has loaded the plugin.',
    );
    bench.addProgram('opencode', '1.18.33 { "plugin": [], "command": {} }');
    await expectOnly(
      'plugin-call',
      'broken',
      'has not loaded the plugin',
      'untildone init opencode',
    );
  });

  it('V10: OpenCode is started in a project, whose plugins it runs, only where init was called in it', async () => {
    const program = join(bench.root, 'programs/opencode');
    await bench.init('opencode', '--user');
    writeFileSync(
      program,
      `#!/bin/sh\n[ "$1" = --version ] && echo 1.18.33 || pwd >> '${bench.root}/places'\n`,
    );
    await bench.doctor();
    expect(bench.read('places')).not.toContain(bench.project);
    await bench.init('opencode');
    await bench.doctor();
    expect(bench.read('places').trim().split('\n').at(-1)).toBe(bench.project);
  });

  it('C3: for the project and for the user at once is one loader, and fine', async () => {
    await bench.init('opencode');
    await bench.init('opencode', '--user');
    expect(await findings()).toEqual([]);
  });

  it('C3: a version before 1.3.4 is refused with a sentence', async () => {
    await bench.init('opencode');
    for (const old of ['1.3.3', '1.2.10', '0.15.31']) {
      bench.addProgram('opencode', old);
      await expectOnly(
        'host',
        'broken',
        'is too old: untildone needs 1.3.4 or newer',
        'npm install --global opencode-ai@latest',
      );
    }
    for (const good of ['1.3.4', '1.10.0', '2.0.0-beta.1']) {
      bench.addProgram('opencode', good);
      await expectOnly('host', 'note', `OpenCode ${good} at`, null);
    }
  });

  it('C3: where nothing is installed it names the command', async () => {
    expect((await bench.doctor()).out).toContain(
      'note    Nothing is installed in OpenCode here.\n          → untildone init opencode\n',
    );
  });

  it('C3: a plugin that is gone, damaged or of another version is told with the command that mends it', async () => {
    const mend = 'untildone init opencode';
    await bench.init('opencode');
    const plugin = join(bench.state, 'bin/0.0.0-source/server.js');
    writeFileSync(plugin, 'half of it');
    await expectOnly(
      'plugin-file',
      'broken',
      `the plugin is not the one of this version: ${plugin}`,
      mend,
    );
    rmSync(plugin);
    await expectOnly(
      'plugin-file',
      'broken',
      `the plugin itself is gone: ${plugin}`,
      mend,
    );
    await bench.init('opencode');
    expect(await findings()).toEqual([]);
    const loader = 'home/.config/opencode/plugin/untildone.js';
    bench.write(loader, bench.read(loader).replaceAll('0.0.0-source', '0.0.1'));
    const old = join(bench.state, 'bin/0.0.1/server.js');
    mkdirSync(dirname(old));
    writeFileSync(old, '');
    await expectOnly(
      'plugin-version',
      'note',
      'by untildone 0.0.1; this is 0.0.0-source',
      mend,
    );
    rmSync(join(bench.root, loader));
    await expectOnly(
      'plugin-file',
      'broken',
      `itself is gone: ${join(bench.root, loader)}`,
      mend,
    );
    await bench.init('opencode', '--uninstall');
    bench.write(settings, '{ "plugin": ["untildone@0.0.1"] }');
    await expectOnly(
      'plugin-version',
      'note',
      'by untildone 0.0.1',
      'untildone init opencode --shared',
    );
  });

  it('C3: the package by its name counts as installed; init beside it is untidy', async () => {
    bench.write(
      'home/.config/opencode/opencode.jsonc',
      '{ "plugin": [["untildone", {}]] }',
    );
    expect(await findings()).toEqual([]);
    await bench.init('opencode', '--shared');
    expect(await findings(), 'the host loads a package once').toEqual([]);
    await bench.init('opencode', '--shared', '--uninstall');
    await bench.init('opencode');
    await expectOnly(
      'plugin',
      'note',
      `Installed twice: by init, and as a plugin (${join(bench.home, '.config/opencode/opencode.jsonc')})`,
      'take "untildone" out of "plugin" in that file',
    );
  });

  it('C3: for oneself and --shared at once is told', async () => {
    await bench.init('opencode');
    await bench.init('opencode', '--shared');
    await expectOnly(
      'plugin',
      'note',
      'Installed twice',
      'untildone init opencode --uninstall',
    );
  });

  it('C3: a path that leads nowhere is told', async () => {
    const gone = join(bench.root, 'untildone/dist/server.js');
    bench.write(settings, JSON.stringify({ plugin: [pathToFileURL(gone).href] }));
    const mend = `take it out of "plugin" in ${join(bench.root, settings)}, then untildone init opencode`;
    await expectOnly(
      'plugin-file',
      'broken',
      `names a plugin that is gone: ${gone}`,
      mend,
    );
  });

  it('C3: another plugin that continues agents is told, unless its hook is switched off', async () => {
    await bench.init('opencode');
    bench.write(settings, '{ "plugin": ["oh-my-opencode@4.19.4"] }');
    const path = join(bench.root, settings);
    await expectOnly(
      'other-plugins',
      'broken',
      `oh-my-opencode (in ${path}) continues agents as well`,
      `put "todo-continuation-enforcer" into "disabled_hooks" of oh-my-opencode.json beside ${path}`,
    );
    bench.write(
      'project/.opencode/oh-my-opencode.jsonc',
      '{ "disabled_hooks": ["todo-continuation-enforcer"], /* ours is better */ }',
    );
    expect(await findings()).toEqual([]);
  });

  it('C3: settings that cannot be read, and a host without plugins, are told', async () => {
    await bench.init('opencode');
    bench.write(settings, '{ "plugin": [ }');
    const path = join(bench.root, settings);
    await expectOnly(
      'settings',
      'broken',
      `OpenCode cannot read ${path}: it is not valid JSON`,
      `mend ${path}`,
    );
    rmSync(path);
    bench.env['OPENCODE_PURE'] = '1';
    await expectOnly(
      'settings',
      'broken',
      'OpenCode loads no plugins then',
      'unset OPENCODE_PURE',
    );
  });

  it.each([
    '{ "permission": { "todowrite": "deny" } }',
    '{ "tools": { "todowrite": false } }',
    '{ "agent": { "build": { "tools": { "todowrite": false } } } }',
  ])('P17: a todo tool that is switched off is told: %s', async (text) => {
    await bench.init('opencode');
    bench.write('home/.config/opencode/opencode.json', text);
    await expectOnly('todo-tools', 'note', 'todowrite is switched off in', null);
    bench.write(
      settings,
      '{ "permission": { "todowrite": "allow" }, "agent": { "build": { "tools": { "todowrite": true } } } }',
    );
    expect(await findings(), 'the nearest file wins').toEqual([]);
  });
});
