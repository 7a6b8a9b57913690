// V10: setting up runs no program that the repository names.
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  createTemporaryFolder,
  createTemporaryRepository,
} from '../../../test/support/temporary-repository.ts';
import { findProject } from './installer.ts';

const look = (cwd: string) => {
  const basis = {
    cwd,
    home: '/nowhere',
    stateDirectory: '/nowhere',
    version: '0',
    node: 'node',
  };
  const project = findProject({ ...basis, env: process.env });
  project.isTracked('a.txt');
  return project;
};

describe('findProject', () => {
  it('V10: runs no monitor that the configuration of the repository names', () => {
    const { root, put, git } = createTemporaryRepository();
    put('a.txt', 'one');
    git('add', '.');
    git('config', 'core.fsmonitor', `touch '${join(root, 'ran')}'; echo`);
    expect(look(root)).toMatchObject({
      root,
      mainRoot: root,
      excludeFile: join(root, '.git/info/exclude'),
    });
    expect(findProject({ cwd: root, env: process.env } as never).isTracked('a.txt')).toBe(
      true,
    );
    expect(existsSync(join(root, 'ran'))).toBe(false);
  });

  it('V10: plain files that pose as a bare repository are none', () => {
    const { root, put } = createTemporaryFolder();
    put('HEAD', 'ref: refs/heads/main\n');
    put(
      'config',
      `[core]\n\tworktree = .\n\tfsmonitor = "touch '${join(root, 'ran')}'; echo"\n`,
    );
    put('objects/x', '');
    put('refs/x', '');
    expect(look(root)).toMatchObject({ root, excludeFile: null });
    expect(existsSync(join(root, 'ran'))).toBe(false);
  });

  it('a worktree has the root and the exclude list of its repository', () => {
    const { root, put, git } = createTemporaryRepository();
    put('a.txt', 'one');
    git('add', '.');
    git('commit', '-qm', 'first');
    const tree = join(root, '..', `${root.split('/').at(-1)}-tree`);
    git('worktree', 'add', '-q', tree);
    expect(look(tree)).toMatchObject({
      root: realpathSync(tree),
      mainRoot: root,
      excludeFile: join(root, '.git/info/exclude'),
    });
    git('worktree', 'remove', '--force', tree);
  });
});
