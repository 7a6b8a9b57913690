// The embedded default store: one SQLite file that many short-lived hooks and long-lived plugins write at once, or
// ':memory:' for what need not last. One connection; a transaction is opened, used and ended without an await between,
// so that a read never sees half of one.
import { UntildoneError } from '../../core/error.ts';
import type { Event } from '../../core/events.ts';
import type { Session } from '../../core/state.ts';
import { type Todo, todoStatuses } from '../../core/todo.ts';
import type { CallRow, CheckRun, EvidenceRow, MessageRow } from '../../engine/host.ts';
import type {
  DueTimer,
  OutboxRow,
  Store,
  StoredDecision,
  StoredEvent,
  UsageRow,
} from '../../engine/store.ts';
import { type StateEnvironment, storePath } from '../state-directory.ts';
import { archiveSessions, restoreSession } from './archive.ts';
import { assertVersion, type Migration, migrate, migrations, rollBack } from './migrate.ts';
import {
  Connection,
  inMemory,
  isStoreFailure,
  type LockPatience,
  openDatabase,
  prepareFile,
  toStoreError,
  waitForLock,
} from './open-database.ts';
import {
  createSessionRows,
  eventRow,
  ledgerOf,
  nextNumber,
  planOf,
  policyOf,
  whole,
} from './session-rows.ts';

export interface SqliteStoreOptions {
  /** ':memory:' for a store that ends with the process. */
  readonly path: string;
  /** Only for the times at which rows were archived and layouts changed. */
  readonly clock?: { now(): number };
  /** How long to wait for other writers, without blocking; 30 s: far longer than any honest queue of hooks. */
  readonly busyTimeoutMs?: number;
  /** The file was written by an older version and has a newer layout now, which programs of that version refuse. */
  readonly onMigrated?: () => void;
  /** For tests of the migrations themselves. */
  readonly migrations?: readonly Migration[];
}

export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { path, clock = Date } = options;
  const steps = options.migrations ?? migrations;
  const patience = { totalMs: options.busyTimeoutMs ?? 30_000, path };
  let connection: Connection | null = null;
  try {
    if (path !== inMemory) prepareFile(path);
    const db = new Connection(await openDatabase(path));
    connection = db;
    await waitForLock(() => configure(db), patience);
    const found = await migrate(db, steps, clock.now(), patience);
    await waitForLock(() => useWriteAheadLog(db), patience);
    if (found > 0 && found < steps.length) options.onMigrated?.();
    return createSqliteStore(db, steps.length, patience, clock);
  } catch (error) {
    connection?.close();
    throw toStoreError(error, path);
  }
}

/** In the state directory of whoever runs this; made if it is not there. */
export function openUserStore(
  environment: StateEnvironment,
  options: Omit<SqliteStoreOptions, 'path'> = {},
): Promise<Store> {
  return openSqliteStore({ ...options, path: storePath(environment) });
}

function configure(db: Connection): void {
  // SQLite would wait by blocking the thread: a host's event loop, or that of the very store that holds the lock.
  db.exec('PRAGMA busy_timeout = 0');
  // A killed process loses nothing that was committed. A power cut may lose the last commits before it, never
  // the store itself: for that, every commit would have to wait for the disk, some milliseconds per hook.
  db.exec('PRAGMA synchronous = NORMAL');
  // Finds a damaged page when it is read instead of following it; and gives disk space back after bursts.
  db.exec('PRAGMA cell_size_check = ON; PRAGMA journal_size_limit = 16777216');
}

/** The mode is kept in the file. Where the file system cannot do it, SQLite stays with its rollback journal. */
function useWriteAheadLog(db: Connection): void {
  if (db.get('PRAGMA journal_mode')?.['journal_mode'] !== 'wal') db.get('PRAGMA journal_mode = WAL');
}

/** Over a connection that is configured and migrated; callers want openSqliteStore. */
export function createSqliteStore(
  db: Connection,
  version: number,
  patience: LockPatience,
  clock: { now(): number },
): Store {
  const rows = createSessionRows(db);
  /** Writes one after the other, in the order in which they were asked for. */
  let writes: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  /** From begin to end without an await. Where a lock is in the way, all of it is tried again. */
  function attempt<T>(begin: string, work: () => T): Promise<T> {
    return waitForLock(() => {
      try {
        db.command(begin);
        assertVersion(db, version, patience.path);
        const before = db.changes;
        const result = work();
        db.command(db.changes === before ? 'ROLLBACK' : 'COMMIT');
        return result;
      } catch (error) {
        rollBack(db);
        rows.forget();
        throw isStoreFailure(error) ? toStoreError(error, patience.path) : error;
      }
    }, patience);
  }

  function write<T>(work: () => T): Promise<T> {
    if (isClosed) return Promise.reject(storeClosed());
    const done = writes.then(() => attempt('BEGIN IMMEDIATE', work));
    // The caller holds `done` and sees its failure; the next in line only needs to know that it ended.
    writes = done.catch(() => {});
    return done;
  }

  /** One moment, without the write lock: a writer never keeps a reader waiting. */
  async function read<T>(work: () => T): Promise<T> {
    if (isClosed) throw storeClosed();
    // Not within the call: whoever asks may itself stand inside a transaction.
    await null;
    return attempt('BEGIN', work);
  }

  function addEvent(event: Event): boolean {
    restoreSession(db, event.sessionId);
    if (db.get('SELECT 1 FROM archived_events WHERE id = ?', event.id) !== null) return false;
    return db.insert('events', eventRow(event)) === 1;
  }

  function addEvidence(row: EvidenceRow): void {
    const { sessionId, fingerprint, at, todoId, check, result, tail } = row;
    const columns = { sessionId, kind: 'check', fingerprint: fingerprint ?? '', at, todoId, checkId: check };
    db.insert('evidence', { ...columns, result, tail, body: row });
  }

  function leaseTo(instance: string, holder: string, now: number, until: number | null): string | null {
    if (until === null) db.run('DELETE FROM leases WHERE instance = ? AND holder = ?', instance, holder);
    // Nothing is written while another holder's lease runs.
    else
      db.run(
        `INSERT INTO leases (instance, holder, expires_at) VALUES (?, ?, ?) ON CONFLICT (instance)
          DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
          WHERE leases.holder = excluded.holder OR leases.expires_at <= ?`,
        ...[instance, holder, until, now],
      );
    const held = db.rows<{ holder: string }>('SELECT holder FROM leases WHERE instance = ?', instance);
    return held[0]?.holder ?? null;
  }

  function storedEvents(from: string, ...values: readonly (string | number)[]): StoredEvent[] {
    const found = db.all(`SELECT applied, body FROM ${from}`, ...values);
    return found.map(({ applied, body }) => ({
      applied: applied as number | null,
      event: JSON.parse(body as string) as Event,
    }));
  }

  const activeRuns = (directory: string) =>
    db.bodies<CheckRun>(
      `check_runs WHERE directory = ? AND state IN ('asked', 'running') ORDER BY arrival`,
      directory,
    );

  return {
    step: (sessionId, need, apply) =>
      write(() => {
        for (let wanted = need; ; ) {
          const loaded = rows.load(sessionId, wanted);
          const answer = apply(loaded);
          if ('result' in answer) {
            rows.save(sessionId, loaded, answer);
            return answer.result;
          }
          wanted = { ...wanted, ...answer };
        }
      }),
    append: (events) => write(() => events.map(addEvent)),
    record: ({ policies = [], evidence = [], messages = [], calls = [], settled }) =>
      write(() => {
        for (const [hash, body] of policies) db.insert('policies', { hash, body });
        for (const row of evidence) addEvidence(row);
        for (const row of messages) {
          const sequence = nextNumber(db, 'messages', 'sequence', row.sessionId);
          db.insert('messages', { ...row, sequence });
        }
        for (const row of calls)
          db.insert('calls', { ...row }, 'session_id, call_id', 'WHERE calls.result IS NULL');
        const settle = 'UPDATE calls SET settled = 1 WHERE session_id = ? AND step_id = ? AND settled = 0';
        if (settled !== undefined) db.run(settle, settled.sessionId, settled.stepId);
      }),
    state: (sessionId) => read(() => rows.find(sessionId)),
    sessions: ({ id, host = null, directory = null, idPrefix = '', limit }) =>
      read(() => {
        if (id !== undefined) return db.bodies<Session>('sessions WHERE id = ? LIMIT ?', id, limit);
        // No text sorts behind the last code point. Without a prefix the index is walked newest first.
        const within = idPrefix === '' ? '? = ?' : 'id BETWEEN ? AND ? || char(1114111)';
        return db.bodies<Session>(
          `sessions WHERE ${within} AND (? IS NULL OR host = ?) AND (? IS NULL OR directory = ?)
            ORDER BY updated_at DESC, id LIMIT ?`,
          ...[idPrefix, idPrefix, host, host, directory, directory, limit],
        );
      }),
    todos: (filter) =>
      read(() => {
        if ('planId' in filter) return planOf(db, filter.planId);
        if ('ids' in filter)
          return filter.ids.flatMap((id) => db.bodies<Todo>('todos WHERE id = ?', id)).map(whole);
        const byTurn = `todos WHERE turn_id = ? AND status IN (SELECT value FROM json_each(?))
          ORDER BY plan_id, position`;
        return db.bodies<Todo>(byTurn, filter.turnId, filter.statuses ?? todoStatuses).map(whole);
      }),
    events: (filter) =>
      read(() => {
        const either = 'events WHERE id = ? UNION ALL SELECT applied, body FROM archived_events WHERE id = ?';
        if ('ids' in filter) return filter.ids.flatMap((id) => storedEvents(either, id, id));
        const waiting = 'events WHERE session_id = ? AND applied IS NULL ORDER BY arrival';
        if ('waiting' in filter) return storedEvents(waiting, filter.sessionId);
        const applied = 'events WHERE session_id = ? AND applied > ? ORDER BY applied LIMIT ?';
        return storedEvents(applied, filter.sessionId, filter.after, filter.limit);
      }),
    decisions: (sessionId, limit) =>
      read(() =>
        db
          .all(
            'SELECT sequence, body FROM decisions WHERE session_id = ? ORDER BY sequence DESC LIMIT ?',
            ...[sessionId, limit],
          )
          .map(({ body, sequence }) => ({ ...JSON.parse(body as string), sequence }) as StoredDecision),
      ),
    ledger: (planId, last) => read(() => ledgerOf(db, planId, last)),
    policy: (hash) => read(() => policyOf(db, hash)),
    outbox: (filter) =>
      read(() =>
        'sessionId' in filter
          ? db.bodies<OutboxRow>('outbox WHERE session_id = ? ORDER BY epoch', filter.sessionId)
          : db.bodies<OutboxRow>(
              `outbox WHERE instance = ? AND state IN ('intended', 'sent') ORDER BY created_at, session_id, epoch`,
              filter.instance,
            ),
      ),
    usage: (sessionId) =>
      read(() => db.bodies<UsageRow>('usage WHERE session_id = ? ORDER BY rowid', sessionId)),
    timers: (instance, now, limit) =>
      read(() => ({
        due: db.rows<DueTimer>(
          `SELECT session_id, due_at, purpose, epoch FROM timers
            WHERE instance = ? AND due_at <= ? ORDER BY due_at, session_id LIMIT ?`,
          ...[instance, now, limit],
        ),
        nextAt:
          (db.get('SELECT due_at FROM timers WHERE instance = ? ORDER BY due_at LIMIT 1', instance)?.[
            'due_at'
          ] as number | undefined) ?? null,
      })),
    lease: (name, holder, now, until) => write(() => leaseTo(name, holder, now, until)),
    checkRuns: (filter) =>
      read(() =>
        'id' in filter
          ? db.bodies<CheckRun>('check_runs WHERE id = ?', filter.id)
          : activeRuns(filter.directory),
      ),
    changeChecks: (directory, lease, apply) =>
      write(() => {
        const { name, holder, now, until } = lease ?? { name: '', holder: '', now: 0, until: null };
        const holds = leaseTo(name, holder, now, until) === holder;
        const {
          runs = [],
          evidence = [],
          events = [],
          ...change
        } = apply({
          active: activeRuns(directory),
          holds,
        });
        for (const body of runs)
          db.insert('check_runs', { id: body.id, directory: body.directory, state: body.state, body }, 'id');
        for (const row of evidence) addEvidence(row);
        for (const event of events) addEvent(event);
        if (change.release === true) leaseTo(name, holder, now, null);
        return change.result;
      }),
    evidence: (sessionId, limit) =>
      read(() =>
        db.bodies<EvidenceRow>(
          `evidence WHERE session_id = ? AND kind = 'check' ORDER BY rowid DESC LIMIT ?`,
          ...[sessionId, limit],
        ),
      ),
    transcript: (sessionId, after) =>
      read(() => ({
        messages: db.rows<MessageRow>(
          `SELECT session_id, sequence, turn_id, at, kind, body FROM messages
            WHERE session_id = ? AND sequence > ? ORDER BY sequence`,
          ...[sessionId, after],
        ),
        calls: db
          .rows<CallRow>(
            `SELECT session_id, call_id, step_id, tool, read_only, input, started_at, result, ended_at
              FROM calls WHERE session_id = ? AND settled = 0 ORDER BY rowid`,
            sessionId,
          )
          .map((call) => ({ ...call, readOnly: Boolean(call.readOnly) })),
      })),
    archive: (before, limit) => write(() => archiveSessions(db, before, limit, clock.now())),
    async close() {
      if (isClosed) return;
      isClosed = true;
      await writes;
      db.close();
    },
  };
}

function storeClosed(): UntildoneError {
  return new UntildoneError('store-unavailable', 'The store is closed.');
}
