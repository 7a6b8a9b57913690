import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import {
  createTemporaryFolder,
  createTemporaryRepository,
} from '../../test/support/temporary-repository.ts';
import { listWorkspace } from './fingerprint.ts';
import { changedSince, type ProtectedBaseline, takeBaseline } from './protected-paths.ts';

async function baselineOf(
  root: string,
  ...patterns: string[]
): Promise<ProtectedBaseline> {
  const taken = await takeBaseline(root, patterns);
  if (!taken.ok) throw new Error(taken.error);
  return JSON.parse(JSON.stringify(taken.baseline)) as ProtectedBaseline;
}

const nothing = { ok: true, changed: [], deleted: [], added: [] };

describe('V2: protected paths', () => {
  it('tell what changed, vanished and came, and are content again once it is restored', async () => {
    const { root, put } = createTemporaryFolder();
    put('test/a.test.ts', 'one');
    put('test/deep/b.test.ts', 'one');
    put('test/c.test.ts', 'one');
    put('src/a.ts', 'one');
    const baseline = await baselineOf(root, 'test/**');
    expect(await changedSince(baseline, root)).toEqual(nothing);
    put('src/a.ts', 'two');
    expect(await changedSince(baseline, root)).toEqual(nothing);
    put('test/a.test.ts', 'two');
    chmodSync(join(root, 'test/c.test.ts'), 0o755);
    rmSync(join(root, 'test/deep'), { recursive: true });
    put('test/new.test.ts', 'new');
    expect(await changedSince(baseline, root)).toEqual({
      ok: true,
      changed: ['test/a.test.ts', 'test/c.test.ts'],
      deleted: ['test/deep/b.test.ts'],
      added: ['test/new.test.ts'],
    });
    put('test/a.test.ts', 'one');
    chmodSync(join(root, 'test/c.test.ts'), 0o644);
    put('test/deep/b.test.ts', 'one');
    rmSync(join(root, 'test/new.test.ts'));
    expect(await changedSince(baseline, root)).toEqual(nothing);
  });

  it('cannot be emptied by ignoring them, in any of the ways git knows', async () => {
    const { root, put, git } = createTemporaryRepository();
    put('.gitignore', '*.pyc\n');
    put('test/a.test.ts', 'one');
    put('test/a.pyc', 'one');
    git('add', '.');
    git('commit', '-qm', 'all');
    const baseline = await baselineOf(root, 'test/**');
    put('.gitignore', '*.pyc\ntest/\n');
    put('test/.gitignore', '*\n');
    put('.git/info/exclude', 'test/\n');
    git('update-index', '--assume-unchanged', 'test/a.test.ts');
    put('test/a.test.ts', 'two');
    put('test/evil.test.ts', 'new');
    put('test/a.pyc', 'what was ignored before may change');
    put('test/b.pyc', 'and come');
    expect(await changedSince(baseline, root)).toEqual({
      ok: true,
      changed: ['test/a.test.ts'],
      deleted: [],
      added: ['test/.gitignore', 'test/evil.test.ts'],
    });
  });

  it('cannot be swapped for a link', async () => {
    const { root, put } = createTemporaryFolder();
    put('test/a.test.ts', 'one');
    const baseline = await baselineOf(root, 'test/**');
    mkdirSync(join(root, 'elsewhere'));
    renameSync(join(root, 'test'), join(root, 'elsewhere/test'));
    symlinkSync('elsewhere/test', join(root, 'test'));
    expect(await changedSince(baseline, root)).toEqual({
      ok: true,
      changed: [],
      deleted: ['test/a.test.ts'],
      added: ['test'],
    });
  });

  it('are compared by content alone, whatever this process remembers of a look by git', async () => {
    const { root, put } = createTemporaryRepository();
    put('test/a.test.ts', 'one');
    const baseline = await baselineOf(root, 'test/**');
    const first = await listWorkspace(root);
    // Only what is two seconds old is remembered.
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
    await listWorkspace(root);
    const again = await baselineOf(root, 'test/**');
    const last = await listWorkspace(root);
    clock.mockRestore();
    expect(again).toEqual(baseline);
    expect(last).toEqual(first);
  });

  it('take hostile names as they are', async () => {
    const { root, put } = createTemporaryFolder();
    for (const name of ['__proto__', 'constructor', 'ä\n"', '-rf'])
      put(`test/${name}`, 'one');
    const baseline = await baselineOf(root, 'test');
    expect(await changedSince(baseline, root)).toEqual(nothing);
    put('test/__proto__', 'two');
    put('test/ä\n"', 'two');
    expect(await changedSince(baseline, root)).toMatchObject({
      changed: ['test/__proto__', 'test/ä\n"'],
    });
  });

  it('are nothing where there are no patterns, and a sentence where something is wrong', async () => {
    const { root, put } = createTemporaryFolder();
    put('a.txt', 'one');
    expect(await changedSince(await baselineOf(root), root)).toEqual(nothing);
    expect(await takeBaseline(root, ['../x'])).toMatchObject({ ok: false });
    expect(await takeBaseline(join(root, 'gone'), ['a'])).toMatchObject({ ok: false });
    const interrupted = await takeBaseline(root, ['a.txt'], {
      signal: AbortSignal.abort(),
    });
    expect(interrupted).toMatchObject({
      ok: false,
      error: expect.stringContaining('interrupted'),
    });
  });
});
