// What the plugin wrote into the store about a session of the host, read while the host
// runs: the store is made for that. It only reads.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Decision } from '../../../src/core/decision.ts';
import type { Event } from '../../../src/core/events.ts';
import type { Session } from '../../../src/core/state.ts';
import type { Todo } from '../../../src/core/todo.ts';
import type { OutboxRow, Store } from '../../../src/engine/store.ts';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import type { Project } from '../harness/project.ts';
import { waitUntil } from '../harness/wait-until.ts';

export interface Kept {
  readonly session: Session;
  /** Oldest first. */
  readonly decisions: readonly Decision[];
  readonly events: readonly Event[];
  readonly todos: readonly Todo[];
  readonly outbox: readonly OutboxRow[];
}

export interface OurRecord {
  /** Null: nothing was written about this session. */
  read(id: string): Promise<Kept | null>;
  /** Waits until the turn has settled and nothing is due any more. */
  settled(id: string, seconds?: number): Promise<Kept>;
  /** Waits for an answer with this reason. */
  decided(id: string, reason: string, seconds?: number): Promise<Kept>;
  close(): Promise<void>;
}

const most = 10_000;

export function openOurRecord(project: Project): OurRecord {
  const path = join(project.state, 'untildone.db');
  let store: Store | null = null;
  const look = async <T>(work: (store: Store) => Promise<T>): Promise<T | null> => {
    if (!existsSync(path)) return null;
    store ??= await openSqliteStore({ path, clock: Date });
    return work(store);
  };
  const read = (id: string): Promise<Kept | null> => look((store) => readKept(store, id));
  const readWhen = async (
    what: string,
    id: string,
    holds: (store: Store) => Promise<boolean>,
    seconds: number,
  ): Promise<Kept> => {
    // Asked many times a second, so that it reads no more than it needs.
    await waitUntil(what, async () => (await look(holds)) ?? false, seconds).catch(
      async (cause: unknown) => {
        throw new Error(`${String(cause)} ${describe(await read(id))}`, { cause });
      },
    );
    return (await read(id))!;
  };
  return {
    read,
    settled(id, seconds = 60) {
      const isSettled = async (store: Store): Promise<boolean> => {
        const session = await store.state(id);
        // An answer with nothing to verify has no outcome: its turn has ended all the
        // same.
        const isOver =
          session !== null && (session.settled !== null || session.turn?.ended === true);
        return isOver && session.timer === null;
      };
      return readWhen(`${id} settled`, id, isSettled, seconds);
    },
    decided(id, reason, seconds = 60) {
      const isDecided = async (store: Store): Promise<boolean> =>
        (await store.decisions(id, most)).some(
          ({ decision }) => decision.reason === reason,
        );
      return readWhen(`${id} was answered with ${reason}`, id, isDecided, seconds);
    },
    async close() {
      await store?.close();
    },
  };
}

async function readKept(store: Store, id: string): Promise<Kept | null> {
  const session = await store.state(id);
  if (session === null) return null;
  return {
    session,
    decisions: (await store.decisions(id, most))
      .map(({ decision }) => decision)
      .reverse(),
    events: (await store.events({ sessionId: id, after: 0, limit: most })).map(
      ({ event }) => event,
    ),
    todos: await store.todos({ planId: session.planId }),
    outbox: await store.outbox({ sessionId: id }),
  };
}

/** For a test that failed: what there was instead. */
function describe(kept: Kept | null): string {
  if (kept === null) return 'Nothing is on the record.';
  const decisions = kept.decisions
    .map(({ answer, reason }) => `${answer} ${reason}`)
    .join(', ');
  return `Decisions: ${decisions}. Events: ${kept.events.map(({ type }) => type).join(', ')}.`;
}
