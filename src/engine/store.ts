// The store port: durable sessions with their plans, events, decisions, timers and outbox. Twenty methods, each one
// transaction of its own. What must never happen in any of them: a half-written transaction that a reader can see;
// an applied event that is applied again; an error that is not an UntildoneError with a store code; a row that is
// deleted (`archive` moves, nothing else removes).
import type { Decision } from '../core/decision.ts';
import type { Event } from '../core/events.ts';
import type { LedgerEntry } from '../core/ledger.ts';
import type { Session, SessionTimer, State } from '../core/state.ts';
import type { Todo, TodoStatus } from '../core/todo.ts';
import type { CallRow, CheckRun, EvidenceRow, MessageRow } from './host.ts';

/** As it was put in or applied; one of an older version is read by parseEvent. */
export interface StoredEvent {
  /** Order in which it was applied to its session; null while it waits in the inbox. */
  readonly applied: number | null;
  readonly event: Event;
}

export interface StoredDecision {
  /** Counts from 1 in each session; given by the store. */
  readonly sequence: number;
  readonly sessionId: string;
  readonly turnId: string | null;
  readonly eventId: string;
  readonly at: number;
  readonly policyHash: string | null;
  readonly decision: Decision;
}

export interface OutboxRow {
  readonly sessionId: string;
  readonly epoch: number;
  readonly instance: string;
  readonly mode: 'asked' | 'told';
  readonly text: string;
  readonly state: 'intended' | 'sent' | 'observed' | 'unanswered' | 'failed';
  readonly attempts: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface DueTimer extends SessionTimer {
  readonly sessionId: string;
}

export interface UsageRow {
  readonly sessionId: string;
  readonly turnId: string | null;
  readonly at: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: number | null;
}

export interface SessionFilter {
  readonly host?: string;
  readonly directory?: string;
  readonly id?: string;
  /** A prefix of the id, as people type it. */
  readonly idPrefix?: string;
  readonly limit: number;
}

/** Todos by id, of a plan in its order, or those that were created in a turn (T4). */
export type TodoFilter =
  | { readonly ids: readonly string[] }
  | { readonly planId: string }
  | { readonly turnId: string; readonly statuses?: readonly TodoStatus[] };

/** Events by id, archived ones too; those that were applied, in their order; or those that wait, by arrival. */
export type EventFilter =
  | { readonly ids: readonly string[] }
  | { readonly sessionId: string; readonly after: number; readonly limit: number }
  | { readonly sessionId: string; readonly waiting: true };

/** What a step wants to know beside the session. */
export interface Need {
  /** Was the event with this id applied before? */
  readonly event?: string;
  readonly fingerprint?: string | null;
  /** Rows of the session's outbox. */
  readonly epochs?: readonly number[];
  readonly policies?: readonly string[];
  /** The whole ledger of the plan; then the plan is read anew too, so that an edited row is seen (V4). */
  readonly record?: boolean;
}

/** What a step begins with: all of it as it was in one moment. */
export interface Loaded {
  /** Null: nothing was ever applied to this session. */
  readonly state: State | null;
  /** The last entry of the plan's ledger. */
  readonly head: Pick<LedgerEntry, 'sequence' | 'hash'> | null;
  /** In order of arrival, as they were put in. */
  readonly inbox: readonly Event[];
  /** The event that was asked for was applied before. */
  readonly known: boolean;
  /** Of the fingerprint that was asked for and those in the inbox: the ones that this session saw before. */
  readonly seen: ReadonlySet<string>;
  /** By epoch, those that were asked for; null: there is none. */
  readonly outbox: ReadonlyMap<number, OutboxRow | null>;
  /** By hash, those that were asked for; null: there is none. */
  readonly policies: ReadonlyMap<string, string | null>;
  /** Null: it was not asked for. */
  readonly record: readonly LedgerEntry[] | null;
}

/** What a step wants written; what is absent stays as it is. */
export interface Saved<T> {
  readonly result: T;
  /** Todos that are not the same objects as those that were loaded are written; none may be missing. */
  readonly state?: State;
  /** Plans that the session left for another one in this step, as they were left. */
  readonly left?: readonly (readonly Todo[])[];
  /** In this order, in the form in which they were applied. */
  readonly applied?: readonly Event[];
  readonly decisions?: readonly Omit<StoredDecision, 'sequence'>[];
  readonly ledger?: readonly LedgerEntry[];
  readonly fingerprints?: readonly { readonly fingerprint: string; readonly at: number }[];
  readonly outbox?: readonly OutboxRow[];
  /** One timer per session; null removes it. */
  readonly timer?: SessionTimer | null;
  readonly usage?: readonly UsageRow[];
  /** Kept by hash; one that is there already is never replaced. */
  readonly policies?: ReadonlyMap<string, string>;
}

/** Rows that are only ever added, beside events. */
export interface Additions {
  readonly policies?: ReadonlyMap<string, string>;
  readonly evidence?: readonly EvidenceRow[];
  readonly messages?: readonly Omit<MessageRow, 'sequence'>[];
  /** A call that is known is made again or has ended; a result that is recorded is never taken back. */
  readonly calls?: readonly CallRow[];
  /** Steps whose messages are written: their calls are history now. */
  readonly settled?: { readonly sessionId: string; readonly stepId: string };
}

/** The queue of one folder while it is changed. */
export interface CheckQueue {
  /** Asked or running, in the order in which they were asked for. */
  readonly active: readonly CheckRun[];
  /** Whether the holder that was named has the lease of the queue now. */
  readonly holds: boolean;
}

export interface QueueChange<T> {
  readonly result: T;
  readonly runs?: readonly CheckRun[];
  readonly evidence?: readonly EvidenceRow[];
  /** Into the inboxes of those who asked. */
  readonly events?: readonly Event[];
  /** The holder that was named gives the lease back. */
  readonly release?: boolean;
}

/** Who works through a queue, and until when. */
export interface LeaseRequest {
  readonly name: string;
  readonly holder: string;
  readonly now: number;
  readonly until: number;
}

export interface Store {
  /**
   * One transaction over one session: loads it with its plan and inbox, applies a function and saves what that
   * returns. `apply` must be synchronous, must change nothing outside itself and may be called again: it answers with
   * a Need where something is missing. Never: a save without the load it was decided on, even beside other processes.
   * An archived session is brought back whole. Concurrent calls queue.
   */
  step<T>(sessionId: string, need: Need, apply: (loaded: Loaded) => Saved<T> | Need): Promise<T>;
  /**
   * Puts events into the inboxes of their sessions, all or none. False: the id is known, nothing was written. Brings an
   * archived session back. Must not load a plan: short-lived hooks call it for every event.
   */
  append(events: readonly Event[]): Promise<readonly boolean[]>;
  record(additions: Additions): Promise<void>;
  /** The session with its plan, as of one moment; null: unknown, or archived. */
  state(sessionId: string): Promise<State | null>;
  /** Newest first, without their plans. */
  sessions(filter: SessionFilter): Promise<readonly Session[]>;
  todos(filter: TodoFilter): Promise<readonly Todo[]>;
  events(filter: EventFilter): Promise<readonly StoredEvent[]>;
  /** Newest first. */
  decisions(sessionId: string, limit: number): Promise<readonly StoredDecision[]>;
  /** In the order of the chain; with `last` only that many entries from its end. */
  ledger(planId: string, last?: number): Promise<readonly LedgerEntry[]>;
  policy(hash: string): Promise<string | null>;
  /** All rows of a session by epoch, or those of an instance that are intended or sent, oldest first. */
  outbox(
    filter: { readonly sessionId: string } | { readonly instance: string },
  ): Promise<readonly OutboxRow[]>;
  /** In the order in which it was added. */
  usage(sessionId: string): Promise<readonly UsageRow[]>;
  /** Timers of this host instance that are due, earliest first, and when its earliest one is due. */
  timers(
    instance: string,
    now: number,
    limit: number,
  ): Promise<{ readonly due: readonly DueTimer[]; readonly nextAt: number | null }>;
  /**
   * Takes or renews a lease and says who holds it now: somebody else until theirs has run out. With `until` null the
   * named holder gives it back; never that of another. Null: nobody holds it.
   */
  lease(name: string, holder: string, now: number, until: number | null): Promise<string | null>;
  /** A run by its id, or those of a folder that are asked or running, in the order in which they were asked for. */
  checkRuns(filter: { readonly id: string } | { readonly directory: string }): Promise<readonly CheckRun[]>;
  /** One transaction over the queue of a folder, with its lease taken first where one is asked for. As in `step`. */
  changeChecks<T>(
    directory: string,
    lease: LeaseRequest | null,
    apply: (queue: CheckQueue) => QueueChange<T>,
  ): Promise<T>;
  /** Newest first. */
  evidence(sessionId: string, limit: number): Promise<readonly EvidenceRow[]>;
  /** Messages after `after`, in order, and the calls of steps whose messages were never written. */
  transcript(
    sessionId: string,
    after: number,
  ): Promise<{ readonly messages: readonly MessageRow[]; readonly calls: readonly CallRow[] }>;
  /**
   * Moves sessions untouched since `before`, without a timer, with all that belongs to them, into the archive; oldest
   * first, at most `limit`; says how many. A plan that another session works on stays.
   */
  archive(before: number, limit: number): Promise<number>;
  /** Ends what was asked for before; every later call is refused. */
  close(): Promise<void>;
}
