// A host's own list of todos, whole and mostly without ids, as an event: only when it is another one than last time.
// Reading the same list again is nobody's write: it is neither a duplicate nor an omission, and touches no plan (M5, P34).
import type { PlanWritten, WrittenTodo } from '../../core/events.ts';
import type { Clock, Identifiers } from '../../engine/clock.ts';
import type { Store, StoreReader } from '../../engine/store.ts';

export type HostListItem = Omit<WrittenTodo, 'freshId'>;

export interface HostList {
  /** null: the list is the one that was read last, in this process or before it. */
  read(sessionId: string, items: readonly HostListItem[]): Promise<PlanWritten | null>;
  forget(sessionId: string): void;
}

export interface HostListOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly identifiers: Identifiers;
}

const idPrefix = 'host-list:';
const pageSize = 500;

export function createHostList({ store, clock, identifiers }: HostListOptions): HostList {
  const last = new Map<string, string>();
  return {
    async read(sessionId, items) {
      const text = listText(items);
      const known = last.get(sessionId) ?? (await store.read((reader) => lastList(reader, sessionId)));
      last.set(sessionId, text);
      if (known === text) return null;
      const written = items.map((item) => ({ ...item, freshId: identifiers.next() }));
      const id = `${idPrefix}${identifiers.next()}`;
      return { type: 'plan-written', id, sessionId, at: clock.now(), actor: 'agent', items: written };
    },
    forget(sessionId) {
      last.delete(sessionId);
    },
  };
}

/** From the record: once per session and process. A session without a list has the empty one. */
async function lastList(reader: StoreReader, sessionId: string): Promise<string> {
  let text = listText([]);
  for (let after = 0; ; ) {
    const page = await reader.appliedEvents(sessionId, after, pageSize);
    for (const { event } of page)
      if (event.type === 'plan-written' && event.id.startsWith(idPrefix)) text = listText(event.items);
    const end = page.at(-1)?.applied;
    if (page.length < pageSize || end === null || end === undefined) return text;
    after = end;
  }
}

function listText(items: readonly HostListItem[]): string {
  return JSON.stringify(items.map(({ id, content, status, priority }) => [id, content, status, priority]));
}
