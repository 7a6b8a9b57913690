// Several hosts in one command: some write the same file, and each must find what the
// others leave in it.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createInstallBench,
  type InstallBench,
} from '../../../test/support/install-bench.ts';
import { hosts } from '../../hosts/hosts.ts';
import { recordedInstalls } from '../../hosts/install/changes.ts';
import * as files from '../../hosts/install/files.ts';

const exclude = 'project/.git/info/exclude';

let bench: InstallBench;
beforeEach(() => {
  bench = createInstallBench({ git: true });
});
afterEach(() => {
  vi.restoreAllMocks();
  bench.close();
});

const add = (...programs: string[]) => {
  for (const name of programs) bench.addProgram(name, '1.0.0');
};
async function addAll() {
  add(
    ...(await Promise.all(hosts.map(async (host) => (await host.installer()).program))),
  );
}
async function init(...argv: string[]) {
  const { code, out, err } = await bench.init(...argv);
  expect(code, err).toBe(0);
  return { out, err };
}

describe('init --all', () => {
  it.each([[[]], [['--user']], [['--shared']]])(
    'C2: %j installs every host; --uninstall puts every file back byte for byte and says that nothing is left',
    async (words) => {
      await addAll();
      bench.write(exclude, '*.log');
      const before = bench.picture();
      await init('--all', ...words);
      const after = bench.picture();
      expect(recordedInstalls(bench.state).map(({ host }) => host)).toHaveLength(
        hosts.length,
      );
      await init('--all', ...words);
      expect(bench.picture(), 'a second time nothing changes').toEqual(after);
      const { out } = await init('--all', '--uninstall', ...words);
      expect(out).not.toContain('Still installed');
      expect(bench.picture()).toEqual(before);
      expect(existsSync(bench.state)).toBe(false);
    },
  );

  it('C2: of two hosts in one file one goes; what the other wrote stays until it goes too', async () => {
    add('codex', 'qwen');
    const before = bench.picture();
    await init('--all');
    await init('codex', '--uninstall');
    expect(bench.read(exclude)).toContain('/.qwen/settings.json\n');
    expect(bench.read(exclude)).not.toContain('.codex');
    await init('--all', '--uninstall');
    expect(bench.picture()).toEqual(before);
  });

  it('C2: what somebody wrote into the shared file since stays when all hosts go', async () => {
    add('codex', 'qwen');
    const before = bench.read(exclude);
    await init('--all');
    bench.write(exclude, `${bench.read(exclude)}mine\n`);
    await init('--all', '--uninstall');
    expect(bench.read(exclude)).toBe(`${before}mine\n`);
  });

  it('C2: hosts that were never installed do not bring the record of another one back', async () => {
    add('claude', 'opencode', 'pi');
    await init('--all');
    expect((await init('--all', '--uninstall')).out).not.toContain('Still installed');
    expect(recordedInstalls(bench.state)).toEqual([]);
  });

  it('C1: --dry-run shows one difference per file, with the lines of all hosts', async () => {
    add('codex', 'qwen');
    const before = bench.picture();
    const { out } = await init('--all', '--dry-run');
    const differences = out
      .split(/^(?=--- )/mu)
      .filter((text) => text.includes('info/exclude'));
    expect(differences).toHaveLength(1);
    expect(differences[0]).toContain('+/.codex/config.toml\n');
    expect(differences[0]).toContain('+/.qwen/settings.json\n');
    expect(bench.picture()).toEqual(before);
    await init('--all');
    const removal = (await init('--all', '--uninstall', '--dry-run')).out;
    expect(removal.match(/^--- .*info\/exclude/gmu)).toHaveLength(1);
    expect(removal).toContain('-/.codex/config.toml\n');
    expect(removal).toContain('-/.qwen/settings.json\n');
  });

  it('C1: a shared file that cannot be written is told once', async () => {
    add('codex', 'qwen');
    chmodSync(join(bench.root, exclude), 0o444);
    const { code, err } = await bench.init('--all');
    expect(code).toBe(1);
    expect(err.match(/is marked read-only/gu)).toHaveLength(1);
  });
});

describe('init that fails while it writes', () => {
  /** Another program is faster at this file, when our programs are copied already. */
  function interfere(path: string) {
    const copy = files.copyPrograms;
    vi.spyOn(files, 'copyPrograms').mockImplementation((...given) => {
      bench.write(path, 'theirs\n');
      return copy(...given);
    });
  }

  it('V5: of several hosts all go back, and the programs that were copied for them go too', async () => {
    add('codex', 'qwen');
    const before = bench.picture();
    interfere('project/.qwen/settings.json');
    const { code, err } = await bench.init('--all');
    expect(code).toBe(1);
    expect(err).toContain('was changed by another program in this moment');
    expect(err).toContain('Nothing was changed.');
    const {
      'project/.qwen/': _folder,
      'project/.qwen/settings.json': theirs,
      ...rest
    } = bench.picture();
    expect(theirs).toContain('theirs');
    expect(rest).toEqual(before);
    expect(existsSync(bench.state)).toBe(false);
  });

  it('V5: programs that stay, because other installs use them, are told', async () => {
    await init('claude-code');
    interfere('home/.config/opencode/plugin/untildone.js');
    const { code, err } = await bench.init('opencode', '--user');
    expect(code).toBe(1);
    expect(err).toMatch(
      /Nothing was changed, except that programs were copied to \S+\/bin\/\S+\.\n/u,
    );
    expect(recordedInstalls(bench.state).map(({ host }) => host)).toEqual([
      'claude-code',
    ]);
  });
});

describe('notes of hosts', () => {
  const trusts = 'Codex skips hooks of a project that nobody trusts';

  it('C1: an install says what it did, --dry-run that it would, --uninstall nothing of it', async () => {
    expect((await init('codex', '--dry-run')).err).toContain(
      `An install would say: ${trusts}`,
    );
    expect((await init('codex')).err).toContain(`untildone: ${trusts}`);
    expect((await init('codex', '--uninstall')).err).toBe('');
    expect((await init('codex', '--uninstall', '--dry-run')).err).toBe('');
  });

  it('C1: --all --uninstall gives no advice on hosts, whether they were installed or not', async () => {
    const tracked = bench.write('project/.qwen/settings.json', '{}\n');
    execFileSync('git', ['-C', bench.project, 'add', tracked], { env: bench.env });
    add('qwen');
    expect((await init('--all')).err).toContain(
      'is tracked by git, and now contains paths',
    );
    expect((await init('--all', '--uninstall')).err).toBe('');
    expect(readFileSync(tracked, 'utf8')).toBe('{}\n');
  });
});
