// An agent writes into the repository too: whatever it put there, looking at it runs
// nothing and reads nothing outside.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  createTemporaryRepository,
  fingerprintWorkspace,
  takeFingerprint as take,
} from '../../test/support/temporary-repository.ts';

describe('V2: a repository that an agent prepared', () => {
  it('gets none of its programs run: no monitor, no hook, no filter, no git of its own', async () => {
    const { root, put, git } = createTemporaryRepository();
    const witness = join(root, '.git', 'witness');
    const program = put('.git/evil', `#!/bin/sh\necho ran >> '${witness}'\ncat\n`);
    chmodSync(program, 0o755);
    put('bin/git', `#!/bin/sh\necho ran >> '${witness}'\n`);
    chmodSync(join(root, 'bin/git'), 0o755);
    put('a.txt', 'one');
    git('add', '.');
    git('commit', '-qm', 'first');
    for (const hook of ['post-index-change', 'pre-commit', 'fsmonitor-watchman']) {
      put(`.git/hooks/${hook}`, readFileSync(program));
      chmodSync(join(root, '.git/hooks', hook), 0o755);
    }
    git('config', 'core.fsmonitor', program);
    for (const name of ['evil', 'e=v.il']) {
      for (const key of ['clean', 'smudge', 'process'])
        git('config', `filter.${name}.${key}`, program);
      git('config', `filter.${name}.required`, 'true');
    }
    put('.gitattributes', 'a.txt filter=evil\nb.txt filter=e=v.il\n');
    put('.git/info/attributes', '*.txt filter=evil\n');
    put('a.txt', 'two');
    put('b.txt', 'new');
    utimesSync(join(root, 'a.txt'), 1, 1);
    const environment = {
      ...process.env,
      PATH: `${join(root, 'bin')}:.:bin:${process.env['PATH']}`,
    };
    const result = await fingerprintWorkspace(root, { environment });
    expect(result).toMatchObject({ ok: true, source: 'git', files: 4 });
    expect(existsSync(witness)).toBe(false);
  });

  it('cannot point elsewhere: neither core.worktree nor GIT_ variables count', async () => {
    const { root, put, git } = createTemporaryRepository();
    const other = createTemporaryRepository();
    other.put('other.txt', 'x');
    put('a.txt', 'one');
    const first = await take(root);
    git('config', 'core.worktree', other.root);
    expect(await take(root)).toBe(first);
    const environment = {
      ...process.env,
      GIT_DIR: join(other.root, '.git'),
      GIT_WORK_TREE: other.root,
      GIT_INDEX_FILE: '/dev/null',
    };
    expect(await take(root, { environment })).toBe(first);
    other.put('other.txt', 'y');
    expect(await take(root)).toBe(first);
  });

  it('with a broken configuration is walked through instead', async () => {
    const { root, put } = createTemporaryRepository();
    put('a.txt', 'one');
    put('.git/config', '[core\n');
    expect(await fingerprintWorkspace(root)).toMatchObject({ ok: true, source: 'walk' });
    const first = await take(root);
    put('a.txt', 'two');
    expect(await take(root)).not.toBe(first);
  });

  it('with a link to itself where git keeps its files or its index is walked through instead', async () => {
    for (const path of ['.git', '.git/index']) {
      const { root, put } = createTemporaryRepository();
      put('a.txt', 'one');
      rmSync(join(root, path), { recursive: true, force: true });
      symlinkSync(join(root, path), join(root, path));
      expect(await fingerprintWorkspace(root)).toMatchObject({
        ok: true,
        source: 'walk',
      });
    }
  });

  it.runIf(process.platform !== 'win32')('does not hang at a FIFO', async () => {
    const { root, put, git } = createTemporaryRepository();
    put('a.txt', 'one');
    git('add', '.');
    git('commit', '-qm', 'first');
    rmSync(join(root, 'a.txt'));
    execFileSync('mkfifo', [join(root, 'a.txt'), join(root, 'b.txt')]);
    expect(await fingerprintWorkspace(root)).toMatchObject({ ok: true });
  });
});
