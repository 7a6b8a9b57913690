// Lets a statement use one value in several places (?1 … ?1) on every runtime: node:sqlite of Node 22.13 binds
// values to plain question marks only. Numbers become plain marks, and the values are handed over in their order.
// It reads SQL that stands in this folder, never SQL from outside: a question mark inside a literal would be lost.
import type { Value } from './open-database.ts';

export interface PlainStatement {
  readonly sql: string;
  /** For each mark, which value (from 0) it takes; null: the values are in order already. */
  readonly order: readonly number[] | null;
}

export function toPlainParameters(sql: string): PlainStatement {
  const order: number[] = [];
  const plain = sql.replace(/\?(\d+)/gu, (_, number: string) => {
    order.push(Number(number) - 1);
    return '?';
  });
  return { sql: plain, order: order.length > 0 ? order : null };
}

export function arrangeValues(order: readonly number[] | null, values: readonly Value[]): readonly Value[] {
  return order === null ? values : order.map((index) => values[index] ?? null);
}
