// Sessions in the database, inside an open transaction: their rows, their plans, what a
// step needs and writes, and the archive. Only timers are ever deleted, and sessions that
// a human wants forgotten.
import { UntildoneError } from '../../core/error.ts';
import type { Event } from '../../core/events.ts';
import type { LedgerEntry } from '../../core/ledger.ts';
import type { Session, State } from '../../core/state.ts';
import { plainTodo, type Todo } from '../../core/todo.ts';
import type { KeptRows, Loaded, OutboxRow, Saved } from '../../engine/store.ts';
import type { Marks } from './beside-store.ts';
import { columnsOf, type MovedTable } from './migrate.ts';
import type { Connection } from './open-database.ts';

/** More sessions than anyone works in at once; a process may see 100,000 of them. */
const mostCached = 64;

type CachedSession = Readonly<{
  /** The text in the database. */
  body: string;
  revision: number;
  state: State;
  head: Loaded['head'];
}>;

/**
 * Reads and writes sessions; every call must be inside a transaction of the caller. Plans
 * are cached, and compared with the database once another connection has written.
 */
export function createSessionRows(db: Connection, marks: Marks) {
  const cachedSessions = new Map<string, CachedSession>();
  /** Cached sessions that no other connection can have written since. */
  let upToDate = new WeakSet<CachedSession>();
  /**
   * Ids of sessions that hold all marked events, as long as no other connection writes.
   */
  const unbroken = new Set<string>();

  function cacheSession(id: string, cached: CachedSession): CachedSession {
    cachedSessions.delete(id);
    cachedSessions.set(id, cached);
    upToDate.add(cached);
    const [oldest] = cachedSessions.keys();
    if (cachedSessions.size > mostCached && oldest !== undefined)
      cachedSessions.delete(oldest);
    return cached;
  }

  function find(id: string, fresh: boolean): CachedSession | null {
    const cached = fresh ? undefined : cachedSessions.get(id);
    if (cached !== undefined && upToDate.has(cached)) return cached;
    const byId = 'SELECT body, revision FROM sessions WHERE id = ?';
    const [row] = db.rows<Pick<CachedSession, 'body' | 'revision'>>(byId, id);
    if (row === undefined) return null;
    const { body, revision } = row;
    if (cached !== undefined && cached.body === body && cached.revision === revision)
      return cacheSession(id, cached);
    const session = JSON.parse(body) as Session;
    const isSame =
      cached !== undefined &&
      cached.revision === revision &&
      cached.state.planId === session.planId;
    const plan = isSame ? cached.state.plan : planOf(session.planId);
    const head = ledgerOf(session.planId, 1)[0] ?? null;
    return cacheSession(id, { body, revision, state: { ...session, plan }, head });
  }

  /** Reads the plan as one text, which is several times faster than row by row. */
  function planOf(planId: string): readonly Todo[] {
    const joined = `SELECT '[' || coalesce(group_concat(body, ','), '') || ']'
      FROM (SELECT body FROM todos WHERE plan_id = ? ORDER BY position)`;
    return (JSON.parse(db.value(joined, planId) ?? '') as Partial<Todo>[]).map(fillTodo);
  }

  function ledgerOf(planId: string, last = Number.MAX_SAFE_INTEGER): LedgerEntry[] {
    const newest = 'ledger WHERE plan_id = ? ORDER BY sequence DESC LIMIT ?';
    return db.bodies<LedgerEntry>(newest, planId, last).reverse();
  }

  function policyOf(hash: string): string | null {
    return db.value('SELECT body FROM policies WHERE hash = ?', hash);
  }

  function nextIn(table: string, column: string, sessionId: string): number {
    const last = `SELECT ${column} FROM ${table} WHERE session_id = ? ORDER BY ${column} DESC LIMIT 1`;
    return (db.value<number>(last, sessionId) ?? 0) + 1;
  }

  function isBehind(id: string): boolean {
    if (unbroken.has(id)) return false;
    const isMissing = (event: string) =>
      db.value('SELECT 1 FROM events WHERE id = ?', event) === null;
    if (marks.read(id).some(isMissing)) return true;
    if (unbroken.size >= mostCached) unbroken.clear();
    unbroken.add(id);
    return false;
  }

  function load(id: string, fresh: boolean): Loaded {
    const found = find(id, fresh) ?? (restore(id) ? find(id, fresh) : null);
    const outbox = 'outbox WHERE session_id = ? AND epoch = ?';
    const tree = `SELECT 1 FROM evidence WHERE session_id = ? AND kind = 'workspace' AND fingerprint = ?`;
    return {
      state: found?.state ?? null,
      head: found?.head ?? null,
      inbox: db.bodies(
        'events WHERE session_id = ? AND applied IS NULL ORDER BY arrival',
        id,
      ),
      wentBack: () => isBehind(id),
      isApplied: (event) =>
        db.value('SELECT applied FROM events WHERE id = ?', event) !== null,
      wasSeen: (fingerprint) => db.value(tree, id, fingerprint) !== null,
      outboxRow: (epoch) => db.bodies<OutboxRow>(outbox, id, epoch)[0] ?? null,
      policy: policyOf,
      record: fresh ? ledgerOf(found?.state.planId ?? id) : null,
    };
  }

  function save<T>(sessionId: string, loaded: Loaded, saved: Saved<T>): void {
    const { applied = [], decisions = [], ledger = [], outbox = [], timer } = saved;
    let order = applied.length === 0 ? 0 : nextIn('events', 'applied', sessionId);
    for (const event of applied)
      db.insert(
        'events',
        { ...eventRow(event), applied: order++ },
        'id',
        'WHERE events.applied IS NULL',
      );
    for (const body of decisions)
      db.insert('decisions', {
        sessionId,
        sequence: nextIn('decisions', 'sequence', sessionId),
        body,
      });
    for (const body of ledger) {
      const { planId, sequence } = body;
      if (db.insert('ledger', { planId, sequence, body }) === 0)
        throw refused(
          `the ledger of plan ${JSON.stringify(planId)} has an entry ${sequence} already`,
        );
    }
    const sawTree = `INSERT INTO evidence (session_id, kind, fingerprint, at) VALUES (?, 'workspace', ?, ?)`;
    for (const { fingerprint, at } of saved.fingerprints ?? [])
      db.run(sawTree, sessionId, fingerprint, at);
    for (const body of outbox) {
      const { epoch, instance, state, createdAt } = body;
      db.insert(
        'outbox',
        { sessionId, epoch, instance, state, createdAt, body },
        'session_id, epoch',
      );
    }
    for (const body of saved.usage ?? []) db.insert('usage', { sessionId, body });
    for (const [hash, body] of saved.policies ?? [])
      db.insert('policies', { hash, body });
    const { instance } = (saved.state ?? loaded.state)?.descriptor ?? { instance: '' };
    if (timer === null) db.run('DELETE FROM timers WHERE session_id = ?', sessionId);
    else if (timer !== undefined)
      db.insert('timers', { sessionId, instance, ...timer }, 'session_id');
    if (saved.state !== undefined) saveState(saved.state, loaded, saved);
  }

  function saveState<T>(
    state: State,
    { state: before, head }: Loaded,
    saved: Saved<T>,
  ): void {
    const { left = [], ledger = [] } = saved;
    const { id, planId, updatedAt, descriptor } = state;
    const known = cachedSessions.get(id)?.revision ?? 0;
    let revision = left.length > 0 ? known + 1 : known;
    for (const [index, plan] of [...left, state.plan].entries())
      if (savePlan(index === 0 ? (before?.plan ?? []) : [], plan)) revision = known + 1;
    const body = JSON.stringify({ ...state, plan: undefined });
    const stays = before === null || before.planId === planId;
    // SQLite rewrites the indexes of every column that is set, changed or not; usually
    // only these columns change.
    const usual =
      'UPDATE sessions SET updated_at = ?, body = ?, revision = ? WHERE id = ?';
    if (before !== null && stays && before.descriptor === descriptor)
      db.run(usual, updatedAt, body, revision, id);
    else {
      const { host, instance, directory } = descriptor;
      db.insert(
        'sessions',
        { id, planId, host, instance, directory, updatedAt, body, revision },
        'id',
      );
    }
    const last =
      ledger.findLast((entry) => entry.planId === planId) ?? (stays ? head : null);
    cacheSession(id, { body, revision, state, head: last });
  }

  /**
   * Writes the todos that are other objects than before, and numbers them by their place
   * in the array. Returns whether any todo changed.
   */
  function savePlan(before: readonly Todo[], after: readonly Todo[]): boolean {
    const changed: number[] = [];
    /** The earlier positions of todos that changed or moved; a new todo has none. */
    const oldPositions = new Map<string, number>();
    const length = Math.max(before.length, after.length);
    for (let position = 0; position < length; position += 1) {
      const old = before[position];
      if (after[position] === old) continue;
      changed.push(position);
      if (old !== undefined) oldPositions.set(old.id, position);
    }
    for (const position of changed) {
      const todo = after[position];
      if (todo === undefined) break;
      const { id, planId, sessionId, turnId, status } = todo;
      const body = withoutDefaults(todo);
      const from = oldPositions.get(id);
      oldPositions.delete(id);
      if (from === undefined) {
        if (
          db.insert('todos', {
            id,
            planId,
            sessionId,
            turnId,
            position,
            status,
            body,
          }) === 0
        )
          throw refused(`a todo with the id ${JSON.stringify(id)} exists already`);
        continue;
      }
      const stays = from === position && before[from]?.turnId === turnId;
      const moved =
        'UPDATE todos SET turn_id = ?, position = ?, status = ?, body = ? WHERE id = ?';
      const rows = stays
        ? db.run('UPDATE todos SET status = ?, body = ? WHERE id = ?', status, body, id)
        : db.run(moved, turnId, position, status, body, id);
      if (rows === 0)
        throw refused(`there is no todo with the id ${JSON.stringify(id)} to update`);
    }
    if (oldPositions.size > 0)
      throw refused('a todo is missing from its plan, and nothing is ever deleted');
    return changed.length > 0;
  }

  /**
   * Moves rows between two tables of the same file: two files cannot be committed
   * together in WAL mode.
   */
  function moveRows(
    [from, to]: Way,
    table: MovedTable,
    key: string,
    value: string,
  ): void {
    const columns = columnsOf(table);
    const rows = `FROM ${from}${table} WHERE ${key} = ?`;
    const order = table === 'ledger' ? 'sequence' : 'rowid';
    db.run(
      `INSERT INTO ${to}${table} (${columns}) SELECT ${columns} ${rows} ORDER BY ${order}`,
      value,
    );
    db.run(`DELETE ${rows}`, value);
  }

  /**
   * The session's plan and the plans that it left, unless other sessions use them
   * (`isTaken`).
   */
  function ownPlans(
    from: string,
    id: string,
    planId: string,
    isTaken: (planId: string) => boolean,
  ): string[] {
    const plansLeft = `SELECT DISTINCT plan_id FROM ${from}todos WHERE session_id = ?`;
    const plans = new Set([
      planId,
      ...db.rows<{ planId: string }>(plansLeft, id).map((plan) => plan.planId),
    ]);
    return [...plans].filter((plan) => !isTaken(plan));
  }

  function isUsedByOthers(id: string): (planId: string) => boolean {
    const others = `SELECT 1 FROM sessions WHERE plan_id = ? AND id <> ? UNION ALL
      SELECT 1 FROM todos WHERE plan_id = ? AND session_id <> ?
        AND EXISTS (SELECT 1 FROM sessions WHERE sessions.id = todos.session_id) LIMIT 1`;
    return (plan) => db.value(others, plan, id, plan, id) !== null;
  }

  function moveSession(
    way: Way,
    id: string,
    planId: string,
    isTaken: (planId: string) => boolean,
  ): void {
    const planIds = ownPlans(way[0], id, planId, isTaken);
    for (const table of tablesOfSessions) moveRows(way, table, 'session_id', id);
    for (const table of ['todos', 'ledger'] as const)
      for (const plan of planIds) moveRows(way, table, 'plan_id', plan);
  }

  function archive(before: number, limit: number, now: number): readonly string[] {
    cachedSessions.clear();
    const old = db.rows<{ id: string; planId: string }>(
      `SELECT id, plan_id FROM sessions
        WHERE updated_at < ? AND NOT EXISTS (SELECT 1 FROM timers WHERE session_id = sessions.id)
          AND NOT EXISTS (SELECT 1 FROM events WHERE session_id = sessions.id AND applied IS NULL AND at >= ?)
        ORDER BY updated_at LIMIT ?`,
      ...[before, before, limit],
    );
    const columns = columnsOf('sessions');
    const copy = `INSERT INTO archived_sessions (${columns}, archived_at) SELECT ${columns}, ? FROM sessions WHERE id = ?`;
    for (const { id, planId } of old) {
      moveSession(['', 'archived_'], id, planId, isUsedByOthers(id));
      db.run(copy, now, id);
      db.run('DELETE FROM sessions WHERE id = ?', id);
      marks.remove(id);
    }
    return old.map(({ id }) => id);
  }

  /** Brings a session back from the archive; false: it is not there. */
  function restore(id: string): boolean {
    const planId = db.value<string>(
      'SELECT plan_id FROM archived_sessions WHERE id = ?',
      id,
    );
    if (planId === null) return false;
    const live =
      'SELECT 1 FROM todos WHERE plan_id = ? UNION ALL SELECT 1 FROM ledger WHERE plan_id = ? LIMIT 1';
    moveSession(
      ['archived_', ''],
      id,
      planId,
      (plan) => db.value(live, plan, plan) !== null,
    );
    moveRows(['archived_', ''], 'sessions', 'id', id);
    return true;
  }

  /** Every row that belongs to this session alone, in the archive too. */
  function rowsOf(id: string): OwnRows[] {
    const ownRows = ['', 'archived_'].flatMap((from) => {
      const planId =
        db.value<string>(`SELECT plan_id FROM ${from}sessions WHERE id = ?`, id) ?? id;
      const rowsIn = (tables: readonly string[], where: string, value: string) =>
        tables.map((table): OwnRows => [`${from}${table}`, where, value]);
      return [
        ...rowsIn(['sessions'], 'id = ?', id),
        ...rowsIn(tablesOfSessions, 'session_id = ?', id),
        ...ownPlans(from, id, planId, isUsedByOthers(id)).flatMap((plan) =>
          rowsIn(['todos', 'ledger'], 'plan_id = ?', plan),
        ),
      ];
    });
    return [
      ...ownRows,
      ['timers', 'session_id = ?', id],
      ['leases', 'instance = ?', `run ${id}`],
      ['meta', 'key = ?', `spool ${id}`],
      // A run of a check may have been for other sessions too.
      [
        'check_runs',
        `state NOT IN ('asked', 'running') AND ? IN (SELECT json_extract(value, '$.sessionId') FROM json_each(body, '$.askers'))
          AND (SELECT count(DISTINCT json_extract(value, '$.sessionId')) FROM json_each(body, '$.askers')) = 1`,
        id,
      ],
    ];
  }

  /** The session, the workers that it sent, and those that they sent. */
  function familyOf(id: string): string[] {
    const family = `WITH RECURSIVE family (id) AS (SELECT ? UNION
      SELECT sent.id FROM family, (SELECT id, body FROM sessions UNION ALL SELECT id, body FROM archived_sessions) AS sent
        WHERE json_extract(sent.body, '$.descriptor.parentId') = family.id) SELECT id FROM family`;
    return db.rows<Pick<Session, 'id'>>(family, id).map((one) => one.id);
  }

  function erase(family: readonly string[], isMeant: boolean): KeptRows {
    const kept: Record<string, number> = {};
    for (const [table, where, value] of family.flatMap(rowsOf)) {
      const what = table.replace('archived_', '').replace('check_runs', 'checkRuns');
      const rows =
        db.value<number>(`SELECT count(*) FROM ${table} WHERE ${where}`, value) ?? 0;
      if (rows > 0 && !bookkeeping.has(table)) kept[what] = (kept[what] ?? 0) + rows;
      if (isMeant) db.run(`DELETE FROM ${table} WHERE ${where}`, value);
    }
    if (isMeant) cachedSessions.clear();
    return kept;
  }

  return {
    erase,
    familyOf,
    find: (id: string): State | null => find(id, false)?.state ?? null,
    planOf,
    ledgerOf,
    policyOf,
    nextIn,
    load,
    save,
    archive,
    restore,
    forget: (): void => cachedSessions.clear(),
    /**
     * From now on, cached sessions are compared with the database before they are used.
     */
    doubt(): void {
      upToDate = new WeakSet();
      // The file may have been overwritten while it was open (P43).
      unbroken.clear();
    },
  };
}

/**
 * These tables hold no words of anybody: their rows go with a session and are not
 * counted.
 */
const bookkeeping: ReadonlySet<string> = new Set(['leases', 'meta', 'timers']);

type OwnRows = readonly [table: string, where: string, value: string];

/** The prefixes of the tables that rows move from and to. */
type Way = readonly [from: string, to: string];

const tablesOfSessions = [
  'events',
  'decisions',
  'evidence',
  'outbox',
  'usage',
  'messages',
  'calls',
  'shown',
] as const;

/** The columns of an event. */
export function eventRow(event: Event) {
  return {
    id: event.id,
    sessionId: event.sessionId,
    type: event.type,
    at: event.at,
    body: event,
  };
}

/** Drops the values that every todo has at first: a long plan loads twice as fast. */
function withoutDefaults(todo: Todo): object {
  const plain: Record<string, unknown> = plainTodo;
  const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0;
  const ownValues = Object.entries(todo).filter(
    ([key, value]) => !isEmpty(value) && value !== plain[key],
  );
  return Object.fromEntries(ownValues);
}

/** The todo with the values that `withoutDefaults` dropped. */
export function fillTodo(stored: Partial<Todo>): Todo {
  return { ...plainTodo, ...stored } as Todo;
}

function refused(why: string): UntildoneError {
  return new UntildoneError('store-unavailable', `The store refused a write: ${why}.`);
}
