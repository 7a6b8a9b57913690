// V10: which folder is trusted by which key. Everything else is tried through the hook and the command line.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTemporaryFolder, createTemporaryRepository } from '../../test/support/temporary-repository.ts';
import { trustPlaces } from './trust.ts';

const keys = (directory: string) => [...trustPlaces(directory)].map(({ key }) => key);

describe('trustPlaces', () => {
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

  it('a folder that only claims to be a worktree of a trusted repository is trusted by its own path', () => {
    const { root, put, git } = createTemporaryRepository();
    put('x.txt', 'one');
    git('add', '.');
    git('commit', '-qm', 'first');
    const { root: forged } = createTemporaryFolder();
    const claims = [`gitdir: ${join(root, '.git')}\n`, `gitdir: ${join(forged, 'fake')}\n`];
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
});
