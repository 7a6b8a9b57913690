// A store that stops answering at a given write, as a killed process would: what was
// committed stays, what was asked for later never happens, and nobody gets an error.
import type { Store } from '../../src/engine/store.ts';

export interface MortalStore extends Store {
  /** Resolves at the moment of death. */
  readonly died: Promise<void>;
  /** Dies now. */
  die(): void;
  /** Writes so far. */
  writes(): number;
}

export type Death = 'before' | 'after';

const writing: ReadonlySet<string> = new Set([
  'step',
  'append',
  'record',
  'lease',
  'changeChecks',
  'archive',
] satisfies (keyof Store)[]);

/**
 * Dies at write `at` (from 1), before it is committed or right after, when only the
 * answer is lost.
 */
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
  const call = async (name: keyof Store, values: unknown[]): Promise<unknown> => {
    if (isDead) return never();
    if (!writing.has(name)) return Reflect.apply(store[name], store, values);
    writes += 1;
    const isLast = writes === at;
    if (isLast && death === 'before') return die();
    const result = await Reflect.apply(store[name], store, values);
    if (isLast) return die();
    return isDead ? never() : result;
  };
  const own = {
    died,
    die: () => void die(),
    writes: () => writes,
    close: async () => {},
  };
  return new Proxy(own as MortalStore, {
    // It must not look like a promise: an async function that gives it back would wait
    // for it.
    get: (target, name: keyof Store | 'then') =>
      name === 'then' || name in target
        ? target[name as keyof Store]
        : (...values: unknown[]) => call(name, values),
  });
}
