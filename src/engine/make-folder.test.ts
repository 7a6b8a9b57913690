import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeFolder } from './system.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'untildone-folder-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('making a folder', () => {
  it('makes those above it too, with the mode asked for, and is content with what is there', () => {
    const path = join(root, 'a', 'b', 'c');
    makeFolder(path, 0o700);
    makeFolder(path, 0o700);
    expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(statSync(join(root, 'a')).mode & 0o777).toBe(0o700);
  });

  it('says what is in the way', () => {
    writeFileSync(join(root, 'file'), '');
    expect(() => makeFolder(join(root, 'file', 'inside'), 0o700)).toThrow(/ENOTDIR/u);
  });

  it.runIf(existsSync('/proc/self'))(
    'ends where a file system refuses without a reason',
    () => {
      expect(() => makeFolder('/proc/untildone/deeper', 0o700)).toThrow(
        /ENOENT|EPERM|EACCES/u,
      );
    },
  );
});
