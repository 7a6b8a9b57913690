import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  createTemporaryFolder,
  createTemporaryRepository,
  fingerprintWorkspace,
  takeFingerprint as take,
} from '../../test/support/temporary-repository.ts';
import { compareListings, fingerprintListing, listWorkspace } from './fingerprint.ts';

async function sourceOf(directory: string): Promise<string> {
  const result = await fingerprintWorkspace(directory);
  return result.ok ? result.source : result.error;
}

describe('V2: the fingerprint in a repository', () => {
  it('does not care what is committed, staged, stashed or checked out, only what is there', async () => {
    const { root, put, git } = createTemporaryRepository();
    put('a.txt', 'one');
    put('deep/b.txt', 'two');
    const first = await take(root);
    git('add', '.');
    expect(await take(root)).toBe(first);
    git('commit', '-qm', 'first');
    expect(await take(root)).toBe(first);
    git('commit', '-qm', 'empty', '--allow-empty');
    git('checkout', '-qb', 'other');
    git('pack-refs', '--all');
    expect(await take(root)).toBe(first);
    put('a.txt', 'changed');
    put('new.txt', 'new');
    const second = await take(root);
    expect(second).not.toBe(first);
    git('add', 'a.txt');
    put('deep/b.txt', 'two');
    expect(await take(root)).toBe(second);
    git('stash', '-qu');
    expect(await take(root)).toBe(first);
    git('stash', 'pop', '-q');
    expect(await take(root)).toBe(second);
    git('add', '.');
    git('commit', '-qm', 'second');
    expect(await take(root)).toBe(second);
    git('checkout', '-q', 'main');
    expect(await take(root)).toBe(first);
    git('reset', '-q', '--soft', 'other');
    expect(await take(root)).toBe(first);
  });

  it('sees content, deletion, renaming, executable files, links and their targets', async () => {
    const { root, put, git } = createTemporaryRepository();
    const file = put('a.txt', 'one');
    symlinkSync('a.txt', join(root, 'link'));
    git('add', '.');
    git('commit', '-qm', 'first');
    const seen = [await take(root)];
    writeFileSync(file, 'two');
    seen.push(await take(root));
    chmodSync(file, 0o755);
    seen.push(await take(root));
    renameSync(file, join(root, 'b.txt'));
    seen.push(await take(root));
    rmSync(join(root, 'link'));
    seen.push(await take(root));
    symlinkSync('b.txt', join(root, 'link'));
    seen.push(await take(root));
    mkdirSync(file);
    put('a.txt/inner', 'x');
    seen.push(await take(root));
    expect(new Set(seen).size).toBe(seen.length);
  });

  it('sees a change of the same length whose time was set back, and one that git was told to overlook', async () => {
    const { root, put, git } = createTemporaryRepository();
    const file = put('a.txt', 'one');
    put('b.txt', 'one');
    git('add', '.');
    git('commit', '-qm', 'first');
    const past = new Date(Date.now() - 3_600_000);
    utimesSync(file, past, past);
    git('update-index', '--refresh');
    const first = await take(root);
    const { atime, mtime, ctimeMs } = statSync(file);
    // git compares whole seconds, and no program can set this time: the real clock has to
    // go on.
    await expect
      .poll(
        () => {
          writeFileSync(file, 'two');
          utimesSync(file, atime, mtime);
          return Math.floor(statSync(file).ctimeMs / 1000);
        },
        { timeout: 3000 },
      )
      .not.toBe(Math.floor(ctimeMs / 1000));
    git('config', 'core.trustctime', 'false');
    git('config', 'core.checkStat', 'minimal');
    expect(await take(root)).not.toBe(first);
    writeFileSync(file, 'one');
    expect(await take(root)).toBe(first);
    git('update-index', '--assume-unchanged', 'a.txt');
    git('update-index', '--skip-worktree', 'b.txt');
    expect(await take(root)).toBe(first);
    writeFileSync(file, 'two');
    const assumed = await take(root);
    expect(assumed).not.toBe(first);
    writeFileSync(file, 'one');
    put('b.txt', 'two');
    expect([first, assumed]).not.toContain(await take(root));
  });

  it('is that of the content which git would store: line ends do not change with staging', async () => {
    const { root, put, git } = createTemporaryRepository();
    put('.gitattributes', '* text=auto\n');
    put('a.txt', 'one\n');
    git('add', '.');
    git('commit', '-qm', 'first');
    put('a.txt', 'one\r\ntwo\r\n');
    put('new.txt', 'three\r\n');
    const dirty = await take(root);
    git('add', '.');
    expect(await take(root)).toBe(dirty);
    git('commit', '-qm', 'second');
    expect(await take(root)).toBe(dirty);
  });

  it('leaves out ignored files and node_modules, and counts the rules themselves', async () => {
    const { root, put, git } = createTemporaryRepository();
    put('.gitignore', 'dist/\n*.log\n');
    put('a.txt', 'one');
    const first = await take(root);
    put('dist/out.js', 'x');
    put('deep/error.log', 'x');
    put('node_modules/m/index.js', 'x');
    expect(await take(root)).toBe(first);
    put('.gitignore', 'dist/\n');
    expect(await take(root)).not.toBe(first);
    git('add', '-f', 'node_modules');
    const tracked = await take(root);
    put('node_modules/m/index.js', 'y');
    expect(await take(root)).not.toBe(tracked);
  });

  it('writes nothing, takes no lock, and does not wait for one', async () => {
    const { root, put, git } = createTemporaryRepository();
    put('a.txt', 'one');
    git('add', '.');
    git('commit', '-qm', 'first');
    put('a.txt', 'changed');
    put('new.txt', 'new');
    utimesSync(join(root, 'a.txt'), 1, 1);
    const snapshot = () => [
      readFileSync(join(root, '.git/index')).toString('base64'),
      String(statSync(join(root, '.git/index')).mtimeMs),
      execFileSync('find', [join(root, '.git')], { encoding: 'utf8' }),
    ];
    const before = snapshot();
    const first = await take(root);
    expect(snapshot()).toEqual(before);
    writeFileSync(join(root, '.git/index.lock'), '');
    expect(await take(root)).toBe(first);
  });

  it('of a folder inside a repository is that of the folder alone', async () => {
    const { root, put, git } = createTemporaryRepository();
    put('packages/one/a.txt', 'one');
    put('packages/one/ä"\n.txt', 'one');
    put('packages/two/b.txt', 'two');
    const folder = join(root, 'packages/one');
    const first = await take(folder);
    put('packages/two/b.txt', 'changed');
    expect(await take(folder)).toBe(first);
    git('add', '.');
    git('commit', '-qm', 'all');
    expect(await take(folder)).toBe(first);
    put('packages/one/a.txt', 'changed');
    expect(await take(folder)).not.toBe(first);
  });

  it('of a folder that the repository above ignores is taken without git', async () => {
    const { root, put } = createTemporaryRepository();
    put('.gitignore', 'scratch/\n');
    put('scratch/a.txt', 'one');
    const folder = join(root, 'scratch');
    expect(await sourceOf(folder)).toBe('walk');
    const first = await take(folder);
    put('scratch/a.txt', 'two');
    expect(await take(folder)).not.toBe(first);
  });

  it('looks into submodules and into repositories that someone made inside', async () => {
    const { root, put, git } = createTemporaryRepository();
    const other = createTemporaryRepository();
    other.put('lib.txt', 'one');
    other.git('add', '.');
    other.git('commit', '-qm', 'lib');
    git('submodule', '--quiet', 'add', other.root, 'lib');
    git('commit', '-qm', 'submodule');
    const first = await take(root);
    put('lib/lib.txt', 'changed');
    const second = await take(root);
    expect(second).not.toBe(first);
    execFileSync(
      'git',
      ['-c', 'user.name=T', '-c', 'user.email=t@e.x', 'commit', '-qam', 'x'],
      {
        cwd: join(root, 'lib'),
      },
    );
    expect(await take(root)).toBe(second);
    put('hidden/a.txt', 'one');
    const third = await take(root);
    execFileSync('git', ['init', '-q'], { cwd: join(root, 'hidden') });
    expect(await take(root)).toBe(third);
    put('hidden/a.txt', 'two');
    expect(await take(root)).not.toBe(third);
  });

  it('walks repositories that lie very deep in others without asking git, and sees what changes there', async () => {
    const { root, put } = createTemporaryRepository();
    const folders = Array.from({ length: 8 }, (_, depth) => 'in/'.repeat(depth));
    for (const folder of folders) {
      put(`${folder}a.txt`, 'one');
      execFileSync('git', ['init', '-q'], { cwd: join(root, folder) });
    }
    const digits = async () => {
      const listed = await listWorkspace(root);
      const values = folders.map(
        (folder) => listed.ok && listed.listing.get(`${folder}a.txt`),
      );
      return values.map((value) => /[0-9a-f]*$/u.exec(String(value))?.[0].length);
    };
    const first = await take(root);
    expect(await digits()).toEqual([40, 40, 40, 40, 40, 40, 64, 64]);
    put(`${folders.at(-1)}a.txt`, 'two');
    expect(await take(root)).not.toBe(first);
  });

  it('takes what was never checked out as it is in git, and what stands there all the same as it is', async () => {
    const { root, put, git } = createTemporaryRepository();
    const library = createTemporaryRepository();
    library.put('lib.txt', 'one');
    library.git('add', '.');
    library.git('commit', '-qm', 'lib');
    put('a.txt', 'one');
    const file = put('b.txt', 'one');
    git('submodule', '--quiet', 'add', library.root, 'lib');
    git('add', '.');
    git('commit', '-qm', 'first');
    git('submodule', '--quiet', 'deinit', '--force', 'lib');
    const first = await take(root);
    git('update-index', '--skip-worktree', 'b.txt');
    rmSync(file);
    expect(await take(root)).toBe(first);
    put('b.txt', 'two');
    expect(await take(root)).not.toBe(first);
    put('b.txt', 'one');
    expect(await take(root)).toBe(first);
    put('lib/hidden.txt', 'new');
    const hidden = await take(root);
    expect(hidden).not.toBe(first);
    put('lib/hidden.txt', 'other');
    expect([first, hidden]).not.toContain(await take(root));
  });

  it('survives a merge that stopped half-way', async () => {
    const { root, put, git } = createTemporaryRepository();
    put('a.txt', 'one\n');
    git('add', '.');
    git('commit', '-qm', 'first');
    git('checkout', '-qb', 'other');
    put('a.txt', 'two\n');
    git('commit', '-qam', 'two');
    git('checkout', '-q', 'main');
    put('a.txt', 'three\n');
    git('commit', '-qam', 'three');
    expect(() => git('merge', '-q', 'other')).toThrow();
    put('a.txt', 'resolved\n');
    const resolved = await take(root);
    git('add', '.');
    expect(await take(root)).toBe(resolved);
  });

  it.runIf(process.platform === 'linux')('takes names of any bytes', async () => {
    const { root, git } = createTemporaryRepository();
    const name = Buffer.concat([
      Buffer.from(`${root}/`),
      Buffer.from([0xff, 0xfe, 0x41]),
    ]);
    writeFileSync(name, 'one');
    for (const odd of [
      '-rf',
      '"quoted"',
      'new\nline',
      'trailing\r',
      'back\\slash',
      ':(top)x',
      'a b',
      '*',
    ]) {
      writeFileSync(join(root, odd), odd);
    }
    const first = await take(root);
    git('add', '.');
    git('commit', '-qm', 'first');
    expect(await take(root)).toBe(first);
    writeFileSync(name, 'two');
    expect(await take(root)).not.toBe(first);
  });
});

describe('V2: the fingerprint without git', () => {
  it('sees every change of what is not ignored, and comes back with the content', async () => {
    const { root, put } = createTemporaryFolder();
    put('.gitignore', '*.log\n');
    const file = put('deep/a.txt', 'one');
    put('node_modules/m.js', 'x');
    expect(await sourceOf(root)).toBe('walk');
    const first = await take(root);
    put('node_modules/m.js', 'y');
    put('deep/x.log', 'y');
    expect(await take(root)).toBe(first);
    const seen = [first];
    writeFileSync(file, 'two');
    seen.push(await take(root));
    chmodSync(file, 0o755);
    seen.push(await take(root));
    symlinkSync('/etc/passwd', join(root, 'link'));
    seen.push(await take(root));
    rmSync(join(root, 'link'));
    chmodSync(file, 0o644);
    writeFileSync(file, 'one');
    expect(new Set(seen).size).toBe(seen.length);
    expect(await take(root)).toBe(first);
  });

  it('remembers contents only of files that have settled', async () => {
    const { root, put } = createTemporaryFolder();
    const file = put('a.txt', 'one');
    const past = new Date(Date.now() - 3_600_000);
    utimesSync(file, past, past);
    const first = await take(root);
    writeFileSync(file, 'two');
    utimesSync(file, past, past);
    expect(await take(root)).not.toBe(first);
  });

  it('is refused in words where there is no folder, no time or no wish', async () => {
    const { root, put } = createTemporaryFolder();
    put('a.txt', 'one');
    const gone = await fingerprintWorkspace(join(root, 'gone'));
    expect(gone).toEqual({ ok: false, error: 'The workspace does not exist.' });
    const aborted = await fingerprintWorkspace(root, { signal: AbortSignal.abort() });
    expect(aborted).toEqual({
      ok: false,
      error: 'The look through the workspace was interrupted.',
    });
    for (let index = 0; index < 300; index += 1) put(`many/${index}`, 'x');
    const late = await fingerprintWorkspace(root, { timeoutMs: 1 });
    expect(late).toMatchObject({
      ok: false,
      error: expect.stringContaining('within 0.001 s'),
    });
  });
});

describe('V2: what counts', () => {
  it('are the files of the check, without plan files and outputs', async () => {
    const { root, put } = createTemporaryRepository();
    put('src/a.ts', 'one');
    put('docs/a.md', 'one');
    put('PLAN.md', 'one');
    put('out/deep/report.txt', 'one');
    const files = { files: ['src/**'] };
    const exclude = { exclude: ['PLAN.md', './out/', 'sr'] };
    const before = {
      all: await take(root),
      files: await take(root, files),
      rest: await take(root, exclude),
    };
    put('docs/a.md', 'two');
    expect(await take(root, files)).toBe(before.files);
    expect(await take(root, exclude)).not.toBe(before.rest);
    put('docs/a.md', 'one');
    put('PLAN.md', 'two');
    put('out/deep/report.txt', 'two');
    expect(await take(root, exclude)).toBe(before.rest);
    expect(await take(root)).not.toBe(before.all);
    put('src/a.ts', 'two');
    expect(await take(root, files)).not.toBe(before.files);
    expect(await take(root, exclude)).not.toBe(before.rest);
    expect(await fingerprintWorkspace(root, { files: ['../x'] })).toMatchObject({
      ok: false,
    });
    expect(readdirSync(root)).toContain('src');
  });

  it('is chosen from one listing, which also tells what a check changed', async () => {
    const { root, put } = createTemporaryRepository();
    put('src/a.ts', 'one');
    put('out/report.txt', 'one');
    const before = await listWorkspace(root);
    put('out/report.txt', 'two');
    put('out/new.txt', 'new');
    rmSync(join(root, 'src/a.ts'));
    const after = await listWorkspace(root);
    if (!before.ok || !after.ok) throw new Error('no listing');
    expect(compareListings(before.listing, after.listing)).toEqual({
      changed: ['out/report.txt'],
      deleted: ['src/a.ts'],
      added: ['out/new.txt'],
    });
    const source = { files: ['src'] };
    expect(fingerprintListing(before.listing, source)).toMatchObject({
      ok: true,
      files: 1,
    });
    expect(fingerprintListing(after.listing, source)).toMatchObject({
      ok: true,
      files: 0,
    });
    expect(fingerprintListing(after.listing)).toMatchObject({
      fingerprint: await take(root),
      files: 2,
    });
  });
});
