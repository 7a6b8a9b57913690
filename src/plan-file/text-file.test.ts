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
import { hashText, readTextFile, replaceTextFile } from './text-file.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'untildone-text-file-'));
  path = join(folder, 'PLAN.md');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the plan file on the disk', () => {
  it('V1: keeps the mode, follows a link to its target, and leaves nothing behind', async () => {
    const target = join(folder, 'real.md');
    writeFileSync(target, 'old');
    chmodSync(target, 0o640);
    symlinkSync('real.md', path);
    expect(await replaceTextFile(path, hashText('old'), 'new')).toBe('replaced');
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(readFileSync(target, 'utf8')).toBe('new');
    expect(statSync(target).mode & 0o777).toBe(0o640);
    expect(readdirSync(folder).sort()).toEqual(['PLAN.md', 'real.md']);
  });

  it('V1: writes nothing when somebody changed the file, or what the path means, meanwhile', async () => {
    writeFileSync(path, 'old');
    const edited = replaceTextFile(path, hashText('old'), 'new', {
      before: async () => writeFileSync(path, 'theirs'),
    });
    expect(await edited).toBe('changed-meanwhile');
    expect(readFileSync(path, 'utf8')).toBe('theirs');
    const moved = replaceTextFile(path, hashText('theirs'), 'new', {
      before: async () => {
        rmSync(path);
        writeFileSync(join(folder, 'other.md'), 'theirs');
        symlinkSync('other.md', path);
      },
    });
    expect(await moved).toBe('changed-meanwhile');
    expect(readFileSync(path, 'utf8')).toBe('theirs');
    expect(readdirSync(folder).sort()).toEqual(['PLAN.md', 'other.md']);
  });

  it('V1: a pinned path that leads elsewhere by now is neither read nor written', async () => {
    const real = join(realpathSync(folder), 'PLAN.md');
    writeFileSync(join(folder, 'theirs.md'), 'old');
    symlinkSync('theirs.md', real);
    expect(await readTextFile(real, true)).toMatchObject({ ok: false });
    expect(await replaceTextFile(real, hashText('old'), 'new', { pinned: true })).toEqual({
      sentence: 'is now reached through a link; it is left alone',
    });
    expect(readFileSync(join(folder, 'theirs.md'), 'utf8')).toBe('old');
    expect(readdirSync(folder).sort()).toEqual(['PLAN.md', 'theirs.md']);
  });

  it('V1: leaves a read-only file alone', async () => {
    writeFileSync(path, 'old');
    chmodSync(path, 0o444);
    expect(await replaceTextFile(path, hashText('old'), 'new')).toEqual({ sentence: 'is marked read-only' });
    expect(readFileSync(path, 'utf8')).toBe('old');
  });

  it('V1: reads a byte order mark as it is, and refuses what could not be written back', async () => {
    writeFileSync(path, '\ufeffa\r\n');
    expect(await readTextFile(path)).toMatchObject({ ok: true, text: '\ufeffa\r\n' });
    writeFileSync(path, Buffer.from([0x2d, 0xff, 0x0a]));
    expect(await readTextFile(path)).toEqual({ ok: false, sentence: 'is not text in UTF-8' });
    mkdirSync(join(folder, 'directory'));
    expect(await readTextFile(join(folder, 'directory'))).toMatchObject({ ok: false });
    expect(await readTextFile(join(folder, 'nothing'))).toEqual({
      ok: false,
      sentence: 'cannot be read (ENOENT)',
    });
  });
});
