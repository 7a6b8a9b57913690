// A whole-list write (M5): what is new is created, what is there is updated, what is missing is dropped, what is
// malformed is refused item by item and whatever it stood for stays untouched (T6, V4).
import { checksForTitle } from '../check-specs/check-specs.ts';
import type { Settings } from '../config/settings.ts';
import type { WrittenTodo } from '../events.ts';
import type { Rows } from '../rows.ts';
import { oneLine } from '../safe-text.ts';
import { openCount } from '../session.ts';
import { isOpen, normaliseTitle, type Priority, priorities, statusFromWord, type Todo } from '../todo.ts';
import { firstRepeatedId } from './create-todos.ts';
import { matchWritten } from './match-written.ts';
import { newRow } from './new-row.ts';
import { placeWritten } from './place-written.ts';
import type { PlanDraft } from './plan-draft.ts';
import { refuseItem } from './refusals.ts';
import { drop, setStatus } from './set-status.ts';

export function writeList(
  draft: PlanDraft,
  items: readonly WrittenTodo[],
  rows: Rows,
  settings: Settings,
): void {
  if (refuseWhole(draft, items, settings)) return;
  const refused = new Set<number>();
  items.forEach((item, index) => {
    const refusal = refuseItem(
      { title: item.content, status: item.status, priority: item.priority },
      index,
      settings,
    );
    if (refusal === null) return;
    refused.add(index);
    draft.refuse(refusal);
  });
  const known = new Set(rows.plan.map(({ id }) => id));
  const matches = matchWritten(items, rows.plan);
  items.forEach(({ freshId }, index) => {
    if (matches.rowOf[index] !== null || !known.has(freshId) || refused.has(index)) return;
    refused.add(index);
    draft.refuse({
      index,
      code: 'known-id',
      sentence: `item ${index + 1} would take the id of another todo; nothing of it was applied.`,
    });
  });
  const orders = placeWritten(items, matches.rowOf, rows.plan);
  let changes = 0;
  items.forEach((item, index) => {
    if (refused.has(index)) return;
    const row = matches.rowOf[index] ?? null;
    const order = orders[index] ?? 0;
    changes += row === null ? createRow(draft, item, order, settings) : updateRow(draft, row, item, order);
  });
  changes += dropMissing(draft, matches.unmatched);
  const session = draft.session();
  const highest = orders.reduce((a, b) => Math.max(a, b), session.lastOrder);
  draft.setSession({ ...session, lastOrder: highest });
  noticeConflicts(
    draft,
    items.filter((_, index) => !refused.has(index)),
    settings,
  );
  if (changes === 0 && refused.size === 0 && openCount(session.counts) > 0) noticeDuplicate(draft, rows);
}

function refuseWhole(draft: PlanDraft, items: readonly WrittenTodo[], settings: Settings): boolean {
  if (items.length > settings.maxTodos) {
    draft.refuse({
      index: null,
      code: 'too-many-todos',
      sentence: `The list has ${items.length} todos; at most ${settings.maxTodos} are allowed. The last plan stays.`,
    });
    return true;
  }
  const repeated = firstRepeatedId(items) ?? firstRepeatedId(items.map(({ freshId }) => ({ id: freshId })));
  if (repeated === null) return false;
  draft.refuse({
    index: null,
    code: 'duplicate-id',
    sentence: `The id "${oneLine(repeated, 60)}" occurs twice in the list. The last plan stays.`,
  });
  return true;
}

function createRow(draft: PlanDraft, item: WrittenTodo, order: number, settings: Settings): number {
  const title = item.content.trim();
  const row = newRow(
    {
      id: item.freshId,
      title,
      order,
      hostKey: item.id ?? null,
      priority: (item.priority ?? 'medium') as Priority,
      checks: checksForTitle(settings, title),
    },
    draft.session(),
    draft.at,
  );
  const created = draft.put(null, row, 'created', { title });
  applyStatus(draft, created, item);
  return 1;
}

function updateRow(draft: PlanDraft, row: Todo, item: WrittenTodo, order: number): number {
  let current = row;
  let changes = 0;
  const title = item.content.trim();
  const priority = (item.priority ?? row.priority) as Priority;
  if (normaliseTitle(title) !== row.titleKey) {
    const reworded = { ...current, title, titleKey: normaliseTitle(title) };
    current = draft.put(current, reworded, 'reworded', { from: row.title, to: title });
    changes += 1;
  }
  if (priority !== row.priority || order !== row.order) {
    current = draft.put(current, { ...current, priority, order }, 'edited', { priority, order });
    changes += 1;
  }
  return changes + applyStatus(draft, current, item);
}

function applyStatus(draft: PlanDraft, row: Todo, item: WrittenTodo): number {
  const status = item.status === undefined ? 'pending' : (statusFromWord(item.status) ?? 'pending');
  const request = { status, reason: item.reason ?? null };
  const change = setStatus(row, request, draft.session(), draft.actor, draft.at);
  if (change === null) return 0;
  draft.put(row, change.todo, change.change);
  return 1;
}

function dropMissing(draft: PlanDraft, missing: readonly Todo[]): number {
  let changes = 0;
  for (const row of missing) {
    const change =
      draft.actor === 'human'
        ? setStatus(row, { status: 'cancelled' }, draft.session(), 'human', draft.at)
        : drop(row, draft.at);
    if (change === null || (draft.actor === 'human' && row.status === 'completed')) continue;
    draft.put(row, change.todo, change.change, { title: row.title });
    changes += 1;
  }
  return changes;
}

/** T7: the same title open twice, and a second todo in progress. */
function noticeConflicts(draft: PlanDraft, items: readonly WrittenTodo[], settings: Settings): void {
  const seen = new Set<string>();
  const told = new Set<string>();
  const active: string[] = [];
  for (const { content, status } of items) {
    const word = statusFromWord(status ?? 'pending');
    if (word !== 'pending' && word !== 'in_progress') continue;
    if (word === 'in_progress') active.push(content);
    const key = normaliseTitle(content);
    if (seen.has(key) && !told.has(key)) {
      told.add(key);
      draft.notice(`The title "${oneLine(content, 80)}" is open twice in this list.`);
    }
    seen.add(key);
  }
  if (active.length < 2 || !settings.singleInProgress) return;
  const named = active.slice(0, 3).map((title) => `"${oneLine(title, 80)}"`);
  draft.notice(
    `${active.length} todos are in progress (${named.join(', ')}); work on one at a time, highest priority first.`,
  );
}

function noticeDuplicate(draft: PlanDraft, rows: Rows): void {
  const active =
    rows.plan.find((row) => row.status === 'in_progress') ??
    priorities
      .map((priority) => rows.plan.find((row) => isOpen(row) && row.priority === priority))
      .find(Boolean);
  draft.log('duplicate-write', null);
  if (active !== undefined) {
    draft.notice(
      `This list equals the current one; nothing changed. The active todo is "${oneLine(active.title, 120)}": work on it.`,
    );
  }
}
