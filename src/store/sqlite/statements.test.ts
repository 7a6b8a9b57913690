import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { oneOfEverything, save } from '../../../test/contracts/dump.ts';
import { anEvent, aSession, aTodo } from '../../../test/support/builders.ts';
import type { Store } from '../../engine/store.ts';
import { migrateStore, migrations, newestLayout } from './migrate.ts';
import { createConnection, type Database, openDatabase } from './open-database.ts';
import { createSqliteStore } from './sqlite-store.ts';

const seen = new Set<string>();
let database: Database;

/** Uses every method of the store once over a database that notes what it is asked. */
beforeAll(async () => {
  database = await openDatabase(':memory:');
  await migrateStore(createConnection(database, ':memory:', 100), migrations, 0);
  const noting: Database = {
    exec: (sql) => database.exec(sql),
    close: () => {},
    prepare(sql) {
      seen.add(sql);
      return database.prepare(sql);
    },
  };
  const store = createSqliteStore(
    createConnection(noting, ':memory:', 100),
    newestLayout(migrations),
    {
      now: () => 0,
    },
  );
  await useAll(store);
});
afterAll(() => database.close());

async function useAll(store: Store): Promise<void> {
  const plan = Array.from({ length: 200 }, () => aTodo());
  const state = { ...aSession(), plan };
  await store.append([anEvent.activitySeen()]);
  await save(store, {
    ...oneOfEverything(),
    state,
    policies: new Map([['hash', 'policy']]),
  });
  await store.step('session-1', (loaded) => {
    if (loaded.record === null) return 'record';
    loaded.isApplied('one');
    loaded.wasSeen('tree');
    loaded.outboxRow(1);
    loaded.policy('hash');
    const [first = aTodo(), ...rest] = loaded.state?.plan ?? [];
    const moved = [...rest, { ...first, turnId: 'turn-2' }];
    return { result: null, timer: null, state: { ...state, plan: moved } };
  });
  await store.step('session-1', (loaded) => {
    const [first = aTodo(), ...rest] = loaded.state?.plan ?? [];
    return {
      result: null,
      state: { ...state, plan: [{ ...first, attempts: 1 }, ...rest] },
    };
  });
  const row = {
    sessionId: 'session-1',
    turnId: null,
    at: 1,
    kind: 'agent',
    body: '',
  } as const;
  const call = {
    sessionId: 'session-1',
    callId: 'c',
    stepId: 's',
    tool: 't',
    readOnly: true,
    input: '',
  };
  await store.record({
    messages: [row],
    calls: [{ ...call, startedAt: 1, result: null, endedAt: null }],
    settled: { sessionId: 'session-1', stepId: 's' },
  });
  for (const filter of [{}, { idPrefix: 'a' }, { idSuffix: 'a' }])
    await store.sessions({ ...filter, limit: 1 });
  for (const filter of [{ ids: ['a'] }, { planId: 'a' }, { turnId: 'a' }])
    await store.todos(filter);
  await store.events({ ids: ['a'] });
  await store.events({ sessionId: 'a', waiting: true });
  await store.events({ sessionId: 'a', after: 0, limit: 1 });
  await store.decisions('a', 1);
  await store.ledger('a', 1);
  await store.policy('a');
  await store.outbox({ sessionId: 'a' });
  await store.outbox({ instance: 'a' });
  await store.usage('a');
  await store.timers('a', 0, 1);
  await store.lease('a', 'b', 0, 1);
  await store.lease('a', 'b', 0, null);
  await store.checkRuns({ id: 'a' });
  await store.changeChecks('a', null, () => ({ result: null }));
  await store.evidence('a', 1);
  await store.transcript('a', 0);
  await store.archive(Number.MAX_SAFE_INTEGER, 10);
  await save(store, {}, 'session-1');
}

function queryPlan(sql: string): string[] {
  const values = [...sql.matchAll(/\?/gu)].map(() => 1);
  return database
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...values)
    .map((step) => String(step['detail']));
}

const statements = () => [...seen].filter((sql) => !sql.startsWith('PRAGMA'));
const find = (words: string): string =>
  statements().find((sql) => sql.includes(words)) ?? `missing: ${words}`;

describe('statements', () => {
  it('T4: every statement finds its rows by an index', () => {
    expect(statements().length).toBeGreaterThan(60);
    // Meant: newest first until the limit is reached; the statuses of the question; rows
    // of what an index found.
    const meant =
      /^SCAN (?:CONSTANT ROW|json_each.*|sessions USING INDEX sessions_by_age|\(subquery-\d+\)|\w+ VIRTUAL.*)$/u;
    for (const sql of statements()) {
      const scans = queryPlan(sql).filter(
        (step) => step.startsWith('SCAN') && !meant.test(step),
      );
      expect(scans, sql).toEqual([]);
    }
  });

  const indexes: readonly (readonly [words: string, index: string])[] = [
    ['todos WHERE turn_id', 'todos_by_turn (turn_id=? AND status=?)'],
    ['SELECT DISTINCT plan_id FROM todos', 'todos_by_session (session_id=?)'],
    ['group_concat', 'todos_of_plan (plan_id=?)'],
    ['due_at <= ?', 'timers_by_instance (instance=? AND due_at<?)'],
    ["state IN ('intended', 'sent')", 'outbox_open (instance=?)'],
    [
      'applied IS NULL ORDER BY arrival',
      'events_by_session (session_id=? AND applied=?)',
    ],
    ['applied > ?', 'events_by_session (session_id=? AND applied>?)'],
  ];
  for (const [words, index] of indexes) {
    it(`T4, T5: what asks for ${words} stands on ${index.split(' (')[0]}`, () => {
      expect(queryPlan(find(words)).join('\n')).toContain(index);
    });
  }

  const sorted = [
    'group_concat',
    'applied IS NULL ORDER BY arrival',
    'applied > ?',
    'FROM decisions WHERE',
    'FROM ledger WHERE plan_id = ? ORDER BY',
    'due_at <= ?',
    'ORDER BY due_at LIMIT 1',
    "state IN ('intended', 'sent')",
    'sessions WHERE ? = ?',
    'SELECT id, plan_id FROM sessions',
  ];
  for (const words of sorted) {
    it(`T5: what asks for ${words} reads its rows in order instead of sorting them`, () => {
      expect(
        queryPlan(find(words)).filter((step) => step.includes('TEMP B-TREE')),
      ).toEqual([]);
    });
  }

  it('V7: every archive table can hold every column of its table, and each is moved', () => {
    const columns = (table: string) =>
      database
        .prepare(`SELECT name FROM pragma_table_info('${table}')`)
        .all()
        .map((column) => String(column['name']));
    const tables = [
      'sessions',
      'todos',
      'events',
      'decisions',
      'ledger',
      'evidence',
      'outbox',
      'usage',
    ];
    for (const table of [...tables, 'messages', 'calls']) {
      const kept = columns(table).filter((name) => name !== 'arrival');
      expect(columns(`archived_${table}`)).toEqual(expect.arrayContaining(kept));
      for (const target of [table, `archived_${table}`]) {
        const moving = statements().find(
          (sql) => sql.startsWith(`INSERT INTO ${target} (`) && /SELECT/u.test(sql),
        );
        for (const column of kept)
          expect(moving).toMatch(new RegExp(`\\b${column}\\b`, 'u'));
      }
    }
  });
});
