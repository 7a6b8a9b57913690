import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeStore } from '../../../test/contracts/store-contract.ts';
import { openSqliteStore } from './sqlite-store.ts';

describeStore('sqlite', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'untildone-store-'));
  const open = () => openSqliteStore({ path: join(directory, 'store.db'), clock: { now: () => 7 } });
  const opened = [await open()];
  return {
    store: opened[0]!,
    reopen: async () => {
      await opened[0]!.close();
      opened.push(await open());
      return opened[1]!;
    },
    cleanup: async () => {
      for (const store of opened) await store.close();
      rmSync(directory, { recursive: true });
    },
  };
});
