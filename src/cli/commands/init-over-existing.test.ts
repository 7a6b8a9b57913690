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
  remarksOn,
  settings,
  uninstalled,
} from '../../../test/support/install-story.ts';
import { claudeCodeLanguage } from '../../hosts/claude-code/host.ts';
import { claudeCodeInstaller } from '../../hosts/claude-code/install.ts';
import { changeHosts, type Edit, type FileTarget } from '../../hosts/install/changes.ts';
import {
  type HostInstaller,
  installBasis,
  type Scope,
} from '../../hosts/install/installer.ts';
import { member } from '../../hosts/install/json-text.ts';
import { startVariables } from '../../hosts/project-variables.ts';

let bench: InstallBench;

beforeEach(() => {
  bench = createInstallBench({ git: true });
});

afterEach(() => bench.close());

/** Installs like an older version: `rewrite` makes its edits of the settings from ours. */
function installOlderVersion(
  rewrite: (edits: readonly Edit[]) => readonly Edit[],
  scope: Scope = 'project',
): void {
  const older: HostInstaller = {
    ...claudeCodeInstaller,
    survey(basis) {
      const survey = claudeCodeInstaller.survey(basis);
      return {
        ...survey,
        layout(scope) {
          const layout = survey.layout(scope);
          const rewritten = (target: FileTarget) =>
            target.edits.some(({ kind }) => kind === 'hook')
              ? { ...target, edits: rewrite(target.edits) }
              : target;
          return { ...layout, targets: layout.targets.map(rewritten) };
        },
      };
    },
  };
  const basis = installBasis({ env: bench.env, cwd: bench.project }, '0.0.0-source');
  const shipped = () => join(bench.root, 'dist');
  const done = changeHosts([older], { ...basis, scope }, 'install', {
    shipped,
    isDry: false,
  });
  expect(done.problems).toEqual([]);
}

const withSwitches =
  (switches: Readonly<Record<string, string>>) =>
  (edits: readonly Edit[]): readonly Edit[] => [
    ...Object.entries(switches).map(([name, value]) => member(['env', name], value)),
    ...edits,
  ];

/** What the hook lines of this version begin with, as JSON. */
const lineStart = Object.keys(startVariables(claudeCodeLanguage))
  .map((name) => `${name}='' `)
  .join('');
const withoutLineStart = (text: string) => text.replaceAll(lineStart, '');
const withOlderLines = (edits: readonly Edit[]): readonly Edit[] =>
  JSON.parse(withoutLineStart(JSON.stringify(edits)));

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
      installOlderVersion(withSwitches(older));
      expect(environmentNow()).toMatchObject(older);
      await installed(bench);
      expect(environmentNow()).not.toHaveProperty('ENABLE_TOOL_SEARCH');
      await uninstalled(bench);
      expect(bench.read(settings)).toBe('{ "model": "x" }\n');
    });

    it('is taken out of a file that was edited since, and the edit stays', async () => {
      installOlderVersion(withSwitches(older));
      bench.write(settings, bench.read(settings).replace('"x"', '"y"'));
      await installed(bench);
      expect(environmentNow()).not.toHaveProperty('ENABLE_TOOL_SEARCH');
      await uninstalled(bench);
      expect(bench.read(settings)).toBe('{ "model": "y" }\n');
    });

    it('is taken back by uninstalling, without another init', async () => {
      installOlderVersion(withSwitches(older));
      await uninstalled(bench);
      expect(bench.read(settings)).toBe('{ "model": "x" }\n');
    });

    it('stays if a person gave it another value since, or had set it before', async () => {
      installOlderVersion(withSwitches(older));
      bench.write(settings, bench.read(settings).replace('"auto"', '"true"'));
      await installed(bench);
      expect(environmentNow().ENABLE_TOOL_SEARCH).toBe('true');
      await uninstalled(bench);
      bench.write(settings, JSON.stringify({ env: older }));
      installOlderVersion(withSwitches(older));
      await installed(bench);
      expect(environmentNow()).toMatchObject(older);
      await uninstalled(bench);
      expect(bench.read(settings)).toBe(JSON.stringify({ env: older }));
    });
  });

  it.each([
    ['user', 'home/.claude/settings.json'],
    ['shared', 'project/.claude/settings.json'],
  ] as const)(
    'C2: a switch that an older init set for the scope %s is taken back too',
    async (scope, file) => {
      bench.write(file, '{ "model": "x" }\n');
      installOlderVersion(withSwitches({ ENABLE_TOOL_SEARCH: 'auto' }), scope);
      expect(JSON.parse(bench.read(file)).env.ENABLE_TOOL_SEARCH).toBe('auto');
      await installed(bench, `--${scope}`);
      expect(bench.read(file)).not.toContain('ENABLE_TOOL_SEARCH');
      await uninstalled(bench, `--${scope}`);
      expect(bench.read(file)).toBe('{ "model": "x" }\n');
    },
  );

  describe('V10: hook lines of an older init, which a project’s NODE_OPTIONS could switch off', () => {
    const before = '{ "model": "x" }\n';
    const lines = () => hooksOf(bench.read(settings));
    const areGuarded = () => lines().every((line) => line.startsWith(lineStart));
    beforeEach(() => {
      bench.write(settings, before);
      installOlderVersion(withOlderLines);
      expect(lines().join()).not.toContain('NODE_OPTIONS');
    });

    it('are named by doctor, and renewed by the next init', async () => {
      bench.addProgram('claude', '2.1.325 (Claude Code)');
      expect(await remarksOn(bench, 'claude-code')).toMatchObject([
        { name: 'hooks', level: 'broken', mend: 'untildone init claude-code' },
      ]);
      const count = lines().length;
      await installed(bench);
      expect(lines()).toHaveLength(count);
      expect(areGuarded()).toBe(true);
      const { projects } = JSON.parse(bench.read(hostState));
      const [server] = Object.values<Record<string, object>>(projects).map(
        ({ mcpServers }) => mcpServers,
      );
      expect(server, 'and so is our server').toMatchObject({
        untildone: { env: { NODE_OPTIONS: '' } },
      });
      expect(await remarksOn(bench, 'claude-code')).toEqual([]);
      await uninstalled(bench);
      expect(bench.read(settings)).toBe(before);
    });

    it('are renewed in a file that was edited since, and the edit stays', async () => {
      bench.write(settings, bench.read(settings).replace('"x"', '"y"'));
      await installed(bench);
      expect(areGuarded()).toBe(true);
      await uninstalled(bench);
      expect(bench.read(settings)).toBe(before.replace('"x"', '"y"'));
    });

    it('are taken out by uninstalling, with their record and without', async () => {
      const older = bench.read(settings);
      await uninstalled(bench);
      expect(bench.read(settings)).toBe(before);
      bench.write(settings, older);
      await uninstalled(bench);
      expect(JSON.parse(bench.read(settings))).toEqual({ model: 'x' });
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
