// Must hold: a fresh home, init, doctor, uninstall, and every file that was touched is as
// it was.
import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
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

let bench: InstallBench;

beforeEach(() => {
  bench = createInstallBench({ git: true });
});

afterEach(() => bench.close());

/**
 * Files as people have them: formats, comments, other programs' hooks, an empty object of
 * their own.
 */
const odd: Record<string, Record<string, string>> = {
  'no files at all': {},
  'plain files': {
    [settings]:
      '{\n  "permissions": {\n    "allow": ["Bash(npm test)"]\n  },\n  "env": {}\n}\n',
    [hostState]: '{\n  "userID": "u",\n  "projects": {}\n}',
  },
  'tabs, CRLF, a byte order mark, no final newline': {
    [settings]:
      '\uFEFF{\r\n\t"model": "x",\r\n\t"hooks": {\r\n\t\t"Stop": []\r\n\t}\r\n}',
    [hostState]: '{"userID":"u"}',
  },
  'hooks and servers of others': {
    [settings]:
      '{ "hooks": { "Stop": [ { "hooks": [ { "type": "command", "command": "beep" } ] } ] } }\n',
    [hostState]: '{ "mcpServers": { "other": { "command": "x" } } }\n',
  },
  'empty files': { [settings]: '', [hostState]: '{}' },
  'an exclude list without a final newline': { 'project/.git/info/exclude': '*.log' },
  'switches that a person set already': {
    [settings]:
      '{\n  "env": { "CLAUDE_CODE_ENABLE_TODO_TOOLS": "1" },\n  "permissions": { "allow": ["mcp__untildone__todo_pause"] }\n}\n',
  },
};

describe('init and uninstall', () => {
  const scopes: readonly (readonly string[])[] = [[], ['--user'], ['--shared']];
  const situations = Object.keys(odd).flatMap((name) =>
    scopes.map((scope) => [name, scope.join(' ')] as const),
  );

  it.each(situations)(
    'C2: %s %s: uninstalling puts every file back byte for byte',
    async (name, scope) => {
      for (const [path, text] of Object.entries(odd[name] ?? {})) bench.write(path, text);
      const argv = scope === '' ? [] : [scope];
      const before = bench.picture();
      await installed(bench, ...argv);
      const after = bench.picture();
      expect(after).not.toEqual(before);
      await installed(bench, ...argv);
      expect(bench.picture(), 'a second init changes nothing').toEqual(after);
      await uninstalled(bench, ...argv);
      expect(bench.picture()).toEqual(before);
      expect(existsSync(bench.state), 'nothing is left in the state directory').toBe(
        false,
      );
    },
  );

  it.each(situations)(
    'C2: %s %s: of files edited since, only what is ours goes',
    async (name, scope) => {
      for (const [path, text] of Object.entries(odd[name] ?? {})) bench.write(path, text);
      const argv = scope === '' ? [] : [scope];
      const before = bench.picture();
      await installed(bench, ...argv);
      // As the host does: reads, adds a key of its own, writes it all in its own format.
      const after = bench.picture();
      const touched = Object.keys(after).filter(
        (path) => path.endsWith('.json') && after[path] !== before[path],
      );
      for (const path of touched) {
        const value = JSON.parse(bench.read(path).replace('\uFEFF', ''));
        bench.write(path, JSON.stringify({ first: 1, ...value, last: 2 }, null, 4));
      }
      await uninstalled(bench, ...argv);
      for (const path of touched) {
        const original = before[path]?.replace(/^\d+ \uFEFF?/, '') || '{}';
        expect(JSON.parse(bench.read(path)), path).toEqual({
          first: 1,
          ...JSON.parse(original),
          last: 2,
        });
      }
    },
  );

  it('C2: comments survive, and the person is told that the host ignores such a file', async () => {
    const text = '{\n  // mine\n  "model": "x" // the good one\n}\n';
    bench.write(settings, text);
    const { code, err } = await bench.init('claude-code');
    expect(code).toBe(0);
    expect(err).toContain(
      'has comments or trailing commas, and the host ignores such a file',
    );
    expect(bench.read(settings)).toContain('// mine\n  "model": "x", // the good one\n');
    bench.write(settings, bench.read(settings).replace('// mine', '// mine, edited'));
    await uninstalled(bench);
    expect(bench.read(settings)).toBe(text.replace('// mine', '// mine, edited'));
  });

  it('C1: the local file holds hooks with explicit timeouts, switches and grants; the server is in local scope', async () => {
    await installed(bench);
    const written = JSON.parse(bench.read(settings));
    const timeouts = Object.fromEntries(
      Object.entries<{ hooks: { timeout: number }[] }[]>(written.hooks).map(
        ([event, [group]]) => [event, group?.hooks[0]?.timeout],
      ),
    );
    expect(timeouts).toMatchObject({
      Stop: 900,
      TaskCompleted: 120,
      PostToolUse: 10,
      UserPromptSubmit: 10,
      SessionStart: 10,
      SubagentStop: 10,
      SessionEnd: 10,
      PreCompact: 10,
      Notification: 10,
      StopFailure: 10,
    });
    expect(written.env).toEqual({
      CLAUDE_CODE_ENABLE_TODO_TOOLS: '1',
      CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: '500',
    });
    expect(written.permissions.allow).toHaveLength(8);
    expect(written.permissions.allow).toContain('mcp__untildone__todo_verify');
    const { untildone } = JSON.parse(bench.read(hostState)).projects[bench.project]
      .mcpServers;
    expect(untildone).toMatchObject({ command: process.execPath, alwaysLoad: true });
    expect(untildone.args[0]).toBe(
      join(bench.state, 'bin', '0.0.0-source', 'host-commands.js'),
    );
    expect(bench.read('project/.git/info/exclude')).toMatch(
      /^\/\.claude\/settings\.local\.json$/m,
    );
    expect((lstatSync(join(bench.root, hostState)).mode & 0o777).toString(8)).toBe('600');
  });

  it('C2: the hook command runs the copied file through sh, whatever the paths are called', async () => {
    bench.close();
    bench = createInstallBench({ git: true, name: 'it\'s $HOME `x` "y" z\nnext line' });
    bench.env['UNTILDONE_HOME'] = join(bench.root, "state of $USER's `pwd`");
    await installed(bench);
    const [command = ''] = hooksOf(
      readFileSync(join(bench.project, '.claude/settings.local.json'), 'utf8'),
    );
    const answer = execFileSync('/bin/sh', ['-c', command], { encoding: 'utf8' });
    expect(JSON.parse(answer)).toEqual({
      argv: ['claude-code', '--tools=mcp__untildone__'],
    });
    const text = readFileSync(join(bench.project, '.claude/settings.local.json'), 'utf8');
    expect(JSON.parse(text).env.UNTILDONE_HOME).toBe(bench.env['UNTILDONE_HOME']);
  });

  it('C1: --shared writes a portable command and no path of this machine', async () => {
    bench.env['UNTILDONE_HOME'] = join(bench.root, 'elsewhere');
    await installed(bench, '--shared');
    const text =
      bench.read('project/.claude/settings.json') + bench.read('project/.mcp.json');
    expect(text).not.toContain(bench.root);
    expect(text).not.toContain(process.execPath);
    // A committed grant does not count without a terminal: texts must not send the model
    // to our tools.
    expect(new Set(hooksOf(bench.read('project/.claude/settings.json')))).toEqual(
      new Set(['npx -y --fetch-retries=0 untildone@0.0.0-source hook claude-code']),
    );
    expect(existsSync(join(bench.root, hostState))).toBe(false);
  });

  it('C1: --user writes the user’s own files, and CLAUDE_CONFIG_DIR moves them', async () => {
    await installed(bench, '--user');
    expect(hooksOf(bench.read('home/.claude/settings.json'))).not.toEqual([]);
    expect(JSON.parse(bench.read(hostState)).mcpServers.untildone).toBeDefined();
    await uninstalled(bench, '--user');
    bench.env['CLAUDE_CONFIG_DIR'] = join(bench.root, 'home/config');
    await installed(bench, '--user');
    expect(Object.keys(bench.picture()).filter((path) => path.endsWith('.json'))).toEqual(
      expect.arrayContaining(['home/config/.claude.json', 'home/config/settings.json']),
    );
    expect(existsSync(join(bench.root, hostState))).toBe(false);
  });

  it('C1: in a subfolder or a worktree the settings of the main working tree are meant', async () => {
    const git = (...args: string[]) =>
      execFileSync(
        'git',
        ['-C', bench.project, '-c', 'user.name=a', '-c', 'user.email=b', ...args],
        {
          env: bench.env,
        },
      );
    git('commit', '--quiet', '--allow-empty', '-m', 'x');
    git('worktree', 'add', '--quiet', join(bench.root, 'tree'));
    mkdirSync(join(bench.project, 'sub'));
    expect((await bench.initIn(join(bench.project, 'sub'), 'claude-code')).code).toBe(0);
    const after = bench.picture();
    expect(hooksOf(bench.read(settings))).not.toEqual([]);
    expect((await bench.initIn(join(bench.root, 'tree'), 'claude-code')).out).toContain(
      'nothing changed',
    );
    expect(bench.picture()).toEqual(after);
    expect(readdirSync(join(bench.root, 'tree'))).toEqual(['.git']);
  });

  it('C1: outside a repository the folder itself is the project', async () => {
    bench.close();
    bench = createInstallBench({ git: false });
    const before = bench.picture();
    await installed(bench);
    expect(JSON.parse(bench.read(hostState)).projects[bench.project]).toBeDefined();
    await uninstalled(bench);
    expect(bench.picture()).toEqual(before);
  });

  it('C1: a tracked local file loses its grants: the person is told, and texts do not rely on them', async () => {
    bench.write(settings, '{}\n');
    execFileSync('git', ['-C', bench.project, 'add', '-f', '.claude'], {
      env: bench.env,
    });
    const { code, err } = await bench.init('claude-code');
    expect(code).toBe(0);
    expect(err).toContain('git rm --cached .claude/settings.local.json');
    expect(
      hooksOf(bench.read(settings)).every((command) => command.endsWith(' claude-code')),
    ).toBe(true);
  });
});
