// Must hold: what `init opencode` writes is what OpenCode loads, and taking it away
// leaves every file as it was.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse } from 'jsonc-parser';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createInstallBench,
  type InstallBench,
} from '../../../test/support/install-bench.ts';

let bench: InstallBench;

beforeEach(() => {
  bench = createInstallBench({ git: true });
});

afterEach(() => bench.close());

const loader = 'home/.config/opencode/plugin/untildone.js';
const version = '0.0.0-source';

async function init(...argv: string[]): Promise<string> {
  const { code, out, err } = await bench.init('opencode', ...argv);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out;
}

/**
 * As the host does: imports the file and gives it the folder at hand. What it answers are
 * hooks.
 */
async function load(
  directory: string,
): Promise<{ hooks: { loaded?: object[] }; home: string | null }> {
  const code = `
    const { default: plugin } = await import(${JSON.stringify(pathToFileURL(join(bench.root, loader)).href)});
    const hooks = await plugin.server({ directory: ${JSON.stringify(directory)} }, { some: 'option' });
    console.log(JSON.stringify({ id: plugin.id, hooks, home: process.env.UNTILDONE_HOME ?? null }));`;
  const argv = ['--input-type=module', '--eval', code];
  return JSON.parse(
    execFileSync(process.execPath, argv, { encoding: 'utf8', env: { PATH: '/usr/bin' } }),
  );
}

/** Settings as people have them. */
const odd: Record<string, Record<string, string>> = {
  'no files at all': {},
  'a file with comments': {
    'project/opencode.jsonc':
      '{\n  // mine\n  "model": "a/b", // the good one\n  "plugin": ["other"], /* and\n more */\n}\n',
  },
  'both files, other plugins with options': {
    'project/opencode.json': '{"plugin":["other@1.0.0",["third",{"a":1}]]}',
    'project/opencode.jsonc': '{ }\n',
    'home/.config/opencode/opencode.json':
      '{ "$schema": "https://opencode.ai/config.json" }',
  },
  'tabs, CRLF, a byte order mark, no final newline': {
    'project/opencode.json': '\uFEFF{\r\n\t"plugin": []\r\n}',
  },
  'settings in the hidden folder, other plugin files': {
    'project/.opencode/opencode.json': '{\n  "$schema": "./own.json"\n}\n',
    'project/.opencode/plugin/mine.ts': 'export const Mine = async () => ({});\n',
    'home/.config/opencode/plugin/other.js': 'export const Other = async () => ({});\n',
  },
  'an empty file': { 'project/opencode.json': '' },
};

describe('init opencode', () => {
  const situations = Object.keys(odd).flatMap((name) =>
    ['', '--user', '--shared'].map((scope) => [name, scope] as const),
  );

  it.each(situations)(
    'C2: %s %s: uninstalling puts every file back byte for byte',
    async (name, scope) => {
      for (const [path, text] of Object.entries(odd[name] ?? {})) bench.write(path, text);
      const argv = scope === '' ? [] : [scope];
      const before = bench.picture();
      await init(...argv);
      const after = bench.picture();
      expect(after).not.toEqual(before);
      expect(await init(...argv)).toContain('already; nothing changed');
      expect(bench.picture(), 'a second init changes nothing').toEqual(after);
      await init('--uninstall', ...argv);
      expect(bench.picture()).toEqual(before);
      expect(existsSync(bench.state), 'nothing is left in the state directory').toBe(
        false,
      );
    },
  );

  it('C1: nothing is written into the project: the loader stands in the folder of the user', async () => {
    await init();
    const status = execFileSync('git', ['-C', bench.project, 'status', '--porcelain'], {
      env: bench.env,
    });
    expect(status.toString()).toBe('');
    expect(
      Object.keys(bench.picture()).filter((path) => path.startsWith('project/')),
    ).toEqual(['project/.git/', 'project/.git/info/exclude']);
    expect(
      readFileSync(join(bench.state, 'bin', version, 'server.js'), 'utf8'),
    ).toContain('untildone');
    expect(
      readdirSync(join(bench.state, 'bin', version)),
      'and nothing that it does not need',
    ).toEqual(['server.js']);
  });

  it('C2: the loader loads the plugin in the project and below it, and nowhere else', async () => {
    const nested = join(bench.project, 'packages', 'one');
    const beside = `${bench.project}-beside`;
    for (const folder of [nested, beside]) mkdirSync(folder, { recursive: true });
    await init();
    for (const directory of [bench.project, nested]) {
      const input = { directory };
      expect(await load(directory)).toEqual({
        id: 'untildone',
        home: null,
        hooks: { loaded: [input, { some: 'option' }] },
      });
    }
    for (const directory of [beside, bench.home, join(bench.root, 'gone')]) {
      expect((await load(directory)).hooks).toEqual({});
    }
    await init('--user');
    expect((await load(beside)).hooks.loaded).toHaveLength(2);
    await init('--uninstall', '--user');
    expect((await load(beside)).hooks).toEqual({});
    expect((await load(bench.project)).hooks.loaded).toHaveLength(2);
  });

  it('C1: a state directory that the person moved is told to the plugin', async () => {
    bench.env['UNTILDONE_HOME'] = join(bench.root, 'elsewhere');
    await init();
    expect(await load(bench.project)).toMatchObject({
      home: join(bench.root, 'elsewhere'),
    });
    expect(await load(bench.home)).toMatchObject({ home: null });
  });

  it('C1: two projects share the loader, and the newest version stays when one of them goes', async () => {
    const other = join(bench.root, 'other "project"\n');
    mkdirSync(other);
    await init();
    bench.write(loader, bench.read(loader).replaceAll(version, '0.0.1'));
    expect((await bench.initIn(other, 'opencode')).code).toBe(0);
    expect(bench.read(loader)).toContain(version);
    await init('--uninstall');
    expect((await load(other)).hooks.loaded).toHaveLength(2);
    expect((await load(bench.project)).hooks).toEqual({});
    expect((await bench.initIn(other, 'opencode', '--uninstall')).out).toContain(
      'removed',
    );
    expect(existsSync(join(bench.home, '.config'))).toBe(false);
  });

  it('C2: a file of the same name that a person wrote is neither overwritten nor taken away', async () => {
    bench.write(loader, 'export const Mine = async () => ({});\n');
    const before = bench.picture();
    const { code, err } = await bench.init('opencode');
    expect(code).toBe(1);
    expect(err).toContain('is there already, and untildone did not write it');
    await init('--uninstall');
    expect(bench.picture()).toEqual(before);
  });

  it('C2: a loader goes even when the record of it is lost', async () => {
    const before = bench.picture();
    await init();
    execFileSync('rm', ['-r', join(bench.state, 'installs')]);
    await init('--uninstall');
    expect(existsSync(join(bench.root, loader))).toBe(false);
    expect(Object.keys(bench.picture())).toEqual(
      expect.arrayContaining(Object.keys(before)),
    );
    expect(existsSync(join(bench.state, 'opencode-folders'))).toBe(false);
  });

  it('C1: --shared adds the pinned package; comments and other plugins stay', async () => {
    for (const [path, text] of Object.entries(odd['a file with comments'] ?? {}))
      bench.write(path, text);
    await init('--shared');
    expect(parse(bench.read('project/opencode.jsonc'))).toEqual({
      model: 'a/b',
      plugin: ['other', `untildone@${version}`],
      $schema: 'https://opencode.ai/config.json',
    });
    expect(bench.read('project/opencode.jsonc')).toContain('// the good one');
    expect(existsSync(join(bench.project, 'opencode.json')), 'one file is enough').toBe(
      false,
    );
  });

  it('C2: --shared says that a registry must have the package, and what takes it away again', async () => {
    expect(await init('--shared')).toContain(
      '`npm view untildone@0.0.0-source` says whether it is there',
    );
    const out = await init('--uninstall');
    expect(out).toContain('Nothing that `untildone init opencode` writes is in OpenCode');
    expect(out).toContain('→ untildone init opencode --uninstall --shared\n');
    expect(await init('--uninstall', '--shared')).not.toContain('Still installed');
  });

  it('C1: --shared over an older version of a colleague replaces it, and what a person wrote by name stays', async () => {
    bench.write(
      'project/opencode.json',
      '{ "plugin": ["untildone@0.0.1", "other", "untildone@0.0.2"] }\n',
    );
    await init('--shared');
    expect(parse(bench.read('project/opencode.json')).plugin).toEqual([
      'other',
      `untildone@${version}`,
    ]);
    await init('--shared', '--uninstall');
    expect(parse(bench.read('project/opencode.json')).plugin).toEqual(['other']);
    const own =
      '{ "$schema": "https://opencode.ai/config.json", "plugin": [["untildone", { "a": 1 }]] }\n';
    bench.write('project/opencode.json', own);
    expect(await init('--shared')).toContain('already; nothing changed');
    await init('--shared', '--uninstall');
    expect(bench.read('project/opencode.json')).toBe(own);
  });

  it('C1: --dry-run shows the loader and changes nothing', async () => {
    const before = bench.picture();
    expect(await init('--dry-run')).toContain('+export default {');
    expect(await init('--dry-run', '--shared')).toContain(`untildone@${version}`);
    expect(bench.picture()).toEqual(before);
  });
});
