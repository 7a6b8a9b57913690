// MCP does not tell a server the host's session, so each result ends with a line that
// names the server, its place and the time. A hook that sees it binds the server to its
// session. Hooks bundle this file: it must not load the MCP package.
import type { Todo } from '../core/todo.ts';
import type { Engine } from '../engine/engine.ts';
import type { Store } from '../engine/store.ts';
import { formatUuid, sha256 } from '../engine/system.ts';

type Receipt = NonNullable<ReturnType<typeof parseReceipt>>;
type ReceiptUse = Readonly<{ receipt: string; sessionId: string; at: number }>;

/**
 * The last line of a result: the server, the place in which it worked, the time of the
 * call.
 */
export const formatReceipt = ({ server, place, call }: Receipt) =>
  `udr_${server}${place.toString(16).padStart(4, '0')}${call}`;

/** Reads such a line; null: the text is no receipt. */
export function parseReceipt(text: string) {
  const [, server, place, call] =
    /^udr_([0-9a-f]{16})([0-9a-f]{4})([0-9a-f]{12})$/.exec(text) ?? [];
  return server && place && call
    ? { server, place: Number.parseInt(place, 16), call }
    : null;
}

/**
 * Tells whether an id was made in this call. Ids begin with their time, and no two calls
 * of a server share a time.
 */
export const isOfCall = (id: string, { call }: Receipt) =>
  id.replaceAll('-', '').startsWith(call);

/**
 * The session in which a server process works: first a provisional one of its own, then
 * the host's.
 */
export type ServerSession = Readonly<{
  sessionId: string;
  provisional: boolean;
  index: number;
}>;

const mostPlaces = 0x1_0000;

/**
 * Reads and adds the places of a server. They lie beside the policies, which are written
 * once: one row for each place, not for each call.
 */
export function placesOf(store: Pick<Store, 'policy' | 'record'>, server: string) {
  const key = (index: number): string => `mcp server ${server} place ${index}`;
  async function read(index: number): Promise<ServerSession | null> {
    const text = await store.policy(key(index));
    return text === null
      ? null
      : { ...(JSON.parse(text) as Omit<ServerSession, 'index'>), index };
  }
  return {
    read,
    /** The last place, looked for from an earlier one on; null: no call was made yet. */
    async last(from: number): Promise<ServerSession | null> {
      let last = await read(from);
      for (let next = last; next !== null; next = await read(next.index + 1)) last = next;
      return last;
    },
    /** Adds a place. After the last number the server stays where it is. */
    async add(from: number, place: Omit<ServerSession, 'index'>): Promise<ServerSession> {
      const text = JSON.stringify(place);
      for (let index = from; index < mostPlaces; index += 1) {
        await store.record({ policies: new Map([[key(index), text]]) });
        // Rows are never replaced: the process that comes second takes the next number.
        if ((await read(index))?.sessionId === place.sessionId)
          return { ...place, index };
      }
      return { ...place, index: mostPlaces - 1 };
    },
  };
}

/** The reason on a todo that was cancelled because it moved: it is never moved again. */
const movedReason = 'moved to the session of the host: ';

/**
 * Binds the server to the session that saw its receipt, and moves there what was made. It
 * may be called in any order, repeatedly, and by several processes.
 */
export async function bindReceipt(
  store: Store,
  { handle }: Pick<Engine, 'handle'>,
  receiptUse: ReceiptUse,
) {
  const receipt = parseReceipt(receiptUse.receipt);
  const places = placesOf(store, receipt?.server ?? '');
  const place = receipt && (await places.read(receipt.place));
  if (receipt === null || place === null) return;
  const { sessionId: to, at } = receiptUse;
  const agent = { sessionId: to, at, actor: 'agent' } as const;
  const { sessionId: from, provisional } = place;

  /**
   * Moves todos. Each step may be repeated, since new ids follow from the old ones.
   * False: nothing was taken.
   */
  async function moveTodos(todos: readonly Todo[]): Promise<boolean> {
    // An ended todo counts as moved if the event that moved it exists; an open one is
    // marked where it came from.
    const statusId = ({ id, status }: Todo) => `mcp-status ${id} ${status} ${to}`;
    const movedEvents = await store.events({ ids: todos.filter(hasEnded).map(statusId) });
    const known = new Set(movedEvents.map(({ event }) => event.id));
    const plan = (await store.state(to))?.plan ?? [];
    const ids = new Set(plan.map(({ id }) => id));
    const byTitle = new Map(
      plan.filter((row) => !hasEnded(row)).map((row) => [row.titleKey, row.id]),
    );
    const moves = todos.flatMap((todo) => {
      if (todo.reason?.startsWith(movedReason) || known.has(statusId(todo))) return [];
      const newId = movedId(todo.id, to);
      // If a todo with the same title is open there already, it is the same todo.
      const same = ids.has(newId) ? undefined : byTitle.get(todo.titleKey);
      // Two todos with the same title stay two.
      if (same !== undefined) byTitle.delete(todo.titleKey);
      return [{ todo, newId, targetId: same ?? newId }];
    });
    const fresh = moves.filter(({ targetId }) => !ids.has(targetId));
    // Without a host key, so that the host's own list may still take them over.
    const items = fresh.map(({ newId, todo }) => ({
      id: newId,
      title: todo.title,
      priority: todo.priority,
      checks: todo.checks,
      context: todo.context ?? undefined,
      completionCriteria: todo.completionCriteria ?? undefined,
      agentType: todo.agentType ?? undefined,
    }));
    if (items.length > 0) {
      const id = `mcp-move ${movedId(items.map((item) => item.id).join(' '), to)}`;
      const { reply } = await handle({ ...agent, type: 'todos-created', id, items });
      if (reply?.refused.some(({ index }) => index === null)) return false;
    }
    for (const { todo, newId, targetId } of moves) {
      // A new todo is pending already. One that was cancelled without a reason stays
      // open, since nobody explained it.
      const status = { ...agent, id: statusId(todo), todoId: targetId };
      const outcome = todo.status === 'completed' ? todo.outcome : todo.reason;
      if (hasEnded(todo) && outcome !== null)
        await handle({ ...status, type: 'todo-completed', status: todo.status, outcome });
      else if (todo.status !== 'pending' && todo.status !== 'cancelled') {
        const changes = { status: todo.status, reason: todo.reason ?? undefined };
        await handle({ ...status, type: 'todo-updated', changes });
      }
      // A provisional session ends with the move, so only todos that must not be moved
      // twice are marked there.
      if (hasEnded(todo) || (provisional && targetId === newId)) continue;
      const base = {
        id: `mcp-moved ${todo.id} ${to}`,
        sessionId: from,
        at,
        actor: 'system',
      } as const;
      const cancelled = {
        todoId: todo.id,
        status: 'cancelled',
        outcome: `${movedReason}${to}`,
      } as const;
      await handle({ ...base, type: 'todo-completed', ...cancelled });
    }
    return true;
  }

  const source = from === to ? null : await store.state(from);
  if (source !== null) {
    const { plan, pause, deleted } = source;
    // From a session that is not provisional, only what this call did there is moved.
    if (!(await moveTodos(plan.filter(({ id }) => provisional || isOfCall(id, receipt)))))
      return;
    if (
      pause?.by === 'model' &&
      (provisional || pause.at >= Number.parseInt(receipt.call, 16))
    ) {
      const id = `mcp-pause ${from} ${pause.at} ${to}`;
      await handle({
        type: 'model-paused',
        id,
        sessionId: to,
        at,
        reason: pause.reason ?? '',
      });
    }
    if (provisional && !deleted)
      await handle({
        type: 'session-deleted',
        id: `mcp-bound ${from}`,
        sessionId: from,
        at,
      });
  }
  const last = await places.last(place.index);
  if (last !== null && last.sessionId !== to)
    await places.add(last.index, { sessionId: to, provisional: false });
}

function hasEnded(
  todo: Todo,
): todo is Todo & { readonly status: 'completed' | 'cancelled' } {
  return todo.status === 'completed' || todo.status === 'cancelled';
}

const movedId = (id: string, to: string) =>
  formatUuid(Buffer.from(sha256(`${to}\n${id}`).slice(0, 32), 'hex'), 8);

/**
 * The id that a todo has now, for an id that the model learned before the server was
 * bound.
 */
export async function translateId(
  store: Store,
  sessionId: string,
  id: string,
): Promise<string> {
  const [old] = await store.todos({ ids: [id] });
  if (old === undefined || old.sessionId === sessionId) return id;
  const plan = (await store.state(sessionId))?.plan ?? [];
  const moved = movedId(id, sessionId);
  if (plan.some((todo) => todo.id === moved)) return moved;
  // Only if a provisional session of ours gave the id to the model: sessions must not see
  // each other's todos (G6).
  if (!old.sessionId.startsWith('mcp-')) return id;
  const same = plan.filter(({ titleKey }) => titleKey === old.titleKey);
  return (same.find((todo) => !hasEnded(todo)) ?? same[0])?.id ?? id;
}
