// Remembers how to take back what a transaction did to plain maps, sets and arrays, newest first.
// It refuses to write once the transaction has ended, so that a late write cannot slip past it.
import { transactionEnded } from '../refused-writes.ts';

export class UndoLog {
  #steps: (() => void)[] = [];
  #ended = false;

  /** Records how to take back what the caller does next. */
  note(step: () => void): void {
    if (this.#ended) throw transactionEnded();
    this.#steps.push(step);
  }

  set<K, V>(map: Map<K, V>, key: K, value: V): void {
    const before = map.get(key);
    this.note(before === undefined ? () => map.delete(key) : () => map.set(key, before));
    map.set(key, value);
  }

  remove<K, V>(map: Map<K, V>, key: K): void {
    const before = map.get(key);
    if (before === undefined) return;
    this.note(() => map.set(key, before));
    map.delete(key);
  }

  add<V>(set: Set<V>, value: V): void {
    if (set.has(value)) return;
    this.note(() => set.delete(value));
    set.add(value);
  }

  push<V>(list: V[], value: V): void {
    this.note(() => list.pop());
    list.push(value);
  }

  assign<T extends object, K extends keyof T>(target: T, key: K, value: T[K]): void {
    const before = target[key];
    this.note(() => {
      target[key] = before;
    });
    target[key] = value;
  }

  commit(): void {
    this.#ended = true;
  }

  rollback(): void {
    this.#ended = true;
    for (const step of this.#steps.reverse()) step();
  }
}
