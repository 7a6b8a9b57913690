// Binds a server process to the host's session that its receipt was seen in: what the call put into another session
// is moved there, and the server works there from its next call on. It must not load the MCP package: hooks bundle it.
import type { Engine } from '../engine/engine.ts';
import type { Store } from '../engine/store.ts';
import { moveTodos } from './move-todos.ts';
import { addPlace, lastPlace, type NumberedPlace, readPlace } from './places.ts';
import { isOfCall, parseReceipt, type Receipt } from './receipt.ts';

export interface SeenReceipt {
  readonly receipt: string;
  /** The host's session, as the hook was told it. */
  readonly sessionId: string;
  readonly at: number;
}

/**
 * May be called for every result, in any order, more than once and by several processes: only what is not yet done is
 * done. An unknown receipt changes nothing.
 */
export async function bindReceipt(
  store: Store,
  engine: Pick<Engine, 'handle'>,
  { receipt: text, sessionId, at }: SeenReceipt,
): Promise<void> {
  const receipt = parseReceipt(text);
  if (receipt === null) return;
  const known = await store.read(async (reader) => {
    const made = await readPlace(reader, receipt.server, receipt.place);
    const last = made && (await lastPlace(reader, receipt.server, made.index));
    return made && last && { made, last };
  });
  if (known === null) return;
  if (known.made.sessionId !== sessionId) {
    const moved = await moveOut(store, engine, known.made, receipt, { sessionId, at });
    if (!moved) return;
  }
  if (known.last.sessionId === sessionId) return;
  await store.transact(async (transaction) => {
    const last = await lastPlace(transaction, receipt.server, known.last.index);
    if (last === null || last.sessionId === sessionId) return;
    await addPlace(transaction, receipt.server, last.index + 1, { sessionId, provisional: false });
  });
}

/** All of a provisional session, which ends with it; of another session only what this call created there. */
async function moveOut(
  store: Store,
  engine: Pick<Engine, 'handle'>,
  made: NumberedPlace,
  receipt: Receipt,
  { sessionId, at }: { readonly sessionId: string; readonly at: number },
): Promise<boolean> {
  const since = Number.parseInt(receipt.call, 16);
  const source = await store.read(async (reader) => {
    const session = await reader.session(made.sessionId);
    return session && { session, todos: await reader.todosOfPlan(session.planId) };
  });
  if (source === null) return true;
  const { session } = source;
  const todos = made.provisional ? source.todos : source.todos.filter(({ id }) => isOfCall(id, receipt));
  const moved = await moveTodos(store, engine, todos, {
    from: made.sessionId,
    to: sessionId,
    at,
    ends: made.provisional,
  });
  if (!moved) return false;
  const { pause } = session;
  if (pause?.by === 'model' && (made.provisional || pause.at >= since)) {
    const id = `mcp-pause ${session.id} ${pause.at} ${sessionId}`;
    await engine.handle({ type: 'model-paused', id, sessionId, at, reason: pause.reason ?? '' });
  }
  if (made.provisional && !session.deleted) {
    await engine.handle({
      type: 'session-deleted',
      id: `mcp-bound ${session.id}`,
      sessionId: session.id,
      at,
    });
  }
  return true;
}
