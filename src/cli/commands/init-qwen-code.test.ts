// Qwen Code keeps everything in one settings.json: what init writes there, what doctor
// says of it, and the way back.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'jsonc-parser';
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

let bench: InstallBench;

beforeEach(() => {
  bench = createInstallBench({ git: true });
  bench.addProgram('qwen', '0.24.4');
});
afterEach(() => bench.close());

const settings = 'project/.qwen/settings.json';
const exclude = 'project/.git/info/exclude';
const own = 'home/.qwen/settings.json';
const scopes = ['', '--user', '--shared'];
const init = async (...words: string[]) => {
  const { code, out, err } = await bench.init('qwen-code', ...words.filter(Boolean));
  expect(code, err).toBe(0);
  return out + err;
};
const expectOnly = (name: string, level: string, sentence: string, mend: string | null) =>
  expectOnlyRemark(bench, 'qwen-code', { name, level, sentence, mend });

/** Files as people have them. */
const odd: Record<string, string | null> = {
  'no file': null,
  'comments, and hooks of others':
    '{\n  // mine\n  "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "beep" }] }] },\n  "$version": 4\n}\n',
  'tabs, CRLF and no final newline':
    '{\r\n\t"tools": {\r\n\t\t"todoWrite": { "enabled": true }\r\n\t}\r\n}',
  'a cap of their own': '{ "stopHookBlockingCap": 20, "mcpServers": {} }\n',
};

describe('init qwen-code', () => {
  it.each(Object.keys(odd).flatMap((name) => scopes.map((scope) => [name, scope])))(
    'C2: %s %s: a second init changes nothing, and uninstalling puts every file back byte for byte',
    async (name, scope) => {
      const text = odd[name] ?? null;
      if (text !== null) for (const path of [settings, own]) bench.write(path, text);
      const before = bench.picture();
      await init('--dry-run', scope);
      expect(bench.picture()).toEqual(before);
      await init(scope);
      const after = bench.picture();
      expect(after).not.toEqual(before);
      await init(scope);
      expect(bench.picture()).toEqual(after);
      await init('--uninstall', scope);
      expect(bench.picture()).toEqual(before);
    },
  );

  it('C1: hooks with their seconds, the todo tool, the cap and the server that needs no grant', async () => {
    await init();
    const written = parse(bench.read(settings));
    const { hooks, tools, stopHookBlockingCap, mcpServers, $version } = written;
    expect(Object.keys(hooks)).toEqual(
      expect.arrayContaining(['Stop', 'TodoCompleted', 'UserPromptSubmit']),
    );
    expect(hooks.Stop[0].hooks[0]).toMatchObject({ type: 'command', timeout: 900 });
    expect(hooksOf(bench.read(settings))[0]).toMatch(
      /hook\.js' qwen-code --tools=mcp__untildone__$/,
    );
    expect([tools, stopHookBlockingCap, $version]).toEqual([
      { todoWrite: { enabled: true } },
      100,
      4,
    ]);
    expect(mcpServers.untildone).toMatchObject({
      args: [
        expect.stringContaining('host-commands.js'),
        'mcp',
        '--tools',
        'todo_pause,todo_verify',
      ],
      trust: true,
      alwaysLoadTools: true,
    });
    expect(bench.read(exclude)).toContain('/.qwen/settings.json\n');
  });

  it('C1: for everyone it names nothing of this machine, and stays in git', async () => {
    bench.env['UNTILDONE_HOME'] = join(bench.home, 'moved');
    await init('--shared');
    expect(bench.read(settings)).not.toContain(bench.root);
    expect(hooksOf(bench.read(settings))[0]).toMatch(
      /^npx -y --fetch-retries=0 untildone@\S+ hook qwen-code/,
    );
    expect(bench.read(exclude)).not.toContain('.qwen');
  });

  it('C1: a state directory that was moved is told to hooks and server', async () => {
    bench.env['UNTILDONE_HOME'] = join(bench.home, 'moved');
    await init();
    const { hooks, mcpServers } = parse(bench.read(settings));
    const moved = { UNTILDONE_HOME: join(bench.home, 'moved') };
    expect(hooks.Stop[0].hooks[0].env).toEqual(moved);
    expect(mcpServers.untildone.env).toMatchObject(moved);
  });

  it('C1: a settings file that git tracks is named, and not excluded', async () => {
    bench.write(settings, '{}\n');
    execFileSync('git', ['-C', bench.project, 'add', '.qwen/settings.json'], {
      env: bench.env,
    });
    expect(await init()).toContain(
      'is tracked by git, and now contains paths of this machine',
    );
    expect(bench.read(exclude)).not.toContain('.qwen');
  });
});

describe('doctor on Qwen Code', () => {
  it.each(scopes)(
    'C3: a fresh install %s is healthy, hook and server answer',
    async (scope) => {
      await init(scope);
      expect(await remarksOn(bench, 'qwen-code')).toEqual([]);
      const { out } = await bench.doctor();
      expect(out).toContain('Qwen Code ends a turn after 99 continuations.');
      const isCalled =
        out.includes('called as Qwen Code calls it') &&
        out.includes('was started, and answers');
      expect(isCalled, 'what npx would have to fetch is not called').toBe(
        scope !== '--shared',
      );
    },
  );

  const change = (text: string, to: string) =>
    bench.write(settings, bench.read(settings).replace(text, to));

  it.each([
    [
      'cap',
      'note',
      '"stopHookBlockingCap": 100',
      '"stopHookBlockingCap": 8',
      'after 7 continuations',
      'set "stopHookBlockingCap" to 100',
    ],
    [
      'trust',
      'broken',
      '"$version": 4',
      '"disableAllHooks": true, "$version": 4',
      'Hooks are switched off',
      'take "disableAllHooks" out of',
    ],
    [
      'todo-tools',
      'broken',
      '"enabled": true',
      '"enabled": false',
      'The todo tool is off',
      'untildone init qwen-code',
    ],
    [
      'trust',
      'note',
      '"$version": 4',
      '"security": {"folderTrust": {"enabled": true}}, "$version": 4',
      'nobody trusted this folder',
      'start qwen there',
    ],
  ])('C3: %s: %s', async (name, level, text, to, sentence, mend) => {
    await init();
    change(text, to);
    const [remark, ...others] = await remarksOn(bench, 'qwen-code');
    expect(others).toEqual([]);
    expect(remark).toMatchObject({
      name,
      level,
      sentence: expect.stringContaining(sentence),
    });
    expect(remark?.mend).toContain(mend);
  });

  it('C3: a variable that lowers the cap is named', async () => {
    await init();
    bench.env['QWEN_CODE_STOP_HOOK_BLOCK_CAP'] = '8';
    const mend = 'unset QWEN_CODE_STOP_HOOK_BLOCK_CAP';
    await expectOnly('cap', 'note', 'after 7 continuations', mend);
  });

  it("V10: a server that a project's file names is not started by doctor unless it is our own copy", async () => {
    await init();
    const { mcpServers } = parse(bench.read(settings));
    const [program] = mcpServers.untildone.args;
    const theirs = bench.write(
      'project/theirs.cjs',
      `require('fs').writeFileSync(${JSON.stringify(join(bench.root, 'ran'))}, '')`,
    );
    change(program, theirs);
    await bench.doctor();
    expect(() => bench.read('ran')).toThrow();
    rmSync(theirs);
  });
});
