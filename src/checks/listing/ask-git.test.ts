import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AskGit, askAboutFiles, askAtOnce, askBeside } from './ask-git.ts';
import { type GitAnswers, readGitFiles } from './git-files.ts';
import { findRepository, type Repository, runGit } from './run-git.ts';

let root: string;
const git = (...words: string[]) => execFileSync('git', words, { cwd: root, stdio: 'pipe' });
const write = (name: string, text: string) => writeFileSync(join(root, name), text);

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-ask-')));
  git('init', '-q', '-b', 'main');
  git('config', 'user.email', 'a@example.com');
  git('config', 'user.name', 'A');
});

afterEach(() => rmSync(root, { recursive: true }));

function repositoryHere(): Repository {
  const repository = findRepository(root, process.env);
  if (repository === null) throw new Error('there is no repository');
  return repository;
}

function asker(directory = root): AskGit {
  const signal = AbortSignal.timeout(20_000);
  return (words) => runGit(repositoryHere(), { directory, signal, arguments: words });
}

/** Of a file that is only meant to be added, git has a mode in one answer and none in the other; nobody needs it. */
function filesOf(answers: GitAnswers | null) {
  if (answers === null) throw new Error('git failed');
  const { unsettled, ...rest } = readGitFiles(answers);
  return {
    ...rest,
    unsettled: new Map([...unsettled, ...(unsettled.has('meant') ? [['meant', null] as const] : [])]),
  };
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
  for (const name of ['assumed', 'skipped', 'edited', 'folder/inner']) write(name, 'tixt\n');
  write('grown', 'text and more\n');
  write('ünïcode', 'more\n');
  rmSync(join(root, 'gone'));
  chmodSync(join(root, 'made-runnable'), 0o755);
  write('staged', 'new\n');
  git('add', 'staged');
  write('meant', 'new\n');
  git('add', '-N', 'meant');
  for (const name of ['ignored', '? question', 'C change', 'new\nline', 'folder/new']) write(name, 'new\n');
  symlinkSync('kept', join(root, 'link'));
  mkdirSync(join(root, 'inner'));
  execFileSync('git', ['init', '-q'], { cwd: join(root, 'inner') });
  writeFileSync(join(root, 'inner', 'file'), 'x');
}

describe('G7: git is asked about the files', () => {
  it('in one question as in three, whatever state they are in', async () => {
    everyState();
    const [atOnce, beside] = await Promise.all([askAtOnce(asker()), askBeside(asker())]);
    expect(atOnce?.tracked).toBe(beside?.tracked);
    expect(atOnce?.untracked).toBe(beside?.untracked);
    expect(filesOf(atOnce)).toEqual(filesOf(beside));
    expect([...filesOf(atOnce).unsettled.keys()]).toEqual(
      expect.arrayContaining(['edited', 'grown', 'gone', 'made-runnable', 'meant', '? question', 'C change']),
    );
  });

  it('in one question as in three for a folder inside', async () => {
    everyState();
    const inside = asker(join(root, 'folder'));
    const [atOnce, beside] = await Promise.all([askAtOnce(inside), askBeside(inside)]);
    expect([...filesOf(atOnce).unsettled.keys()].sort()).toEqual(['inner', 'new']);
    expect(filesOf(atOnce)).toEqual(filesOf(beside));
  });

  it('by one process where there are few, and by three where there are many', async () => {
    let asked = 0;
    const ask: AskGit = async () => {
      asked += 1;
      return '';
    };
    await askAboutFiles(repositoryHere(), ask);
    expect(asked).toBe(1);
    writeFileSync(join(root, '.git', 'index'), Buffer.alloc(600_000));
    await askAboutFiles(repositoryHere(), ask);
    expect(asked).toBe(4);
  });

  it('a failure of any is no answer', async () => {
    expect(await askAtOnce(async () => null)).toBeNull();
    expect(await askBeside(async (words) => (words[0] === 'diff-files' ? null : ''))).toBeNull();
  });
});
