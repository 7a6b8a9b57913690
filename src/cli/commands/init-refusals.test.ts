import {
  chmodSync,
  existsSync,
  mkdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hostNames } from '../../../test/support/host-named.ts';
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

describe('init that cannot', () => {
  it.each([
    ['broken JSON', hostState, '{ "a": 1, }}', 'is not valid JSON: line 1, column 12'],
    ['a list', settings, '[]', 'has something other than a JSON object in it'],
    [
      'hooks of another shape',
      settings,
      '{"hooks": []}',
      'has something other than an object at "hooks"',
    ],
    ['a doubled key', settings, '{"env":{},"env":{}}', 'has the key "env" twice'],
    ['bytes that are no text', settings, '\u0000bytes', 'is not'],
  ])(
    'C1: %s is told with the file’s name, and nothing is written anywhere',
    async (_name, path, text, sentence) => {
      bench.write(path, text);
      if (text.endsWith('bytes'))
        writeFileSync(join(bench.root, path), Buffer.from([0xff, 0xfe, 0x00]));
      const before = bench.picture();
      const { code, out, err } = await bench.init('claude-code');
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toContain(`${join(bench.root, path)} ${sentence}`);
      expect(err).toContain('Nothing was changed.');
      expect(bench.picture()).toEqual(before);
      expect(existsSync(bench.state)).toBe(false);
    },
  );

  it('V10: copies no programs to where others can write, and makes an older bin/ private', async () => {
    mkdirSync(join(bench.state, 'bin'), { recursive: true });
    chmodSync(bench.state, 0o777);
    const before = bench.picture();
    const { code, err } = await bench.init('claude-code');
    expect(code).toBe(1);
    expect(err).toContain(`${bench.state} can be written by others`);
    expect(bench.picture()).toEqual(before);
    chmodSync(bench.state, 0o755);
    chmodSync(join(bench.state, 'bin'), 0o777);
    expect((await bench.init('claude-code')).code).toBe(0);
    expect(statSync(join(bench.state, 'bin')).mode & 0o777).toBe(0o700);
  });

  it('C1: a read-only file, a link to nothing and a folder in the way are told, and nothing is written', async () => {
    const expectRefusal = async (sentence: string) => {
      const { code, err } = await bench.init('claude-code');
      expect(code).toBe(1);
      expect(err).toContain(sentence);
      expect(existsSync(bench.state)).toBe(false);
    };
    chmodSync(bench.write(settings, '{}'), 0o444);
    await expectRefusal('settings.local.json is marked read-only');
    rmSync(join(bench.root, settings));
    symlinkSync('/nowhere/at/all', join(bench.root, settings));
    await expectRefusal('settings.local.json is a link to nothing');
    rmSync(join(bench.root, settings));
    mkdirSync(join(bench.root, settings));
    await expectRefusal('settings.local.json is not a regular file');
    rmSync(join(bench.root, settings), { recursive: true });
    rmSync(join(bench.project, '.claude'), { recursive: true });
    bench.write('project/.claude', 'a file');
    await expectRefusal('is inside something that is not a folder');
  });

  it('C1: a state directory that cannot be made is told before any file of a host is touched', async () => {
    bench.env['UNTILDONE_HOME'] = join(bench.write('a-file', ''), 'state');
    const before = bench.picture();
    const { code, err } = await bench.init('claude-code');
    expect(code).toBe(1);
    expect(err).toContain('The programs cannot be copied to');
    expect(bench.picture()).toEqual(before);
  });

  it('C1: an incomplete package is told', async () => {
    rmSync(join(bench.root, 'dist/host-commands.js'));
    const { code, err } = await bench.init('claude-code');
    expect(code).toBe(1);
    expect(err).toContain(
      'host-commands.js is missing: this copy of untildone is not complete',
    );
  });

  it.each([
    [
      ['codex-cli'],
      `'codex-cli' is not known here. Allowed choices are ${hostNames}. See untildone COMMAND --help.`,
    ],
    [
      ['claude-cod'],
      `'claude-cod' is not known here. Allowed choices are ${hostNames}. Did you mean claude-code?`,
    ],
    [[], `Name a host, or say --all. Known hosts: ${hostNames}; on PATH: none.`],
    [['claude-code', '--all'], 'Name a host or say --all, not both.'],
    [['--all'], `Name a host, or say --all. Known hosts: ${hostNames}; on PATH: none.`],
    ...['--project', '--shared'].map((flag): [string[], string] => [
      ['claude-code', '--user', flag],
      `Option '--user' cannot be used with option '${flag}'. See untildone COMMAND --help.`,
    ]),
    [
      ['claude-code', '--uninstall', '--check', 'npm test'],
      "Option '--uninstall' cannot be used with option '--check CMD'. See untildone COMMAND --help.",
    ],
  ])('C1: init %j is a sentence and exits 2', async (argv, sentence) => {
    const { code, out, err } = await bench.init(...argv);
    expect({ code, out, err }).toEqual({
      code: 2,
      out: '',
      err: `untildone: ${sentence}\n`,
    });
  });

  it('C1: --all takes the hosts that are there', async () => {
    bench.addProgram('claude', '2.1.325 (Claude Code)');
    expect((await bench.init('--all')).code).toBe(0);
    expect(hooksOf(bench.read(settings))).not.toEqual([]);
    expect((await bench.init('--all', '--uninstall')).code).toBe(0);
    expect(existsSync(join(bench.root, settings))).toBe(false);
  });

  it('C1: without HOME the system is asked for it', async () => {
    const home = process.env['HOME'];
    process.env['HOME'] = bench.home;
    delete bench.env['HOME'];
    try {
      await installed(bench);
      expect(JSON.parse(bench.read(hostState)).projects[bench.project]).toBeDefined();
      await uninstalled(bench);
    } finally {
      process.env['HOME'] = home;
    }
  });

  it('C2: uninstalling where nothing is installed says so and is no failure', async () => {
    expect(await uninstalled(bench)).toContain(
      'Nothing that `untildone init claude-code` writes is in Claude Code',
    );
  });
});
