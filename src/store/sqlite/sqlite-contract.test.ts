import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeStore } from '../../../test/contracts/store-contract.ts';
import { openSqliteStore } from './sqlite-store.ts';

describeStore('sqlite', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'untildone-store-'));
  const open = () =>
    openSqliteStore({ path: join(directory, 'store.db'), clock: { now: () => 7 } });
  const opened = [await open()];
  const openAgain = async () => {
    const again = await open();
    opened.push(again);
    return again;
  };
  return {
    store: opened[0]!,
    beside: openAgain,
    reopen: async () => {
      await opened[0]!.close();
      return openAgain();
    },
    cleanup: async () => {
      for (const store of opened) await store.close();
      rmSync(directory, { recursive: true });
    },
  };
});

describeStore('memory', async () => {
  const store = await openSqliteStore({ path: ':memory:', clock: { now: () => 7 } });
  return { store, cleanup: () => store.close() };
});
