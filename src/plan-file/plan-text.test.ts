import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readPlanText } from './plan-file.ts';
import { replacePlanText } from './plan-file-sync.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'untildone-text-file-'));
  path = join(folder, 'PLAN.md');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the plan file on the disk', () => {
  it('V1: keeps the mode, follows a link to its target, and leaves nothing behind', () => {
    const target = join(folder, 'real.md');
    writeFileSync(target, 'old');
    chmodSync(target, 0o640);
    symlinkSync('real.md', path);
    expect(replacePlanText(path, 'old', 'new')).toBe('replaced');
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(readFileSync(target, 'utf8')).toBe('new');
    expect(statSync(target).mode & 0o777).toBe(0o640);
    expect(readdirSync(folder).sort()).toEqual(['PLAN.md', 'real.md']);
  });

  it('V1: writes nothing when somebody changed the file, or what the path means, meanwhile', () => {
    writeFileSync(path, 'old');
    const edited = replacePlanText(path, 'old', 'new', {
      beforeReplace: () => writeFileSync(path, 'theirs'),
    });
    expect(edited).toBe('changed-meanwhile');
    expect(readFileSync(path, 'utf8')).toBe('theirs');
    const moved = replacePlanText(path, 'theirs', 'new', {
      beforeReplace: () => {
        rmSync(path);
        writeFileSync(join(folder, 'other.md'), 'theirs');
        symlinkSync('other.md', path);
      },
    });
    expect(moved).toBe('changed-meanwhile');
    expect(readFileSync(path, 'utf8')).toBe('theirs');
    expect(readdirSync(folder).sort()).toEqual(['PLAN.md', 'other.md']);
  });

  it('V1: a pinned path that leads elsewhere by now is neither read nor written', () => {
    const real = join(realpathSync(folder), 'PLAN.md');
    writeFileSync(join(folder, 'theirs.md'), 'old');
    symlinkSync('theirs.md', real);
    expect(readPlanText(real, true)).toMatchObject({ ok: false });
    expect(replacePlanText(real, 'old', 'new', { pinned: true })).toEqual({
      sentence: 'is now reached through a link; it is left alone',
    });
    expect(readFileSync(join(folder, 'theirs.md'), 'utf8')).toBe('old');
    expect(readdirSync(folder).sort()).toEqual(['PLAN.md', 'theirs.md']);
  });

  it('V1: leaves a read-only file alone', () => {
    writeFileSync(path, 'old');
    chmodSync(path, 0o444);
    expect(replacePlanText(path, 'old', 'new')).toEqual({
      sentence: 'is marked read-only',
    });
    expect(readFileSync(path, 'utf8')).toBe('old');
  });

  it('V1: reads a byte order mark as it is, and refuses what could not be written back', () => {
    writeFileSync(path, '\ufeffa\r\n');
    expect(readPlanText(path)).toMatchObject({ ok: true, text: '\ufeffa\r\n' });
    writeFileSync(path, Buffer.from([0x2d, 0xff, 0x0a]));
    expect(readPlanText(path)).toEqual({ ok: false, sentence: 'is not text in UTF-8' });
    mkdirSync(join(folder, 'directory'));
    expect(readPlanText(join(folder, 'directory'))).toMatchObject({ ok: false });
    expect(readPlanText(join(folder, 'nothing'))).toEqual({
      ok: false,
      sentence: 'cannot be read (ENOENT)',
    });
  });
});
