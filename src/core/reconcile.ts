// The one reconciler of lists: whole-list writes of the model (M5), hosts' own lists (G5) and plan files. What is new is
// created, what is there is updated, what is missing is dropped; what is malformed is refused item by item, and whatever
// it stood for stays untouched (T6, V4). An item is a todo by id, by title, or as reworded between the same neighbours.
import { checksForTitle } from './check-specs.ts';
import type { Event, NewTodo, TodoChanges, WrittenTodo } from './events.ts';
import { firstRepeatedId, orderGap, type PlanDraft, refuseItem } from './plan.ts';
import { oneLine } from './safe-text.ts';
import type { Settings } from './settings.ts';
import { type HostTodo, type HostTrail, nextTodos, type State } from './state.ts';
import { isOpen, normaliseTitle, type Priority, statusFromWord, type Todo, type TodoStatus } from './todo.ts';

/** How far apart in a gap two titles may stand and still be compared: keeps a rewritten list of 10,000 linear. */
const rewordWindow = 25;
/** In a gap so long that the window would cost seconds, it narrows. */
const mostComparisons = 40_000;
/** Half: rewording keeps most of a title's letters, replacing a hard todo with an easy one does not. */
export const rewordedOverlap = 0.5;

export function writeList(draft: PlanDraft, items: readonly WrittenTodo[], settings: Settings): void {
  if (refuseWhole(draft, items, settings)) return;
  const { plan } = draft.state;
  const matches = matchWritten(items, plan);
  const refused = refuseItems(draft, items, matches, settings);
  const orders = placeWritten(matches.rowOf, plan);
  let changes = 0;
  items.forEach((item, index) => {
    if (refused.has(index)) return;
    const todo = matches.rowOf[index] ?? null;
    const order = orders[index] ?? 0;
    changes +=
      todo === null ? createTodo(draft, item, order, settings) : updateTodo(draft, todo, item, order);
  });
  changes += dropMissing(draft, matches.unmatched);
  const applied = items.filter((_, index) => !refused.has(index));
  noticeConflicts(draft, applied, settings);
  if (changes === 0 && refused.size === 0 && plan.some(isOpen)) noticeDuplicate(draft);
}

function refuseWhole(draft: PlanDraft, items: readonly WrittenTodo[], { maxTodos }: Settings): boolean {
  if (items.length > maxTodos) {
    const sentence = `The list has ${items.length} todos; at most ${maxTodos} are allowed. The last plan stays.`;
    draft.refuse('too-many-todos', sentence);
    return true;
  }
  const repeated =
    firstRepeatedId(items.map(({ id }) => id)) ?? firstRepeatedId(items.map(({ freshId }) => freshId));
  if (repeated === null) return false;
  const sentence = `The id "${oneLine(repeated, 60)}" occurs twice in the list. The last plan stays.`;
  draft.refuse('duplicate-id', sentence);
  return true;
}

/** Indexes of the items that do not apply. */
function refuseItems(
  draft: PlanDraft,
  items: readonly WrittenTodo[],
  { rowOf }: Matches<Todo>,
  settings: Settings,
): ReadonlySet<number> {
  const refused = new Set<number>();
  items.forEach(({ content: title, status, priority }, index) => {
    const refusal = refuseItem({ title, status, priority }, index, settings);
    if (refusal === null) return;
    refused.add(index);
    draft.refuseAs(refusal);
  });
  const known = new Set(draft.state.plan.map(({ id }) => id));
  items.forEach(({ freshId }, index) => {
    if (rowOf[index] !== null || !known.has(freshId) || refused.has(index)) return;
    refused.add(index);
    const sentence = `item ${index + 1} would take the id of another todo; nothing of it was applied.`;
    draft.refuse('known-id', sentence, index);
  });
  return refused;
}

/** How many changes it took: the same list written again takes none. */
function createTodo(draft: PlanDraft, item: WrittenTodo, order: number, settings: Settings): number {
  const title = item.content.trim();
  const priority = (item.priority ?? 'medium') as Priority;
  const checks = checksForTitle(settings, title);
  const seed = { id: item.freshId, title, order, hostKey: item.id ?? null, priority, checks };
  return 1 + applyStatus(draft, draft.add(seed), item);
}

function updateTodo(draft: PlanDraft, todo: Todo, item: WrittenTodo, order: number): number {
  let current = todo;
  let changes = 0;
  const title = item.content.trim();
  const titleKey = normaliseTitle(title);
  const priority = (item.priority ?? todo.priority) as Priority;
  if (titleKey !== todo.titleKey) {
    const detail = { from: todo.title, to: title };
    current = draft.put(current, { ...current, title, titleKey }, 'reworded', detail);
    changes += 1;
  }
  if (priority !== todo.priority || order !== todo.order) {
    current = draft.put(current, { ...current, priority, order }, 'edited', { priority, order });
    changes += 1;
  }
  return changes + applyStatus(draft, current, item);
}

function applyStatus(draft: PlanDraft, todo: Todo, item: WrittenTodo): number {
  const status = statusFromWord(item.status ?? 'pending') ?? 'pending';
  return draft.setStatus(todo, { status, reason: item.reason ?? null }) === null ? 0 : 1;
}

/** A human who leaves a todo out cancels it; an agent drops it. */
function dropMissing(draft: PlanDraft, missing: readonly Todo[]): number {
  const isHuman = draft.actor === 'human';
  return missing.filter((todo) => {
    if (!isHuman) return draft.drop(todo) !== null;
    if (todo.status === 'completed') return false;
    return draft.setStatus(todo, { status: 'cancelled' }, { title: todo.title }) !== null;
  }).length;
}

/** T7: the same title open twice, and a second todo in progress. */
function noticeConflicts(draft: PlanDraft, items: readonly WrittenTodo[], settings: Settings): void {
  const seen = new Map<string, 'once' | 'told'>();
  const active: string[] = [];
  for (const { content, status } of items) {
    const word = statusFromWord(status ?? 'pending');
    if (word !== 'pending' && word !== 'in_progress') continue;
    if (word === 'in_progress') active.push(content);
    const key = normaliseTitle(content);
    if (seen.get(key) === 'once')
      draft.notice(`The title "${oneLine(content, 80)}" is open twice in this list.`);
    seen.set(key, seen.has(key) ? 'told' : 'once');
  }
  if (active.length < 2 || !settings.singleInProgress) return;
  const named = active.slice(0, 3).map((title) => `"${oneLine(title, 80)}"`);
  draft.notice(
    `${active.length} todos are in progress (${named.join(', ')}); work on one at a time, highest priority first.`,
  );
}

function noticeDuplicate(draft: PlanDraft): void {
  const { plan } = draft.state;
  const active = plan.find(({ status }) => status === 'in_progress') ?? nextTodos(plan, 1)[0];
  draft.log('duplicate-write', null);
  if (active === undefined) return;
  draft.notice(
    `This list equals the current one; nothing changed. The active todo is "${oneLine(active.title, 120)}": work on it.`,
  );
}

/**
 * The rank of each item. Todos keep their rank while the order is unchanged, so that an unchanged list changes nothing;
 * only a permuted list is ranked anew.
 */
export function placeWritten(rowOf: readonly (Todo | null)[], plan: readonly Todo[]): number[] {
  const kept = rowOf.filter((row) => row !== null).map(({ order }) => order);
  const isRising = kept.every((order, index) => index === 0 || order > (kept[index - 1] ?? 0));
  if (!isRising) return rowOf.map((_, index) => (index + 1) * orderGap);
  const last = plan.at(-1)?.order ?? 0;
  const orders: number[] = [];
  while (orders.length < rowOf.length) {
    const row = rowOf[orders.length];
    if (row !== null && row !== undefined) {
      orders.push(row.order);
      continue;
    }
    // New ones are spread between the two that stand around them; behind the last one they follow the whole plan.
    let end = orders.length;
    while (rowOf[end] === null) end += 1;
    const amount = end - orders.length;
    const low = Math.max(orders.at(-1) ?? 0, end === rowOf.length ? last : 0);
    const high = rowOf[end]?.order ?? low + orderGap * (amount + 1);
    for (let place = 1; place <= amount; place += 1) orders.push(low + ((high - low) / (amount + 1)) * place);
  }
  return orders;
}

/** What matching looks at: a todo of the plan, or a line of a plan file as it was read last. */
export interface Matchable {
  readonly id: string;
  readonly hostKey: string | null;
  readonly titleKey: string;
  readonly status: TodoStatus;
}

export interface Matches<Row> {
  /** For each item its row, or null when it is new. */
  readonly rowOf: readonly (Row | null)[];
  /** Rows that no item stands for, in plan order. */
  readonly unmatched: readonly Row[];
}

type Written = Pick<WrittenTodo, 'id' | 'content' | 'status'>;

/** Which written item is which row. Pure matching: nothing is changed here. */
export function matchWritten<Row extends Matchable>(
  items: readonly Written[],
  plan: readonly Row[],
): Matches<Row> {
  const rowOf: (Row | null)[] = items.map(() => null);
  const taken = new Set<string>();
  const take = (index: number, row: Row | undefined): void => {
    if (row === undefined || taken.has(row.id)) return;
    rowOf[index] = row;
    taken.add(row.id);
  };
  const byId = new Map<string, Row>();
  for (const row of plan) if (row.hostKey !== null) byId.set(row.hostKey, row);
  for (const row of plan) byId.set(row.id, row);
  items.forEach(({ id }, index) => {
    if (id !== undefined) take(index, byId.get(id));
  });
  const isFree = (row: Row): boolean => !taken.has(row.id);
  matchTitles(items, plan.filter(isFree), rowOf, take);
  matchReworded(items, plan, rowOf, take);
  return { rowOf, unmatched: plan.filter(isFree) };
}

type Take<Row> = (index: number, row: Row | undefined) => void;

function matchTitles<Row extends Matchable>(
  items: readonly Written[],
  free: readonly Row[],
  rowOf: readonly (Row | null)[],
  take: Take<Row>,
): void {
  const queues = new Map<string, Row[]>();
  for (const row of free) {
    const queue = queues.get(row.titleKey);
    if (queue === undefined) queues.set(row.titleKey, [row]);
    else queue.push(row);
  }
  const keys = items.map(({ content }, index) => (rowOf[index] === null ? normaliseTitle(content) : ''));
  // Namesakes with the written status first, or an unchanged list would swap an open one with a finished one.
  items.forEach((item, index) => {
    const queue = rowOf[index] === null ? queues.get(keys[index] ?? '') : undefined;
    if (queue === undefined || queue.length < 2) return;
    const status = statusFromWord(item.status ?? 'pending');
    const same = queue.findIndex((row) => row.status === status);
    if (same >= 0) take(index, queue.splice(same, 1)[0]);
  });
  // Live rows first: a finished namesake must not swallow the mention of an open one.
  for (const queue of queues.values()) queue.sort((a, b) => liveness(a) - liveness(b));
  items.forEach((_, index) => {
    if (rowOf[index] === null) take(index, queues.get(keys[index] ?? '')?.shift());
  });
}

function liveness({ status }: Matchable): number {
  return status === 'completed' || status === 'cancelled' ? 1 : 0;
}

/** Items and rows that are left over between the same two matched neighbours are compared with each other. */
function matchReworded<Row extends Matchable>(
  items: readonly Written[],
  plan: readonly Row[],
  rowOf: readonly (Row | null)[],
  take: Take<Row>,
): void {
  const matched = new Set(rowOf.map((row) => row?.id));
  const rowGaps = new Map<string, Row[]>();
  const nextAnchor = new Map<string, string>();
  let anchor = '';
  for (const row of plan) {
    if (matched.has(row.id)) {
      nextAnchor.set(anchor, row.id);
      anchor = row.id;
    } else {
      const gap = rowGaps.get(anchor);
      if (gap === undefined) rowGaps.set(anchor, [row]);
      else gap.push(row);
    }
  }
  if (rowGaps.size === 0) return;
  anchor = '';
  let gap: number[] = [];
  const close = (endAnchor: string): void => {
    const rows = rowGaps.get(anchor);
    if (rows !== undefined && gap.length > 0 && (nextAnchor.get(anchor) ?? '') === endAnchor)
      pairGap(gap, rows, items, take);
    anchor = endAnchor;
    gap = [];
  };
  rowOf.forEach((row, index) => {
    if (row === null) gap.push(index);
    else close(row.id);
  });
  close('');
}

/** Pairs the titles of one gap, best overlap first. */
function pairGap<Row extends Matchable>(
  indexes: readonly number[],
  rows: readonly Row[],
  items: readonly Written[],
  take: Take<Row>,
): void {
  const pairs: { index: number; row: Row; overlap: number }[] = [];
  const known = new Map<string, Bigrams>();
  const bigramsOf = (row: Row): Bigrams => {
    const found = known.get(row.id) ?? bigrams(row.titleKey);
    known.set(row.id, found);
    return found;
  };
  const reach = Math.max(2, Math.min(rewordWindow, Math.floor(mostComparisons / (2 * indexes.length))));
  indexes.forEach((index, place) => {
    const item = items[index];
    const title = bigrams(normaliseTitle(item?.content ?? ''));
    const status = statusFromWord(item?.status ?? 'pending');
    for (const row of rows.slice(Math.max(0, place - reach), place + reach)) {
      // A finished todo is reworded only by one that is finished as well; else new work would reopen old work.
      if (liveness(row) === 1 && row.status !== status) continue;
      const overlap = bigramOverlap(title, bigramsOf(row));
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

type Bigrams = ReadonlyMap<string, number>;

function bigrams(text: string): Bigrams {
  const characters = [...text];
  const counts = new Map<string, number>();
  if (characters.length === 1) counts.set(text, 1);
  for (let i = 0; i + 1 < characters.length; i++) {
    const pair = `${characters[i]}${characters[i + 1]}`;
    counts.set(pair, (counts.get(pair) ?? 0) + 1);
  }
  return counts;
}

/** How much two normalised titles overlap, 0 to 1 (Dice coefficient), by pairs of characters: in every language (V4). */
export function titleOverlap(a: string, b: string): number {
  return bigramOverlap(bigrams(a), bigrams(b));
}

function bigramOverlap(left: Bigrams, right: Bigrams): number {
  let size = 0;
  let shared = 0;
  for (const [pair, count] of left) {
    size += count;
    shared += Math.min(count, right.get(pair) ?? 0);
  }
  for (const count of right.values()) size += count;
  return size === 0 ? 0 : (2 * shared) / size;
}

/** A host's todo as it is listed now. */
export interface ListedTodo extends HostTodo {
  readonly context?: string | null;
}

/** A change of the plan as an event, without what the sender fills in. */
export type ListChange =
  | { readonly type: 'todos-created'; readonly items: readonly NewTodo[] }
  | { readonly type: 'todo-updated'; readonly todoId: string; readonly changes: TodoChanges }
  | { readonly type: 'plan-written'; readonly items: readonly Omit<WrittenTodo, 'freshId'>[] };

/**
 * What a host's own list says otherwise than when it was last read (G5). Only differences are changes: what our tools or
 * checks did to a todo since is not undone by a list that has not moved. `idOf` makes our id of the host's key; null: the
 * list has no lasting keys, and another list than the last is a write of the whole.
 */
export function hostListChanges(
  known: readonly HostTodo[] | undefined,
  listed: readonly ListedTodo[],
  idOf: ((key: string) => string) | null,
): readonly ListChange[] {
  if (idOf === null) return wholeListChanges(known ?? [], listed);
  const before = new Map((known ?? []).map((todo) => [todo.key, todo]));
  const changes = listed.flatMap((todo) => keyedChanges(before.get(todo.key), todo, idOf));
  const shown = new Set(listed.map(({ key }) => key));
  for (const { key, status } of before.values()) {
    // Finished todos leave a host's list without a word; an open one that does was deleted (T2).
    if (key === null || shown.has(key) || status === 'completed' || status === 'gone') continue;
    changes.push({ type: 'todo-updated', todoId: key, changes: { status: 'cancelled' } });
  }
  return changes;
}

function keyedChanges(
  before: HostTodo | undefined,
  { key, title, status: word, context }: ListedTodo,
  idOf: (key: string) => string,
): ListChange[] {
  const status = statusFromWord(word);
  if (status === null || key === null) return [];
  if (before === undefined) {
    const item = { id: idOf(key), title, hostKey: key, status, ...(context == null ? {} : { context }) };
    return [{ type: 'todos-created', items: [item] }];
  }
  const changes = {
    ...(status === before.status ? {} : { status }),
    ...(title === before.title || title.trim() === '' ? {} : { title }),
  };
  return Object.keys(changes).length === 0 ? [] : [{ type: 'todo-updated', todoId: key, changes }];
}

/** Reading the same list again is nobody's write: it is neither a duplicate nor an omission (M5, P34). */
function wholeListChanges(known: readonly HostTodo[], listed: readonly ListedTodo[]): ListChange[] {
  const text = (list: readonly HostTodo[]): string =>
    JSON.stringify(list.map(({ key, title, status, priority }) => [key, title, status, priority]));
  return text(known) === text(listed) ? [] : [{ type: 'plan-written', items: writtenItems(listed) }];
}

/** A host's whole list as the items of a write; who sends it gives the ids for what is new. */
export function writtenItems(listed: readonly ListedTodo[]): readonly Omit<WrittenTodo, 'freshId'>[] {
  return listed.map(({ key, title, status, priority }) => ({
    ...(key === null ? {} : { id: key }),
    content: title,
    status,
    priority,
  }));
}

const noTrail: HostTrail = { promptId: null, last: null, toolError: null, stops: 0 };

/** What an event says about its host: the list it now has, and where its turn stands. */
export function followHost(state: State, event: Event): State {
  const { source } = event;
  // A claim at the gate is not yet the host's: it may refuse.
  if (source === undefined || source.kind === 'gate') return state;
  const hostList = followList(state.hostList, event);
  const listed = hostList === undefined ? state : { ...state, hostList };
  if (source.kind === 'side' || source.kind === 'list') return listed;
  const before = state.trail ?? noTrail;
  const moved = { ...before, promptId: source.promptId ?? before.promptId, last: source.kind };
  switch (event.type) {
    case 'tool-ended':
      return { ...listed, trail: { ...moved, toolError: event.error, stops: 0 } };
    case 'stop-attempted':
      return { ...listed, trail: { ...moved, stops: before.stops + 1 } };
    default:
      return { ...listed, trail: source.kind === 'prompt' ? { ...moved, toolError: null, stops: 0 } : moved };
  }
}

function followList(list: State['hostList'], event: Event): State['hostList'] {
  switch (event.type) {
    case 'todos-created': {
      const added = event.items.flatMap(({ hostKey, title, status = 'pending' }) =>
        hostKey === undefined ? [] : [{ key: hostKey, title, status }],
      );
      const keys = new Set(added.map(({ key }) => key));
      return added.length === 0
        ? list
        : [...(list ?? []).filter(({ key }) => !keys.has(key ?? '')), ...added];
    }
    case 'todo-updated':
      return list?.map((todo) => {
        if (todo.key !== event.todoId) return todo;
        const { title = todo.title, status = todo.status } = event.changes;
        return { ...todo, title, status: status === 'cancelled' ? 'gone' : status };
      });
    case 'plan-written':
      if (event.source?.kind !== 'list') return list;
      return event.items.map(({ id, content, status = 'pending', priority }) => ({
        key: id ?? null,
        title: content,
        status,
        priority,
      }));
    default:
      return list;
  }
}
