// A store with a new layout must not leave the hooks of an older version behind: they
// would refuse it, and nobody would notice.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createInstallBench,
  type InstallBench,
} from '../../../test/support/install-bench.ts';
import { hosts } from '../hosts.ts';
import { renewInstalledPrograms } from './changes.ts';

const old = '0.0.0-source';
let bench: InstallBench;

beforeEach(() => {
  bench = createInstallBench({ git: true });
});

afterEach(() => bench.close());

const copyOf = (version: string, name = 'hook.js') =>
  readFileSync(join(bench.state, 'bin', version, name), 'utf8');

async function renew(version: string): Promise<string[]> {
  const { env, home, state: stateDirectory } = bench;
  const basis = { env, home, stateDirectory, cwd: home, version, node: process.execPath };
  const installers = await Promise.all(hosts.map((host) => host.installer()));
  return renewInstalledPrograms(installers, basis, join(bench.root, 'dist'));
}

describe('programs after the store got a new layout', () => {
  it('V7: old copies run the new program, and the settings on record name it, wherever it was installed', async () => {
    const before = bench.picture();
    for (const argv of [['claude-code'], ['claude-code', '--user'], ['opencode']])
      await bench.init(...argv);
    writeFileSync(join(bench.root, 'dist', 'hook.js'), '// the new one');
    const said = await renew('0.2.0');
    expect(said[0]).toContain('were renewed to 0.2.0');
    expect([copyOf(old), copyOf('0.2.0')]).toEqual(['// the new one', '// the new one']);
    const picture = bench.picture();
    const named = [
      'project/.claude/settings.local.json',
      'home/.claude/settings.json',
      'home/.claude.json',
    ];
    for (const file of [...named, 'home/.config/opencode/plugin/untildone.js']) {
      expect(picture[file], file).toContain('/bin/0.2.0/');
      expect(picture[file], file).not.toContain(`/bin/${old}/`);
      expect(said, file).toContainEqual(expect.stringMatching(`${file} names them`));
    }
    for (const argv of [['claude-code'], ['claude-code', '--user'], ['opencode']])
      await bench.init(...argv, '--uninstall');
    expect(bench.picture(), 'and uninstalling still leads back').toEqual(before);
  });

  it('V7: says nothing where nothing is installed, and does not install what was not', async () => {
    expect(await renew('0.2.0')).toEqual([]);
    mkdirSync(join(bench.state, 'bin', old), { recursive: true });
    writeFileSync(join(bench.state, 'bin', old, 'hook.js'), 'a copy without a record');
    const before = bench.picture();
    expect(await renew('0.2.0')).toHaveLength(1);
    expect(copyOf(old)).not.toContain('a copy without a record');
    expect(bench.picture()).toEqual(before);
  });

  it('V7: a file that cannot be changed is told, and the copies are renewed all the same', async () => {
    await bench.init('claude-code');
    bench.write('project/.claude/settings.local.json', 'no longer JSON');
    writeFileSync(join(bench.root, 'dist', 'hook.js'), '// the new one');
    expect(await renew('0.2.0')).toContainEqual(
      expect.stringContaining('still names the old ones'),
    );
    expect(copyOf(old)).toBe('// the new one');
  });
});
