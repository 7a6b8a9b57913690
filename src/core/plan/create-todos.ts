// Adds todos to the plan (M1): item by item, at the end or at a 1-based position, refusing what is malformed and
// reporting what is already there (T6, T7).
import { checksForTitle } from '../check-specs/check-specs.ts';
import type { Settings } from '../config/settings.ts';
import type { NewTodo } from '../events.ts';
import type { Rows } from '../rows.ts';
import { oneLine } from '../safe-text.ts';
import { planSize } from '../session.ts';
import { normaliseTitle, type Priority, statusFromWord, type Todo } from '../todo.ts';
import { newRow } from './new-row.ts';
import { createPlacer } from './place-new.ts';
import type { PlanDraft } from './plan-draft.ts';
import { refuseItem } from './refusals.ts';
import { setStatus } from './set-status.ts';

export function createTodos(
  draft: PlanDraft,
  items: readonly NewTodo[],
  rows: Rows,
  settings: Settings,
): void {
  const size = planSize(draft.session().counts);
  if (size + items.length > settings.maxTodos) {
    draft.refuse({
      index: null,
      code: 'too-many-todos',
      sentence: `The plan holds ${size} todos and may hold at most ${settings.maxTodos}; nothing was added.`,
    });
    return;
  }
  const repeated = firstRepeatedId(items);
  if (repeated !== null) {
    draft.refuse({
      index: null,
      code: 'duplicate-id',
      sentence: `The id "${oneLine(repeated, 60)}" occurs twice; nothing was added.`,
    });
    return;
  }
  const openTitles = new Set(rows.byTitle.map((row) => row.titleKey));
  const others = new Map(rows.byTitle.map((row) => [row.titleKey, row]));
  const known = new Set(rows.byId.map((row) => row.id));
  const placer = createPlacer(rows.atPosition, size, draft.session().lastOrder);
  items.forEach((item, index) => {
    const refusal =
      refuseItem(item, index, settings) ??
      refuseAgentType(item, index, settings) ??
      refuseKnown(item, index, known);
    if (refusal !== null) {
      draft.refuse(refusal);
      return;
    }
    const key = normaliseTitle(item.title);
    const twin = others.get(key);
    if (twin !== undefined && isOtherFamily(item, twin)) {
      others.delete(key);
      joinTwin(draft, item, twin);
      return;
    }
    if (openTitles.has(key)) {
      draft.notice(
        `A todo with the title "${oneLine(item.title, 80)}" is already open; it is now there twice.`,
      );
    }
    openTitles.add(key);
    addRow(draft, item, placer.place(item.order), settings);
  });
  if (settings.singleInProgress) noticeActive(draft, items, rows);
}

/** The host's own list has a key for each todo, ours has none: the same title in both is one todo (M5, V7). */
function isOtherFamily(item: NewTodo, twin: Todo): boolean {
  return (item.hostKey ?? null) === null ? twin.hostKey !== null : twin.hostKey === null;
}

function joinTwin(draft: PlanDraft, item: NewTodo, twin: Todo): void {
  if (item.hostKey == null) {
    draft.notice(
      `"${oneLine(item.title, 80)}" is in the plan already, as ${twin.id}; it was not added again.`,
    );
    return;
  }
  const known = draft.put(twin, { ...twin, hostKey: item.hostKey }, 'edited', { hostKey: item.hostKey });
  const status = item.status === undefined ? null : statusFromWord(item.status);
  if (status === null || status === 'pending') return;
  const change = setStatus(known, { status }, draft.session(), draft.actor, draft.at);
  if (change !== null) draft.put(known, change.todo, change.change);
}

function addRow(draft: PlanDraft, item: NewTodo, order: number, settings: Settings): void {
  const session = draft.session();
  draft.setSession({ ...session, lastOrder: Math.max(session.lastOrder, order) });
  const row = newRow(
    {
      id: item.id,
      title: item.title.trim(),
      order,
      hostKey: item.hostKey ?? null,
      context: item.context ?? null,
      completionCriteria: item.completionCriteria ?? null,
      agentType: item.agentType ?? null,
      priority: (item.priority ?? 'medium') as Priority,
      checks: [...new Set([...(item.checks ?? []), ...checksForTitle(settings, item.title)])],
    },
    session,
    draft.at,
  );
  const created = draft.put(null, row, 'created', { title: row.title });
  const status = item.status === undefined ? 'pending' : (statusFromWord(item.status) ?? 'pending');
  const change = setStatus(created, { status }, draft.session(), draft.actor, draft.at);
  if (change !== null) draft.put(created, change.todo, change.change);
}

/** T7: more than one todo in progress. */
function noticeActive(draft: PlanDraft, items: readonly NewTodo[], rows: Rows): void {
  const started = items.filter(({ status }) => statusFromWord(status ?? 'pending') === 'in_progress');
  const active = [...rows.inProgress.map(({ title }) => title), ...started.map(({ title }) => title)];
  if (started.length === 0 || active.length < 2) return;
  draft.notice(
    `Todo "${oneLine(active[0] ?? '', 80)}" is in progress too; work on one at a time, highest priority first.`,
  );
}

export function refuseAgentType(
  item: { readonly agentType?: string | undefined },
  index: number | null,
  settings: Settings,
) {
  if (item.agentType === undefined || settings.agentTypes.includes(item.agentType)) return null;
  const known =
    settings.agentTypes.length === 0 ? 'none is configured' : `known are ${settings.agentTypes.join(', ')}`;
  return {
    index,
    code: 'unknown-agent-type',
    sentence: `${index === null ? 'the todo' : `item ${index + 1}`} names the unknown agentType "${oneLine(item.agentType, 40)}"; ${known}.`,
  };
}

function refuseKnown(item: NewTodo, index: number, known: ReadonlySet<string>) {
  if (!known.has(item.id)) return null;
  return { index, code: 'known-id', sentence: `item ${index + 1} has the id of a todo that exists already.` };
}

export function firstRepeatedId(items: readonly { readonly id?: string | undefined }[]): string | null {
  const seen = new Set<string>();
  for (const { id } of items) {
    if (id === undefined) continue;
    if (seen.has(id)) return id;
    seen.add(id);
  }
  return null;
}
