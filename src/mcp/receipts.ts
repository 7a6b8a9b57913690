// MCP does not tell a server the host's session, so the last line of every result names
// the server, the place it worked in and the time of the call. A hook that sees it binds
// the server to its session and moves there what the call made. Hooks bundle this file:
// it must not load the MCP package.
import type { Todo } from '../core/todo.ts';
import type { Engine } from '../engine/engine.ts';
import type { Store } from '../engine/store.ts';
import { formatUuid, sha256 } from '../engine/system.ts';

type Receipt = NonNullable<ReturnType<typeof parseReceipt>>;
type Seen = Readonly<{ receipt: string; sessionId: string; at: number }>;

export const formatReceipt = ({ server, place, call }: Receipt) =>
  `udr_${server}${place.toString(16).padStart(4, '0')}${call}`;

export function parseReceipt(text: string) {
  const [, server, place, call] =
    /^udr_([0-9a-f]{16})([0-9a-f]{4})([0-9a-f]{12})$/.exec(text) ?? [];
  return server && place && call
    ? { server, place: Number.parseInt(place, 16), call }
    : null;
}

/** Ids start with their time, and no two calls of a server share one. */
export const isOfCall = (id: string, { call }: Receipt) =>
  id.replaceAll('-', '').startsWith(call);

/**
 * Where a server process works: first in a provisional session of its own, then in the
 * host's.
 */
export type Place = Readonly<{ sessionId: string; provisional: boolean; index: number }>;

const mostPlaces = 0x1_0000;

/** Kept beside the policies, which are write-once: one row per place, not per call. */
export function placesOf(store: Pick<Store, 'policy' | 'record'>, server: string) {
  const key = (index: number): string => `mcp server ${server} place ${index}`;
  async function read(index: number): Promise<Place | null> {
    const text = await store.policy(key(index));
    return text === null
      ? null
      : { ...(JSON.parse(text) as Omit<Place, 'index'>), index };
  }
  return {
    read,
    /** Looked for from an earlier one on; null: no call was made yet. */
    async last(from: number): Promise<Place | null> {
      let last = await read(from);
      for (let next = last; next !== null; next = await read(next.index + 1)) last = next;
      return last;
    },
    /** Past the last number the server stays where it is. */
    async add(from: number, place: Omit<Place, 'index'>): Promise<Place> {
      const text = JSON.stringify(place);
      for (let index = from; index < mostPlaces; index += 1) {
        await store.record({ policies: new Map([[key(index), text]]) });
        // Rows are never replaced: who comes second takes the next number.
        if ((await read(index))?.sessionId === place.sessionId)
          return { ...place, index };
      }
      return { ...place, index: mostPlaces - 1 };
    },
  };
}

/** A row that was cancelled for this is never moved again. */
const movedReason = 'moved to the session of the host: ';

/** May be called in any order, again and by several processes. */
export async function bindReceipt(
  store: Store,
  { handle }: Pick<Engine, 'handle'>,
  seen: Seen,
) {
  const receipt = parseReceipt(seen.receipt);
  const places = placesOf(store, receipt?.server ?? '');
  const made = receipt && (await places.read(receipt.place));
  if (receipt === null || made === null) return;
  const { sessionId: to, at } = seen;
  const agent = { sessionId: to, at, actor: 'agent' } as const;
  const { sessionId: from, provisional } = made;

  /**
   * Each step may be repeated: new ids follow from the old ones. False: nothing was
   * taken.
   */
  async function moveTodos(todos: readonly Todo[]): Promise<boolean> {
    // What had ended is known by the event that moved it; what was open is marked where
    // it came from.
    const statusId = ({ id, status }: Todo) => `mcp-status ${id} ${status} ${to}`;
    const told = await store.events({ ids: todos.filter(hasEnded).map(statusId) });
    const known = new Set(told.map(({ event }) => event.id));
    const plan = (await store.state(to))?.plan ?? [];
    const ids = new Set(plan.map(({ id }) => id));
    const byTitle = new Map(
      plan.filter((row) => !hasEnded(row)).map((row) => [row.titleKey, row.id]),
    );
    const moves = todos.flatMap((todo) => {
      if (todo.reason?.startsWith(movedReason) || known.has(statusId(todo))) return [];
      const own = movedId(todo.id, to);
      // One whose title is open there already is the same todo.
      const same = ids.has(own) ? undefined : byTitle.get(todo.titleKey);
      // Two of the same title stay two.
      if (same !== undefined) byTitle.delete(todo.titleKey);
      return [{ todo, own, there: same ?? own }];
    });
    const fresh = moves.filter(({ there }) => !ids.has(there));
    // Without a host key: the host's own list may still take them over.
    const items = fresh.map(({ own, todo }) => ({
      id: own,
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
    for (const { todo, own, there } of moves) {
      // A new row is pending already; what was cancelled without a reason stays open,
      // since nobody explained it.
      const status = { ...agent, id: statusId(todo), todoId: there };
      const outcome = todo.status === 'completed' ? todo.outcome : todo.reason;
      if (hasEnded(todo) && outcome !== null)
        await handle({ ...status, type: 'todo-completed', status: todo.status, outcome });
      else if (todo.status !== 'pending' && todo.status !== 'cancelled') {
        const changes = { status: todo.status, reason: todo.reason ?? undefined };
        await handle({ ...status, type: 'todo-updated', changes });
      }
      // A provisional session ends with the move: only what must not be moved twice is
      // marked there.
      if (hasEnded(todo) || (provisional && there === own)) continue;
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
    // Of a session that is not provisional only what this call did there.
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
  const last = await places.last(made.index);
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

/** Of an id that the model learned before the server was bound. */
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
  // Only if a provisional session of ours handed the id out: sessions never leak (G6).
  if (!old.sessionId.startsWith('mcp-')) return id;
  const same = plan.filter(({ titleKey }) => titleKey === old.titleKey);
  return (same.find((todo) => !hasEnded(todo)) ?? same[0])?.id ?? id;
}
