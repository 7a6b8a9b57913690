// The rank of each item of a whole-list write. Rows keep their rank while the order is unchanged, so that an
// unchanged list changes nothing; only a permuted list is ranked anew.
import type { WrittenTodo } from '../events.ts';
import type { Todo } from '../todo.ts';
import { orderGap } from './new-row.ts';

export function placeWritten(
  items: readonly WrittenTodo[],
  rowOf: readonly (Todo | null)[],
  plan: readonly Todo[],
): number[] {
  const kept = rowOf.filter((row) => row !== null).map((row) => row.order);
  const ascending = kept.every((order, index) => index === 0 || order > (kept[index - 1] ?? 0));
  if (!ascending) return items.map((_, index) => (index + 1) * orderGap);
  const last = plan.at(-1)?.order ?? 0;
  const orders: number[] = [];
  for (let index = 0; index < items.length; ) {
    const row = rowOf[index] ?? null;
    if (row !== null) {
      orders.push(row.order);
      index += 1;
      continue;
    }
    let end = index;
    while (end < items.length && (rowOf[end] ?? null) === null) end += 1;
    const low = orders.at(-1) ?? 0;
    const high = rowOf[end]?.order ?? Math.max(low, last) + orderGap * (end - index + 1);
    const start = rowOf[end] === undefined ? Math.max(low, last) : low;
    const step = (high - start) / (end - index + 1);
    for (let place = 1; index < end; index += 1, place += 1) orders.push(start + step * place);
  }
  return orders;
}
