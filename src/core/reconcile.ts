// The one reconciler of lists: whole-list writes (M5), hosts' lists (G5), plan files. An
// item matches a todo by id, by title, or as a rewording between the same neighbours. A
// missing todo is dropped; a malformed item is refused, and its todo stays (T6, V4).
import type { Event, NewTodo, StopQuestion, TodoChanges, WrittenTodo } from './events.ts';
import {
  firstRepeatedId,
  isRising,
  orderGap,
  type PlanDraft,
  wantedPriority,
  wantedStatus,
} from './plan.ts';
import { oneLine } from './safe-text.ts';
import type { Settings } from './settings.ts';
import { type HostTodo, isUnsaid, nextTodos, type State } from './state.ts';
import { isEnded, isOpen, normaliseTitle, statusFromWord, type Todo } from './todo.ts';

/**
 * How far apart two titles in a gap may stand to be compared. The limit keeps a rewritten
 * list of 10,000 linear.
 */
const rewordWindow = 25;
/** In a gap so long that its comparisons would take seconds, the window gets narrower. */
const mostComparisons = 40_000;
/**
 * A rewording keeps most letters of a title; replacing a hard todo with an easy one does
 * not.
 */
export const rewordedOverlap = 0.5;

/**
 * Takes over a list that is written as a whole. Refuses a list that is too long or
 * repeats an id: the plan then stays as it is.
 */
export function writeList(
  draft: PlanDraft,
  items: readonly WrittenTodo[],
  settings: Settings,
) {
  const { plan } = draft.state;
  const { maxTodos } = settings;
  if (items.length > maxTodos) {
    const sentence = `The list has ${items.length} todos; at most ${maxTodos} are allowed. The last plan stays.`;
    return draft.refuse('too-many-todos', sentence);
  }
  const repeated =
    firstRepeatedId(items.map(({ id }) => id)) ??
    firstRepeatedId(items.map(({ freshId }) => freshId));
  if (repeated !== null) {
    const sentence = `The id "${oneLine(repeated, 60)}" occurs twice in the list. The last plan stays.`;
    return draft.refuse('duplicate-id', sentence);
  }
  const { rowOf, unmatched } = matchWritten(items, plan);
  const isGood = items.map(
    (item, index) => !draft.refuseItem({ ...item, title: item.content }, index, settings),
  );
  const orders = placeWritten(rowOf, plan);
  const planIds = new Set(plan.map(({ id }) => id));
  const applied = items.filter((item, index) => {
    const { freshId: id, content: title, id: hostKey, status, priority, reason } = item;
    const todo = rowOf[index] ?? null;
    if (!isGood[index]) return false;
    if (todo !== null) updateTodo(draft, todo, item, orders[index] ?? 0);
    else if (!planIds.has(id))
      draft.add(
        { id, title, hostKey, status, priority, reason },
        settings,
        orders[index],
      );
    else {
      const sentence = `item ${index + 1} would take the id of another todo; nothing of it was applied.`;
      draft.refuse('known-id', sentence, index);
      return false;
    }
    return true;
  });
  for (const todo of unmatched) {
    // A human who leaves a todo out cancels it; an agent only drops it.
    if (draft.actor === 'human' ? todo.status !== 'completed' : isOpen(todo))
      draft.setStatus(todo, { status: 'cancelled' }, { title: todo.title });
  }
  noticeConflicts(draft, applied, settings);
  if (draft.isUntouched && plan.some(isOpen)) noticeDuplicate(draft);
}

function updateTodo(
  draft: PlanDraft,
  todo: Todo,
  item: WrittenTodo,
  order: number,
): void {
  let current = todo;
  const title = item.content.trim();
  const titleKey = normaliseTitle(title);
  const priority = wantedPriority(item.priority ?? todo.priority);
  const reworded = { from: todo.title, to: title };
  if (titleKey !== todo.titleKey)
    current = draft.put(current, { ...current, title, titleKey }, 'reworded', reworded);
  if (priority !== todo.priority || order !== todo.order)
    current = draft.put(current, { ...current, priority, order }, 'edited', {
      priority,
      order,
    });
  draft.setStatus(current, wantedStatus(item));
}

function noticeConflicts(
  draft: PlanDraft,
  items: readonly WrittenTodo[],
  settings: Settings,
): void {
  const mentions = new Map<string, 'once' | 'told'>();
  const active: string[] = [];
  for (const { content, status } of items) {
    const word = wantedStatus({ status }).status;
    if (word !== 'pending' && word !== 'in_progress') continue;
    if (word === 'in_progress') active.push(content);
    const key = normaliseTitle(content);
    if (mentions.get(key) === 'once')
      draft.notice(`The title "${oneLine(content, 80)}" is open twice in this list.`);
    mentions.set(key, mentions.has(key) ? 'told' : 'once');
  }
  if (active.length < 2 || !settings.singleInProgress) return;
  const named = active.slice(0, 3).map((title) => `"${oneLine(title, 80)}"`);
  draft.notice(
    `${active.length} todos are in progress (${named.join(', ')}); work on one at a time, highest priority first.`,
  );
}

function noticeDuplicate(draft: PlanDraft): void {
  const { plan } = draft.state;
  const active =
    plan.find(({ status }) => status === 'in_progress') ?? nextTodos(plan, 1)[0];
  draft.log('duplicate-write', null);
  if (active === undefined) return;
  draft.notice(
    `This list equals the current one; nothing changed. The active todo is "${oneLine(active.title, 120)}": work on it.`,
  );
}

/**
 * The rank of each item. Known todos keep their rank while their order is unchanged; a
 * list in another order is ranked anew.
 */
export function placeWritten(
  rowOf: readonly (Todo | null)[],
  plan: readonly Todo[],
): number[] {
  if (!isRising(rowOf.filter((row) => row !== null)))
    return rowOf.map((_, index) => (index + 1) * orderGap);
  const last = plan.at(-1)?.order ?? 0;
  const orders: number[] = [];
  while (orders.length < rowOf.length) {
    const row = rowOf[orders.length];
    if (row !== null && row !== undefined) {
      orders.push(row.order);
      continue;
    }
    // New todos are spread between their neighbours; at the end they follow the whole
    // plan.
    let end = orders.length;
    while (rowOf[end] === null) end += 1;
    const amount = end - orders.length;
    const low = Math.max(orders.at(-1) ?? 0, end === rowOf.length ? last : 0);
    const high = rowOf[end]?.order ?? low + orderGap * (amount + 1);
    for (let step = 1; step <= amount; step += 1)
      orders.push(low + ((high - low) / (amount + 1)) * step);
  }
  return orders;
}

/** A todo of the plan, or a line of a plan file as it was last read. */
type Matchable = Pick<Todo, 'id' | 'hostKey' | 'titleKey' | 'status'>;
type Written = Pick<WrittenTodo, 'id' | 'content' | 'status'>;

type Matching<Row> = Readonly<{
  items: readonly Written[];
  plan: readonly Row[];
  rowOf: (Row | null)[];
  take: (index: number, row: Row | undefined) => void;
}>;

/**
 * Finds the row of each item (null: the item is new), and the rows without an item, in
 * the order of the plan.
 */
export function matchWritten<Row extends Matchable>(
  items: readonly Written[],
  plan: readonly Row[],
) {
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
  const freeRows = () => plan.filter(({ id }) => !taken.has(id));
  matchTitles({ items, plan: freeRows(), rowOf, take });
  matchReworded({ items, plan, rowOf, take });
  return { rowOf, unmatched: freeRows() };
}

function matchTitles<Row extends Matchable>({
  items,
  plan,
  rowOf,
  take,
}: Matching<Row>): void {
  const queues = new Map<string, Row[]>();
  for (const row of plan) appendTo(queues, row.titleKey, row);
  const unmatchedItems = items.flatMap(({ content, status }, index) =>
    rowOf[index] === null
      ? [{ index, status, queue: queues.get(normaliseTitle(content)) ?? [] }]
      : [],
  );
  // Rows with the same title are matched by status first, or an unchanged list would swap
  // an open todo with a finished one.
  for (const { index, status: word = 'pending', queue } of unmatchedItems) {
    if (queue.length < 2) continue;
    const status = statusFromWord(word) ?? 'pending';
    const same = queue.findIndex((row) => row.status === status);
    if (same >= 0) take(index, queue.splice(same, 1)[0]);
  }
  // Then open rows come first: a finished todo with the same title must not swallow the
  // mention of an open one.
  for (const queue of queues.values())
    queue.sort((a, b) => Number(isEnded(a)) - Number(isEnded(b)));
  for (const { index, queue } of unmatchedItems)
    if (rowOf[index] === null) take(index, queue.shift());
}

function appendTo<Row>(lists: Map<string, Row[]>, key: string, row: Row): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [row]);
  else list.push(row);
}

/** Compares the items and the rows that are left over between the same two neighbours. */
function matchReworded<Row extends Matchable>(matching: Matching<Row>): void {
  const { plan, rowOf } = matching;
  const matched = new Set(rowOf.map((row) => row?.id));
  const rowGaps = new Map<string, Row[]>();
  const nextAnchor = new Map<string, string>();
  let anchor = '';
  for (const row of plan) {
    if (matched.has(row.id)) {
      nextAnchor.set(anchor, row.id);
      anchor = row.id;
    } else appendTo(rowGaps, anchor, row);
  }
  if (rowGaps.size === 0) return;
  anchor = '';
  let gap: number[] = [];
  const closeGap = (endAnchor: string): void => {
    const rows = rowGaps.get(anchor);
    if (
      rows !== undefined &&
      gap.length > 0 &&
      (nextAnchor.get(anchor) ?? '') === endAnchor
    )
      pairGap(matching, gap, rows);
    anchor = endAnchor;
    gap = [];
  };
  rowOf.forEach((row, index) => {
    if (row === null) gap.push(index);
    else closeGap(row.id);
  });
  closeGap('');
}

function pairGap<Row extends Matchable>(
  { items, rowOf, take }: Matching<Row>,
  indexes: readonly number[],
  rows: readonly Row[],
): void {
  const pairs: { index: number; row: Row; overlap: number }[] = [];
  const bigramsById = new Map<string, Bigrams>();
  const bigramsOf = (row: Row): Bigrams => {
    const found = bigramsById.get(row.id) ?? bigrams(row.titleKey);
    bigramsById.set(row.id, found);
    return found;
  };
  const reach = Math.max(
    2,
    Math.min(rewordWindow, Math.floor(mostComparisons / (2 * indexes.length))),
  );
  indexes.forEach((index, place) => {
    const item = items[index];
    const title = bigrams(normaliseTitle(item?.content ?? ''));
    const status = statusFromWord(item?.status ?? 'pending');
    for (const row of rows.slice(Math.max(0, place - reach), place + reach)) {
      // Only a finished item can reword a finished todo, or new work would reopen old
      // work.
      if (isEnded(row) && row.status !== status) continue;
      const overlap = bigramOverlap(title, bigramsOf(row));
      if (overlap >= rewordedOverlap) pairs.push({ index, row, overlap });
    }
  });
  pairs.sort((a, b) => b.overlap - a.overlap || a.index - b.index);
  for (const { index, row } of pairs) if (rowOf[index] === null) take(index, row);
}

type Bigrams = ReadonlyMap<string, number>;

/** Counts the pairs of neighbouring characters in a text. */
export function bigrams(text: string): Bigrams {
  const characters = [...text];
  const counts = new Map<string, number>();
  if (characters.length === 1) counts.set(text, 1);
  for (let i = 0; i + 1 < characters.length; i++) {
    const pair = `${characters[i]}${characters[i + 1]}`;
    counts.set(pair, (counts.get(pair) ?? 0) + 1);
  }
  return counts;
}

/**
 * How alike two texts are, from 0 to 1 (Dice coefficient). Pairs of characters work in
 * every language (V4).
 */
export function bigramOverlap(left: Bigrams, right: Bigrams): number {
  let size = 0;
  let shared = 0;
  for (const [pair, count] of left) {
    size += count;
    shared += Math.min(count, right.get(pair) ?? 0);
  }
  for (const count of right.values()) size += count;
  return size === 0 ? 0 : (2 * shared) / size;
}

/** A todo as a host's list shows it. */
export type ListedTodo = HostTodo & { readonly context?: string | null };

type ListChange =
  | Readonly<{ type: 'todos-created'; items: readonly NewTodo[] }>
  | Readonly<{ type: 'todo-updated'; todoId: string; changes: TodoChanges }>;

/**
 * Whether a host's list is as it was. For hosts without lasting keys: reading the same
 * list again is no write, neither duplicate nor omission (M5, P34).
 */
export function isSameList(
  known: readonly HostTodo[],
  listed: readonly HostTodo[],
): boolean {
  const serialise = (list: readonly HostTodo[]): string =>
    JSON.stringify(
      list.map(({ key, title, status, priority }) => [key, title, status, priority]),
    );
  return serialise(known) === serialise(listed);
}

/**
 * The changes between two readings of a host's list. A list that has not moved undoes
 * nothing of ours (G5). `idOf` makes our id from the host's key.
 */
export function hostListChanges(
  known: readonly HostTodo[],
  listed: readonly ListedTodo[],
  idOf: (key: string) => string,
): readonly ListChange[] {
  const before = new Map(known.map((todo) => [todo.key, todo]));
  const changes = listed.flatMap((todo) =>
    keyedChanges(before.get(todo.key), todo, idOf),
  );
  const listedKeys = new Set(listed.map(({ key }) => key));
  for (const { key, status } of before.values()) {
    // A finished todo leaves a host's list silently; an open one that leaves was deleted
    // (T2).
    if (
      key === null ||
      listedKeys.has(key) ||
      status === 'completed' ||
      status === 'gone'
    )
      continue;
    changes.push({ type: 'todo-updated', todoId: key, changes: { status: 'cancelled' } });
  }
  return changes;
}

function keyedChanges(
  before: HostTodo | undefined,
  { key, title, status: word, context }: ListedTodo,
  idOf: (key: string) => string,
): ListChange[] {
  if (key === null) return [];
  const knownStatus = statusFromWord(word);
  // A todo with an unknown word counts as open (T6). Only told hosts read the reply of
  // the plan, which says so.
  const status = knownStatus ?? 'pending';
  if (before === undefined) {
    const item = {
      id: idOf(key),
      title,
      hostKey: key,
      status: knownStatus ?? word,
      context: context ?? undefined,
    };
    return [{ type: 'todos-created', items: [item] }];
  }
  const changes = {
    ...(status === before.status || word === before.status ? {} : { status }),
    ...(title === before.title || title.trim() === '' ? {} : { title }),
  };
  return Object.keys(changes).length === 0
    ? []
    : [{ type: 'todo-updated', todoId: key, changes }];
}

/** A host's list as items of a whole-list write. */
export function writtenItems(
  listed: readonly ListedTodo[],
): readonly Omit<WrittenTodo, 'freshId'>[] {
  return listed.map(({ key, title: content, status, priority }) => {
    return { id: key ?? undefined, content, status, priority };
  });
}

/** Notes what an event says about the host: its list, and where its turn stands. */
export function updateHostTrail(state: State, event: Event): State {
  const { source } = event;
  // A claim at the gate is not in the host's list yet, because the host may refuse it.
  if (source === undefined || source.kind === 'gate') return state;
  const listed = { ...state, hostList: updateHostList(state.hostList, event) };
  if (source.kind === 'side' || source.kind === 'list') return listed;
  const before = state.trail;
  const { asking } = source;
  if (asking && (event.type !== 'stop-attempted' || asking.by === before.stop?.by))
    return noteHook(listed, asking);
  const trail = {
    ...before,
    promptId: source.promptId ?? before.promptId,
    last: source.kind,
  };
  // A mistake in a todo tool is no failure of the todo (S6).
  if (event.type === 'tool-ended')
    return {
      ...listed,
      trail: {
        ...trail,
        toolError: event.access === 'todo' ? null : event.error,
        stops: 0,
      },
    };
  if (event.type === 'stop-attempted') {
    const stop = asking
      ? { by: asking.by, about: asking.about, until: asking.until }
      : before.stop;
    return { ...listed, trail: { ...trail, stops: before.stops + 1, stop } };
  }
  return {
    ...listed,
    trail: source.kind === 'prompt' ? { ...trail, toolError: null, stops: 0 } : trail,
  };
}

/**
 * If another hook already decides about this stop, the state with this hook noted (V5);
 * null: this hook has to ask. A host goes on only when all its hooks have ended. So a
 * hook is about the same stop if it was started before another one was last heard of, or
 * if it comes before the answer is given.
 */
export function findOtherDecider(state: State, { type, source }: Event): State | null {
  const { asking, promptId = null } = source ?? {};
  const { last, promptId: before, stop } = state.trail;
  if (type !== 'stop-attempted' || asking === undefined || stop === null) return null;
  if (last !== 'stop' || stop.about !== asking.about || (promptId ?? before) !== before)
    return null;
  const isSame = asking.since <= stop.until || isUnsaid(state);
  return isSame && stop.by !== asking.by ? noteHook(state, asking) : null;
}

function noteHook(state: State, { until }: StopQuestion): State {
  const { trail } = state;
  const { stop } = trail;
  if (stop === null) return state;
  const extended = { ...stop, until: Math.max(stop.until, until) };
  return { ...state, trail: { ...trail, stop: extended } };
}

function updateHostList(list: State['hostList'], event: Event): State['hostList'] {
  switch (event.type) {
    case 'todos-created': {
      const added = event.items.flatMap(({ hostKey, title, status = 'pending' }) =>
        hostKey === undefined ? [] : [{ key: hostKey, title, status }],
      );
      if (added.length === 0) return list;
      const keys = new Set(added.map(({ key }) => key));
      return [...list.filter(({ key }) => !keys.has(key ?? '')), ...added];
    }
    case 'todo-updated':
      return list.map((todo) => {
        if (todo.key !== event.todoId) return todo;
        const { title = todo.title, status = todo.status } = event.changes;
        return { ...todo, title, status: status === 'cancelled' ? 'gone' : status };
      });
    case 'plan-written':
      // If a tool writes the whole list of a host without keys, that is now the host's
      // list.
      if (event.source?.kind !== 'list' && list.some(({ key }) => key !== null))
        return list;
      return event.items.map(
        ({ id: key = null, content: title, status = 'pending', priority }) => {
          return { key, title, status, priority };
        },
      );
    default:
      return list;
  }
}
