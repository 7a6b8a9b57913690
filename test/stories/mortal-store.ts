// A store that stops answering at a given write, as a killed process would: what was committed stays, what was asked
// for later never happens, and nobody gets an error.
import type { Store } from '../../src/engine/store.ts';

export interface MortalStore extends Store {
  /** Resolves at the moment of death. */
  readonly died: Promise<void>;
  /** Writes so far. */
  writes(): number;
}

export type Death = 'before' | 'after';

/** Dies at write `at` (from 1), before it is committed or right after, when only the answer is lost. */
export function createMortalStore(store: Store, at: number, death: Death): MortalStore {
  let writes = 0;
  let isDead = false;
  let tell = (): void => {};
  const died = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const never = <T>(): Promise<T> => new Promise<T>(() => {});
  const die = <T>(): Promise<T> => {
    isDead = true;
    tell();
    return never<T>();
  };
  return {
    died,
    writes: () => writes,
    async transact(work) {
      if (isDead) return never();
      writes += 1;
      const isLast = writes === at;
      if (isLast && death === 'before') return die();
      const result = await store.transact(work);
      return isLast ? die() : isDead ? never() : result;
    },
    read: (work) => (isDead ? never() : store.read(work)),
    close: async () => {},
  };
}
