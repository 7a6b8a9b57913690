import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createInstallBench,
  type InstallBench,
} from '../../../test/support/install-bench.ts';
import {
  hooksOf,
  hostState,
  installed,
  settings,
  uninstalled,
} from '../../../test/support/install-story.ts';
import { claudeCodeInstaller } from '../../hosts/claude-code/install.ts';
import { changeHosts, type FileTarget } from '../../hosts/install/changes.ts';
import { type HostInstaller, installBasis } from '../../hosts/install/installer.ts';
import { member } from '../../hosts/install/json-text.ts';

let bench: InstallBench;

beforeEach(() => {
  bench = createInstallBench({ git: true });
});

afterEach(() => bench.close());

/** Installs like an older version that set these switches too. */
function installOlderVersion(switches: Readonly<Record<string, string>>): void {
  const more = Object.entries(switches).map(([name, value]) =>
    member(['env', name], value),
  );
  const older: HostInstaller = {
    ...claudeCodeInstaller,
    survey(basis) {
      const survey = claudeCodeInstaller.survey(basis);
      return {
        ...survey,
        layout(scope) {
          const layout = survey.layout(scope);
          const withMore = (target: FileTarget) =>
            target.path.endsWith('settings.local.json')
              ? { ...target, edits: [...more, ...target.edits] }
              : target;
          return { ...layout, targets: layout.targets.map(withMore) };
        },
      };
    },
  };
  const basis = installBasis({ env: bench.env, cwd: bench.project }, '0.0.0-source');
  const shipped = () => join(bench.root, 'dist');
  const done = changeHosts([older], { ...basis, scope: 'project' }, 'install', {
    shipped,
    isDry: false,
  });
  expect(done.problems).toEqual([]);
}

describe('init over what is there', () => {
  it('C2: a person’s own value of a switch stays, is told, and survives the uninstall', async () => {
    const own = '{ "env": { "CLAUDE_CODE_ENABLE_TODO_TOOLS": "true" } }';
    bench.write(settings, own);
    const { err } = await bench.init('claude-code');
    expect(err).toContain(
      'keeps its own value of "env.CLAUDE_CODE_ENABLE_TODO_TOOLS"; ours would be "1"',
    );
    expect(JSON.parse(bench.read(settings)).env.CLAUDE_CODE_ENABLE_TODO_TOOLS).toBe(
      'true',
    );
    await uninstalled(bench);
    expect(bench.read(settings)).toBe(own);
  });

  describe('C2: a switch that an older init set, and this one does not', () => {
    const older = { ENABLE_TOOL_SEARCH: 'auto' };
    const environmentNow = () => JSON.parse(bench.read(settings)).env;
    beforeEach(() => bench.write(settings, '{ "model": "x" }\n'));

    it('is taken back at the next init, and uninstalling restores the file byte for byte', async () => {
      installOlderVersion(older);
      expect(environmentNow()).toMatchObject(older);
      await installed(bench);
      expect(environmentNow()).not.toHaveProperty('ENABLE_TOOL_SEARCH');
      await uninstalled(bench);
      expect(bench.read(settings)).toBe('{ "model": "x" }\n');
    });

    it('is taken out of a file that was edited since, and the edit stays', async () => {
      installOlderVersion(older);
      bench.write(settings, bench.read(settings).replace('"x"', '"y"'));
      await installed(bench);
      expect(environmentNow()).not.toHaveProperty('ENABLE_TOOL_SEARCH');
      await uninstalled(bench);
      expect(bench.read(settings)).toBe('{ "model": "y" }\n');
    });

    it('is taken back by uninstalling, without another init', async () => {
      installOlderVersion(older);
      await uninstalled(bench);
      expect(bench.read(settings)).toBe('{ "model": "x" }\n');
    });

    it('stays if a person gave it another value since, or had set it before', async () => {
      installOlderVersion(older);
      bench.write(settings, bench.read(settings).replace('"auto"', '"true"'));
      await installed(bench);
      expect(environmentNow().ENABLE_TOOL_SEARCH).toBe('true');
      await uninstalled(bench);
      bench.write(settings, JSON.stringify({ env: older }));
      installOlderVersion(older);
      await installed(bench);
      expect(environmentNow()).toMatchObject(older);
      await uninstalled(bench);
      expect(bench.read(settings)).toBe(JSON.stringify({ env: older }));
    });
  });

  it('C2: an older version’s hooks are replaced, also when the file was edited, and uninstalling goes back to before', async () => {
    bench.write(settings, '{ "model": "x" }\n');
    await installed(bench);
    const older = (text: string) => text.replaceAll('0.0.0-source', '0.0.1');
    // As if 0.0.1 had installed: its record, its file, its programs.
    const records = join(bench.state, 'installs');
    for (const folder of readdirSync(records)) {
      const record = join(records, folder, 'record.json');
      writeFileSync(record, older(readFileSync(record, 'utf8')));
    }
    bench.write(settings, older(bench.read(settings)).replace('"x"', '"y"'));
    bench.write(hostState, older(bench.read(hostState)));
    await installed(bench);
    const commands = hooksOf(bench.read(settings));
    expect(commands).toHaveLength(
      new Set(Object.keys(JSON.parse(bench.read(settings)).hooks)).size,
    );
    expect(commands.join()).not.toContain('0.0.1');
    expect(bench.read(hostState)).not.toContain('0.0.1');
    await uninstalled(bench);
    expect(JSON.parse(bench.read(settings))).toEqual({ model: 'y' });
    expect(existsSync(join(bench.root, hostState))).toBe(false);
  });

  it('C2: with the state directory lost, what carries our mark is still found and taken out', async () => {
    bench.write(settings, '{ "model": "x" }\n');
    await installed(bench);
    rmSync(bench.state, { recursive: true });
    await uninstalled(bench);
    expect(JSON.parse(bench.read(settings))).toEqual({ model: 'x' });
    expect(bench.read(hostState).trim()).toBe('{\n}');
  });

  it('C2: two projects share the host’s own file, and each leaves the other in place', async () => {
    const second = join(bench.root, 'second');
    mkdirSync(second);
    bench.write(hostState, '{ "userID": "u" }');
    await installed(bench);
    expect((await bench.initIn(second, 'claude-code')).code).toBe(0);
    const both = bench.picture();
    await installed(bench);
    expect(bench.picture()).toEqual(both);
    expect(await uninstalled(bench)).toContain(
      `Still installed:\n  claude-code (project) ${second}`,
    );
    expect(Object.keys(JSON.parse(bench.read(hostState)).projects)).toEqual([second]);
    expect(existsSync(join(bench.state, 'bin')), 'the other still needs the hook').toBe(
      true,
    );
    expect((await bench.initIn(second, 'claude-code', '--uninstall')).code).toBe(0);
    expect(bench.read(hostState)).toBe('{ "userID": "u" }');
    expect(existsSync(bench.state)).toBe(false);
  });

  it('C2: a settings file that is a link stays one, and its target goes back byte for byte', async () => {
    const target = bench.write('home/dotfiles/claude.json', '{ "a": 1 }');
    mkdirSync(join(bench.project, '.claude'));
    symlinkSync(target, join(bench.root, settings));
    expect((await bench.init('claude-code')).out).toContain(
      `${join(bench.root, settings)} → ${target} (backup: `,
    );
    expect(lstatSync(join(bench.root, settings)).isSymbolicLink()).toBe(true);
    expect(hooksOf(readFileSync(target, 'utf8'))).not.toEqual([]);
    await uninstalled(bench);
    expect(readFileSync(target, 'utf8')).toBe('{ "a": 1 }');
  });

  it('C2: --dry-run shows the difference of every file and changes nothing', async () => {
    bench.write(hostState, '{\n  "userID": "u"\n}\n');
    const before = bench.picture();
    const { code, out } = await bench.init('claude-code', '--dry-run');
    expect(code).toBe(0);
    expect(out).toContain(`--- /dev/null\n+++ ${join(bench.root, settings)}\n`);
    expect(out).toContain('-  "userID": "u"\n+  "userID": "u",\n+  "projects": {\n');
    expect(out).toContain('+/.claude/settings.local.json');
    expect(bench.picture()).toEqual(before);
    expect(existsSync(bench.state)).toBe(false);
    await installed(bench);
    expect((await bench.init('claude-code', '--dry-run')).out).toBe(
      'Nothing would change.\n',
    );
    const removal = await bench.init('claude-code', '--uninstall', '--dry-run');
    expect(removal.out).toContain(`+++ /dev/null`);
    expect(hooksOf(bench.read(settings))).not.toEqual([]);
  });
});
