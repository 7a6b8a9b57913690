// `init gemini-cli` and `doctor` on it: one settings.json, kept out of git or committed,
// and a policy of the user's.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createInstallBench,
  type InstallBench,
} from '../../../test/support/install-bench.ts';
import {
  expectOnlyRemark,
  hooksOf,
  remarksOn,
} from '../../../test/support/install-story.ts';

const settings = 'project/.gemini/settings.json';
const policy = 'home/.gemini/policies/untildone.toml';
const trustedFolders = 'home/.gemini/trustedFolders.json';
const events = [
  'AfterAgent',
  'BeforeTool',
  'AfterTool',
  'BeforeAgent',
  'SessionStart',
  'SessionEnd',
];

let bench: InstallBench;
beforeEach(() => {
  bench = createInstallBench({ git: true });
  bench.addProgram('gemini', '0.61.0');
  bench.write(trustedFolders, JSON.stringify({ [bench.project]: 'TRUST_FOLDER' }));
});
afterEach(() => bench.close());

async function init(...argv: string[]): Promise<string> {
  const { code, out, err } = await bench.init('gemini-cli', ...argv);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out;
}
const read = (path: string) => JSON.parse(bench.read(path));
const remarks = () => remarksOn(bench, 'gemini-cli');
const git = (...words: string[]) =>
  execFileSync('git', words, { cwd: bench.project, encoding: 'utf8' });

describe('init gemini-cli', () => {
  it('C1: writes hooks with their times, a server that is trusted, and a policy, and git sees nothing', async () => {
    await init();
    const { hooks, mcpServers } = read(settings);
    expect(Object.keys(hooks)).toEqual([...events, 'Notification']);
    expect(hooks.AfterAgent[0].hooks[0]).toMatchObject({
      name: 'untildone',
      timeout: 900_000,
    });
    expect(hooks.BeforeTool[0].matcher).toBe('^write_todos$');
    expect(hooks.AfterTool[0]).not.toHaveProperty('matcher');
    expect(
      hooksOf(bench.read(settings)).every((line) =>
        line.endsWith('gemini-cli --tools=mcp_untildone_'),
      ),
    ).toBe(true);
    expect(mcpServers.untildone).toMatchObject({ trust: true, env: {} });
    expect(mcpServers.untildone.args.at(-1), 'all tools: newer models have none').toBe(
      'mcp',
    );
    const rule = 'toolName = "write_todos"\ndecision = "allow"\npriority = 100';
    expect(bench.read(policy)).toContain(
      `${rule}\nmodes = ["default", "autoEdit", "yolo"]`,
    );
    expect(git('status', '--porcelain')).toBe('');
    expect(await remarks()).toEqual([]);
  });

  it('C1: a state directory that was moved is told to hooks and server', async () => {
    const moved = join(bench.home, 'moved');
    bench.env['UNTILDONE_HOME'] = moved;
    await init('--user');
    const { hooks, mcpServers } = read('home/.gemini/settings.json');
    expect(hooks.AfterAgent[0].hooks[0].env).toEqual({ UNTILDONE_HOME: moved });
    expect(mcpServers.untildone.env).toMatchObject({ UNTILDONE_HOME: moved });
  });

  it.each([[[]], [['--user']], [['--shared']]])(
    'C1: %j and --uninstall leave every file as it was, comments and all; installed twice is once',
    async (words) => {
      bench.write(
        settings,
        '{\n  // mine\n  "ui": { "theme": "Dracula" },\n  "hooks": { "AfterTool": [] }\n}\n',
      );
      bench.write('home/.gemini/settings.json', '{ "general": {} }');
      const before = bench.picture();
      expect(await init(...words, '--dry-run')).toContain('AfterAgent');
      expect(bench.picture()).toEqual(before);
      await init(...words);
      const once = bench.picture();
      expect(once).not.toEqual(before);
      await init(...words);
      expect(bench.picture()).toEqual(once);
      await init(...words, '--uninstall');
      expect(bench.picture()).toEqual(before);
    },
  );

  it('C1: --shared can be committed: no path of this machine, no policy of the user', async () => {
    await init('--shared');
    const text = bench.read(settings);
    expect(text).not.toContain(bench.root);
    expect(hooksOf(text)[0]).toMatch(
      /^npx -y --fetch-retries=0 untildone@\S+ hook gemini-cli --tools=/,
    );
    expect(Object.keys(bench.picture())).not.toContain(policy);
    expect(git('status', '--porcelain')).toContain('.gemini/');
  });

  it('C1: in one file, --shared and this project are told apart, and each goes alone', async () => {
    await init('--shared');
    const shared = bench.read(settings);
    await init();
    expect(hooksOf(bench.read(settings))[0]).not.toMatch(/^npx/);
    await init('--uninstall');
    expect(bench.read(settings)).toBe(shared);
  });

  it('C1: a policy that somebody else wrote is not touched, and then nothing is', async () => {
    bench.write(policy, '[[rule]]\n');
    const before = bench.picture();
    const { code, err } = await bench.init('gemini-cli');
    expect(code).not.toBe(0);
    expect(err).toContain('untildone did not write it');
    expect(bench.picture()).toEqual(before);
  });

  it('C1: where settings are tracked, in another folder, and without trust, the person is told', async () => {
    bench.write(settings, '{}\n');
    git('add', '.gemini');
    const told = async (folder = bench.project) =>
      (await bench.initIn(folder, 'gemini-cli')).err;
    expect(await told()).toContain('is tracked by git');
    expect(readFileSync(join(bench.project, '.git/info/exclude'), 'utf8')).not.toContain(
      '.gemini',
    );
    bench.write('project/below/x', '');
    expect(await told(join(bench.project, 'below'))).toContain(
      `start it in ${bench.project}`,
    );
    bench.write(trustedFolders, '{}');
    expect(await told()).toContain('GEMINI_CLI_TRUST_WORKSPACE=true');
  });

  it('C2: settings that were committed after init: uninstalling still takes our line out of the exclude list of git', async () => {
    const excluded = () => readFileSync(join(bench.project, '.git/info/exclude'), 'utf8');
    const before = excluded();
    await init();
    git('add', '--force', '.gemini');
    expect((await bench.init('gemini-cli', '--uninstall')).code).toBe(0);
    expect(excluded()).toBe(before);
  });
});

describe('doctor on Gemini CLI', () => {
  beforeEach(() => init());
  const user = 'home/.gemini/settings.json';

  it.each([
    ['{}', 'note'],
    ['{ "PROJECT": "DO_NOT_TRUST" }', 'broken'],
    ['{ "ROOT": "TRUST_FOLDER", "PROJECT": "DO_NOT_TRUST" }', 'broken'],
  ])(
    'C3: in a folder for which the trusted ones say %s nothing of ours runs',
    async (rules, level) => {
      bench.write(
        trustedFolders,
        rules.replace('PROJECT', bench.project).replace('ROOT', bench.root),
      );
      const sentence = 'only in folders that you trust';
      const mend = expect.stringContaining('GEMINI_CLI_TRUST_WORKSPACE=true');
      await expectOnlyRemark(bench, 'gemini-cli', {
        name: 'trust',
        level,
        sentence,
        mend,
      });
    },
  );

  it.each(['{ "ROOT": "TRUST_FOLDER" }', '{ "PROJECT": "TRUST_PARENT" }'])(
    'C3: %s covers the project',
    async (rules) => {
      bench.write(
        trustedFolders,
        rules.replace('PROJECT', bench.project).replace('ROOT', bench.root),
      );
      expect(await remarks()).toEqual([]);
    },
  );

  it('C3: who switched the question off trusts every folder, but not a project that says so', async () => {
    bench.write(trustedFolders, '{}');
    const off = { security: { folderTrust: { enabled: false } } };
    bench.write(settings, JSON.stringify({ ...read(settings), ...off }));
    expect(await remarks()).toMatchObject([{ name: 'trust' }]);
    bench.write(user, JSON.stringify(off));
    expect(await remarks()).toEqual([]);
  });

  it.each([
    [{ hooksConfig: { enabled: false } }, 'trust', 'Hooks are switched off'],
    [{ hooksConfig: { disabled: ['untildone'] } }, 'trust', 'Our hooks are disabled'],
    [{ mcp: { allowed: ['other'] } }, 'todo-tools', 'keep our MCP server from starting'],
    [
      { mcp: { excluded: ['untildone'] } },
      'todo-tools',
      'keep our MCP server from starting',
    ],
  ])('C3: %j in the settings of the user is broken', async (value, name, sentence) => {
    bench.write(user, JSON.stringify(value));
    expect(await remarks()).toMatchObject([
      { name, level: 'broken', sentence: expect.stringContaining(sentence) },
    ]);
  });

  it('C3: settings that the host cannot read, a server that is gone, and a policy that is gone are broken', async () => {
    bench.write(user, '{ "ui": ');
    expect(await remarks()).toMatchObject([{ name: 'settings', level: 'broken' }]);
    bench.write(user, '{}');
    const { mcpServers: _gone, ...rest } = read(settings);
    bench.write(settings, JSON.stringify(rest));
    expect(await remarks()).toMatchObject([
      { name: 'hooks', level: 'broken' },
      { name: 'server', level: 'broken' },
    ]);
    await init();
    bench.write(policy, '');
    expect(await remarks()).toMatchObject([{ name: 'hooks', level: 'broken' }]);
  });
});
