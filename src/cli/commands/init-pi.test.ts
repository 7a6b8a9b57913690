// Must hold: what `init pi` writes is what pi loads, and taking it away leaves every file
// as it was.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
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

const loader = 'home/.pi/agent/extensions/untildone.js';
const version = '0.0.0-source';

async function init(...argv: string[]): Promise<string> {
  const { code, out, err } = await bench.init('pi', ...argv);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out;
}

/** As pi does: imports the file and calls what it exports, in the folder at hand. */
function load(cwd: string) {
  const code = `
    const { default: extension } = await import(${JSON.stringify(pathToFileURL(join(bench.root, loader)).href)});
    let loaded = 0;
    await extension({ loaded: () => (loaded += 1) });
    console.log(JSON.stringify({ loaded, home: process.env.UNTILDONE_HOME ?? null }));`;
  const options = { cwd, encoding: 'utf8', env: { PATH: '/usr/bin' } } as const;
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', code],
    options,
  );
  return { ...JSON.parse(stdout), stderr, status };
}

/** Settings as people have them. */
const odd: Record<string, Record<string, string>> = {
  'no files at all': {},
  'packages of others': {
    'project/.pi/settings.json':
      '{\n\t"packages": ["npm:other@1.0.0", { "source": "git:x" }]\n}',
    'home/.pi/agent/settings.json': '{"defaultModel":"a"}',
    'home/.pi/agent/extensions/mine.ts': 'export default () => {};\n',
  },
  'CRLF, a byte order mark, no final newline': {
    'project/.pi/settings.json': '\uFEFF{\r\n\t"packages": []\r\n}',
  },
};

describe('init pi', () => {
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

  it('C2: the loader loads the extension in the project and below it, and nowhere else', async () => {
    const nested = join(bench.project, 'packages', 'one');
    mkdirSync(nested, { recursive: true });
    await init();
    expect(
      [bench.project, nested, bench.home].map((folder) => load(folder).loaded),
    ).toEqual([1, 1, 0]);
    await init('--user');
    expect(load(bench.home).loaded).toBe(1);
  });

  it('C1: a state directory that the person moved is told to the extension', async () => {
    bench.env['UNTILDONE_HOME'] = join(bench.root, 'elsewhere');
    await init();
    expect(load(bench.project).home).toBe(join(bench.root, 'elsewhere'));
  });

  it('fail-open: a program that is gone or broken keeps pi from nothing, and is told in one line', async () => {
    await init();
    const program = join(bench.state, 'bin', version, 'pi-extension.js');
    for (const breakIt of [
      () => writeFileSync(program, 'export default 42;'),
      () => rmSync(program),
    ]) {
      breakIt();
      const { loaded, status, stderr } = load(bench.project);
      expect([loaded, status]).toEqual([0, 0]);
      expect(stderr).toMatch(
        /^untildone was not loaded, so the agent is left alone: .+\n$/,
      );
    }
  });

  it('C1: --shared names the package with its version among those of the project', async () => {
    bench.write('project/.pi/settings.json', '{ "packages": ["npm:untildone@0.0.1"] }\n');
    await init('--shared');
    expect(JSON.parse(bench.read('project/.pi/settings.json'))).toEqual({
      packages: [`npm:untildone@${version}`],
    });
  });

  it('C1: PI_CODING_AGENT_DIR moves the folder of the user', async () => {
    bench.env['PI_CODING_AGENT_DIR'] = join(bench.root, 'own');
    await init();
    expect(existsSync(join(bench.root, 'own', 'extensions', 'untildone.js'))).toBe(true);
  });
});

describe('doctor on pi', () => {
  /** Answers as pi does when it is asked for its commands. */
  const answering = (name: string) =>
    `{"type":"response","command":"get_commands","data":{"commands":[{"name":"${name}"}]}} 0.87.1`;

  it('C3: a fresh install is healthy, and pi was asked whether it has loaded the extension', async () => {
    bench.addProgram('pi', answering('untildone-status'));
    await init();
    const { out } = await bench.doctor();
    expect(out).toContain('pi 0.87.1 at');
    expect(out).toContain('pi was started, and has loaded the extension.');
    expect(out).toContain('Nothing is broken.');
  });

  it('C3: one that does not load it is broken, with the command that mends it', async () => {
    bench.addProgram('pi', answering('other'));
    await init();
    const { code, out } = await bench.doctor();
    expect(code).toBe(1);
    expect(out).toContain('pi was started, and has not loaded the extension.\n');
    expect(out).toContain('→ untildone init pi');
  });

  it('C3: a settings file that pi cannot read is told', async () => {
    bench.addProgram('pi', answering('untildone-status'));
    await init();
    bench.write('home/.pi/agent/settings.json', '{ // mine\n}');
    expect((await bench.doctor()).out).toMatch(
      /pi cannot read .*settings\.json: it is not plain JSON/,
    );
  });

  it('P24: installed twice is worth knowing; one of them acts', async () => {
    bench.addProgram('pi', '0.87.1');
    await init();
    await init('--shared');
    expect((await bench.doctor()).out).toContain('Installed twice');
  });
});
