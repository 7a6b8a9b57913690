// The store in one SQLite file, to which many hooks and plugins write at once. There is
// one connection: a transaction is opened, used and ended without an await, so that a
// read never sees half of one.
import { UntildoneError } from '../../core/error.ts';
import type { Event } from '../../core/events.ts';
import { type Todo, todoStatuses } from '../../core/todo.ts';
import type { CallRow, CheckRun, EvidenceRow } from '../../engine/host.ts';
import type { Environment } from '../../engine/policy.ts';
import type { LeaseHolder, Store, StoredEvent } from '../../engine/store.ts';
import { createQueue } from '../../engine/system.ts';
import { stateDirectory, storePath, whyNotPrivate } from '../state-directory.ts';
import { bySession, createMarks, createSpool, type Spooled } from './beside-store.ts';
import {
  assertVersion,
  type Migration,
  migrateStore,
  migrations,
  newestLayout,
  rollBack,
  shownRows,
} from './migrate.ts';
import {
  type Connection,
  createConnection,
  isBusy,
  isStoreFailure,
  openDatabase,
  prepareFile,
  toStoreError,
} from './open-database.ts';
import { createSessionRows, eventRow, fillTodo } from './session-rows.ts';

/** Where the store is and how it behaves; everything but the path has a default. */
export type SqliteStoreOptions = Readonly<{
  /** ':memory:' makes a store that ends with the process. */
  path: string;
  /** Tells when rows were archived and layouts changed. */
  clock?: { now(): number };
  /**
   * How long a lock is waited for. The default of 30 s is far longer than any queue of
   * hooks takes.
   */
  busyTimeoutMs?: number;
  /**
   * Called when an older file was brought to this layout: programs of the older version
   * refuse it from now on.
   */
  onMigrated?: () => void;
  /**
   * For hooks, which end before a long lock does: rows that wait for a later step go into
   * the spool then, and this function gets the reason. Absent: a lock that outlasts
   * `busyTimeoutMs` is an error.
   */
  onSpooled?: (error: unknown) => void;
  /** Other migrations, for tests. */
  migrations?: readonly Migration[];
}>;

/** Opens a store in a file, or in memory with the path `:memory:`. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const {
    path,
    clock = Date,
    busyTimeoutMs = 30_000,
    migrations: steps = migrations,
  } = options;
  let connection: Connection | null = null;
  try {
    prepareFile(path);
    const db = createConnection(await openDatabase(path), path, busyTimeoutMs);
    connection = db;
    await db.retry(() => db.exec(configuration));
    const isMigrated = await migrateStore(db, steps, clock.now());
    await db.retry(() => useWriteAheadLog(db));
    if (isMigrated) options.onMigrated?.();
    return createSqliteStore(db, newestLayout(steps), clock, options.onSpooled);
  } catch (error) {
    connection?.close();
    throw toStoreError(error, path);
  }
}

/**
 * Opens the user's own store. Refused if others could have written to its folder: the
 * store decides what is run.
 */
export async function openUserStore(
  environment: Environment,
  options: Omit<SqliteStoreOptions, 'path'> = {},
) {
  const why = whyNotPrivate(stateDirectory(environment));
  if (why !== null) throw new UntildoneError('store-unavailable', why);
  return openSqliteStore({ ...options, path: storePath(environment) });
}

const configuration = `
-- SQLite would block the thread, perhaps that of the store that holds the lock.
PRAGMA busy_timeout = 0;
-- A killed process loses no commit. A power cut may lose the last ones, never the store: FULL costs milliseconds a hook.
PRAGMA synchronous = NORMAL;
-- Notices a damaged page when it is read; and gives disk space back after bursts.
PRAGMA cell_size_check = ON; PRAGMA journal_size_limit = 16777216`;

/**
 * These events are frequent, and no promise rests on them: they are not worth a mark of
 * their own.
 */
const unmarked: ReadonlySet<string> = new Set([
  'tool-started',
  'tool-ended',
  'activity-seen',
  'usage-reported',
]);

/**
 * SQLite keeps this mode in the file. If the file system cannot do it, SQLite stays with
 * its rollback journal.
 */
function useWriteAheadLog(db: Connection): void {
  if (db.value('PRAGMA journal_mode') !== 'wal') db.value('PRAGMA journal_mode = WAL');
}

/** Creates the store over an open connection to a file of this layout. */
export function createSqliteStore(
  db: Connection,
  version: number,
  clock: { now(): number },
  onSpooled?: SqliteStoreOptions['onSpooled'],
): Store {
  const marks = createMarks(db.path);
  const rows = createSessionRows(db, marks);
  const spool = createSpool(db.path);
  /**
   * The error of a lock that a hook does not wait for any longer; null: no lock so far.
   */
  let lockError: unknown = null;
  const queue = createQueue();
  let isClosed = false;
  let lastDataVersion: unknown = null;

  function noticeOtherWriters(): void {
    const found = db.value('PRAGMA data_version');
    if (found === lastDataVersion) return;
    assertVersion(db, version);
    rows.doubt();
    lastDataVersion = found;
  }

  function attempt<T>(begin: string, work: () => T): Promise<T> {
    return db.retry(() => {
      try {
        db.run(begin);
        noticeOtherWriters();
        const result = work();
        db.run('COMMIT');
        return result;
      } catch (error) {
        rollBack(db);
        rows.forget();
        throw isStoreFailure(error) ? toStoreError(error, db.path) : error;
      }
    });
  }

  function assertOpen(): void {
    if (isClosed) throw new UntildoneError('store-unavailable', 'The store is closed.');
  }

  async function write<T>(work: () => T): Promise<T> {
    assertOpen();
    try {
      return await queue(() => attempt('BEGIN IMMEDIATE', work));
    } catch (error) {
      if (onSpooled !== undefined && isBusy(error)) lockError = error;
      throw error;
    }
  }

  /** Reads without the write lock, so that a writer never keeps a reader waiting. */
  function reading<Question extends unknown[], T>(work: (...question: Question) => T) {
    return async (...question: Question): Promise<T> => {
      assertOpen();
      // Not within the call itself, since the caller may be inside a transaction.
      await null;
      return attempt('BEGIN', () => work(...question));
    };
  }

  function addEvent(event: Event): boolean {
    rows.restore(event.sessionId);
    if (db.value('SELECT 1 FROM archived_events WHERE id = ?', event.id) !== null)
      return false;
    return db.insert('events', eventRow(event)) === 1;
  }

  const takenFrom = (sessionId: string) => () =>
    Number(db.value('SELECT value FROM meta WHERE key = ?', `spool ${sessionId}`));
  const spooledFor = (sessionId: string) => spool.read(sessionId, takenFrom(sessionId));

  /** Takes in what the spool holds for the session, before anything newer of it. */
  function takeSpool(sessionId: string): void {
    const found = spooledFor(sessionId);
    for (const entry of found?.entries ?? []) {
      if ('policy' in entry)
        db.insert('policies', { hash: entry.policy[0], body: entry.policy[1] });
      else addEvent(entry.event);
    }
    if (found !== null)
      db.insert('meta', { key: `spool ${sessionId}`, value: String(found.size) }, 'key');
  }

  /**
   * Forgets how much of a session's spool was taken in, and returns that amount, so that
   * the file can be removed. Returns 0 if the spool holds more. If the file survives,
   * each event is still taken in only once.
   */
  function forgetSpool(sessionId: string): number {
    if (spooledFor(sessionId) !== null) return 0;
    const taken = takenFrom(sessionId)();
    if (taken > 0) db.run('DELETE FROM meta WHERE key = ?', `spool ${sessionId}`);
    return taken;
  }

  /** Does the work; null: the store is locked, and the rows are held for the spool. */
  async function writeOrHold<T>(work: () => T, hold: () => boolean): Promise<T | null> {
    try {
      // Later rows must not overtake those that are held, nor wait as long again.
      if (lockError === null) return await write(work);
    } catch (error) {
      // Safe: the rows are held below.
      if (error !== lockError) throw error;
    }
    if (!hold()) throw lockError;
    onSpooled?.(lockError);
    return null;
  }

  /** Policies belong to no session, so they wait for the events that name them. */
  const heldPolicies: Spooled[] = [];

  function spoolEvents(events: readonly Event[]): boolean {
    return bySession(events).every(([session, sessionEvents]) => {
      const entries = [...heldPolicies, ...sessionEvents.map((event) => ({ event }))];
      return spool.add(session, entries, takenFrom(session));
    });
  }

  function addEvidence(row: EvidenceRow): void {
    const { sessionId, fingerprint, at, todoId, check, result, tail } = row;
    const columns = {
      sessionId,
      kind: 'check',
      fingerprint: fingerprint ?? '',
      at,
      todoId,
      checkId: check,
    };
    db.insert('evidence', { ...columns, result, tail, body: row });
  }

  function leaseTo(
    instance: string,
    holder: string,
    now: number,
    until: number | null,
  ): string | null {
    // Nothing is written while another holder's lease runs.
    const take = `INSERT INTO leases (instance, holder, expires_at) VALUES (?, ?, ?) ON CONFLICT (instance)
      DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
      WHERE leases.holder = excluded.holder OR leases.expires_at <= ?`;
    if (until === null)
      db.run('DELETE FROM leases WHERE instance = ? AND holder = ?', instance, holder);
    else db.run(take, instance, holder, until, now);
    return db.value('SELECT holder FROM leases WHERE instance = ?', instance);
  }

  function storedEvents(
    from: string,
    ...values: readonly (string | number)[]
  ): StoredEvent[] {
    const found = db.rows<{ applied: number; body: string }>(
      `SELECT applied, body FROM ${from}`,
      ...values,
    );
    return found.map(({ applied, body }) => ({ applied, event: JSON.parse(body) }));
  }

  function activeRuns(directory: string): CheckRun[] {
    const active = `check_runs WHERE directory = ? AND state IN ('asked', 'running') ORDER BY arrival`;
    return db.bodies(active, directory);
  }

  return {
    async step(sessionId, apply) {
      const { saved, isLossOpen } = await write(() => {
        takeSpool(sessionId);
        for (let withRecord = false; ; withRecord = true) {
          const loaded = rows.load(sessionId, withRecord);
          const saved = apply(loaded);
          if (saved === 'record') continue;
          // Until a stop lets the agent go, nobody who looked away was told of the loss.
          const letsGo =
            saved.decisions?.some(({ decision }) => decision.answer === 'let-go') ===
            true;
          const isLossOpen = !letsGo && loaded.wentBack();
          rows.save(sessionId, loaded, saved);
          return { saved, isLossOpen };
        }
      });
      const newest = saved.applied?.findLast(({ type }) => !unmarked.has(type));
      if (newest !== undefined && isLossOpen) marks.add([newest]);
      else if (newest !== undefined) marks.set(sessionId, newest.id);
      return saved.result;
    },
    async append(events) {
      const add = () => {
        for (const { sessionId } of events) takeSpool(sessionId);
        return events.map(addEvent);
      };
      const added = await writeOrHold(add, () => spoolEvents(events));
      if (added === null) return events.map(() => true);
      marks.add(events.filter((_, index) => added[index]));
      return added;
    },
    async record({
      policies = [],
      evidence = [],
      messages = [],
      calls = [],
      shown = [],
      settled,
    }) {
      const add = () => {
        for (const [hash, body] of policies) db.insert('policies', { hash, body });
        for (const row of evidence) addEvidence(row);
        for (const row of messages)
          db.insert('messages', {
            ...row,
            sequence: rows.nextIn('messages', 'sequence', row.sessionId),
          });
        for (const row of calls)
          db.insert(
            'calls',
            { ...row },
            'session_id, call_id',
            'WHERE calls.result IS NULL',
          );
        for (const row of shown) {
          const sequence = rows.nextIn('shown', 'sequence', row.sessionId);
          db.insert('shown', { ...row, sequence }, `session_id, sequence % ${shownRows}`);
        }
        const settle =
          'UPDATE calls SET settled = 1 WHERE session_id = ? AND step_id = ? AND settled = 0';
        if (settled !== undefined) db.run(settle, settled.sessionId, settled.stepId);
      };
      const rest =
        evidence.length +
        messages.length +
        calls.length +
        shown.length +
        (settled === undefined ? 0 : 1);
      await writeOrHold(
        add,
        () =>
          rest === 0 &&
          heldPolicies.push(...[...policies].map((policy) => ({ policy }))) > 0,
      );
    },
    state: reading(rows.find),
    sessions: reading(
      ({
        id,
        host = null,
        directory = null,
        idPrefix = '',
        idSuffix = '',
        limit,
        ...where
      }) => {
        const table = where.archived === true ? 'archived_sessions' : 'sessions';
        if (id !== undefined)
          return db.bodies(`${table} WHERE id = ? LIMIT ?`, id, limit);
        // No text sorts behind the last code point. Without a prefix, the index by age is
        // walked.
        const within = idPrefix === '' ? '? = ?' : 'id BETWEEN ? AND ? || char(1114111)';
        return db.bodies(
          `${table} WHERE ${within} AND substr(id, length(id) + 1 - length(?)) = ? AND (? IS NULL OR host = ?) AND (? IS NULL OR directory = ?)
          ORDER BY updated_at DESC, id LIMIT ?`,
          ...[
            idPrefix,
            idPrefix,
            idSuffix,
            idSuffix,
            host,
            host,
            directory,
            directory,
            limit,
          ],
        );
      },
    ),
    todos: reading((filter) => {
      if ('planId' in filter) return rows.planOf(filter.planId);
      if ('ids' in filter)
        return filter.ids
          .flatMap((id) => db.bodies<Todo>('todos WHERE id = ?', id))
          .map(fillTodo);
      const byTurn = `todos WHERE turn_id = ? AND status IN (SELECT value FROM json_each(?))
        ORDER BY plan_id, position`;
      return db
        .bodies<Todo>(byTurn, filter.turnId, filter.statuses ?? todoStatuses)
        .map(fillTodo);
    }),
    events: reading((filter) => {
      const either =
        'events WHERE id = ? UNION ALL SELECT applied, body FROM archived_events WHERE id = ?';
      if ('ids' in filter)
        return filter.ids.flatMap((id) => storedEvents(either, id, id));
      const waiting = 'events WHERE session_id = ? AND applied IS NULL ORDER BY arrival';
      if ('waiting' in filter) {
        const spooled = spooledFor(filter.sessionId)?.entries ?? [];
        const events = spooled.flatMap((entry) =>
          'event' in entry ? [{ applied: null, event: entry.event }] : [],
        );
        return [...storedEvents(waiting, filter.sessionId), ...events];
      }
      const applied =
        'events WHERE session_id = ? AND applied > ? ORDER BY applied LIMIT ?';
      return storedEvents(applied, filter.sessionId, filter.after, filter.limit);
    }),
    decisions: reading((sessionId, limit) => {
      const newest =
        'SELECT sequence, body FROM decisions WHERE session_id = ? ORDER BY sequence DESC LIMIT ?';
      const found = db.rows<{ sequence: number; body: string }>(newest, sessionId, limit);
      return found.map(({ body, sequence }) => ({ ...JSON.parse(body), sequence }));
    }),
    ledger: reading(rows.ledgerOf),
    policy: reading(rows.policyOf),
    outbox: reading((filter) => {
      const open = `outbox WHERE instance = ? AND state IN ('intended', 'sent') ORDER BY created_at, session_id, epoch`;
      return 'sessionId' in filter
        ? db.bodies('outbox WHERE session_id = ? ORDER BY epoch', filter.sessionId)
        : db.bodies(open, filter.instance);
    }),
    usage: reading((id) => db.bodies('usage WHERE session_id = ? ORDER BY rowid', id)),
    timers: reading((instance, now, limit) => {
      const due = `SELECT session_id, due_at, purpose, epoch FROM timers
        WHERE instance = ? AND due_at <= ? ORDER BY due_at, session_id LIMIT ?`;
      const first =
        'SELECT due_at FROM timers WHERE instance = ? ORDER BY due_at LIMIT 1';
      return {
        due: db.rows(due, instance, now, limit),
        nextAt: db.value(first, instance),
      };
    }),
    lease: (name, holder, now, until) => write(() => leaseTo(name, holder, now, until)),
    leaseHolder: reading((name) => {
      const [held] = db.rows<LeaseHolder>(
        'SELECT holder, expires_at AS until FROM leases WHERE instance = ?',
        name,
      );
      return held ?? null;
    }),
    checkRuns: reading((filter) =>
      'id' in filter
        ? db.bodies('check_runs WHERE id = ?', filter.id)
        : activeRuns(filter.directory),
    ),
    async changeChecks(directory, lease, apply) {
      const { result, events = [] } = await write(() => {
        const { name, holder, now, until } = lease ?? {
          name: '',
          holder: '',
          now: 0,
          until: null,
        };
        const holds = leaseTo(name, holder, now, until) === holder;
        const change = apply({ active: activeRuns(directory), holds });
        for (const body of change.runs ?? [])
          db.insert(
            'check_runs',
            { id: body.id, directory: body.directory, state: body.state, body },
            'id',
          );
        for (const row of change.evidence ?? []) addEvidence(row);
        for (const event of change.events ?? []) addEvent(event);
        if (change.release === true) leaseTo(name, holder, now, null);
        return change;
      });
      marks.add(events);
      return result;
    },
    evidence: reading((sessionId, limit) => {
      const newest = `evidence WHERE session_id = ? AND kind = 'check' ORDER BY rowid DESC LIMIT ?`;
      return db.bodies(newest, sessionId, limit);
    }),
    transcript: reading((sessionId, after) => {
      const messages = `SELECT session_id, sequence, turn_id, at, kind, body FROM messages
        WHERE session_id = ? AND sequence > ? ORDER BY sequence`;
      const open = `SELECT session_id, call_id, step_id, tool, read_only, input, started_at, result, ended_at
        FROM calls WHERE session_id = ? AND settled = 0 ORDER BY rowid`;
      const calls = db.rows<CallRow>(open, sessionId);
      return {
        messages: db.rows(messages, sessionId, after),
        calls: calls.map((call) => ({ ...call, readOnly: Boolean(call.readOnly) })),
      };
    }),
    shown: reading((sessionId, after) => {
      const found =
        'SELECT sequence, body FROM shown WHERE session_id = ? AND sequence > ? ORDER BY sequence';
      return db.rows(found, sessionId, after);
    }),
    async archive(before, limit) {
      const archived = await write(() =>
        rows
          .archive(before, limit, clock.now())
          .map((id) => [id, forgetSpool(id)] as const),
      );
      for (const [id, taken] of archived) spool.removeTaken(id, taken);
      return archived.length;
    },
    async forget(sessionId, isMeant) {
      if (!isMeant) return reading(() => rows.erase(rows.familyOf(sessionId), false))();
      // Removed rows are overwritten, and the log that still has them is emptied:
      // forgotten rows must not be readable in the file.
      db.exec('PRAGMA secure_delete = ON');
      const { family, kept } = await write(() => {
        const family = rows.familyOf(sessionId);
        return { family, kept: rows.erase(family, true) };
      });
      db.exec('PRAGMA secure_delete = OFF');
      for (const id of family) {
        marks.remove(id);
        spool.remove(id);
      }
      // If somebody reads, this returns a row instead of failing, and whoever closes the
      // store next does it.
      db.value('PRAGMA wal_checkpoint(TRUNCATE)');
      return kept;
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      await queue(async () => db.close());
    },
  };
}
