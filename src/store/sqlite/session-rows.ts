// One session in the database, inside an open transaction: its row, its plan, what a step needs and writes. Plans are
// kept in memory and compared with the database once another connection wrote. Only timers are ever deleted.
import { UntildoneError } from '../../core/error.ts';
import type { Event } from '../../core/events.ts';
import type { LedgerEntry } from '../../core/ledger.ts';
import type { Session, State } from '../../core/state.ts';
import { plainTodo, type Todo } from '../../core/todo.ts';
import type { Loaded, Need, OutboxRow, Saved } from '../../engine/store.ts';
import { restoreSession } from './archive.ts';
import type { Connection } from './open-database.ts';

/** More sessions than anyone works in at once; a process may see 100,000. */
const mostKept = 64;

interface Kept {
  /** As in the database. */
  readonly body: string;
  readonly revision: number;
  readonly state: State;
  readonly head: Loaded['head'];
}

export function createSessionRows(db: Connection) {
  const keptSessions = new Map<string, Kept>();
  /** Those that nobody else can have written since. */
  let current = new WeakSet<Kept>();

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
    const row = db.get('SELECT body, revision FROM sessions WHERE id = ?', id);
    if (row === null) return null;
    const { body, revision } = row as { body: string; revision: number };
    if (kept !== undefined && kept.body === body && kept.revision === revision) return keep(id, kept);
    const session = JSON.parse(body) as Session;
    const isSame = kept !== undefined && kept.revision === revision && kept.state.planId === session.planId;
    const plan = isSame ? kept.state.plan : planOf(db, session.planId);
    const head = ledgerOf(db, session.planId, 1)[0] ?? null;
    return keep(id, { body, revision, state: { ...session, plan }, head });
  }

  function load(id: string, need: Need): Loaded {
    const fresh = need.record === true;
    const found = find(id, fresh) ?? (restoreSession(db, id) ? find(id, fresh) : null);
    const inbox = db.bodies<Event>('events WHERE session_id = ? AND applied IS NULL ORDER BY arrival', id);
    const event = need.event ? db.get('SELECT applied FROM events WHERE id = ?', need.event) : null;
    const fingerprints = inbox.map((waiting) => ('fingerprint' in waiting ? waiting.fingerprint : null));
    const isSeen = (one?: string | null): one is string => typeof one === 'string' && wasSeen(db, id, one);
    const outbox = 'outbox WHERE session_id = ? AND epoch = ?';
    const rowOf = (epoch: number) => db.bodies<OutboxRow>(outbox, id, epoch)[0] ?? null;
    return {
      state: found?.state ?? null,
      head: found?.head ?? null,
      inbox,
      known: event !== null && event['applied'] !== null,
      seen: new Set([need.fingerprint, ...fingerprints].filter(isSeen)),
      outbox: new Map((need.epochs ?? []).map((epoch) => [epoch, rowOf(epoch)])),
      policies: new Map((need.policies ?? []).map((hash) => [hash, policyOf(db, hash)])),
      record: fresh ? ledgerOf(db, found?.state.planId ?? id) : null,
    };
  }

  function save<T>(sessionId: string, loaded: Loaded, saved: Saved<T>): void {
    const { applied = [], decisions = [], ledger = [], outbox = [], timer } = saved;
    let order = applied.length === 0 ? 0 : nextIn(db, 'events', 'applied', sessionId);
    for (const event of applied)
      db.insert('events', { ...eventRow(event), applied: order++ }, 'id', 'WHERE events.applied IS NULL');
    for (const body of decisions)
      db.insert('decisions', { sessionId, sequence: nextIn(db, 'decisions', 'sequence', sessionId), body });
    for (const body of ledger) {
      const { planId, sequence } = body;
      if (db.insert('ledger', { planId, sequence, body }) === 0)
        throw refused(`the ledger of plan ${JSON.stringify(planId)} has an entry ${sequence} already`);
    }
    const sawTree = `INSERT INTO evidence (session_id, kind, fingerprint, at) VALUES (?, 'workspace', ?, ?)`;
    for (const { fingerprint, at } of saved.fingerprints ?? [])
      if (!wasSeen(db, sessionId, fingerprint)) db.run(sawTree, sessionId, fingerprint, at);
    for (const body of outbox) {
      const { epoch, instance, state, createdAt } = body;
      db.insert('outbox', { sessionId, epoch, instance, state, createdAt, body }, 'session_id, epoch');
    }
    for (const body of saved.usage ?? []) db.insert('usage', { sessionId, body });
    for (const [hash, body] of saved.policies ?? []) db.insert('policies', { hash, body });
    const { instance } = (saved.state ?? loaded.state)?.descriptor ?? { instance: '' };
    if (timer === null) db.run('DELETE FROM timers WHERE session_id = ?', sessionId);
    else if (timer !== undefined) db.insert('timers', { sessionId, instance, ...timer }, 'session_id');
    if (saved.state !== undefined) saveState(saved.state, loaded, saved);
  }

  function saveState<T>(state: State, { state: before, head }: Loaded, saved: Saved<T>): void {
    const { left = [], ledger = [] } = saved;
    const { id, planId, updatedAt, descriptor } = state;
    const known = keptSessions.get(id)?.revision ?? 0;
    let revision = left.length > 0 ? known + 1 : known;
    for (const [index, plan] of [...left, state.plan].entries())
      if (savePlan(db, index === 0 ? (before?.plan ?? []) : [], plan)) revision = known + 1;
    const body = JSON.stringify({ ...state, plan: undefined });
    const stays = before === null || before.planId === planId;
    // SQLite rewrites the indexes of every column that is set, changed or not: usually only these change.
    const usual = 'UPDATE sessions SET updated_at = ?, body = ?, revision = ? WHERE id = ?';
    if (before !== null && stays && before.descriptor === descriptor)
      db.run(usual, updatedAt, body, revision, id);
    else {
      const { host, instance, directory } = descriptor;
      db.insert('sessions', { id, planId, host, instance, directory, updatedAt, body, revision }, 'id');
    }
    const last = ledger.findLast((entry) => entry.planId === planId) ?? (stays ? head : null);
    keep(id, { body, revision, state, head: last });
  }

  return {
    find: (id: string): State | null => find(id, false)?.state ?? null,
    load,
    save,
    forget: (): void => keptSessions.clear(),
    /** What is kept is compared with the database before it is used. */
    doubt(): void {
      current = new WeakSet();
    },
  };
}

/** Writes the todos that are other objects than before, and numbers them from the array; says if any changed. */
function savePlan(db: Connection, before: readonly Todo[], after: readonly Todo[]): boolean {
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
      if (db.insert('todos', { id, planId, sessionId, turnId, position, status, body }) === 0)
        throw refused(`a todo with the id ${JSON.stringify(id)} exists already`);
      continue;
    }
    const stays = from === position && before[from]?.turnId === turnId;
    const moved = 'UPDATE todos SET turn_id = ?, position = ?, status = ?, body = ? WHERE id = ?';
    const rows = stays
      ? db.run('UPDATE todos SET status = ?, body = ? WHERE id = ?', status, body, id)
      : db.run(moved, turnId, position, status, body, id);
    if (rows === 0) throw refused(`there is no todo with the id ${JSON.stringify(id)} to update`);
  }
  if (places.size > 0) throw refused('a todo is missing from its plan, and nothing is ever deleted');
  return changed.length > 0;
}

/** As one text, which is several times faster than row by row. */
export function planOf(db: Connection, planId: string): readonly Todo[] {
  const joined = `SELECT '[' || coalesce(group_concat(body, ','), '') || ']' AS plan
    FROM (SELECT body FROM todos WHERE plan_id = ? ORDER BY position)`;
  const text = db.get(joined, planId)?.['plan'] as string;
  return (JSON.parse(text) as Partial<Todo>[]).map(whole);
}

export function ledgerOf(db: Connection, planId: string, last = Number.MAX_SAFE_INTEGER): LedgerEntry[] {
  const newest = 'ledger WHERE plan_id = ? ORDER BY sequence DESC LIMIT ?';
  return db.bodies<LedgerEntry>(newest, planId, last).reverse();
}

export function policyOf(db: Connection, hash: string): string | null {
  return db.rows<{ body: string }>('SELECT body FROM policies WHERE hash = ?', hash)[0]?.body ?? null;
}

export function nextIn(db: Connection, table: string, column: string, sessionId: string): number {
  const sql = `SELECT ${column} AS last FROM ${table} WHERE session_id = ? ORDER BY ${column} DESC LIMIT 1`;
  return Number(db.get(sql, sessionId)?.['last'] ?? 0) + 1;
}

function wasSeen(db: Connection, sessionId: string, fingerprint: string): boolean {
  const sql = `SELECT 1 FROM evidence WHERE session_id = ? AND kind = 'workspace' AND fingerprint = ? LIMIT 1`;
  return db.get(sql, sessionId, fingerprint) !== null;
}

export function eventRow(event: Event) {
  return { id: event.id, sessionId: event.sessionId, type: event.type, at: event.at, body: event };
}

/** Without what every todo is at first: a long plan loads twice as fast. */
function slim(todo: Todo): object {
  const said: Record<string, unknown> = {};
  for (const key of Object.keys(todo) as (keyof Todo)[]) {
    const value = todo[key];
    const isEmpty = Array.isArray(value) && value.length === 0;
    if (!isEmpty && value !== (plainTodo as Partial<Todo>)[key]) said[key] = value;
  }
  return said;
}

export function whole(said: Partial<Todo>): Todo {
  return { ...plainTodo, ...said } as Todo;
}

function refused(why: string): UntildoneError {
  return new UntildoneError('store-unavailable', `The store refused a write: ${why}.`);
}
