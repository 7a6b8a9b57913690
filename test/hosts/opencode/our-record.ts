// What the plugin wrote into the store about a session of the host, read while the host runs: the store is made for
// that. It only reads.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Decision } from '../../../src/core/decision.ts';
import type { Event } from '../../../src/core/events.ts';
import type { Session } from '../../../src/core/session.ts';
import type { Todo } from '../../../src/core/todo.ts';
import type { OutboxRow, Store } from '../../../src/ports/store.ts';
import { openSqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
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
  const read = async (id: string): Promise<Kept | null> => {
    if (!existsSync(path)) return null;
    store ??= await openSqliteStore({ path, clock: Date });
    return store.read(async (reader) => {
      const session = await reader.session(id);
      if (session === null) return null;
      return {
        session,
        decisions: (await reader.decisions(id, most)).map(({ decision }) => decision).reverse(),
        events: (await reader.appliedEvents(id, 0, most)).map(({ event }) => event),
        todos: await reader.todosOfPlan(session.planId),
        outbox: await reader.outbox(id),
      };
    });
  };
  const readWhen = async (
    what: string,
    id: string,
    holds: (kept: Kept) => boolean,
    seconds: number,
  ): Promise<Kept> => {
    let kept: Kept | null = null;
    const isThere = async (): Promise<boolean> => {
      kept = await read(id);
      return kept !== null && holds(kept);
    };
    await waitUntil(what, isThere, seconds).catch((cause: unknown) => {
      throw new Error(`${String(cause)} ${describe(kept)}`, { cause });
    });
    return kept!;
  };
  return {
    read,
    settled: (id, seconds = 60) =>
      readWhen(
        `${id} settled`,
        id,
        ({ session: { settled, timer } }) => settled !== null && timer === null,
        seconds,
      ),
    decided: (id, reason, seconds = 60) =>
      readWhen(
        `${id} was answered with ${reason}`,
        id,
        ({ decisions }) => decisions.some((decision) => decision.reason === reason),
        seconds,
      ),
    async close() {
      await store?.close();
    },
  };
}

/** For a test that failed: what there was instead. */
function describe(kept: Kept | null): string {
  if (kept === null) return 'Nothing is on the record.';
  const decisions = kept.decisions.map(({ answer, reason }) => `${answer} ${reason}`).join(', ');
  return `Decisions: ${decisions}. Events: ${kept.events.map(({ type }) => type).join(', ')}.`;
}
