import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { asOrdinaryUser } from '../../test/support/ordinary-user.ts';
import {
  createTemporaryFolder,
  createTemporaryRepository,
} from '../../test/support/temporary-repository.ts';
import { defaultSettings } from '../core/settings.ts';
import { listWorkspace } from './fingerprint.ts';
import { freezeIgnoreRules, withIgnoreRules } from './git.ts';

/** Kernels stamp files by ticks: what comes next is surely later, or surely earlier. */
const tick = () => sleep(25);

/** The human speaks; the answer looks at the files by the rules of that message. */
async function speak(root: string, environment = process.env) {
  await tick();
  const since = Date.now();
  const policy = await withIgnoreRules(
    { settings: defaultSettings, goalChecks: [] },
    root,
    environment,
  );
  const { rules } = freezeIgnoreRules(policy, since);
  await tick();
  return async () => {
    const listed = await listWorkspace(root, { rules, environment });
    if (!listed.ok) throw new Error(listed.error);
    return {
      files: Object.fromEntries(listed.listing),
      hidden: listed.hidden.toSorted(),
    };
  };
}

/** What an agent may do so that git leaves out `made/secret.txt`. */
const tricks: Record<
  string,
  (stage: ReturnType<typeof createTemporaryRepository>) => void
> = {
  'the .gitignore': ({ put }) => void put('.gitignore', 'build/\nmade/secret.txt\n'),
  'a nested .gitignore that hides itself': ({ put }) =>
    void put('made/.gitignore', '*\n'),
  '.git/info/exclude': ({ put }) => void put('.git/info/exclude', '/made/secret.txt\n'),
  'core.excludesFile of the repository': ({ root, put, git }) => {
    git('config', 'core.excludesFile', join(root, '.git/mine'));
    put('.git/mine', 'secret.txt\n');
  },
  'an included file of its settings': ({ root, put, git }) => {
    git('config', 'include.path', join(root, '.git/more'));
    put('.git/more', `[core]\n\texcludesFile = ${join(root, '.git/mine')}\n`);
    put('.git/mine', 'secret.txt\n');
  },
  'a .gitignore that the index does not know any more': ({ put, git }) => {
    put('.gitignore', '*.txt\n');
    git('rm', '-q', '--cached', 'tracked.txt');
  },
};

describe('V2: an agent hides no file by ignoring it', () => {
  it.each(Object.keys(tricks))('through %s', async (name) => {
    const stage = createTemporaryRepository();
    const { root, put, git } = stage;
    put('.gitignore', 'build/\n');
    put('tracked.txt', 'one');
    git('add', '.');
    git('commit', '-qm', 'first');
    put('build/out.txt', 'one');
    put('made/secret.txt', 'good');
    const look = await speak(root);
    expect((await look()).hidden).toEqual([]);
    tricks[name]?.(stage);
    const seen = await look();
    expect(seen.files).toHaveProperty(['made/secret.txt']);
    expect(seen.files).toHaveProperty(['tracked.txt']);
    expect(seen.files).not.toHaveProperty(['build/out.txt']);
    expect(seen.hidden).toContain('made/secret.txt');
    put('made/secret.txt', 'bad');
    expect((await look()).files).not.toEqual(seen.files);
    expect(
      (await (await speak(root))()).files,
      'until the next message',
    ).not.toHaveProperty(['made/secret.txt']);
  });

  it.each(['.gitignore', 'made/.gitignore'])(
    'in a folder without git, through %s',
    async (file) => {
      const { root, put } = createTemporaryFolder();
      put('.gitignore', 'build/\n');
      put('build/out.txt', 'one');
      put('made/secret.txt', 'good');
      const look = await speak(root);
      const before = await look();
      expect(Object.keys(before.files).sort()).toEqual(['.gitignore', 'made/secret.txt']);
      put(file, 'secret.txt\n');
      const seen = await look();
      expect(seen).toMatchObject({
        hidden: ['made/secret.txt'],
        files: { 'made/secret.txt': expect.anything() },
      });
      expect(seen.files).not.toHaveProperty(['build/out.txt']);
      put('made/secret.txt', 'bad');
      expect((await look()).files).not.toEqual(seen.files);
      expect((await (await speak(root))()).files).not.toHaveProperty(['made/secret.txt']);
    },
  );
});

describe('V2: a folder that may not be read', () => {
  // 000: nothing can be known of it. 444: its names are known, and nothing else.
  const modes = [0o000, 0o444];
  const stages = {
    'a folder': createTemporaryFolder,
    'a repository': createTemporaryRepository,
  };
  const cases = Object.entries(stages).flatMap(([where, create]) =>
    modes.map((mode) => ({ where, create, mode })),
  );

  it.each(cases)(
    'is a difference in $where, and no failure: mode $mode',
    async ({ where, create, mode }) => {
      const { root, put, git } = create();
      chmodSync(root, 0o755);
      put('seen.txt', 'one');
      put('closed/.gitignore', 'secret.txt\n');
      put('closed/made.txt', 'one');
      if (where === 'a repository') git('add', '.');
      const environment = { PATH: process.env['PATH'], HOME: root };
      const look = await speak(root, environment);
      const before = await look();
      chmodSync(join(root, 'closed'), mode);
      onTestFinished(() => chmodSync(join(root, 'closed'), 0o755));
      const after = await asOrdinaryUser(look);
      expect(after.files).toHaveProperty(['seen.txt'], before.files['seen.txt']);
      expect(after.files).not.toEqual(before.files);
      // It is no change of its own that nobody can read it: the same look again finds the
      // same.
      expect(await asOrdinaryUser(look)).toEqual(after);
      chmodSync(join(root, 'closed'), 0o755);
      expect((await look()).files).toEqual(before.files);
    },
  );
});

/** A `git` that writes down how it is called: its environment, and the lines. */
function countedGit() {
  const folder = mkdtempSync(join(tmpdir(), 'untildone-counted-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const git = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
  const calls = join(folder, 'calls');
  writeFileSync(
    join(folder, 'git'),
    `#!/bin/sh\necho "$*" >> '${calls}'\nexec '${git}' "$@"\n`,
    {
      mode: 0o755,
    },
  );
  return {
    environment: { ...process.env, PATH: `${folder}:${process.env['PATH']}` },
    /** Since the last question. */
    calls() {
      const lines = readFileSync(calls, { encoding: 'utf8', flag: 'a+' })
        .split('\n')
        .filter(Boolean);
      writeFileSync(calls, '');
      return lines.map(
        (line) => / (config|ls-files|diff-files|hash-object) /u.exec(`${line} `)?.[1],
      );
    },
  };
}

describe('V2: the rules of the last message', () => {
  it('do not hold where they are too long to be remembered: a padded file hides nothing', async () => {
    const { root, put } = createTemporaryRepository();
    const padding = '# padding\n'.repeat(11_000);
    put('.gitignore', padding);
    put('secret.txt', 'good');
    const look = await speak(root);
    put('.gitignore', `${padding}secret.txt\n`);
    expect(await look()).toMatchObject({
      hidden: ['secret.txt'],
      files: { 'secret.txt': expect.anything() },
    });
  });

  it('cost no process at the message, and one more listing only where they changed', async () => {
    const { root, put, git } = createTemporaryRepository();
    put('.gitignore', 'build/\n');
    put('packages/a/.gitignore', 'dist/\n');
    put('a.txt', 'one');
    git('add', '.');
    git('commit', '-qm', 'first');
    const { environment, calls } = countedGit();
    const home = { ...environment, HOME: root, XDG_CONFIG_HOME: join(root, 'none') };
    const look = await speak(root, home);
    expect(calls()).toEqual([]);
    await look();
    expect(calls()).toEqual(['ls-files']);
    // As `npm install` and an honest agent do it.
    for (let count = 0; count < 2000; count += 1)
      put(`node_modules/${count % 50}/${count}.js`, 'x');
    put('.gitignore', 'build/\nnode_modules/\n');
    const seen = await look();
    expect(calls()).toEqual(['ls-files', 'ls-files', 'hash-object']);
    expect(seen.hidden).toEqual([]);
    expect(Object.keys(seen.files).sort()).toEqual([
      '.gitignore',
      'a.txt',
      'packages/a/.gitignore',
    ]);
  });

  it('count very many files that were ignored since by their stat, and see a change of one', async () => {
    const { root, put } = createTemporaryRepository();
    put('a.txt', 'one');
    const look = await speak(root);
    for (let count = 0; count < 1500; count += 1)
      put(`.venv/${count % 50}/${count}.py`, 'x');
    put('.venv/.gitignore', '*\n');
    const first = await look();
    expect(first.hidden).toHaveLength(1500);
    expect((await look()).files).toEqual(first.files);
    expect(first.files['.venv/7/7.py']).toMatch(/^100644 \d+:\d+:1:/u);
    put('.venv/7/7.py', 'y');
    expect((await look()).files).not.toEqual(first.files);
  });

  it('hold as git reads them: anchors, folders, comments, blanks, negation, nested files, odd names', async () => {
    const { root, put, git } = createTemporaryRepository();
    put(
      '.gitignore',
      '\uFEFF# no rule\r\n\r\n*.log\r\n!keep.log\n/top\n\\#odd\nblank\\ \nspace   \n',
    );
    put('deep/fol[d]er/.gitignore', 'out/\n/only\na/b\n!wanted.log\n');
    put('.git/info/exclude', '*.tmp\n');
    const names = [
      'x.log',
      'keep.log',
      'top',
      'in/top',
      '#odd',
      'blank ',
      'space',
      'x.tmp',
      'only',
      'a/b',
      'b',
    ];
    const inner = [
      'out/x',
      'q/out/x',
      'only',
      'q/only',
      'a/b',
      'q/a/b',
      'wanted.log',
      'other.log',
      'plain',
    ];
    for (const name of [...names, ...inner.map((path) => `deep/fol[d]er/${path}`)])
      put(name, 'x');
    const look = await speak(root);
    const before = await look();
    const ignored = git('ls-files', '-z', '-o', '-i', '--exclude-standard').split('\0');
    expect(ignored).toEqual(
      expect.arrayContaining(['blank ', 'deep/fol[d]er/a/b', 'deep/fol[d]er/out/x']),
    );
    put('unrelated', 'x');
    put('.git/info/exclude', '*.tmp\nnothing-of-this-name\n');
    const after = await look();
    const { unrelated, ...rest } = after.files;
    expect([unrelated, rest, after.hidden]).toEqual([
      expect.anything(),
      before.files,
      [],
    ]);
  });

  it('see a nested repository that was ignored since, and rules that were changed inside one', async () => {
    const { root, put } = createTemporaryRepository();
    const inner = join(root, 'inner');
    mkdirSync(inner);
    execFileSync('git', ['init', '-q'], { cwd: inner });
    put('inner/a.txt', 'one');
    put('b.txt', 'one');
    const look = await speak(root);
    const before = await look();
    expect(before.files).toHaveProperty(['inner/a.txt']);
    put('.git/info/exclude', 'inner/\n');
    put('inner/.git/info/exclude', '*.txt\n');
    expect(await look()).toMatchObject({
      files: before.files,
      hidden: ['inner/', 'inner/a.txt'],
    });
  });

  it('are those of the message too for a linked work tree, and in a folder of a repository', async () => {
    const { root, put, git } = createTemporaryRepository();
    put('.gitignore', '');
    put('sub/a.txt', 'one');
    git('add', '.');
    git('commit', '-qm', 'first');
    git('worktree', 'add', '-q', join(root, 'tree'));
    put('tree/sub/new.txt', 'one');
    const look = await speak(join(root, 'tree/sub'));
    put('.git/info/exclude', 'new.txt\n');
    expect(await look()).toMatchObject({
      hidden: ['new.txt'],
      files: { 'new.txt': expect.anything() },
    });
    put('.git/info/exclude', '');
    put('tree/.gitignore', 'new.txt\n');
    expect(await look()).toMatchObject({
      hidden: ['new.txt'],
      files: { 'new.txt': expect.anything() },
    });
  });
});
