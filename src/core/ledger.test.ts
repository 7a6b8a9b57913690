import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { aLedger, aLedgerDraft } from '../../test/support/builders.ts';
import { type LedgerEntry, ledgerStart, linkEntry, verifyLedger } from './ledger.ts';

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

function chain(length = 5): LedgerEntry[] {
  const drafts = Array.from({ length }, (_, index) =>
    aLedgerDraft({ todoId: `todo-${index}`, detail: { index } }),
  );
  return aLedger(drafts, hash);
}

describe('the ledger', () => {
  it('V4: links each entry to the one before', () => {
    const entries = chain(3);
    expect(entries.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    expect(entries[0]?.previousHash).toBe(ledgerStart);
    expect(entries[1]?.previousHash).toBe(entries[0]?.hash);
    expect(verifyLedger(entries, hash)).toEqual({
      intact: true,
      length: 3,
      head: entries[2]?.hash,
    });
    expect(verifyLedger([], hash)).toEqual({
      intact: true,
      length: 0,
      head: ledgerStart,
    });
  });

  it('V4: the same entry has the same hash, in whatever order its details were written', () => {
    const one = linkEntry(aLedgerDraft({ detail: { a: 1, b: 'x' } }), null, hash);
    const other = linkEntry(aLedgerDraft({ detail: { b: 'x', a: 1 } }), null, hash);
    expect(one.hash).toBe(other.hash);
  });

  const fields: readonly (readonly [string, Partial<LedgerEntry>])[] = [
    ['planId', { planId: 'other' }],
    ['sessionId', { sessionId: 'other' }],
    ['host', { host: 'other' }],
    ['actor', { actor: 'human' }],
    ['at', { at: 1 }],
    ['change', { change: 'completed' }],
    ['todoId', { todoId: null }],
    ['detail', { detail: { index: 99 } }],
    ['hash', { hash: 'deadbeef' }],
  ];
  for (const [field, edit] of fields) {
    it(`V4: finds an edited ${field} and names the entry`, () => {
      const entries = chain().map((entry, index) =>
        index === 2 ? { ...entry, ...edit } : entry,
      );
      const report = verifyLedger(entries, hash);
      expect(report).toMatchObject({
        intact: false,
        brokenAt: 3,
        sentence: expect.stringMatching(/\bentry 3\b/u),
      });
    });
  }

  it('V4: finds a missing entry, a swapped pair and a foreign beginning', () => {
    const entries = chain();
    expect(verifyLedger(entries.toSpliced(1, 1), hash)).toMatchObject({
      intact: false,
      brokenAt: 2,
      sentence: 'entry 2 is missing; found 3 instead',
    });
    const [first, second, ...rest] = entries as [
      LedgerEntry,
      LedgerEntry,
      ...LedgerEntry[],
    ];
    expect(verifyLedger([second, first, ...rest], hash)).toMatchObject({
      intact: false,
      brokenAt: 1,
    });
    const foreign = linkEntry(aLedgerDraft({ planId: 'other' }), null, hash);
    expect(verifyLedger([foreign, second], hash)).toMatchObject({
      intact: false,
      brokenAt: 2,
      sentence: 'entry 2 does not follow from the one before it',
    });
  });
});
