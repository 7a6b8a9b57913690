// `init copilot-cli` and `doctor` on it: hooks for a project, a user or everyone, the
// server, and the trust of the folder.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createInstallBench,
  type InstallBench,
} from '../../../test/support/install-bench.ts';
import { expectOnlyRemark, remarksOn } from '../../../test/support/install-story.ts';

const settings = 'project/.github/copilot/settings.local.json';
const servers = 'home/.copilot/mcp-config.json';
const ownHooks = 'home/.copilot/hooks/untildone.json';
const config = 'home/.copilot/config.json';
const events = [
  'Stop',
  'SubagentStop',
  'PostToolUse',
  'PostToolUseFailure',
  'UserPromptSubmit',
];
const more = ['SessionStart', 'SessionEnd', 'PreCompact', 'PermissionRequest'];

let bench: InstallBench;
beforeEach(() => {
  bench = createInstallBench({ git: true });
  // With a full stop behind its version, as it prints it.
  bench.addProgram('copilot', 'GitHub Copilot CLI 1.0.102.');
  // As the host writes it, with comments.
  bench.write(
    config,
    `// This file is managed automatically.\n{ "trustedFolders": ["${bench.project}"] }\n`,
  );
});
afterEach(() => bench.close());

async function init(...argv: string[]): Promise<string> {
  const { code, out, err } = await bench.init('copilot-cli', ...argv);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out;
}
const read = (path: string) => JSON.parse(bench.read(path));
const remarks = () => remarksOn(bench, 'copilot-cli');

describe('init copilot-cli', () => {
  it('C1: writes hooks with their times, a server and the grant for its tools, and git sees nothing', async () => {
    await init();
    const { hooks } = read(settings);
    expect(Object.keys(hooks)).toEqual([...events, ...more]);
    expect(hooks.Stop).toEqual([
      {
        type: 'command',
        bash: expect.stringMatching(/hook\.js' copilot-cli --tools=untildone-$/),
        timeoutSec: 900,
      },
    ]);
    expect(hooks.PostToolUse[0].timeoutSec).toBe(10);
    expect(hooks.PermissionRequest).toMatchObject([
      { matcher: 'untildone/(todo_pause|todo_verify)' },
    ]);
    expect(read(servers).mcpServers.untildone).toMatchObject({
      type: 'local',
      env: {},
      tools: ['*'],
      args: [
        expect.stringMatching(/host-commands\.js$/),
        'mcp',
        '--tools',
        'todo_pause,todo_verify',
      ],
    });
    expect(
      execFileSync('git', ['status', '--porcelain'], {
        cwd: bench.project,
        encoding: 'utf8',
      }),
    ).toBe('');
    expect(await remarks()).toEqual([]);
  });

  it('C1: a state directory that was moved is told to hooks and server', async () => {
    const moved = join(bench.home, 'moved');
    bench.env['UNTILDONE_HOME'] = moved;
    await init('--user');
    expect(read(ownHooks).hooks.Stop[0].env).toEqual({ UNTILDONE_HOME: moved });
    expect(read(servers).mcpServers.untildone.env).toEqual({ UNTILDONE_HOME: moved });
  });

  it.each([[[]], [['--user']], [['--shared']]])(
    'C1: %j and --uninstall leave every file as it was; installed twice is once; --dry-run changes nothing',
    async (words) => {
      const theirs = { matcher: 'x', type: 'command', bash: 'true' };
      bench.write(
        settings,
        JSON.stringify({ model: 'x', hooks: { PermissionRequest: [theirs] } }, null, 2),
      );
      bench.write(servers, '{ "mcpServers": { "mine": { "command": "x" } } }');
      const before = bench.picture();
      expect(await init(...words, '--dry-run')).toContain('UserPromptSubmit');
      expect(bench.picture()).toEqual(before);
      await init(...words);
      const after = bench.picture();
      expect(after).not.toEqual(before);
      expect(await init(...words)).toContain('nothing changed');
      expect(bench.picture()).toEqual(after);
      if (words.length === 0)
        expect(read(settings).hooks.PermissionRequest).toHaveLength(2);
      await init(...words, '--uninstall');
      expect(bench.picture()).toEqual(before);
    },
  );

  it('C1: what is for everyone names no folder of this machine', async () => {
    await init('--shared');
    const text =
      bench.read('project/.github/hooks/untildone.json') +
      bench.read('project/.github/mcp.json');
    expect(text).toMatch(
      /npx -y --fetch-retries=0 untildone@\S+ hook copilot-cli --tools=untildone-/,
    );
    expect(text).not.toContain(bench.root);
  });

  it('C1: the server stays for the user when only the project’s install goes', async () => {
    await init('--user');
    await init();
    await init('--uninstall');
    expect(read(servers).mcpServers).toHaveProperty('untildone');
    expect(await remarks()).toEqual([]);
  });
});

describe('doctor', () => {
  it('C3: a folder that nobody trusted runs none of it, and init says so too', async () => {
    bench.write(config, '{}');
    const { code, err } = await bench.init('copilot-cli');
    expect(code).toBe(0);
    expect(err).toContain('until you trust the folder');
    const mend = `start copilot in ${bench.project} and trust the folder, or untildone init copilot-cli --user`;
    await expectOnlyRemark(bench, 'copilot-cli', {
      name: 'trust',
      level: 'broken',
      mend,
      sentence: 'ignores hooks in',
    });
    await init('--user');
    expect(await remarks()).toEqual([]);
  });

  it('C3: hooks that are switched off, and a server that is gone', async () => {
    await init('--user');
    const off = bench.write('home/.copilot/settings.json', '{ "disableAllHooks": true }');
    await expectOnlyRemark(bench, 'copilot-cli', {
      name: 'trust',
      level: 'broken',
      mend: `take "disableAllHooks" out of ${off}`,
      sentence: 'Hooks are switched off',
    });
    bench.write('home/.copilot/settings.json', '{}');
    bench.write(servers, '{}');
    expect((await remarks()).map(({ name }) => name)).toContain('hooks');
  });
});
