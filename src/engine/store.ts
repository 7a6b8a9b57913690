// The store port: where sessions are kept. Each method is one transaction, and the
// interface `Store` below says what must never happen.
import type { Decision } from '../core/decision.ts';
import type { Event, EventOf, SessionDescriptor } from '../core/events.ts';
import type { LedgerEntry } from '../core/ledger.ts';
import type { Injection, Session, SessionTimer, State } from '../core/state.ts';
import type { Todo } from '../core/todo.ts';
import type { CallRow, CheckRun, EvidenceRow, MessageRow } from './host.ts';

/** An event as the store has it. */
export type StoredEvent = Readonly<{
  /** The event's number in the order of the session; null while it waits in the inbox. */
  applied: number | null;
  event: Event;
}>;

/** A decision on the record, with the event that it answered. */
export type StoredDecision = Readonly<{
  /** Counts from 1 in each session; the store gives it. */
  sequence: number;
  sessionId: string;
  turnId: string | null;
  eventId: string;
  at: number;
  policyHash: string | null;
  decision: Decision;
}>;

/** A text to the agent, with how far it got on its way. */
export type OutboxRow = Omit<Injection, 'at'> &
  Pick<SessionDescriptor, 'instance' | 'mode'> &
  Readonly<{ sessionId: string; text: string; createdAt: number; updatedAt: number }>;

/** A timer and the session that it belongs to. */
export type DueTimer = SessionTimer & { readonly sessionId: string };

type Usage = Pick<
  EventOf<'usage-reported'>,
  'sessionId' | 'at' | 'inputTokens' | 'outputTokens' | 'cost'
>;
/** What one call of the model cost; `turnId` null: it was made before the first turn. */
export type UsageRow = Usage & { readonly turnId: string | null };

/** Which sessions are meant: all that fit every field that is given. */
export type SessionFilter = Readonly<{
  host?: string;
  directory?: string;
  id?: string;
  idPrefix?: string;
  idSuffix?: string;
  /** Looks into the archive instead, and then only by an id, its start or its end. */
  archived?: boolean;
  limit: number;
}>;

/** How many rows of each kind a session has; a kind without rows is absent. */
export type KeptRows = Readonly<Record<string, number>>;

type TodoFilter =
  | { ids: readonly string[] }
  | { planId: string }
  | { turnId: string; statuses?: readonly Todo['status'][] };

/**
 * Events by id, also archived ones; or those of a session that were applied, in their
 * order; or those that wait, by arrival.
 */
type EventFilter =
  | { ids: readonly string[] }
  | { sessionId: string; after: number; limit: number }
  | { sessionId: string; waiting: true };

/** What a step works on. Its functions may be called only while `apply` runs. */
export type Loaded = Readonly<{
  /** Null: no event was ever applied to this session. */
  state: State | null;
  /** The last entry of the plan's ledger. */
  head: Pick<LedgerEntry, 'sequence' | 'hash'> | null;
  /** The events that wait, in order of arrival. */
  inbox: readonly Event[];
  isApplied: (eventId: string) => boolean;
  /**
   * True: the store once held an event of this session that it lacks now, so it was
   * restored from a copy, or lost something. It stays true until a step lets the agent
   * stop.
   */
  wentBack: () => boolean;
  /** True: this session had the fingerprint before. */
  wasSeen: (fingerprint: string) => boolean;
  outboxRow: (epoch: number) => OutboxRow | null;
  policy: (hash: string) => string | null;
  /** The whole ledger; null: the step did not ask for it. */
  record: readonly LedgerEntry[] | null;
}>;

/** The rows that a step adds to the record. */
export interface Rows {
  applied: Event[];
  decisions: Omit<StoredDecision, 'sequence'>[];
  ledger: LedgerEntry[];
  fingerprints: { fingerprint: string; at: number }[];
  usage: UsageRow[];
  /** By hash; a text that is there already is never replaced. */
  policies: Map<string, string>;
  /** The plans that the session left. */
  left: (readonly Todo[])[];
}

/** What a step saves. A field that is absent stays as it is. */
export type Saved<T> = Readonly<Partial<Rows>> &
  Readonly<{
    result: T;
    /**
     * Todos that are not the very objects that were loaded are written; none may be
     * missing.
     */
    state?: State;
    outbox?: readonly OutboxRow[];
    /** A session has one timer; null removes it. */
    timer?: SessionTimer | null;
  }>;

type Additions = Readonly<{
  policies?: Rows['policies'];
  evidence?: readonly EvidenceRow[];
  messages?: readonly Omit<MessageRow, 'sequence'>[];
  /** Calls that are new, repeated or ended; a result is never taken back. */
  calls?: readonly CallRow[];
  /** What a run showed, as JSON. If there are very many rows, the oldest are dropped. */
  shown?: readonly { sessionId: string; body: string }[];
  /**
   * The messages of this step are written, so its calls are no longer needed for a
   * restart.
   */
  settled?: { sessionId: string; stepId: string };
}>;

type QueueChange<T> = Pick<Additions, 'evidence'> &
  Readonly<{
    result: T;
    runs?: readonly CheckRun[];
    events?: readonly Event[];
    /** True gives the lease back. */
    release?: boolean;
  }>;

/** The holder of a lease; `until`: when the lease ends unless it is renewed. */
export type LeaseHolder = Readonly<{ holder: string; until: number }>;

type LeaseRequest = Readonly<{
  name: string;
  holder: string;
  now: number;
  until: number;
}>;

/**
 * Keeps sessions. A step loads a session, calls a function and saves its answer, in one
 * transaction:
 *
 * ```ts
 * const epoch = await store.step('s1', ({ state }) => ({ result: state?.epoch ?? 0 }));
 * ```
 *
 * It must never happen that a transaction is seen half-written, that an event is applied
 * twice, or that a row is deleted: `archive` only moves rows, and only `forget` removes
 * them. A method throws nothing but an UntildoneError with a store code. If something is
 * unknown it must not throw: it returns null, false, 0 or [] then.
 */
export interface Store {
  /**
   * Calls `apply` with what is stored and saves its answer; never with outdated data.
   * `apply` is synchronous, changes nothing outside itself, and may be called several
   * times. If it returns 'record', it is called again with the ledger, and with the plan
   * read anew, so that an edited row is seen (V4). Brings an archived session back.
   */
  step<T>(sessionId: string, apply: (loaded: Loaded) => Saved<T> | 'record'): Promise<T>;
  /**
   * Puts events into the inboxes, all or none; false: the id is known. Loads no plan,
   * since hooks call it. Brings archived sessions back.
   */
  append(events: readonly Event[]): Promise<readonly boolean[]>;
  /** Adds rows that belong to no step. */
  record(additions: Additions): Promise<void>;
  /** The session's state; null: it is unknown or archived. */
  state(sessionId: string): Promise<State | null>;
  /** The newest sessions first, without their plans. */
  sessions(filter: SessionFilter): Promise<readonly Session[]>;
  /** The todos in the order of their plan; [] if there are none. */
  todos(filter: TodoFilter): Promise<readonly Todo[]>;
  events(filter: EventFilter): Promise<readonly StoredEvent[]>;
  /** The newest decisions first; [] if there are none. */
  decisions(sessionId: string, limit: number): Promise<readonly StoredDecision[]>;
  /**
   * The ledger in the order of its chain; [] if there is none. `last`: only so many
   * entries from its end.
   */
  ledger(planId: string, last?: number): Promise<readonly LedgerEntry[]>;
  /** The text of a policy by its hash; null: it is unknown. */
  policy(hash: string): Promise<string | null>;
  /**
   * The texts of one session, by epoch; or those that an instance still has to send or
   * has sent, oldest first.
   */
  outbox(
    filter: { sessionId: string } | { instance: string },
  ): Promise<readonly OutboxRow[]>;
  /** What the session's calls of the model cost, in order. */
  usage(sessionId: string): Promise<readonly UsageRow[]>;
  /**
   * The timers of an instance that are due at `now`, earliest first. `nextAt`: when the
   * earliest of all its timers is due; null: it has no timer.
   */
  timers(
    instance: string,
    now: number,
    limit: number,
  ): Promise<{ due: DueTimer[]; nextAt: number | null }>;
  /**
   * Takes or renews a lease until `until`; null gives back the caller's own. Returns who
   * holds it afterwards; null: nobody.
   */
  lease(
    name: string,
    holder: string,
    now: number,
    until: number | null,
  ): Promise<string | null>;
  /**
   * The last holder, even if the lease has ended; null: nobody took it, or it was given
   * back. Only reads.
   */
  leaseHolder(name: string): Promise<LeaseHolder | null>;
  /**
   * A run by its id; or those of a folder that are asked or running, in the order in
   * which they were asked for.
   */
  checkRuns(filter: { id: string } | { directory: string }): Promise<readonly CheckRun[]>;
  /**
   * Changes the runs of a folder that are asked or running, as `step` changes a session.
   * `holds`: the lease is ours.
   */
  changeChecks<T>(
    directory: string,
    lease: LeaseRequest | null,
    apply: (queue: { active: readonly CheckRun[]; holds: boolean }) => QueueChange<T>,
  ): Promise<T>;
  /** The newest results first; [] if there are none. */
  evidence(sessionId: string, limit: number): Promise<readonly EvidenceRow[]>;
  /**
   * The messages after this sequence, and the calls of steps whose messages were never
   * written.
   */
  transcript(
    sessionId: string,
    after: number,
  ): Promise<{ messages: MessageRow[]; calls: CallRow[] }>;
  /**
   * What the session showed after this number, in order; numbers start at 1 and have no
   * gaps.
   */
  shown(
    sessionId: string,
    after: number,
  ): Promise<readonly { sequence: number; body: string }[]>;
  /**
   * Archives sessions that were not touched since `before` and have no timer, oldest
   * first; returns how many. A plan that other sessions use stays.
   */
  archive(before: number, limit: number): Promise<number>;
  /**
   * Counts the rows of a session and of the workers that it sent, in the archive too. If
   * `isMeant` is true, removes them for good, and the files beside the store too. A plan
   * that other sessions use stays, and so do policies, which belong to no session.
   */
  forget(sessionId: string, isMeant: boolean): Promise<KeptRows>;
  /** Closes after all earlier calls have ended; every later call is refused. */
  close(): Promise<void>;
}
