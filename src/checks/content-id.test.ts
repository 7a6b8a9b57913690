import { chmodSync, lstatSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createTemporaryFolder } from '../../test/support/temporary-repository.ts';
import { contentValue, rememberedId, rememberId } from './fingerprint.ts';

describe('V2: the id of a content', () => {
  it('is that of git', async () => {
    const { put, git } = createTemporaryFolder();
    const file = put('a.txt', 'one\n');
    chmodSync(file, 0o755);
    expect(await contentValue(file, 'sha1')).toBe(
      `100755 ${git('hash-object', 'a.txt').trim()}`,
    );
    expect(await contentValue(`${file}.gone`, 'sha1')).toBe(null);
  });

  it('is remembered only of a file that could not change again within one tick of the clock', () => {
    const { put } = createTemporaryFolder();
    const file = put('a.txt', 'one');
    const stats = lstatSync(file, { bigint: true });
    const changedAt = Number(stats.ctimeMs);
    rememberId(file, stats, 'too early', changedAt + 1999);
    expect(rememberedId(file, stats)).toBe(null);
    rememberId(file, stats, 'settled', changedAt + 2001);
    expect(rememberedId(file, stats)).toBe('settled');
    put('a.txt', 'other');
    expect(rememberedId(file, lstatSync(file, { bigint: true }))).toBe(null);
  });
});
