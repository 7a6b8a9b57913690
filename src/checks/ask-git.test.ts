import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sourceOf } from '../../test/support/temporary-repository.ts';
import { listWorkspace } from './fingerprint.ts';
import { openRepository } from './git.ts';

let root: string;
const git = (...words: string[]) =>
  execFileSync('git', words, { cwd: root, stdio: 'pipe' });
const write = (name: string, text: string) => writeFileSync(join(root, name), text);

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-ask-')));
  git('init', '-q', '-b', 'main');
  git('config', 'user.email', 'a@example.com');
  git('config', 'user.name', 'A');
});

afterEach(() => rmSync(root, { recursive: true }));

/** Everything but the filler: `path → mode id`. */
async function filesOf(directory = root) {
  const listed = await listWorkspace(directory);
  if (!listed.ok || sourceOf(listed.listing) !== 'git')
    throw new Error('git was not asked');
  return Object.fromEntries(
    [...listed.listing].filter(([path]) => !path.startsWith('filler/')),
  );
}

async function isSmall(): Promise<boolean> {
  const repository = await openRepository(
    root,
    process.env,
    new AbortController().signal,
  );
  if (repository === null) throw new Error('there is no repository');
  return repository.isSmall;
}

/** Enough tracked files for an index that is no longer small. */
function addFiller(): void {
  mkdirSync(join(root, 'filler'));
  for (let count = 0; count < 6500; count += 1)
    write(`filler/a-rather-long-name-${count}`, '');
  git('add', 'filler');
}

/** Every state that a file can be in. */
function everyState(): void {
  mkdirSync(join(root, 'folder'));
  const names = [
    'kept',
    'edited',
    'grown',
    'gone',
    'made-runnable',
    'assumed',
    'skipped',
    'folder/inner',
    'ünïcode',
  ];
  for (const name of names) write(name, 'text\n');
  write('.gitignore', 'ignored\n');
  git('add', '.');
  git('commit', '-qm', 'first');
  git('checkout', '-qb', 'other');
  write('kept', 'theirs\n');
  git('commit', '-qam', 'theirs');
  git('checkout', '-q', 'main');
  write('kept', 'ours\n');
  git('commit', '-qam', 'ours');
  expect(() => git('merge', '-q', 'other')).toThrow();
  git('update-index', '--assume-unchanged', 'assumed');
  git('update-index', '--skip-worktree', 'skipped');
  for (const name of ['assumed', 'skipped', 'edited', 'folder/inner'])
    write(name, 'tixt\n');
  write('grown', 'text and more\n');
  write('ünïcode', 'more\n');
  rmSync(join(root, 'gone'));
  chmodSync(join(root, 'made-runnable'), 0o755);
  write('staged', 'new\n');
  git('add', 'staged');
  write('meant', 'new\n');
  git('add', '-N', 'meant');
  for (const name of ['ignored', '? question', 'C change', 'new\nline', 'folder/new'])
    write(name, 'new\n');
  symlinkSync('kept', join(root, 'link'));
  mkdirSync(join(root, 'inner'));
  execFileSync('git', ['init', '-q'], { cwd: join(root, 'inner') });
  writeFileSync(join(root, 'inner', 'file'), 'x');
}

describe('G7: git is asked about the files', () => {
  it('in one question as in two, whatever state they are in', async () => {
    everyState();
    expect(await isSmall()).toBe(true);
    const atOnce = await filesOf();
    const inside = await filesOf(join(root, 'folder'));
    expect(Object.keys(inside).sort()).toEqual(['inner', 'new']);
    expect(Object.keys(atOnce)).toEqual(
      expect.arrayContaining(['edited', 'meant', '? question', 'C change']),
    );
    expect(atOnce).not.toHaveProperty('gone');
    addFiller();
    expect(await isSmall()).toBe(false);
    expect(await filesOf()).toEqual(atOnce);
    expect(await filesOf(join(root, 'folder'))).toEqual(inside);
    write('edited', 'once more\n');
    expect(await filesOf()).not.toEqual(atOnce);
  });
});
