import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type * as changes from './changes.ts';
import {
  performChanges,
  planChange,
  recordedInstalls,
  wholeFileComment,
} from './changes.ts';

let root: string;
let state: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'untildone-perform-'));
  state = join(root, 'state');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const identity = {
  host: 'claude-code',
  scope: 'user',
  project: null,
  version: '1.0.0',
} as const;

function targetAt(name: string): changes.FileTarget {
  return { path: join(root, name), edits: [{ kind: 'member', path: ['a'], value: 1 }] };
}

function plan(
  name: string,
  action: 'install' | 'uninstall' = 'install',
): changes.FileChange {
  return planChange(targetAt(name), identity, state, action);
}

describe('carrying out changes', () => {
  it('V5: when a file changed under our hands, it stays, and those written before go back with their records', () => {
    writeFileSync(join(root, 'first.json'), '{}');
    const changes = [
      plan('first.json'),
      plan('made/here/second.json'),
      plan('third.json'),
    ];
    writeFileSync(join(root, 'third.json'), 'somebody else');
    expect(performChanges(changes)).toBe(
      `${join(root, 'third.json')} was changed by another program in this moment; try again.`,
    );
    expect(readFileSync(join(root, 'first.json'), 'utf8')).toBe('{}');
    expect(existsSync(join(root, 'made'))).toBe(false);
    expect(readFileSync(join(root, 'third.json'), 'utf8')).toBe('somebody else');
    expect(recordedInstalls(state)).toEqual([]);
  });

  it('V5: a failed uninstall keeps what it needs to try again', () => {
    expect(performChanges([plan('first.json'), plan('second.json')])).toBeNull();
    const changes = [plan('first.json', 'uninstall'), plan('second.json', 'uninstall')];
    writeFileSync(join(root, 'second.json'), '{ "a": 1, "b": 2 }');
    expect(performChanges(changes)).toContain('second.json was changed');
    expect(JSON.parse(readFileSync(join(root, 'first.json'), 'utf8'))).toEqual({ a: 1 });
    expect(plan('first.json').recordBefore).not.toBeNull();
    const again = [plan('first.json', 'uninstall'), plan('second.json', 'uninstall')];
    expect(performChanges(again)).toBeNull();
    expect(existsSync(join(root, 'first.json'))).toBe(false);
    expect(readFileSync(join(root, 'second.json'), 'utf8')).toBe('{ "b": 2 }');
    expect(recordedInstalls(state)).toEqual([]);
  });

  it('V5: what was written goes back, though its old record cannot be written any more', () => {
    expect(performChanges([plan('first.json')])).toBeNull();
    const first = plan('first.json', 'uninstall');
    const second = plan('second.json');
    writeFileSync(second.path, 'somebody else');
    const toJSON = () => {
      throw new Error('the disk is full');
    };
    const recordBefore = { ...first.recordBefore!, installs: [{ toJSON } as never] };
    expect(performChanges([{ ...first, recordBefore }, second])).toContain(
      'second.json was changed',
    );
    expect(JSON.parse(readFileSync(first.path, 'utf8'))).toEqual({ a: 1 });
  });

  it('V5: a folder that somebody put something into stays', () => {
    expect(performChanges([plan('made/here/x.json')])).toBeNull();
    mkdirSync(join(root, 'made/other'));
    expect(performChanges([plan('made/here/x.json', 'uninstall')])).toBeNull();
    expect(existsSync(join(root, 'made/here'))).toBe(false);
    expect(existsSync(join(root, 'made/other'))).toBe(true);
  });
});

describe('a file that several installs share', () => {
  const path = () => join(root, 'shared', 'file');

  function change(
    action: 'install' | 'uninstall',
    project: string,
    edit: changes.Edit,
    version = '1.0.0',
  ) {
    const owner = { ...identity, project, version };
    expect(
      performChanges([planChange({ path: path(), edits: [edit] }, owner, state, action)]),
    ).toBeNull();
  }

  it.each(['//', '#'] as const)(
    'C1: ours as a whole (%s), it is that of the newest install, whichever project made it, and goes with the last one',
    (sign) => {
      const mark = wholeFileComment(sign, 'claude-code');
      const edit = (version: string) =>
        ({ kind: 'whole', text: `${mark} ${version}\n` }) as const;
      const versionNow = () => readFileSync(path(), 'utf8').slice(mark.length).trim();
      change('install', '/one', edit('1.0.0'));
      change('install', '/other', edit('2.0.0'));
      change('install', '/one', edit('3.0.0'));
      expect(versionNow()).toBe('3.0.0');
      change('uninstall', '/other', edit('3.0.0'));
      expect(versionNow()).toBe('3.0.0');
      change('uninstall', '/one', edit('3.0.0'));
      expect(
        existsSync(join(root, 'shared')),
        'with the folder that was made for it',
      ).toBe(false);
    },
  );

  it('V5: planned one on top of the other, several changes of it go back together, or hold together', () => {
    writeFileSync(join(root, 'file'), 'theirs\n');
    const planned: changes.FileChange[] = [];
    for (const host of ['one', 'other']) {
      const target = {
        path: join(root, 'file'),
        edits: [{ kind: 'line', text: `/${host}` } as const],
      };
      planned.push(planChange(target, { ...identity, host }, state, 'install', planned));
    }
    const refused = plan('third.json');
    writeFileSync(refused.path, 'somebody else');
    expect(performChanges([...planned, refused])).toContain('third.json was changed');
    expect(readFileSync(join(root, 'file'), 'utf8')).toBe('theirs\n');
    expect(recordedInstalls(state)).toEqual([]);
    expect(performChanges(planned)).toBeNull();
    expect(readFileSync(join(root, 'file'), 'utf8')).toBe('theirs\n/one\n/other\n');
    expect(recordedInstalls(state).map(({ host }) => host)).toEqual(['one', 'other']);
  });

  it('C2: what somebody wrote into it stays, though one install after the other goes', () => {
    const edit = (project: string) =>
      ({ kind: 'member', path: [project], value: 1 }) as const;
    for (const project of ['/one', '/other']) change('install', project, edit(project));
    writeFileSync(path(), readFileSync(path(), 'utf8').replace('{', '{ "mine": 2,'));
    for (const project of ['/one', '/other']) change('uninstall', project, edit(project));
    expect(JSON.parse(readFileSync(path(), 'utf8'))).toEqual({ mine: 2 });
  });
});
