// The contract that every store keeps, as one suite: run it over each implementation. It
// knows no implementation and looks at a store only through its port, so that a store
// cannot pass it by accident of its layout.
import { afterEach, beforeEach, describe } from 'vitest';
import type { Store } from '../../src/engine/store.ts';
import { describeArchive, describeForgetting } from './archive-contract.ts';
import { describeChecks } from './check-contract.ts';
import { describeDelivery } from './delivery-contract.ts';
import { describeDurability } from './durability-contract.ts';
import { describeEvents } from './event-contract.ts';
import { describeHostileValues } from './hostile-values-contract.ts';
import { describeRecords } from './record-contract.ts';
import { describeSessions } from './session-contract.ts';
import { describeTodos } from './todo-contract.ts';
import { describeTransactions } from './transaction-contract.ts';
import { describeTranscript } from './transcript-contract.ts';

export interface OpenedStore {
  readonly store: Store;
  /**
   * Closes the store and opens what it left behind; missing where nothing outlives the
   * process.
   */
  readonly reopen?: () => Promise<Store>;
  /** The same store as another process sees it; missing likewise. */
  readonly beside?: () => Promise<Store>;
  readonly cleanup: () => Promise<void>;
}

/** A fresh store for each test; `store()` is the one of the running test. */
export interface StoreUnderTest {
  store(): Store;
  opened(): OpenedStore;
}

export function describeStore(name: string, open: () => Promise<OpenedStore>): void {
  describe(`${name} store`, () => {
    let current: OpenedStore | null = null;
    beforeEach(async () => {
      current = await open();
    });
    afterEach(async () => {
      await current?.cleanup();
      current = null;
    });
    const opened = (): OpenedStore => {
      if (current === null)
        throw new Error('The store of a test exists only while the test runs.');
      return current;
    };
    const underTest: StoreUnderTest = { opened, store: () => opened().store };

    describeTransactions(underTest);
    describeSessions(underTest);
    describeTodos(underTest);
    describeEvents(underTest);
    describeRecords(underTest);
    describeDelivery(underTest);
    describeTranscript(underTest);
    describeChecks(underTest);
    describeArchive(underTest);
    describeForgetting(underTest);
    describeHostileValues(underTest);
    describeDurability(underTest);
  });
}
