// The host's own list, read from its folder: whole or not at all.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { claudeCode, readTaskList } from './host.ts';

const sessionId = 'dfe1636e-49cc-4ea2-95e5-b1e1e5c9f9d2';
let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'untildone-tasks-'));
});

function writeTask(list: string, name: string, content: unknown): void {
  const folder = join(home, '.claude', 'tasks', list);
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, name),
    typeof content === 'string' ? content : JSON.stringify(content),
  );
}

function task(id: string, subject: string, status = 'pending', description = subject) {
  return { id, subject, description, status, blocks: [], blockedBy: [] };
}

const read = (environment = {}) =>
  readTaskList(sessionId, { HOME: home, ...environment });

describe('the list of Claude Code', () => {
  it('is read in the order of its numbers, and nothing else in the folder counts', () => {
    writeTask(sessionId, '10.json', task('10', 'Tenth', 'completed'));
    writeTask(sessionId, '2.json', task('2', 'Second', 'in_progress', 'with detail'));
    writeTask(sessionId, '.highwatermark', '10');
    writeTask(sessionId, 'notes.json', '{');
    expect(read()).toEqual([
      { key: 'task-2', title: 'Second', status: 'in_progress', context: 'with detail' },
      { key: 'task-10', title: 'Tenth', status: 'completed', context: null },
    ]);
  });

  it('stands where the host was told to keep it', () => {
    writeTask('shared', '1.json', task('1', 'Ours'));
    expect(read({ CLAUDE_CODE_TASK_LIST_ID: 'shared' })).toMatchObject([
      { title: 'Ours' },
    ]);
    const configured = { HOME: '/nowhere', CLAUDE_CONFIG_DIR: join(home, '.claude') };
    writeTask(sessionId, '1.json', task('1', 'Mine'));
    expect(read(configured)).toMatchObject([{ title: 'Mine' }]);
  });

  it('is not there: null, which is not the same as empty', () => {
    expect(read()).toBeNull();
    mkdirSync(join(home, '.claude', 'tasks', sessionId), { recursive: true });
    expect(read()).toEqual([]);
  });

  it.each([
    ['{"id":"2","subj'],
    ['[]'],
    ['{"id":"2","status":"pending"}'],
    ['{"id":"../2","subject":"x","status":"pending"}'],
  ])(
    'a file with %j in it makes the whole list unreadable: half of one would look like deleted todos',
    (content) => {
      writeTask(sessionId, '1.json', task('1', 'First'));
      writeTask(sessionId, '2.json', content);
      expect(read()).toBeNull();
    },
  );

  it('a named pipe among the files makes it unreadable, and nobody waits for a writer', () => {
    writeTask(sessionId, '1.json', task('1', 'First'));
    execFileSync('mkfifo', [join(home, '.claude', 'tasks', sessionId, '2.json')]);
    expect(read()).toBeNull();
  });

  it('a name that leaves the folder is refused', () => {
    writeTask('other', '1.json', task('1', 'Theirs'));
    expect(read({ CLAUDE_CODE_TASK_LIST_ID: '../tasks/other' })).toBeNull();
  });
});

describe('V10: the variables that a project sets', () => {
  function variablesOf(settings: string | null) {
    mkdirSync(join(home, '.claude'));
    if (settings !== null) writeFileSync(join(home, '.claude/settings.json'), settings);
    return claudeCode.projectVariables?.(home, {});
  }
  const said = '{"env":{"UNTILDONE_MODE":"off"}}';

  it.each([
    ['none where there is no file', null, []],
    ['those of its settings', said, ['UNTILDONE_MODE']],
    ['also behind a byte order mark', `\u{feff}${said}`, ['UNTILDONE_MODE']],
    ['any, if it is too long to be read', said + ' '.repeat(1_100_000), null],
    ['any, if it is no JSON to us', `${said}//`, null],
  ])('are %s', (_what, settings, expected) =>
    expect(variablesOf(settings)).toEqual(expected),
  );
});
