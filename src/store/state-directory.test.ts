import { describe, expect, it } from 'vitest';
import { stateDirectory, storePath } from './state-directory.ts';

describe('stateDirectory', () => {
  it('V7: UNTILDONE_HOME wins over everything else', () => {
    const environment = { UNTILDONE_HOME: '/own', XDG_STATE_HOME: '/state', HOME: '/home/ada' };
    expect(stateDirectory(environment)).toBe('/own');
  });

  it('V7: a relative UNTILDONE_HOME counts from the current directory', () => {
    expect(stateDirectory({ UNTILDONE_HOME: 'own' })).toBe(`${process.cwd()}/own`);
  });

  it('V7: XDG_STATE_HOME comes next', () => {
    expect(stateDirectory({ XDG_STATE_HOME: '/state', HOME: '/home/ada' })).toBe('/state/untildone');
  });

  it('V7: a relative or empty XDG_STATE_HOME is ignored, as its specification asks', () => {
    expect(stateDirectory({ XDG_STATE_HOME: 'state', HOME: '/home/ada' })).toBe(
      '/home/ada/.local/state/untildone',
    );
    expect(stateDirectory({ UNTILDONE_HOME: '', XDG_STATE_HOME: '', HOME: '/home/ada' })).toBe(
      '/home/ada/.local/state/untildone',
    );
  });

  it('V7: without any of them the home directory of the user is asked of the system', () => {
    expect(stateDirectory({})).toMatch(/^\/.*\.local\/state\/untildone$/u);
  });

  it('V7: one database file for all hosts', () => {
    expect(storePath({ UNTILDONE_HOME: '/own' })).toBe('/own/untildone.db');
  });
});
