// Receipts: MCP does not tell a server the host's session, so the last line of every tool result names the server process,
// the place it worked in and the moment of the call. A host's hook that sees the line binds the server to its session:
// what the call put elsewhere is moved there, and the server works there from its next call on.
// Nothing here may load the MCP package: hooks bundle it.
import type { Event } from '../core/events.ts';
import type { Todo } from '../core/todo.ts';
import type { Engine } from '../engine/engine.ts';
import type { Store } from '../engine/store.ts';
import { formatUuid, sha256 } from '../engine/system.ts';

type Receipt = NonNullable<ReturnType<typeof parseReceipt>>;

export function formatReceipt({ server, place, call }: Receipt): string {
  return `udr_${server}${place.toString(16).padStart(4, '0')}${call}`;
}

/** The process, which of its places it worked in, and the time of the call. Null: this is no receipt of ours. */
export function parseReceipt(text: string) {
  const [, server, place, call] = /^udr_([0-9a-f]{16})([0-9a-f]{4})([0-9a-f]{12})$/.exec(text) ?? [];
  return server && place && call ? { server, place: Number.parseInt(place, 16), call } : null;
}

/** What a hook takes out of a result's text. Only the last line counts: what stands before it is hostile. */
export function findReceipt(resultText: string): string | null {
  const line = resultText.trimEnd().split('\n').at(-1) ?? '';
  return /^receipt: (udr_[0-9a-f]{32})$/.exec(line)?.[1] ?? null;
}

/** Was this id given out by that call? Our ids start with their time, and no two calls of a server share one. */
export function isOfCall(id: string, { call }: Receipt): boolean {
  return id.replaceAll('-', '').startsWith(call);
}

/** Where a server process works: first in a provisional session of its own, then in the host's. */
export interface Place {
  readonly sessionId: string;
  /** A session of the server's own, because nobody has told it the host's. */
  readonly provisional: boolean;
  readonly index: number;
}

/** A receipt has four hex digits for the place. */
const mostPlaces = 0x1_0000;

/** The places of one server, kept beside the policies, which are write-once and small: one row per place, not per call. */
export function placesOf(store: Pick<Store, 'policy' | 'record'>, server: string) {
  const key = (index: number): string => `mcp server ${server} place ${index}`;
  async function read(index: number): Promise<Place | null> {
    const text = await store.policy(key(index));
    return text === null ? null : { ...(JSON.parse(text) as Omit<Place, 'index'>), index };
  }
  return {
    read,
    /** Where the server works now; `from` is any earlier place. Null: it has made no call yet. */
    async last(from: number): Promise<Place | null> {
      let last = await read(from);
      for (let next = last; next !== null; next = await read(next.index + 1)) last = next;
      return last;
    },
    /** The server works there from its next call on. `from` may be taken. Past the last number it stays where it is. */
    async add(from: number, sessionId: string, provisional: boolean): Promise<Place> {
      for (let index = from; index < mostPlaces; index += 1) {
        const text = JSON.stringify({ sessionId, provisional });
        await store.record({ policies: new Map([[key(index), text]]) });
        // A row is never replaced: whoever was first with this number has it, and the other one takes the next.
        if ((await read(index))?.sessionId === sessionId) return { sessionId, provisional, index };
      }
      return { sessionId, provisional, index: mostPlaces - 1 };
    },
  };
}

/**
 * A hook saw a receipt in its host's session. May be called for every result, in any order, more than once and by
 * several processes: only what is not yet done is done. An unknown receipt changes nothing.
 */
export async function bindReceipt(
  store: Store,
  engine: Pick<Engine, 'handle'>,
  seen: { readonly receipt: string; readonly sessionId: string; readonly at: number },
): Promise<void> {
  const receipt = parseReceipt(seen.receipt);
  const places = placesOf(store, receipt?.server ?? '');
  const made = receipt && (await places.read(receipt.place));
  if (receipt === null || made === null) return;
  const { sessionId: to, at } = seen;
  const { sessionId: from, provisional } = made;
  const source = from === to ? null : await store.state(from);
  if (source !== null) {
    // All of a provisional session, which ends with it; of another session only what this call did there.
    const todos = provisional ? source.plan : source.plan.filter(({ id }) => isOfCall(id, receipt));
    if (!(await moveTodos(todos, { store, engine, from, to, at, ends: provisional }))) return;
    const { pause, deleted } = source;
    if (pause?.by === 'model' && (provisional || pause.at >= Number.parseInt(receipt.call, 16))) {
      const id = `mcp-pause ${from} ${pause.at} ${to}`;
      await engine.handle({ type: 'model-paused', id, sessionId: to, at, reason: pause.reason ?? '' });
    }
    if (provisional && !deleted)
      await engine.handle({ type: 'session-deleted', id: `mcp-bound ${from}`, sessionId: from, at });
  }
  const last = await places.last(made.index);
  if (last !== null && last.sessionId !== to) await places.add(last.index, to, false);
}

interface Move {
  readonly store: Store;
  readonly engine: Pick<Engine, 'handle'>;
  readonly from: string;
  readonly to: string;
  readonly at: number;
  /** The session they come from ends with the move, so that only what must not be moved twice is marked there. */
  readonly ends: boolean;
}

/** Why a moved todo is cancelled where it came from; such a row is never moved again. */
const movedReason = 'moved to the session of the host: ';

/**
 * A todo whose title is open there already is the same todo. Each step may be repeated: new ids and event ids follow from
 * the old ones, so that ids which the model knows can be translated. Moved rows have no host key: the host's own list
 * may still take them over. False: the other plan took none of them, and nothing was changed.
 */
async function moveTodos(todos: readonly Todo[], { store, engine, from, to, at, ends }: Move) {
  const send = async (event: Event) => {
    const handled = await engine.handle(event);
    // Safe to go on without them: a check that was not reported is run again at the next stop attempt.
    handled.checks?.catch(() => null);
    return handled;
  };
  // What was open is marked where it came from; what had ended stays as it is, and its event says that it was moved.
  const told = await store.events({ ids: todos.filter(hasEnded).map((todo) => statusEventId(todo, to)) });
  const known = new Set(told.map(({ event }) => event.id));
  const isMoved = (todo: Todo): boolean =>
    todo.reason?.startsWith(movedReason) || (hasEnded(todo) && known.has(statusEventId(todo, to)));
  const plan = (await store.state(to))?.plan ?? [];
  const ids = new Set(plan.map(({ id }) => id));
  const byTitle = new Map(plan.filter((row) => !hasEnded(row)).map((row) => [row.titleKey, row.id]));
  const moves = todos.flatMap((todo) => {
    if (isMoved(todo)) return [];
    const own = movedId(todo.id, to);
    const same = ids.has(own) ? undefined : byTitle.get(todo.titleKey);
    // Each row stands for one todo only: two of the same title stay two.
    if (same !== undefined) byTitle.delete(todo.titleKey);
    return [{ todo, own, there: same ?? own }];
  });
  const fresh = moves.filter(({ there }) => !ids.has(there));
  if (fresh.length > 0) {
    const items = fresh.map(({ todo, own }) => ({
      ...{ id: own, title: todo.title, priority: todo.priority, checks: todo.checks },
      context: todo.context ?? undefined,
      completionCriteria: todo.completionCriteria ?? undefined,
      agentType: todo.agentType ?? undefined,
    }));
    const id = `mcp-move ${movedId(items.map((item) => item.id).join(' '), to)}`;
    const { reply } = await send({ type: 'todos-created', id, sessionId: to, at, actor: 'agent', items });
    if (reply?.refused.some(({ index }) => index === null)) return false;
  }
  for (const { todo, own, there } of moves) {
    const event = statusEvent(todo, there, to, at);
    if (event !== null) await send(event);
    if (hasEnded(todo) || (ends && there === own)) continue;
    const base = { id: `mcp-moved ${todo.id} ${to}`, sessionId: from, at, actor: 'system' } as const;
    const outcome = `${movedReason}${to}`;
    await send({ ...base, type: 'todo-completed', todoId: todo.id, status: 'cancelled', outcome });
  }
  return true;
}

function hasEnded({ status }: Todo): boolean {
  return status === 'completed' || status === 'cancelled';
}

/** How far a todo has come, said again there. A new row is pending, which needs no word. */
function statusEvent(todo: Todo, todoId: string, to: string, at: number): Event | null {
  const { status, outcome, reason } = todo;
  const base = { id: statusEventId(todo, to), sessionId: to, at, actor: 'agent', todoId } as const;
  // Cancelled without a reason stays open there, since nobody has explained it yet.
  if (status === 'pending' || (status === 'cancelled' && reason === null)) return null;
  const words = status === 'completed' ? outcome : reason;
  if ((status === 'completed' || status === 'cancelled') && words !== null)
    return { ...base, type: 'todo-completed', status, outcome: words };
  return { ...base, type: 'todo-updated', changes: { status, reason: reason ?? undefined } };
}

function statusEventId({ id, status }: Todo, to: string): string {
  return `mcp-status ${id} ${status} ${to}`;
}

/** The same todo has the same new id, whoever moves it and however often. */
function movedId(id: string, to: string): string {
  return formatUuid(Buffer.from(sha256(`${to}\n${id}`).slice(0, 32), 'hex'), 8);
}

/**
 * An id that the model learned before the server was bound to the host's session. A moved todo has an id that follows from
 * its old one; one that was the same as a todo of the host has none of its own there, and is found by its title.
 */
export async function translateId(store: Store, sessionId: string, id: string): Promise<string> {
  const [old] = await store.todos({ ids: [id] });
  if (old === undefined || old.sessionId === sessionId) return id;
  const plan = (await store.state(sessionId))?.plan ?? [];
  const moved = movedId(id, sessionId);
  if (plan.some((todo) => todo.id === moved)) return moved;
  // By its title only if a provisional session of ours handed the id out: sessions never leak (G6).
  if (!old.sessionId.startsWith('mcp-')) return id;
  const same = plan.filter(({ titleKey }) => titleKey === old.titleKey);
  return (same.find((todo) => !hasEnded(todo)) ?? same[0])?.id ?? id;
}
