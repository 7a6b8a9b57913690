import { describeStore } from '../../../test/contracts/store-contract.ts';
import { createMemoryStore } from './memory-store.ts';

describeStore('memory', async () => {
  const store = createMemoryStore();
  return { store, cleanup: () => store.close() };
});
