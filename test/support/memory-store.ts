// A store that ends with the test: the real one, in memory. Made at once, opened while its first call waits.
import type { Store } from '../../src/engine/store.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';

export function createMemoryStore(): Store {
  const opening = openSqliteStore({ path: ':memory:' });
  return new Proxy({} as Store, {
    // A promise may be resolved with it: nobody must take it for one.
    get: (_target, name: keyof Store | 'then') =>
      name === 'then'
        ? undefined
        : async (...values: unknown[]) => Reflect.apply((await opening)[name], undefined, values),
  });
}
