// Which session this server process works in. MCP does not tell a server the host's session, so it opens a provisional
// one at its first call and moves on when a hook has bound it (bind-receipt.ts), looking that up at each call.
import type { Event } from '../core/events.ts';
import type { Clock, Identifiers } from '../engine/clock.ts';
import type { Engine } from '../engine/engine.ts';
import type { Store, StoreReader } from '../engine/store.ts';
import { addPlace, lastPlace, type NumberedPlace } from './places.ts';

export interface ServerSessionOptions {
  readonly store: Store;
  readonly engine: Pick<Engine, 'handle'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly identifiers: Identifiers;
  /** 16 hex digits that no other process has. */
  readonly server: string;
  readonly directory: string;
  /** The client's own name, for people who look at the list of sessions. */
  readonly client: () => string | null;
}

export interface ServerSession {
  /** The place of the next call; opens a provisional session where there is none, which is then `isNew`. */
  open(): Promise<NumberedPlace & { readonly isNew: boolean }>;
  /** The same without opening anything; null: no call was made yet. */
  find(): Promise<NumberedPlace | null>;
  /** The process ends: a session of its own goes away with it; a host's session is the host's to close. */
  close(): Promise<void>;
}

/** Events read at once while looking for the end of the host's session. */
const pageSize = 500;

export function createServerSession(options: ServerSessionOptions): ServerSession {
  const { store, server } = options;
  let known = 0;
  let queue: Promise<unknown> = Promise.resolve();
  const isOver = createEndWatch();

  function find(): Promise<NumberedPlace | null> {
    return store.read(async (reader) => {
      const last = await lastPlace(reader, server, known);
      if (last === null) return null;
      known = last.index;
      return !last.provisional && (await isOver(reader, last.sessionId)) ? null : last;
    });
  }

  async function openNow() {
    const found = await find();
    if (found !== null) return { ...found, isNew: false };
    const sessionId = `mcp-${options.identifiers.next()}`;
    await options.engine.handle(sessionOpened(sessionId, options));
    return store.transact(async (transaction) => {
      const last = await lastPlace(transaction, server, known);
      const place = { sessionId, provisional: true, index: last === null ? 0 : last.index + 1 };
      await addPlace(transaction, server, place.index, place);
      return { ...place, isNew: true };
    });
  }

  return {
    find,
    // One after the other: two calls at once must not open two sessions.
    open() {
      const opened = queue.then(openNow);
      // Safe: whoever asked gets the failure; the next call tries again.
      queue = opened.catch(() => null);
      return opened;
    },
    async close() {
      const last = await find();
      if (last?.provisional !== true) return;
      const base = { id: options.identifiers.next(), at: options.clock.now() };
      await options.engine.handle({ ...base, type: 'session-closed', sessionId: last.sessionId });
    },
  };
}

function sessionOpened(sessionId: string, options: ServerSessionOptions): Event {
  const { clock, identifiers, directory, server, client } = options;
  return {
    type: 'session-opened',
    id: identifiers.next(),
    sessionId,
    at: clock.now(),
    descriptor: {
      host: 'mcp',
      instance: `mcp-${server}`,
      mode: 'asked',
      kind: 'main',
      parentId: null,
      directory,
      headless: true,
      immediate: false,
      everyAgentWrites: false,
      seesTools: false,
      tools: { pause: 'todo_pause', verify: 'todo_verify' },
    },
    agent: { name: client(), canWrite: 'unknown', model: null, variant: null },
  };
}

/**
 * Has the host ended this session? After `/clear` the same process serves a new one, and what the new one plans must
 * not land in the old one's plan. Only the events since the last look are read.
 */
function createEndWatch(): (reader: StoreReader, sessionId: string) => Promise<boolean> {
  const seen = new Map<string, { applied: number; closed: boolean }>();
  return async (reader, sessionId) => {
    const session = await reader.session(sessionId);
    if (session?.deleted === true) return true;
    let { applied, closed } = seen.get(sessionId) ?? { applied: 0, closed: false };
    for (;;) {
      const page = await reader.appliedEvents(sessionId, applied, pageSize);
      closed = closedAfter(
        closed,
        page.map(({ event }) => event),
      );
      applied = page.at(-1)?.applied ?? applied;
      if (page.length < pageSize) break;
    }
    seen.set(sessionId, { applied, closed });
    return closedAfter(closed, await reader.pendingEvents(sessionId));
  };
}

/** A session that was closed and opened again, or in which a human spoke since, goes on. */
function closedAfter(before: boolean, events: readonly Event[]): boolean {
  const last = events.findLast(
    ({ type }) => type === 'session-closed' || type === 'session-opened' || type === 'human-spoke',
  );
  return last === undefined ? before : last.type === 'session-closed';
}
