// Keeps a plan file and a plan in step. Changes that people make in the file become
// events of the actor `file`. What happens to todos is written into the file's boxes and
// nowhere else, and only if the file still holds the text that was read.
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { NewTodo, PlanChange, TodoChanges } from '../core/events.ts';
import { matchWritten } from '../core/reconcile.ts';
import { type Infer, list, object, read, text } from '../core/schema.ts';
import { createState, type State } from '../core/state.ts';
import { isDropped, isOpen, normaliseTitle, type Todo } from '../core/todo.ts';
import type { Engine } from '../engine/engine.ts';
import type { Clock, Identifiers } from '../engine/host.ts';
import type { Store } from '../engine/store.ts';
import { createQueue, errorCode, makeFolder, sha256 } from '../engine/system.ts';
import { becameLink, replaceFile } from '../engine/text-file.ts';
import { inLine, shellCheck } from './line-text.ts';
import type {
  ParsedPlanFile,
  PlanItem,
  PlanReading,
  WrongPlanFile,
} from './plan-file.ts';
import { lineFields, readPlanFile, readPlanText, writeBoxes } from './plan-file.ts';

/** Which file and which session are kept in step, and how. */
export type PlanFileSyncOptions = Readonly<{
  path: string;
  pinned?: boolean;
  engine: Pick<Engine, 'handle'>;
  store: Pick<Store, 'state'>;
  sessionId: string;
  clock: Pick<Clock, 'now'>;
  identifiers: Identifiers;
  memory?: ReturnType<typeof createFileMemory>;
  /**
   * Returns the id of the check with this name if new todos may have it; else null. When
   * a human imports the file they may have any check, otherwise only those of the human's
   * last message (V3).
   */
  allowedId: (check: string) => string | null;
  /**
   * True: the human names the file in this very call, so its checks also count for todos
   * that are in the plan already (V10).
   */
  isNamed?: boolean;
  /** Tests edit the file here, before it is read again. */
  beforeReplace?: () => void;
}>;

/**
 * Replaces the text of the file if it is still `before`. If `path` is a link, its target
 * is replaced and the link stays.
 */
export function replacePlanText(
  path: string,
  before: string,
  after: string,
  { pinned = false, beforeReplace }: Partial<PlanFileSyncOptions> = {},
): 'replaced' | 'changed-meanwhile' | { readonly sentence: string } {
  try {
    const target = realpathSync(path);
    if (pinned && target !== path) return { sentence: becameLink };
    const like = statSync(target);
    if ((like.mode & 0o222) === 0) return { sentence: 'is marked read-only' };
    const isWanted = () => {
      beforeReplace?.();
      const now = readPlanText(target);
      return now.ok && now.text === before && realpathSync(path) === target;
    };
    return replaceFile(target, after, { like, isWanted })
      ? 'replaced'
      : 'changed-meanwhile';
  } catch (error) {
    // Safe: the old file is complete, and the caller gets the reason.
    return { sentence: `cannot be written (${errorCode(error)})` };
  }
}

/**
 * Remembers the last reading of a file; while boxes are written also the one before it,
 * which holds if the file was not replaced.
 */
export function createFileMemory(directory: string, path: string, sessionId: string) {
  const folder = join(directory, 'plan-files');
  const file = join(folder, `${sha256(`${path}\0${sessionId}`).slice(0, 32)}.json`);
  return {
    load(): readonly KnownFile[] {
      try {
        const known = read(list(knownFile), JSON.parse(readFileSync(file, 'utf8')), 1);
        return known.ok ? known.value : [];
      } catch {
        // Safe: without the memory, boxes can only add ticks, on both sides.
        return [];
      }
    },
    save(known: readonly KnownFile[]) {
      try {
        makeFolder(folder, 0o700);
        replaceFile(file, JSON.stringify(known), { like: null, mode: 0o600 });
      } catch {
        // Safe: the next reading finds an older memory or none, and matches by title.
      }
    },
  };
}

/**
 * What one run did. Each refused change has a notice; `boxes` counts those that were
 * ticked or emptied.
 */
export const noTotals = {
  created: 0,
  changed: 0,
  dropped: 0,
  refused: 0,
  boxes: 0,
  notices: [] as readonly string[],
  /** Settles when the checks of the claims have been reported. */
  checks: Promise.resolve() as Promise<unknown>,
};

/**
 * What one run did and what the file says. `withoutLine`: how many todos have no line,
 * cancelled ones aside.
 */
export type SyncReport =
  | (ParsedPlanFile & { readonly withoutLine: number } & Readonly<typeof noTotals>)
  | WrongPlanFile;

const mostAttempts = 5;

/** Keeps one file and one session in step; its runs follow one another. */
export type PlanFileSync = ReturnType<typeof createPlanFileSync>;
/** Creates it; reads nothing yet. */
export function createPlanFileSync(options: PlanFileSyncOptions) {
  const { path, store, sessionId, identifiers, clock, memory } = options;
  const queue = createQueue();
  let known: KnownFile | null | undefined;
  let parsed: PlanReading | null = null;
  let { isNamed = false } = options;

  /**
   * The last reading. A reading of another plan, from before a new turn, says nothing
   * about this one.
   */
  function lastReading(hash: string, { planId }: State): KnownFile | null {
    if (known === undefined) {
      const stored = memory?.load() ?? [];
      known =
        stored.find((candidate) => candidate.hash === hash) ?? stored.at(-1) ?? null;
    }
    return known?.planId === planId ? known : null;
  }

  /**
   * First reads changes from the file into the plan, then writes the boxes from the plan.
   */
  async function runSync(
    direction: 'pull' | 'push' | 'sync' | 'settle',
  ): Promise<SyncReport> {
    const notices: string[] = [];
    const totals = { ...noTotals, notices };
    const readState = async () =>
      (await store.state(sessionId)) ?? createState(sessionId, clock.now());

    async function sendChange(change: PlanChange) {
      const eventBase = {
        id: identifiers.next(),
        sessionId,
        at: clock.now(),
        actor: 'file',
      } as const;
      const { reply, checks } = await options.engine.handle({ ...change, ...eventBase });
      const { created = [], changed = [], refused = [] } = reply ?? {};
      const isDrop =
        change.type === 'todo-updated' && change.changes.status === 'cancelled';
      totals.created += created.length;
      totals[isDrop ? 'dropped' : 'changed'] += changed.length;
      totals.refused += refused.length;
      notices.push(...refused.map(({ sentence }) => sentence));
      // Safe: a check that was not reported runs again at the next stop attempt.
      totals.checks = Promise.all([totals.checks, checks?.catch(() => null)]);
    }

    for (let attempt = 1; ; attempt += 1) {
      const reading = readPlanFile(path, options.pinned, parsed);
      if (!reading.ok) return reading;
      parsed = reading;
      const { plan, text, hash } = reading;
      let state = await readState();
      let lastKnown = lastReading(hash, state);
      const hasNews =
        isNamed ||
        lastKnown?.hash !== hash ||
        (direction === 'settle' && isLeftOutAgain(lastKnown.removed, state));
      if (direction !== 'push' && hasNews) {
        const {
          changes,
          notices: comparisonNotices,
          ...newReading
        } = compareItems(plan.items, lastKnown, state.plan, {
          ...options,
          isNamed,
        });
        isNamed = false;
        notices.push(...plan.warnings, ...comparisonNotices);
        for (const change of changes) await sendChange(change);
        known = { planId: state.planId, hash, ...newReading };
        memory?.save([known]);
        state = await readState();
        lastKnown = lastReading(hash, state);
      }
      const { boxes, withoutLine } = wantedBoxes(reading, lastKnown, state.plan);
      const written = direction === 'pull' ? text : writeBoxes(text, plan, boxes);
      if (written === text) return { ok: true, plan, withoutLine, ...totals };
      // A change that was not read yet stays a change: the next run compares with the
      // last reading.
      const pulled = lastKnown?.hash === hash ? lastKnown : null;
      const items = pulled?.items.map((item, index) => ({
        ...item,
        checked: boxes[index] ?? item.checked,
      }));
      const next = pulled && items && { ...pulled, hash: sha256(written), items };
      // The intent is saved first: after a crash the file itself shows whether it was
      // written.
      if (pulled && next) memory?.save([next, pulled]);
      const replaced = replacePlanText(path, text, written, options);
      const isLate = replaced === 'changed-meanwhile';
      if (replaced === 'replaced') {
        totals.boxes += plan.items.filter(
          ({ checked }, index) => checked !== boxes[index],
        ).length;
        known = next ?? known;
      } else if (!isLate) notices.push(`The file ${replaced.sentence}.`);
      if (next && known) memory?.save([known]);
      if (isLate && attempt < mostAttempts) continue;
      if (isLate)
        notices.push('The file keeps changing; its boxes are written next time.');
      return { ok: true, plan, withoutLine, ...totals };
    }
  }

  const inTurn = (direction: Parameters<typeof runSync>[0]) => () =>
    queue(() => runSync(direction));
  return {
    pull: inTurn('pull'),
    push: inTurn('push'),
    sync: inTurn('sync'),
    /** At a stop: a line that is still missing counts as left out again (V4). */
    settle: inTurn('settle'),
  };
}

function isLeftOutAgain(removed: readonly string[], { plan }: State) {
  const missing = new Set(removed);
  return plan.some(
    (todo) => missing.has(todo.id) && isDropped(todo) && todo.droppedNamedAt !== null,
  );
}

// What changed since the last reading. Only differences are changes: a box that is still
// empty does not reopen a todo that the agent has just completed.

const knownItem = object({ ...lineFields, todoId: text() });
type KnownItem = Infer<typeof knownItem>;

/** What the last reading said, and which todo each line stands for. */
const knownFile = object({
  planId: text(),
  hash: text(),
  items: list(knownItem),
  /** Todos that lost their lines and are not settled yet. */
  removed: list(text()),
});
type KnownFile = Infer<typeof knownFile>;

type Link = Readonly<{ todo: Todo; known: KnownItem | null }>;

/**
 * Finds the todo of each line: as in the last reading, otherwise by title; null: the line
 * is new. `gone`: todos that lost their line.
 */
function linkItems(
  items: readonly PlanItem[],
  known: KnownFile | null,
  plan: readonly Todo[],
) {
  const rows = new Map(plan.map((todo) => [todo.id, todo]));
  const before = (known?.items ?? []).filter(({ todoId }) => rows.has(todoId));
  const knownOf = new Map(before.map((item) => [item.todoId, item]));
  const boxStatus = ({ checked }: KnownItem | PlanItem) =>
    checked ? 'completed' : 'pending';
  // Compared with what the file said before: work that the agent has done since must not
  // separate a line from its todo.
  const lastWritten = before.map((item) => {
    const titleKey = normaliseTitle(item.title);
    return { id: item.todoId, hostKey: null, titleKey, status: boxStatus(item) } as const;
  });
  const written = items.map((item) => ({ content: item.title, status: boxStatus(item) }));
  const { rowOf, unmatched } = matchWritten(written, lastWritten);
  // A todo that was cancelled with a reason is not brought back.
  const isOver = ({ status, reason }: Todo) => status === 'cancelled' && reason !== null;
  const free = plan.filter((todo) => !knownOf.has(todo.id) && !isOver(todo));
  const unlinked = written.filter((_, index) => rowOf[index] === null);
  const others = matchWritten(unlinked, free).rowOf.values();
  const links = items.map(({ title }, index): Link | null => {
    const row = rowOf[index] ?? null;
    const todo = row === null ? others.next().value : rows.get(row.id);
    // A line that only resembles a todo from elsewhere is a new one.
    if (!todo || (row === null && todo.titleKey !== normaliseTitle(title))) return null;
    return { todo, known: knownOf.get(todo.id) ?? null };
  });
  return { links, gone: unmatched.map(({ id }) => id) };
}

const keptChecks =
  'the checks of a todo that is in the plan already are not changed by the file, unless `--plan` or `plan import` names it again';
const unknownCheck =
  'a check that you did not allow was left out; it counts after your next import';

/**
 * Turns differences into changes: a new tick claims its todo done, a removed tick reopens
 * it, and a removed line drops it.
 */
function compareItems(
  items: readonly PlanItem[],
  known: KnownFile | null,
  plan: readonly Todo[],
  { path, identifiers, allowedId, isNamed = false }: PlanFileSyncOptions,
) {
  const { links, gone } = linkItems(items, known, plan);
  const positions = newPositions(links, plan);
  const created: NewTodo[] = [];
  const changes: PlanChange[] = [];
  const notices: string[] = [];
  const next = items.map(({ boxOffset: _, line, ...item }, index): KnownItem => {
    const link = links[index] ?? null;
    const todoId = link?.todo.id ?? identifiers.next();
    const isKept = link !== null && !isNamed;
    const idsOf = (names: readonly string[]) => [
      ...new Set(names.map((name) => allowedId(name) ?? name)),
    ];
    const checks = isKept
      ? idsOf(link.known?.checks ?? link.todo.checks)
      : idsOf(item.checks.filter((name) => allowedId(name) !== null));
    if (!hasSame(checks, idsOf(item.checks)))
      notices.push(inLine(line, isKept ? keptChecks : unknownCheck));
    if (link !== null) {
      if (isNamed && !hasSame(checks, link.todo.checks))
        changes.push(updateChange(todoId, { checks }));
      // Names may come from untildone.json, by the todo's title, and stay.
      const lost = link.todo.checks.filter(
        (check) => !checks.includes(check) && shellCheck(check) !== null,
      );
      if (isNamed && lost.length > 0)
        notices.push(inLine(line, `no longer checked by ${lost.join(', ')}`));
      changes.push(
        ...fieldChanges(item, link),
        ...boxChanges(item, link, basename(path)),
      );
    } else {
      created.push({
        id: todoId,
        title: item.title,
        order: positions[index],
        context: item.context ?? undefined,
        completionCriteria: item.completionCriteria ?? undefined,
        priority: item.priority ?? undefined,
        checks: checks.length === 0 ? undefined : checks,
        status: item.checked ? 'completed' : undefined,
      });
      if (item.blocked !== null)
        changes.push(updateChange(todoId, { status: 'blocked', reason: item.blocked }));
    }
    return { ...item, todoId };
  });
  const removed = new Set([...gone, ...(known?.removed ?? [])]);
  for (const { todoId } of next) removed.delete(todoId);
  const missing = plan.filter((todo) => removed.has(todo.id) && isOpen(todo));
  // A todo that was already named as dropped is sent once more: that cancels it without a
  // reason (V4).
  const toDrop = missing.filter(
    (todo) => !isDropped(todo) || todo.droppedNamedAt !== null,
  );
  const creation: PlanChange[] =
    created.length === 0 ? [] : [{ type: 'todos-created', items: created }];
  return {
    changes: [
      ...creation,
      ...changes,
      ...toDrop.map(({ id }) => updateChange(id, { status: 'cancelled' })),
    ],
    items: next,
    removed: missing.map(({ id }) => id),
    notices,
  };
}

const hasSame = (some: readonly string[], others: readonly string[]) =>
  some.length === others.length && some.every((check) => others.includes(check));

const updateChange = (todoId: string, changes: TodoChanges) =>
  ({ type: 'todo-updated', todoId, changes }) as const;

type LineFields = Omit<KnownItem, 'todoId'>;

/** A field changes only if the file changed it: what others changed in the plan stays. */
function fieldChanges(item: LineFields, { todo, known }: Link): PlanChange[] {
  const priority = item.priority ?? (known?.priority ? 'medium' : null);
  const now = { ...item, title: known && item.title, priority };
  const fields = (['title', 'context', 'completionCriteria', 'priority'] as const).filter(
    (name) =>
      now[name] !== null && now[name] !== known?.[name] && now[name] !== todo[name],
  );
  const changes: TodoChanges = Object.fromEntries(
    fields.map((name) => [name, now[name]]),
  );
  return fields.length === 0 ? [] : [updateChange(todo.id, changes)];
}

function boxChanges(
  { checked, blocked }: LineFields,
  { todo, known }: Link,
  fileName: string,
): PlanChange[] {
  const { id: todoId, status, reason } = todo;
  if (checked) {
    if (known?.checked || status === 'completed') return [];
    return [
      {
        type: 'todo-completed',
        todoId,
        status: 'completed',
        outcome: `ticked in ${fileName}`,
      },
    ];
  }
  if (status === 'completed')
    return known?.checked ? [updateChange(todoId, { status: 'pending' })] : [];
  if (blocked !== null && blocked !== known?.blocked) {
    const isSame = status === 'blocked' && reason === blocked;
    return isSame ? [] : [updateChange(todoId, { status: 'blocked', reason: blocked })];
  }
  const isUnblocked = blocked === null && known?.blocked && status === 'blocked';
  const isBack = known === null && (isDropped(todo) || status === 'cancelled');
  if (!isUnblocked && !isBack) return [];
  return [
    updateChange(todoId, {
      status: status === 'in_progress' ? 'in_progress' : 'pending',
    }),
  ];
}

/**
 * The place of each new line: behind the todo of the line before it. Undefined: at the
 * end, also if file and plan do not have the same order.
 */
function newPositions(
  links: readonly (Link | null)[],
  plan: readonly Todo[],
): (number | undefined)[] {
  const positionById = new Map(plan.map(({ id }, index) => [id, index + 1]));
  const linePositions = links.map(
    (link) => link && (positionById.get(link.todo.id) ?? 0),
  );
  const kept = linePositions.filter((position) => position !== null);
  if (
    kept.length === 0 ||
    kept.some((position, index) => position <= (kept[index - 1] ?? -1))
  )
    return [];
  let lastPosition = 0;
  let newLines = 0;
  return linePositions.map((position) => {
    lastPosition = position ?? lastPosition;
    return position !== null || lastPosition === plan.length
      ? undefined
      : lastPosition + ++newLines;
  });
}

/**
 * Which boxes must be ticked. A box that somebody changed since the last reading stays; a
 * box that was not read before is only ever ticked.
 */
function wantedBoxes(
  { hash, plan }: PlanReading,
  known: KnownFile | null,
  todos: readonly Todo[],
) {
  const rows = new Map(todos.map((todo) => [todo.id, todo]));
  // The text is the same, so its lines are the known ones, one for one.
  const links =
    known?.hash === hash
      ? known.items.map((item) => ({ todo: rows.get(item.todoId), known: item }))
      : linkItems(plan.items, known, todos).links;
  const boxes = plan.items.map(({ checked }, index) => {
    const { todo, known: before = null } = links[index] ?? {};
    if (todo === undefined) return checked;
    rows.delete(todo.id);
    const isDone = todo.status === 'completed';
    const mayWrite =
      before === null
        ? isDone
        : before.checked === checked && todo.status !== 'cancelled';
    return mayWrite ? isDone : checked;
  });
  const withoutLine = [...rows.values()].filter(
    ({ status }) => status !== 'cancelled',
  ).length;
  return { boxes, withoutLine };
}
