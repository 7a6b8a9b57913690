import { spawnSync } from 'node:child_process';
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { isHolderAlive, processHolder } from './system.ts';

describe('the holder of a lease', () => {
  it('V5: this process is alive', () => {
    expect(isHolderAlive(processHolder('a'))).toBe(true);
  });

  it('V5: a process that has ended is not, so that its lease can be taken over at once', () => {
    const { pid } = spawnSync(process.execPath, ['-e', '0']);
    expect(isHolderAlive(`${hostname()}/${pid}/a`)).toBe(false);
  });

  it('V5: holders on other machines and in unknown forms count as alive: their lease runs out by time', () => {
    expect(isHolderAlive('another-machine/1/a')).toBe(true);
    expect(isHolderAlive('whatever')).toBe(true);
    expect(isHolderAlive(`${hostname()}/-1/a`)).toBe(true);
  });
});
