// Ids that the model learned before the server was bound to the host's session. A moved todo has an
// id that follows from its old one; one that was the same as a todo of the host has none of its own there, and is found by its title.
import { isObject } from '../core/config/read-value.ts';
import { noNeeds } from '../core/rows.ts';
import type { Store, StoreReader } from '../engine/store.ts';
import { movedId } from './move-todos.ts';

/** The input with each such id replaced; anything else is left to the tool, which says what is wrong with it. */
export async function translateIds(store: Store, sessionId: string, input: unknown): Promise<unknown> {
  if (!isObject(input)) return input;
  const { todoId, todos } = input;
  if (typeof todoId !== 'string' && !Array.isArray(todos)) return input;
  return store.read(async (reader) => {
    const translate = async (id: unknown): Promise<unknown> =>
      typeof id === 'string' ? translated(reader, sessionId, id) : id;
    const changed: Record<string, unknown> = { ...input };
    if (typeof todoId === 'string') changed['todoId'] = await translate(todoId);
    if (Array.isArray(todos)) changed['todos'] = await Promise.all(todos.map(withId(translate)));
    return changed;
  });
}

function withId(translate: (id: unknown) => Promise<unknown>) {
  return async (todo: unknown): Promise<unknown> =>
    isObject(todo) && typeof todo['id'] === 'string' ? { ...todo, id: await translate(todo['id']) } : todo;
}

async function translated(reader: StoreReader, sessionId: string, id: string): Promise<string> {
  const old = await reader.findTodo(id);
  if (old === null || old.sessionId === sessionId) return id;
  const session = await reader.session(sessionId);
  if (session === null) return id;
  const moved = movedId(id, sessionId);
  const wanted = { ...noNeeds, ids: [moved], titleKeys: [old.titleKey] };
  const { byId, byTitle } = await reader.rows(session, wanted);
  if (byId.length > 0) return moved;
  // By its title only if a provisional session of ours handed the id out: sessions never leak (G6).
  if (!old.sessionId.startsWith('mcp-')) return id;
  if (byTitle[0] !== undefined) return byTitle[0].id;
  const plan = await reader.todosOfPlan(session.planId);
  return plan.find(({ titleKey }) => titleKey === old.titleKey)?.id ?? id;
}
