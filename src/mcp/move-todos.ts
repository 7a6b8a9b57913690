// Moves todos from one session's plan into another's. A todo whose title is open there already is the same todo. Each
// step may be repeated: new ids and event ids follow from the old ones, so that ids which the model knows can be
// translated (translate-ids.ts). Moved rows have no host key: the host's own list may still take them over.
import { createHash } from 'node:crypto';
import type { Event } from '../core/events.ts';
import { noNeeds } from '../core/rows.ts';
import { createSession } from '../core/session.ts';
import type { Todo } from '../core/todo.ts';
import type { Engine } from '../engine/engine.ts';
import type { Store } from '../engine/store.ts';

export interface Move {
  readonly from: string;
  readonly to: string;
  readonly at: number;
  /** The session they come from ends with the move, so that only what must not be moved twice is marked there. */
  readonly ends: boolean;
}

/** Why a moved todo is cancelled where it came from; such a row is never moved again. */
const movedReason = 'moved to the session of the host: ';

/** False: the other plan took none of them, and nothing was changed. */
export async function moveTodos(
  store: Store,
  engine: Pick<Engine, 'handle'>,
  todos: readonly Todo[],
  move: Move,
): Promise<boolean> {
  const wanted = await notMovedYet(store, todos, move);
  const found = await findThere(store, wanted, move);
  const fresh = wanted.filter((todo) => !found.has(todo.id));
  if (fresh.length > 0) {
    const { reply } = await send(engine, creation(fresh, move));
    if (reply?.refused.some(({ index }) => index === null)) return false;
  }
  for (const todo of wanted) {
    const there = found.get(todo.id) ?? movedId(todo.id, move.to);
    for (const event of statusEvents(todo, there, move)) await send(engine, event);
  }
  for (const todo of wanted) {
    const known = found.get(todo.id) ?? null;
    const isFoundAgain = known === null || known === movedId(todo.id, move.to);
    if (hasEnded(todo) || (move.ends && isFoundAgain)) continue;
    const id = `mcp-moved ${todo.id} ${move.to}`;
    const outcome = `${movedReason}${move.to}`;
    const ending = { type: 'todo-completed', actor: 'system', todoId: todo.id, status: 'cancelled' } as const;
    await send(engine, { ...ending, id, sessionId: move.from, at: move.at, outcome });
  }
  return true;
}

/** What was open is marked where it came from; what had ended stays as it is, and its event says that it was moved. */
function notMovedYet(store: Store, todos: readonly Todo[], { to }: Move): Promise<Todo[]> {
  return store.read(async (reader) => {
    const wanted: Todo[] = [];
    for (const todo of todos) {
      const isMarked = todo.reason?.startsWith(movedReason) === true;
      if (isMarked || (hasEnded(todo) && (await reader.hasEvent(statusEventId(todo, to))))) continue;
      wanted.push(todo);
    }
    return wanted;
  });
}

function hasEnded({ status }: Todo): boolean {
  return status === 'completed' || status === 'cancelled';
}

async function send(engine: Pick<Engine, 'handle'>, event: Event) {
  const handled = await engine.handle(event);
  // Safe to go on without them: a check that was not reported is run again at the next stop attempt.
  handled.checks?.catch(() => null);
  return handled;
}

/** Which rows of the other plan are these todos already: moved before, or open under the same title. */
async function findThere(
  store: Store,
  todos: readonly Todo[],
  move: Move,
): Promise<ReadonlyMap<string, string>> {
  const rows = await store.read(async (reader) => {
    const session = (await reader.session(move.to)) ?? createSession(move.to, move.at);
    const ids = todos.map(({ id }) => movedId(id, move.to));
    return reader.rows(session, { ...noNeeds, ids, titleKeys: todos.map(({ titleKey }) => titleKey) });
  });
  const ids = new Set(rows.byId.map(({ id }) => id));
  // Each row stands for one todo only: two of the same title stay two.
  const byTitle = new Map(rows.byTitle.map((row) => [row.titleKey, row.id]));
  const found = new Map<string, string>();
  for (const todo of todos) {
    const own = movedId(todo.id, move.to);
    const same = byTitle.get(todo.titleKey);
    if (ids.has(own)) found.set(todo.id, own);
    else if (same !== undefined) {
      found.set(todo.id, same);
      byTitle.delete(todo.titleKey);
    }
  }
  return found;
}

function creation(todos: readonly Todo[], { to, at }: Move): Event {
  const items = todos.map((todo) => ({
    id: movedId(todo.id, to),
    title: todo.title,
    context: todo.context ?? undefined,
    completionCriteria: todo.completionCriteria ?? undefined,
    agentType: todo.agentType ?? undefined,
    priority: todo.priority,
    checks: todo.checks,
  }));
  const id = `mcp-move ${movedId(items.map((item) => item.id).join(' '), to)}`;
  return { type: 'todos-created', id, sessionId: to, at, actor: 'agent', items };
}

/** How far a todo has come, said again there. A new row is pending. */
function statusEvents(todo: Todo, todoId: string, { to, at }: Move): Event[] {
  const { status, outcome, reason } = todo;
  const base = { id: statusEventId(todo, to), sessionId: to, at, actor: 'agent', todoId } as const;
  // Pending needs no word; cancelled without a reason stays open there, since nobody has explained it yet.
  if (status === 'pending' || (status === 'cancelled' && reason === null)) return [];
  const words = status === 'completed' ? outcome : reason;
  if ((status === 'completed' || status === 'cancelled') && words !== null)
    return [{ ...base, type: 'todo-completed', status, outcome: words }];
  return [{ ...base, type: 'todo-updated', changes: { status, reason: reason ?? undefined } }];
}

function statusEventId({ id, status }: Todo, to: string): string {
  return `mcp-status ${id} ${status} ${to}`;
}

/** The same todo has the same new id, whoever moves it and however often: UUID version 8, made from a hash. */
export function movedId(id: string, to: string): string {
  const bytes = createHash('sha256').update(`${to}\n${id}`).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
