// Keeps a plan file and a plan in step: what people change in the file becomes events of
// the actor `file`, what happens to the todos is written into the boxes and nowhere else,
// and only if the file still holds the text that was read.
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
   * The id of the check with this name, if new todos may have it; else null. When a human
   * imports the file they may have any, otherwise those of the human's last message (V3).
   */
  allowedId: (check: string) => string | null;
  /**
   * The human names the file just now: its checks count for todos that are in the plan
   * already, too (V10).
   */
  isNamed?: boolean;
  /** Tests edit the file here, before it is looked at again. */
  beforeReplace?: () => void;
}>;

/** What a link points to is replaced, not the link. */
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
    // Safe: the old file is complete, and whoever asked is told why.
    return { sentence: `cannot be written (${errorCode(error)})` };
  }
}

/**
 * The last reading; before it, while boxes are written, the one that holds if the file
 * was replaced.
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
        // Safe: without it boxes can only add ticks, on both sides.
        return [];
      }
    },
    save(known: readonly KnownFile[]) {
      try {
        makeFolder(folder, 0o700);
        replaceFile(file, JSON.stringify(known), { like: null, mode: 0o600 });
      } catch {
        // Safe: the next reading finds an older one or none, and matches by title.
      }
    },
  };
}

/** What the plan `refused` has a notice each; `boxes` were ticked or emptied. */
export const noTotals = {
  created: 0,
  changed: 0,
  dropped: 0,
  refused: 0,
  boxes: 0,
  notices: [] as readonly string[],
  /** Until those of the claims are reported. */
  checks: Promise.resolve() as Promise<unknown>,
};

/** `withoutLine`: todos that no line stands for, cancelled ones aside. */
export type SyncReport =
  | (ParsedPlanFile & { readonly withoutLine: number } & Readonly<typeof noTotals>)
  | WrongPlanFile;

const mostAttempts = 5;

export type PlanFileSync = ReturnType<typeof createPlanFileSync>;
export function createPlanFileSync(options: PlanFileSyncOptions) {
  const { path, store, sessionId, identifiers, clock, memory } = options;
  const queue = createQueue();
  let known: KnownFile | null | undefined;
  let parsed: PlanReading | null = null;
  let { isNamed = false } = options;

  /** One of another plan, from before a new turn began, says nothing about this one. */
  function lastReading(hash: string, { planId }: State): KnownFile | null {
    if (known === undefined) {
      const kept = memory?.load() ?? [];
      known = kept.find((candidate) => candidate.hash === hash) ?? kept.at(-1) ?? null;
    }
    return known?.planId === planId ? known : null;
  }

  /** Pulls from the file into the plan, then pushes from the plan into the boxes. */
  async function run(
    direction: 'pull' | 'push' | 'sync' | 'settle',
  ): Promise<SyncReport> {
    const notices: string[] = [];
    const totals = { ...noTotals, notices };
    const readState = async () =>
      (await store.state(sessionId)) ?? createState(sessionId, clock.now());

    async function send(change: PlanChange) {
      const base = {
        id: identifiers.next(),
        sessionId,
        at: clock.now(),
        actor: 'file',
      } as const;
      const { reply, checks } = await options.engine.handle({ ...change, ...base });
      const { created = [], changed = [], refused = [] } = reply ?? {};
      const isDrop =
        change.type === 'todo-updated' && change.changes.status === 'cancelled';
      totals.created += created.length;
      totals[isDrop ? 'dropped' : 'changed'] += changed.length;
      totals.refused += refused.length;
      notices.push(...refused.map(({ sentence }) => sentence));
      // Safe: a check that was not reported is run again at the next stop attempt.
      totals.checks = Promise.all([totals.checks, checks?.catch(() => null)]);
    }

    for (let attempt = 1; ; attempt += 1) {
      const reading = readPlanFile(path, options.pinned, parsed);
      if (!reading.ok) return reading;
      parsed = reading;
      const { plan, text, hash } = reading;
      let state = await readState();
      let base = lastReading(hash, state);
      const hasNews =
        isNamed ||
        base?.hash !== hash ||
        (direction === 'settle' && isLeftOutAgain(base.removed, state));
      if (direction !== 'push' && hasNews) {
        const {
          changes,
          notices: said,
          ...seen
        } = compareItems(plan.items, base, state.plan, {
          ...options,
          isNamed,
        });
        isNamed = false;
        notices.push(...plan.warnings, ...said);
        for (const change of changes) await send(change);
        known = { planId: state.planId, hash, ...seen };
        memory?.save([known]);
        state = await readState();
        base = lastReading(hash, state);
      }
      const { boxes, withoutLine } = wantedBoxes(reading, base, state.plan);
      const written = direction === 'pull' ? text : writeBoxes(text, plan, boxes);
      if (written === text) return { ok: true, plan, withoutLine, ...totals };
      // A change that was not pulled yet stays one: the next pull compares with the last
      // reading.
      const pulled = base?.hash === hash ? base : null;
      const items = pulled?.items.map((item, index) => ({
        ...item,
        checked: boxes[index] ?? item.checked,
      }));
      const next = pulled && items && { ...pulled, hash: sha256(written), items };
      // The intent first: after a crash the file itself tells whether it was written.
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

  const inTurn = (direction: Parameters<typeof run>[0]) => () =>
    queue(() => run(direction));
  return {
    pull: inTurn('pull'),
    push: inTurn('push'),
    sync: inTurn('sync'),
    /**
     * Like sync, before a stop: only then does a line that is still missing count as left
     * out again (V4).
     */
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
// empty does not reopen what the agent just completed.

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
 * Which line is which todo: as in the last reading, else by title; null: a new one.
 * `gone`: todos without their line.
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
  // By what the file said: what the agent has done since must not keep a line from its
  // todo.
  const lastWritten = before.map((item) => {
    const titleKey = normaliseTitle(item.title);
    return { id: item.todoId, hostKey: null, titleKey, status: boxStatus(item) } as const;
  });
  const written = items.map((item) => ({ content: item.title, status: boxStatus(item) }));
  const { rowOf, unmatched } = matchWritten(written, lastWritten);
  // What was cancelled with a reason is not brought back.
  const isOver = ({ status, reason }: Todo) => status === 'cancelled' && reason !== null;
  const free = plan.filter((todo) => !knownOf.has(todo.id) && !isOver(todo));
  const unlinked = written.filter((_, index) => rowOf[index] === null);
  const others = matchWritten(unlinked, free).rowOf.values();
  const links = items.map(({ title }, index): Link | null => {
    const row = rowOf[index] ?? null;
    const todo = row === null ? others.next().value : rows.get(row.id);
    // A line that only resembles a todo of somebody else is a new one.
    if (!todo || (row === null && todo.titleKey !== normaliseTitle(title))) return null;
    return { todo, known: knownOf.get(todo.id) ?? null };
  });
  return { links, gone: unmatched.map(({ id }) => id) };
}

const keptChecks =
  'the checks of a todo that is in the plan already are not changed by the file, unless `--plan` or `plan import` names it again';
const unknownCheck =
  'a check that you did not allow was left out; it counts after your next import';

/** A tick is a claim, a tick taken out reopens, a line that is gone drops its todo. */
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
        changes.push(update(todoId, { checks }));
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
        changes.push(update(todoId, { status: 'blocked', reason: item.blocked }));
    }
    return { ...item, todoId };
  });
  const removed = new Set([...gone, ...(known?.removed ?? [])]);
  for (const { todoId } of next) removed.delete(todoId);
  const missing = plan.filter((todo) => removed.has(todo.id) && isOpen(todo));
  // Once more for what was named as dropped: that settles it as cancelled without a
  // reason (V4).
  const said = missing.filter((todo) => !isDropped(todo) || todo.droppedNamedAt !== null);
  const creation: PlanChange[] =
    created.length === 0 ? [] : [{ type: 'todos-created', items: created }];
  return {
    changes: [
      ...creation,
      ...changes,
      ...said.map(({ id }) => update(id, { status: 'cancelled' })),
    ],
    items: next,
    removed: missing.map(({ id }) => id),
    notices,
  };
}

const hasSame = (some: readonly string[], others: readonly string[]) =>
  some.length === others.length && some.every((check) => others.includes(check));

const update = (todoId: string, changes: TodoChanges) =>
  ({ type: 'todo-updated', todoId, changes }) as const;

type Line = Omit<KnownItem, 'todoId'>;

/** What others changed stays theirs. */
function fieldChanges(item: Line, { todo, known }: Link): PlanChange[] {
  const priority = item.priority ?? (known?.priority ? 'medium' : null);
  const now = { ...item, title: known && item.title, priority };
  const fields = (['title', 'context', 'completionCriteria', 'priority'] as const).filter(
    (name) =>
      now[name] !== null && now[name] !== known?.[name] && now[name] !== todo[name],
  );
  const changes: TodoChanges = Object.fromEntries(
    fields.map((name) => [name, now[name]]),
  );
  return fields.length === 0 ? [] : [update(todo.id, changes)];
}

function boxChanges(
  { checked, blocked }: Line,
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
    return known?.checked ? [update(todoId, { status: 'pending' })] : [];
  if (blocked !== null && blocked !== known?.blocked) {
    const isSame = status === 'blocked' && reason === blocked;
    return isSame ? [] : [update(todoId, { status: 'blocked', reason: blocked })];
  }
  const isUnblocked = blocked === null && known?.blocked && status === 'blocked';
  const isBack = known === null && (isDropped(todo) || status === 'cancelled');
  if (!isUnblocked && !isBack) return [];
  return [
    update(todoId, { status: status === 'in_progress' ? 'in_progress' : 'pending' }),
  ];
}

/**
 * Behind the todo of the line before; at the end where file and plan do not share an
 * order.
 */
function newPositions(
  links: readonly (Link | null)[],
  plan: readonly Todo[],
): (number | undefined)[] {
  const place = new Map(plan.map(({ id }, index) => [id, index + 1]));
  const places = links.map((link) => link && (place.get(link.todo.id) ?? 0));
  const kept = places.filter((at) => at !== null);
  if (kept.length === 0 || kept.some((at, index) => at <= (kept[index - 1] ?? -1)))
    return [];
  let after = 0;
  let placed = 0;
  return places.map((at) => {
    after = at ?? after;
    return at !== null || after === plan.length ? undefined : after + ++placed;
  });
}

/**
 * A box that somebody changed since the last reading is theirs; an unknown one is only
 * ever ticked.
 */
function wantedBoxes(
  { hash, plan }: PlanReading,
  known: KnownFile | null,
  todos: readonly Todo[],
) {
  const rows = new Map(todos.map((todo) => [todo.id, todo]));
  // The same text: its lines are the known ones, one for one.
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
