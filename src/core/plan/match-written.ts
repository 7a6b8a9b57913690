// Which written item is which row: by id, then by normalised title, then as reworded between the same matched
// neighbours (M5, V4). Pure matching; applying the result is write-list.ts.
import type { WrittenTodo } from '../events.ts';
import { normaliseTitle, statusFromWord, type Todo } from '../todo.ts';
import { type Bigrams, bigramOverlap, bigrams, rewordedOverlap } from './title-overlap.ts';

export interface Matches {
  /** For each item its row, or null when it is new. */
  readonly rowOf: readonly (Todo | null)[];
  /** Rows that no item stands for, in plan order. */
  readonly unmatched: readonly Todo[];
}

/** How far apart in a gap two titles may stand and still be compared: keeps a rewritten list of 10,000 linear. */
const rewordWindow = 25;
/** In a gap so long that the window would cost seconds, it narrows. */
const mostComparisons = 40_000;

export function matchWritten(items: readonly WrittenTodo[], plan: readonly Todo[]): Matches {
  const rowOf: (Todo | null)[] = items.map(() => null);
  const taken = new Set<string>();
  const take = (index: number, row: Todo | undefined): void => {
    if (row === undefined || taken.has(row.id)) return;
    rowOf[index] = row;
    taken.add(row.id);
  };
  const byId = new Map<string, Todo>();
  for (const row of plan) if (row.hostKey !== null) byId.set(row.hostKey, row);
  for (const row of plan) byId.set(row.id, row);
  items.forEach((item, index) => {
    if (item.id !== undefined) take(index, byId.get(item.id));
  });
  matchTitles(items, plan, rowOf, taken, take);
  matchReworded(items, plan, rowOf, take);
  return { rowOf, unmatched: plan.filter((row) => !taken.has(row.id)) };
}

function matchTitles(
  items: readonly WrittenTodo[],
  plan: readonly Todo[],
  rowOf: readonly (Todo | null)[],
  taken: ReadonlySet<string>,
  take: (index: number, row: Todo | undefined) => void,
): void {
  const queues = new Map<string, Todo[]>();
  for (const row of plan) {
    if (taken.has(row.id)) continue;
    const queue = queues.get(row.titleKey);
    if (queue === undefined) queues.set(row.titleKey, [row]);
    else queue.push(row);
  }
  // Namesakes with the written status first, or an unchanged list would swap an open one with a finished one.
  items.forEach((item, index) => {
    const queue = rowOf[index] === null ? queues.get(normaliseTitle(item.content)) : undefined;
    if (queue === undefined || queue.length < 2) return;
    const status = statusFromWord(item.status ?? 'pending');
    const same = queue.findIndex((row) => row.status === status);
    if (same >= 0) take(index, queue.splice(same, 1)[0]);
  });
  // Live rows first: a finished namesake must not swallow the mention of an open one.
  for (const queue of queues.values()) queue.sort((a, b) => liveness(a) - liveness(b));
  items.forEach((item, index) => {
    if (rowOf[index] === null) take(index, queues.get(normaliseTitle(item.content))?.shift());
  });
}

function liveness(row: Todo): number {
  return row.status === 'completed' || row.status === 'cancelled' ? 1 : 0;
}

function matchReworded(
  items: readonly WrittenTodo[],
  plan: readonly Todo[],
  rowOf: readonly (Todo | null)[],
  take: (index: number, row: Todo | undefined) => void,
): void {
  const matched = new Set(rowOf.filter((row) => row !== null).map((row) => row.id));
  const rowGaps = new Map<string, Todo[]>();
  let anchor = '';
  for (const row of plan) {
    if (matched.has(row.id)) anchor = row.id;
    else {
      const gap = rowGaps.get(anchor);
      if (gap === undefined) rowGaps.set(anchor, [row]);
      else gap.push(row);
    }
  }
  if (rowGaps.size === 0) return;
  const nextAnchor = followingAnchors(plan, matched);
  let itemAnchor = '';
  let gap: number[] = [];
  const close = (endAnchor: string): void => {
    const rows = rowGaps.get(itemAnchor);
    if (rows !== undefined && gap.length > 0 && (nextAnchor.get(itemAnchor) ?? '') === endAnchor) {
      pairGap(gap, rows, items, take);
    }
    gap = [];
  };
  items.forEach((_, index) => {
    const row = rowOf[index];
    if (row === null || row === undefined) {
      gap.push(index);
      return;
    }
    close(row.id);
    itemAnchor = row.id;
  });
  close('');
}

/** For each matched row (and '' for the start) the next matched row in the plan, '' for the end. */
function followingAnchors(plan: readonly Todo[], matched: ReadonlySet<string>): Map<string, string> {
  const following = new Map<string, string>();
  let anchor = '';
  for (const row of plan) {
    if (!matched.has(row.id)) continue;
    following.set(anchor, row.id);
    anchor = row.id;
  }
  following.set(anchor, '');
  return following;
}

/** Pairs the titles of one gap, best overlap first. */
function pairGap(
  indexes: readonly number[],
  rows: readonly Todo[],
  items: readonly WrittenTodo[],
  take: (index: number, row: Todo | undefined) => void,
): void {
  const pairs: { index: number; row: Todo; overlap: number }[] = [];
  const known = new Map<string, Bigrams>();
  const pairsOf = (row: Todo): Bigrams => {
    const found = known.get(row.id) ?? bigrams(row.titleKey);
    known.set(row.id, found);
    return found;
  };
  const reach = Math.max(2, Math.min(rewordWindow, Math.floor(mostComparisons / (2 * indexes.length))));
  indexes.forEach((index, place) => {
    const item = items[index];
    const title = bigrams(normaliseTitle(item?.content ?? ''));
    const ends = statusFromWord(item?.status ?? 'pending');
    for (const row of rows.slice(Math.max(0, place - reach), place + reach)) {
      // A finished todo is reworded only by one that is finished as well; else new work would reopen old work.
      if (liveness(row) === 1 && row.status !== ends) continue;
      const overlap = bigramOverlap(title, pairsOf(row));
      if (overlap >= rewordedOverlap) pairs.push({ index, row, overlap });
    }
  });
  pairs.sort((a, b) => b.overlap - a.overlap || a.index - b.index);
  const paired = new Set<number | string>();
  for (const { index, row } of pairs) {
    if (paired.has(index) || paired.has(row.id)) continue;
    paired.add(index).add(row.id);
    take(index, row);
  }
}
