import { chmodSync, mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stateDirectory, storePath, whyNotPrivate } from './state-directory.ts';

describe('stateDirectory', () => {
  it('V7: UNTILDONE_HOME wins over everything else', () => {
    const environment = {
      UNTILDONE_HOME: '/own',
      XDG_STATE_HOME: '/state',
      HOME: '/home/ada',
    };
    expect(stateDirectory(environment)).toBe('/own');
  });

  it('V7: a relative UNTILDONE_HOME counts from the current directory', () => {
    expect(stateDirectory({ UNTILDONE_HOME: 'own' })).toBe(`${process.cwd()}/own`);
  });

  it('V7: XDG_STATE_HOME comes next', () => {
    expect(stateDirectory({ XDG_STATE_HOME: '/state', HOME: '/home/ada' })).toBe(
      '/state/untildone',
    );
  });

  it('V7: a relative or empty XDG_STATE_HOME is ignored, as its specification asks', () => {
    expect(stateDirectory({ XDG_STATE_HOME: 'state', HOME: '/home/ada' })).toBe(
      '/home/ada/.local/state/untildone',
    );
    expect(
      stateDirectory({ UNTILDONE_HOME: '', XDG_STATE_HOME: '', HOME: '/home/ada' }),
    ).toBe('/home/ada/.local/state/untildone');
  });

  it('V7: without any of them the home directory of the user is asked of the system', () => {
    expect(stateDirectory({})).toMatch(/^\/.*\.local\/state\/untildone$/u);
  });

  it('V7: one database file for all hosts', () => {
    expect(storePath({ UNTILDONE_HOME: '/own' })).toBe('/own/untildone.db');
  });
});

describe('whyNotPrivate', () => {
  const directory = mkdtempSync(join(tmpdir(), 'untildone-private-'));

  it.each([0o700, 0o755, 0o500])('V10: mode %o is the user alone who writes', (mode) => {
    chmodSync(directory, mode);
    expect(whyNotPrivate(directory)).toBeNull();
  });

  it.each([0o777, 0o775, 0o702, 0o1777])('V10: mode %o lets others write', (mode) => {
    chmodSync(directory, mode);
    expect(whyNotPrivate(directory)).toContain('can be written by others');
  });

  it('V10: another user who owns it can change it, and root can anyway', () => {
    chmodSync(directory, 0o700);
    const stats = statSync(directory);
    const owned = (uid: number) =>
      whyNotPrivate(directory, Object.assign(Object.create(stats), { uid }));
    expect(owned(process.geteuid?.() ?? 0)).toBeNull();
    expect(owned(0)).toBeNull();
    expect(owned(54_321)).toContain('belongs to another user (54321)');
  });

  it("what is not there yet is nobody else's", () => {
    expect(whyNotPrivate(join(directory, 'nowhere'))).toBeNull();
  });
});
