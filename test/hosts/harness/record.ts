// What untildone wrote down about a run: outcome and plan as its own commands print them,
// decisions and events as they stand in the store. It only reads.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Decision } from '../../../src/core/decision.ts';
import type { Event } from '../../../src/core/events.ts';
import type { Todo } from '../../../src/core/todo.ts';
import type { Store } from '../../../src/engine/store.ts';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import type { Project } from './project.ts';
import { untildone } from './untildone.ts';

export interface SessionRecord {
  readonly id: string;
  readonly kind: string;
  readonly outcome: string | null;
  readonly reason: string | null;
  readonly latch: unknown;
  /** Oldest first. */
  readonly decisions: readonly Decision[];
  readonly events: readonly Event[];
  readonly todos: readonly Todo[];
}

interface StatusLine {
  readonly id: string;
  readonly kind: string;
  readonly latch: unknown;
  readonly settled: { readonly outcome: string; readonly reason: string } | null;
}

const most = 10_000;

/** Every session of the project, main sessions first. */
export async function readRecord(project: Project): Promise<readonly SessionRecord[]> {
  const path = join(project.state, 'untildone.db');
  if (!existsSync(path)) return [];
  const status = JSON.parse(
    await untildone(project, 'status', '--all', '--json', '--limit', '100'),
  ) as {
    sessions: readonly StatusLine[];
  };
  const store = await openSqliteStore({ path, clock: Date });
  try {
    const records = status.sessions.map(
      async ({ id, kind, latch, settled }): Promise<SessionRecord> => {
        const shown = JSON.parse(
          await untildone(project, 'plan', 'show', id, '--json'),
        ) as {
          todos: readonly Todo[];
        };
        return {
          id,
          kind,
          latch,
          outcome: settled?.outcome ?? null,
          reason: settled?.reason ?? null,
          decisions: (await store.decisions(id, most))
            .map(({ decision }) => decision)
            .reverse(),
          events: (await store.events({ sessionId: id, after: 0, limit: most })).map(
            ({ event }) => event,
          ),
          todos: shown.todos,
        };
      },
    );
    const all = await Promise.all(records);
    return all.sort((a, b) => Number(b.kind === 'main') - Number(a.kind === 'main'));
  } finally {
    await store.close();
  }
}

/** Whether a stop attempt was answered, or is being waited for. */
export function hasDecided(project: Project): Promise<boolean> {
  return anySession(project, ({ lastStop }) => lastStop !== null);
}

/** Whether a turn has come to an end with an outcome. */
export function hasSettled(project: Project): Promise<boolean> {
  return anySession(project, ({ settled }) => settled !== null);
}

type StoredSession = Awaited<ReturnType<Store['sessions']>>[number];

async function anySession(
  project: Project,
  holds: (session: StoredSession) => boolean,
): Promise<boolean> {
  const path = join(project.state, 'untildone.db');
  if (!existsSync(path)) return false;
  const store = await openSqliteStore({ path, clock: Date });
  try {
    return (await store.sessions({ limit: 10 })).some(holds);
  } finally {
    await store.close();
  }
}

/** Reasons why a hook let an agent go without deciding; empty when none did. */
export function readHookLog(
  project: Project,
): readonly { readonly code: string; readonly hook: string | null }[] {
  const path = join(project.state, 'hook.log');
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}
