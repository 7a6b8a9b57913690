// Contract: what is only ever added: decisions, ledger, policies, usage.
import { describe, expect, it } from 'vitest';
import {
  aDecision,
  aLedger,
  aLedgerDraft,
  aStoredDecision,
  aUsageRow,
} from '../support/builders.ts';
import { hash, save } from './dump.ts';
import type { StoreUnderTest } from './store-contract.ts';

export function describeRecords({ store }: StoreUnderTest): void {
  describe('records', () => {
    it('V6: decisions are given newest first and numbered in each session', async () => {
      const reasons = ['nothing-open', 'continue', 'stagnant'] as const;
      const decisions = reasons.map((reason) =>
        aStoredDecision({ decision: aDecision({ reason }) }),
      );
      const others = decisions.map((decision) => ({
        ...decision,
        sessionId: 'session-2',
      }));
      await save(store(), { decisions: decisions.slice(0, 1) });
      await save(store(), { decisions: others }, 'session-2');
      await save(store(), { decisions: decisions.slice(1) });
      expect(await store().decisions('session-1', 2)).toEqual([
        { ...decisions[2], sequence: 3 },
        { ...decisions[1], sequence: 2 },
      ]);
      expect(await store().decisions('session-2', 99)).toHaveLength(3);
      expect(await store().decisions('unknown', 99)).toEqual([]);
    });

    it('V4: the ledger of a plan is one chain in the order of its numbers', async () => {
      const drafts = Array.from({ length: 12 }, (_, index) =>
        aLedgerDraft({ detail: { index } }),
      );
      const entries = aLedger(drafts, hash);
      expect(await store().ledger('session-1', 1)).toEqual([]);
      await save(store(), { ledger: entries.slice(0, 5) });
      expect(await store().ledger('session-1', 1)).toEqual([entries[4]]);
      await save(store(), {
        ledger: [
          ...entries.slice(5),
          ...aLedger([aLedgerDraft({ planId: 'other' })], hash),
        ],
      });
      expect(await store().ledger('session-1')).toEqual(entries);
      expect(await store().ledger('session-1', 2)).toEqual(entries.slice(10));
      expect(await store().ledger('other')).toHaveLength(1);
      expect(await store().ledger('unknown')).toEqual([]);
    });

    it('V4: a second entry with the same number is refused, so that the chain cannot fork', async () => {
      const entries = aLedger([aLedgerDraft(), aLedgerDraft()], hash);
      await save(store(), { ledger: entries });
      const fork = aLedger([aLedgerDraft({ change: 'completed' })], hash, entries[0]);
      await expect(save(store(), { ledger: fork })).rejects.toMatchObject({
        code: 'store-unavailable',
        message: expect.stringContaining('has an entry 2 already'),
      });
      expect(await store().ledger('session-1')).toEqual(entries);
    });

    it('V2: a policy snapshot is kept by its hash and never replaced', async () => {
      await store().record({ policies: new Map([['hash', '{"mode":"enforce"}']]) });
      await store().record({ policies: new Map([['hash', '{"mode":"off"}']]) });
      await save(store(), { policies: new Map([['hash', '{"mode":"observe"}']]) });
      expect(await store().policy('hash')).toBe('{"mode":"enforce"}');
      expect(await store().policy('unknown')).toBeNull();
    });

    it('G8: usage is kept row by row', async () => {
      const rows = [aUsageRow(), aUsageRow({ turnId: null, cost: null, inputTokens: 0 })];
      await save(store(), { usage: rows });
      await save(
        store(),
        { usage: [aUsageRow({ sessionId: 'session-2' })] },
        'session-2',
      );
      expect(await store().usage('session-1')).toEqual(rows);
    });
  });
}
