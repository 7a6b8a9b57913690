// Contract: what is only ever added: decisions, ledger, policies, usage.
import { describe, expect, it } from 'vitest';
import { aDecision, aLedger, aLedgerDraft, aStoredDecision, aUsageRow } from '../support/builders.ts';
import type { StoreUnderTest } from './store-contract.ts';

const hash = (text: string): string => `hash of ${text.length}`;

export function describeRecords({ store }: StoreUnderTest): void {
  describe('records', () => {
    it('V6: decisions are given newest first and numbered in each session', async () => {
      const reasons = ['nothing-open', 'continue', 'stagnant'];
      const decisions = reasons.map((reason) => aStoredDecision({ decision: aDecision({ reason }) }));
      await store().transact(async (tx) => {
        for (const decision of decisions) {
          await tx.addDecision(decision);
          await tx.addDecision({ ...decision, sessionId: 'session-2' });
        }
      });
      await store().read(async (reader) => {
        expect(await reader.decisions('session-1', 2)).toEqual([
          { ...decisions[2], sequence: 3 },
          { ...decisions[1], sequence: 2 },
        ]);
        expect(await reader.decisions('session-2', 99)).toHaveLength(3);
        expect(await reader.decisions('unknown', 99)).toEqual([]);
      });
    });

    it('V4: the ledger of a plan is one chain in the order of its numbers', async () => {
      const drafts = Array.from({ length: 12 }, (_, index) => aLedgerDraft({ detail: { index } }));
      const entries = aLedger(drafts, hash);
      await store().transact(async (tx) => {
        expect(await tx.lastLedgerEntry('session-1')).toBeNull();
        await tx.addLedgerEntries(entries.slice(0, 5));
        expect(await tx.lastLedgerEntry('session-1')).toEqual(entries[4]);
        await tx.addLedgerEntries(entries.slice(5));
        await tx.addLedgerEntries(aLedger([aLedgerDraft({ planId: 'other' })], hash));
      });
      await store().read(async (reader) => {
        expect(await reader.ledger('session-1')).toEqual(entries);
        expect(await reader.lastLedgerEntry('session-1')).toEqual(entries[11]);
        expect(await reader.ledger('other')).toHaveLength(1);
        expect(await reader.ledger('unknown')).toEqual([]);
      });
    });

    it('V4: a second entry with the same number is refused, so that the chain cannot fork', async () => {
      const entries = aLedger([aLedgerDraft(), aLedgerDraft()], hash);
      await store().transact(async (tx) => tx.addLedgerEntries(entries));
      const fork = aLedger([aLedgerDraft({ change: 'completed' })], hash, entries[0]);
      await expect(store().transact(async (tx) => tx.addLedgerEntries(fork))).rejects.toMatchObject({
        code: 'store-unavailable',
        message: expect.stringContaining('has an entry 2 already'),
      });
      expect(await store().read(async (reader) => reader.ledger('session-1'))).toEqual(entries);
    });

    it('V2: a policy snapshot is kept by its hash and never replaced', async () => {
      await store().transact(async (tx) => {
        await tx.savePolicy('hash', '{"mode":"enforce"}');
        await tx.savePolicy('hash', '{"mode":"off"}');
      });
      expect(await store().read(async (reader) => reader.policy('hash'))).toBe('{"mode":"enforce"}');
      expect(await store().read(async (reader) => reader.policy('unknown'))).toBeNull();
    });

    it('G8: usage is kept row by row', async () => {
      const rows = [aUsageRow(), aUsageRow({ turnId: null, cost: null, inputTokens: 0 })];
      await store().transact(async (tx) => {
        for (const row of rows) await tx.addUsage(row);
        await tx.addUsage(aUsageRow({ sessionId: 'session-2' }));
      });
      expect(await store().read(async (reader) => reader.usage('session-1'))).toEqual(rows);
    });
  });
}
