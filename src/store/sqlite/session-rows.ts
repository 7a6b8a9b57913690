// Sessions in the database, inside an open transaction: their rows, their plans, what a
// step needs and writes, and the archive. Plans are kept in memory and compared with the
// database once another connection wrote. Only timers are ever deleted, and what a human
// wants forgotten.
import { UntildoneError } from '../../core/error.ts';
import type { Event } from '../../core/events.ts';
import type { LedgerEntry } from '../../core/ledger.ts';
import type { Session, State } from '../../core/state.ts';
import { plainTodo, type Todo } from '../../core/todo.ts';
import type { KeptRows, Loaded, OutboxRow, Saved } from '../../engine/store.ts';
import type { Marks } from './beside-store.ts';
import { columnsOf, type MovedTable } from './migrate.ts';
import type { Connection } from './open-database.ts';

/** More sessions than anyone works in at once; a process may see 100,000. */
const mostKept = 64;

type Kept = Readonly<{
  /** As in the database. */
  body: string;
  revision: number;
  state: State;
  head: Loaded['head'];
}>;

export function createSessionRows(db: Connection, marks: Marks) {
  const keptSessions = new Map<string, Kept>();
  /** Those that nobody else can have written since. */
  let current = new WeakSet<Kept>();
  /** Those that hold all that was marked, as long as nobody else wrote. */
  const unbroken = new Set<string>();

  function keep(id: string, kept: Kept): Kept {
    keptSessions.delete(id);
    keptSessions.set(id, kept);
    current.add(kept);
    const [oldest] = keptSessions.keys();
    if (keptSessions.size > mostKept && oldest !== undefined) keptSessions.delete(oldest);
    return kept;
  }

  function find(id: string, fresh: boolean): Kept | null {
    const kept = fresh ? undefined : keptSessions.get(id);
    if (kept !== undefined && current.has(kept)) return kept;
    const byId = 'SELECT body, revision FROM sessions WHERE id = ?';
    const [row] = db.rows<Pick<Kept, 'body' | 'revision'>>(byId, id);
    if (row === undefined) return null;
    const { body, revision } = row;
    if (kept !== undefined && kept.body === body && kept.revision === revision)
      return keep(id, kept);
    const session = JSON.parse(body) as Session;
    const isSame =
      kept !== undefined &&
      kept.revision === revision &&
      kept.state.planId === session.planId;
    const plan = isSame ? kept.state.plan : planOf(session.planId);
    const head = ledgerOf(session.planId, 1)[0] ?? null;
    return keep(id, { body, revision, state: { ...session, plan }, head });
  }

  /** As one text, which is several times faster than row by row. */
  function planOf(planId: string): readonly Todo[] {
    const joined = `SELECT '[' || coalesce(group_concat(body, ','), '') || ']'
      FROM (SELECT body FROM todos WHERE plan_id = ? ORDER BY position)`;
    return (JSON.parse(db.value(joined, planId) ?? '') as Partial<Todo>[]).map(whole);
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
    if (unbroken.size >= mostKept) unbroken.clear();
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
    const known = keptSessions.get(id)?.revision ?? 0;
    let revision = left.length > 0 ? known + 1 : known;
    for (const [index, plan] of [...left, state.plan].entries())
      if (savePlan(index === 0 ? (before?.plan ?? []) : [], plan)) revision = known + 1;
    const body = JSON.stringify({ ...state, plan: undefined });
    const stays = before === null || before.planId === planId;
    // SQLite rewrites the indexes of every column that is set, changed or not: usually
    // only these change.
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
    keep(id, { body, revision, state, head: last });
  }

  /**
   * Writes the todos that are other objects than before, and numbers them from the array;
   * says if any changed.
   */
  function savePlan(before: readonly Todo[], after: readonly Todo[]): boolean {
    const changed: number[] = [];
    /** Where the todos that changed or moved stood; a new one stood nowhere. */
    const places = new Map<string, number>();
    const length = Math.max(before.length, after.length);
    for (let position = 0; position < length; position += 1) {
      const old = before[position];
      if (after[position] === old) continue;
      changed.push(position);
      if (old !== undefined) places.set(old.id, position);
    }
    for (const position of changed) {
      const todo = after[position];
      if (todo === undefined) break;
      const { id, planId, sessionId, turnId, status } = todo;
      const body = slim(todo);
      const from = places.get(id);
      places.delete(id);
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
    if (places.size > 0)
      throw refused('a todo is missing from its plan, and nothing is ever deleted');
    return changed.length > 0;
  }

  /**
   * Rows change tables within one file: two files cannot be committed as one in WAL mode.
   */
  function move([from, to]: Way, table: MovedTable, key: string, value: string): void {
    const columns = columnsOf(table);
    const rows = `FROM ${from}${table} WHERE ${key} = ?`;
    const order = table === 'ledger' ? 'sequence' : 'rowid';
    db.run(
      `INSERT INTO ${to}${table} (${columns}) SELECT ${columns} ${rows} ORDER BY ${order}`,
      value,
    );
    db.run(`DELETE ${rows}`, value);
  }

  /** Its plan and those that it left, unless others use them (`isTaken`). */
  function ownPlans(
    from: string,
    id: string,
    planId: string,
    isTaken: (planId: string) => boolean,
  ): string[] {
    const left = `SELECT DISTINCT plan_id FROM ${from}todos WHERE session_id = ?`;
    const plans = new Set([
      planId,
      ...db.rows<{ planId: string }>(left, id).map((plan) => plan.planId),
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
    const own = ownPlans(way[0], id, planId, isTaken);
    for (const table of tablesOfSessions) move(way, table, 'session_id', id);
    for (const table of ['todos', 'ledger'] as const)
      for (const plan of own) move(way, table, 'plan_id', plan);
  }

  function archive(before: number, limit: number, now: number): readonly string[] {
    keptSessions.clear();
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

  /** False: it is not in the archive. */
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
    move(['archived_', ''], 'sessions', 'id', id);
    return true;
  }

  /** Every row that is this session's alone; in the archive too. */
  function rowsOf(id: string): OwnRows[] {
    const own = ['', 'archived_'].flatMap((from) => {
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
      ...own,
      ['timers', 'session_id = ?', id],
      ['leases', 'instance = ?', `run ${id}`],
      ['meta', 'key = ?', `spool ${id}`],
      // A run of a check may have been for others too.
      [
        'check_runs',
        `state NOT IN ('asked', 'running') AND ? IN (SELECT json_extract(value, '$.sessionId') FROM json_each(body, '$.askers'))
          AND (SELECT count(DISTINCT json_extract(value, '$.sessionId')) FROM json_each(body, '$.askers')) = 1`,
        id,
      ],
    ];
  }

  /** It, the workers that it sent, and theirs. */
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
    if (isMeant) keptSessions.clear();
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
    forget: (): void => keptSessions.clear(),
    /** What is kept is compared with the database before it is used. */
    doubt(): void {
      current = new WeakSet();
      // The file may have been overwritten under us (P43).
      unbroken.clear();
    },
  };
}

/** Nobody's words stand in them: they go with a session and are not counted. */
const bookkeeping: ReadonlySet<string> = new Set(['leases', 'meta', 'timers']);

type OwnRows = readonly [table: string, where: string, value: string];

/** Prefixes of tables. */
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

export function eventRow(event: Event) {
  return {
    id: event.id,
    sessionId: event.sessionId,
    type: event.type,
    at: event.at,
    body: event,
  };
}

/** Without what every todo is at first: a long plan loads twice as fast. */
function slim(todo: Todo): object {
  const plain: Record<string, unknown> = plainTodo;
  const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0;
  const said = Object.entries(todo).filter(
    ([key, value]) => !isEmpty(value) && value !== plain[key],
  );
  return Object.fromEntries(said);
}

export function whole(said: Partial<Todo>): Todo {
  return { ...plainTodo, ...said } as Todo;
}

function refused(why: string): UntildoneError {
  return new UntildoneError('store-unavailable', `The store refused a write: ${why}.`);
}
