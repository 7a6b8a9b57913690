import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changeListing, keyOfPath, pathOfKey, readListing, writeListing } from './listing.ts';

const key = fc.constantFrom('a', 'a/b', 'a-b', 'a.b', 'b', 'b/\u00ff', '\u00c3\u00a4', 'n\nl', '0\tx', 'z');
const value = fc.constantFrom('100644 1', '100755 2', 'special');
const files = fc.dictionary(key, value).map((record) => new Map(Object.entries(record)));

describe('V2: a listing', () => {
  it('is read back as it was written, in one order', () => {
    fc.assert(
      fc.property(files, (written) => {
        const backwards = new Map([...written].reverse());
        expect(readListing(writeListing(written))).toEqual(written);
        expect(writeListing(backwards)).toBe(writeListing(written));
      }),
    );
  });

  it('that is changed is the listing of the changed files', () => {
    const changes = fc
      .dictionary(key, fc.option(value))
      .map((record) => new Map<string, string | null>(Object.entries(record)));
    fc.assert(
      fc.property(files, changes, (written, changed) => {
        const after = new Map<string, string>(written);
        for (const [path, now] of changed) {
          if (now === null) after.delete(path);
          else after.set(path, now);
        }
        expect(changeListing(writeListing(written), changed)).toBe(writeListing(after));
      }),
      { numRuns: 2000 },
    );
  });

  it('takes a path that git wrote several times as one', () => {
    const unmerged = 'M 1 1 1\ta\0M 1 2 2\ta\0M 1 3 3\ta\0';
    expect(changeListing(`${unmerged}H 1 4 0\tb\0`, new Map([['a', '1 5']]))).toBe(
      'H 1 5 0\ta\0H 1 4 0\tb\0',
    );
    expect(changeListing(`H 1 4 0\t0\0${unmerged}`, new Map([['a', null]]))).toBe('H 1 4 0\t0\0');
  });

  it('keeps names of any letters', () => {
    for (const path of ['plain', 'ä/ö', '日本', '👍']) expect(pathOfKey(keyOfPath(path))).toBe(path);
  });
});
