// Where new todos go when the model names 1-based positions (M1). Items are placed one after the other, each into
// the plan as it is after the ones before it, from a handful of loaded rows and never the whole list.
import type { Todo } from '../todo.ts';
import { orderGap } from './new-row.ts';

export interface Placer {
  /** The rank for an item at this position; undefined: at the end. */
  place(position: number | undefined): number;
}

interface Placed {
  /** How many of the plan's old rows stand before it. */
  readonly base: number;
  readonly rank: number;
}

/** Rows that positions can reach: with each item placed before it, an old row may have moved down by one. */
export function positionsToLoad(positions: readonly (number | undefined)[]): number[] {
  const wanted = new Set<number>();
  let placed = 0;
  for (const position of positions) {
    if (position === undefined) continue;
    for (let old = Math.max(1, position - 1 - placed); old <= position; old++) wanted.add(old);
    placed += 1;
  }
  return [...wanted];
}

export function createPlacer(
  oldRows: Readonly<Record<number, Todo>>,
  size: number,
  lastOrder: number,
): Placer {
  const placed: Placed[] = [];
  let highest = lastOrder;

  /** The element at a position of the plan as it is now; null: there is none. */
  function at(position: number): Placed | null {
    const index = placed.findIndex(({ base }, before) => base + before + 1 === position);
    const found = placed[index];
    if (found !== undefined) return found;
    const before = placed.filter(({ base }, count) => base + count + 1 < position).length;
    const old = oldRows[position - before];
    return old === undefined ? null : { base: position - before - 1, rank: old.order };
  }

  function add(entry: Placed): number {
    const last = placed.at(-1);
    const isLast =
      last === undefined || last.base < entry.base || (last.base === entry.base && last.rank <= entry.rank);
    placed.push(entry);
    // Appending, the usual case, keeps the order; sorting each time would make a long import quadratic.
    if (!isLast) placed.sort((a, b) => a.base - b.base || a.rank - b.rank);
    highest = Math.max(highest, entry.rank);
    return entry.rank;
  }

  return {
    place(position) {
      const next = position === undefined ? null : at(position);
      if (position === undefined || next === null) return add({ base: size, rank: highest + orderGap });
      const low = at(position - 1)?.rank ?? 0;
      // When doubles run out, equal ranks fall back to the order of arrival.
      return add({ base: next.base, rank: low + (next.rank - low) / 2 });
    },
  };
}
