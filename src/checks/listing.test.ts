import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import {
  compareListings,
  fingerprintListing,
  fingerprintsIn,
  keyOfPath,
  pathOfKey,
} from './fingerprint.ts';

const key = fc.constantFrom(
  'a',
  'a/b',
  'a-b',
  'a.b',
  'b',
  'b/\u00ff',
  '\u00c3\u00a4',
  'n\nl',
  '0\tx',
  'z',
);
const value = fc.constantFrom('100644 1', '100755 2', 'special');
const files = fc.dictionary(key, value).map((record) => new Map(Object.entries(record)));

describe('V2: a listing', () => {
  it('has one fingerprint, in whatever order its files stand', () => {
    fc.assert(
      fc.property(files, (written) => {
        const backwards = new Map([...written].reverse());
        expect(fingerprintListing(backwards)).toEqual(fingerprintListing(written));
      }),
    );
  });

  it('that is changed has another fingerprint, and the comparison names each change', () => {
    fc.assert(
      fc.property(files, files, (before, after) => {
        const { changed, deleted, added } = compareListings(before, after);
        const same = changed.length + deleted.length + added.length === 0;
        const first = fingerprintListing(before);
        const second = fingerprintListing(after);
        if (!first.ok || !second.ok) throw new Error('no fingerprint');
        expect(first.fingerprint === second.fingerprint).toBe(same);
        expect(new Set([...added, ...changed])).toEqual(
          new Set(
            [...after]
              .filter(([path, value]) => before.get(path) !== value)
              .map(([path]) => pathOfKey(path)),
          ),
        );
      }),
      { numRuns: 2000 },
    );
  });

  it('is gone through once for all checks of the same files', () => {
    const listing = new Map([['a', '100644 1']]);
    const looks = vi.spyOn(listing, 'keys');
    const fingerprintOf = fingerprintsIn({ ok: true, listing });
    const seen = [[], [], ['a'], ['a']].map((named) => fingerprintOf({ files: named }));
    expect(seen).toEqual([seen[0], seen[0], seen[2], seen[2]]);
    expect(looks).toHaveBeenCalledTimes(2);
  });

  it('keeps names of any letters', () => {
    for (const path of ['plain', 'ä/ö', '日本', '👍'])
      expect(pathOfKey(keyOfPath(path))).toBe(path);
  });
});
