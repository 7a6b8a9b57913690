// V10: which folder is trusted by which key. The tests of the hook and of the command
// line cover the rest.
import { mkdirSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  createTemporaryFolder,
  createTemporaryRepository,
} from '../../test/support/temporary-repository.ts';
import {
  acceptWishes,
  listTrustFolders,
  nearestAccepted,
  readTrust,
  revokeTrust,
} from './trust.ts';

const keys = (directory: string) =>
  listTrustFolders(directory).flatMap(({ key, isAbove }) => (isAbove ? [] : [key]));

describe('listTrustFolders', () => {
  it('all worktrees of a repository share the key, folder by folder', () => {
    const { root, put, git } = createTemporaryRepository();
    put('packages/a/x.txt', 'one');
    git('add', '.');
    git('commit', '-qm', 'first');
    const tree = `${root}-tree`;
    git('worktree', 'add', '-q', tree);
    expect(keys(join(tree, 'packages/a'))).toEqual(keys(join(root, 'packages/a')));
    expect(keys(join(root, 'packages/a'))).toHaveLength(3);
    git('worktree', 'remove', '--force', tree);
  });

  it('a worktree that lost its .git file, or has another .git, is still named by its repository', () => {
    const { root, put, git } = createTemporaryRepository();
    put('packages/a/x.txt', 'one');
    git('add', '.');
    git('commit', '-qm', 'first');
    const tree = `${root}-tree`;
    git('worktree', 'add', '-q', tree);
    const [place] = listTrustFolders(join(root, 'packages'));
    const accepted = {
      key: place?.key ?? '',
      folder: place?.real ?? '',
      at: 1,
      config: { ceiling: 7 },
    };
    const found = (directory: string) =>
      nearestAccepted(listTrustFolders(directory), [
        { ...accepted, key: '["gone",1]' },
        accepted,
      ])?.place.folder;
    const packages = join(tree, 'packages');
    expect(found(join(packages, 'a'))).toBe(packages);
    rmSync(join(tree, '.git'));
    expect(found(join(packages, 'a'))).toBe(packages);
    mkdirSync(join(tree, '.git'));
    expect(found(join(packages, 'a'))).toBe(packages);
    expect(found(tree)).toBeUndefined();
    rmSync(tree, { recursive: true });
  });

  it('a folder that only claims to be a worktree of a trusted repository is trusted by its own path', () => {
    const { root, put, git } = createTemporaryRepository();
    put('x.txt', 'one');
    git('add', '.');
    git('commit', '-qm', 'first');
    const { root: forged } = createTemporaryFolder();
    const claims = [
      `gitdir: ${join(root, '.git')}\n`,
      `gitdir: ${join(forged, 'fake')}\n`,
    ];
    mkdirSync(join(forged, 'fake'));
    writeFileSync(join(forged, 'fake/commondir'), `${join(root, '.git')}\n`);
    for (const claim of claims) {
      writeFileSync(join(forged, '.git'), claim);
      expect(keys(forged)).toEqual([forged]);
    }
  });

  it('a folder that vouches for itself gains nothing: only what lies inside the repository is asked', () => {
    const { root, put, git } = createTemporaryRepository();
    put('x.txt', 'one');
    git('add', '.');
    git('commit', '-qm', 'first');
    const { root: forged } = createTemporaryFolder();
    mkdirSync(join(forged, 'fake'));
    writeFileSync(join(forged, 'fake/commondir'), `${join(root, '.git')}\n`);
    writeFileSync(join(forged, 'fake/gitdir'), `${join(forged, '.git')}\n`);
    writeFileSync(join(forged, '.git'), `gitdir: ${join(forged, 'fake')}\n`);
    expect(keys(forged)).toEqual([forged]);
  });

  it('V10: a .git that is a link to that of a trusted repository, or of its worktree, gains nothing', () => {
    const { root, put, git } = createTemporaryRepository();
    put('x.txt', 'one');
    git('add', '.');
    git('commit', '-qm', 'first');
    const tree = `${root}-tree`;
    git('worktree', 'add', '-q', tree);
    const { root: forged } = createTemporaryFolder();
    for (const theirs of [root, tree]) {
      symlinkSync(join(theirs, '.git'), join(forged, '.git'));
      expect(keys(forged)).toEqual([forged]);
      unlinkSync(join(forged, '.git'));
    }
    git('worktree', 'remove', '--force', tree);
  });
});

describe('V10: what is kept', () => {
  it('a folder has one accepted set, whether .git came or went, and so has every worktree that shares it', () => {
    const { root: state } = createTemporaryFolder();
    const accept = (key: string, folder: string, ceiling: number) =>
      acceptWishes(state, { key, folder, at: ceiling, config: { ceiling } });
    const kept = () =>
      readTrust(state).map(({ folder, config }) => [folder, config.ceiling]);
    accept('other', '/other', 1);
    accept('shared', '/main', 2);
    accept('shared', '/tree', 3);
    expect(kept()).toEqual([
      ['/other', 1],
      ['/main', 3],
      ['/tree', 3],
    ]);
    accept('/main', '/main', 4);
    const at = (folder: string, key: string) =>
      nearestAccepted([{ folder, real: folder, key, isAbove: false }], readTrust(state))
        ?.config.ceiling;
    expect(at('/main', 'shared')).toBe(4);
    expect(at('/main', '/main')).toBe(4);
    expect(at('/new-tree', 'shared')).toBe(4);
    expect(at('/new', '/new')).toBeUndefined();
    expect(revokeTrust(state, { key: '/main', folder: '/main' })).toBe(true);
    expect(at('/main', '/main')).toBeUndefined();
    expect(kept()).toContainEqual(['/other', 1]);
  });
});
