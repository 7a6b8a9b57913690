// The store port. Each method is one transaction. Never: one that is seen half-written;
// an event applied twice; an error that is no UntildoneError with a store code; a row
// that is deleted (`archive` only moves), but by `forget`.
import type { Decision } from '../core/decision.ts';
import type { Event, EventOf, SessionDescriptor } from '../core/events.ts';
import type { LedgerEntry } from '../core/ledger.ts';
import type { Injection, Session, SessionTimer, State } from '../core/state.ts';
import type { Todo } from '../core/todo.ts';
import type { CallRow, CheckRun, EvidenceRow, MessageRow } from './host.ts';

export type StoredEvent = Readonly<{
  /** Its number in the order of the session; null while it waits in the inbox. */
  applied: number | null;
  event: Event;
}>;

export type StoredDecision = Readonly<{
  /** From 1 in each session; given by the store. */
  sequence: number;
  sessionId: string;
  turnId: string | null;
  eventId: string;
  at: number;
  policyHash: string | null;
  decision: Decision;
}>;

export type OutboxRow = Omit<Injection, 'at'> &
  Pick<SessionDescriptor, 'instance' | 'mode'> &
  Readonly<{ sessionId: string; text: string; createdAt: number; updatedAt: number }>;

export type DueTimer = SessionTimer & { readonly sessionId: string };

type Usage = Pick<
  EventOf<'usage-reported'>,
  'sessionId' | 'at' | 'inputTokens' | 'outputTokens' | 'cost'
>;
export type UsageRow = Usage & { readonly turnId: string | null };

export type SessionFilter = Readonly<{
  host?: string;
  directory?: string;
  id?: string;
  idPrefix?: string;
  idSuffix?: string;
  /** Those in the archive instead; with an id, its start or its end. */
  archived?: boolean;
  limit: number;
}>;

/** Rows of one session, by what they are; nothing that it has none of. */
export type KeptRows = Readonly<Record<string, number>>;

type TodoFilter =
  | { ids: readonly string[] }
  | { planId: string }
  | { turnId: string; statuses?: readonly Todo['status'][] };

/**
 * By id, archived ones too; applied ones in their order; or those that wait, by arrival.
 */
type EventFilter =
  | { ids: readonly string[] }
  | { sessionId: string; after: number; limit: number }
  | { sessionId: string; waiting: true };

/** Its functions may be called while `apply` runs. */
export type Loaded = Readonly<{
  /** Null: nothing was ever applied to this session. */
  state: State | null;
  /** Of the plan's ledger. */
  head: Pick<LedgerEntry, 'sequence' | 'hash'> | null;
  /** In order of arrival. */
  inbox: readonly Event[];
  isApplied: (eventId: string) => boolean;
  /**
   * It lacks an event of this session that it held: it was put back, or lost. True until
   * a step lets the agent go.
   */
  wentBack: () => boolean;
  /** By this session. */
  wasSeen: (fingerprint: string) => boolean;
  outboxRow: (epoch: number) => OutboxRow | null;
  policy: (hash: string) => string | null;
  /** The whole ledger; null: it was not asked for. */
  record: readonly LedgerEntry[] | null;
}>;

/** What a step adds to the record. */
export interface Rows {
  applied: Event[];
  decisions: Omit<StoredDecision, 'sequence'>[];
  ledger: LedgerEntry[];
  fingerprints: { fingerprint: string; at: number }[];
  usage: UsageRow[];
  /** By hash; what is there already is never replaced. */
  policies: Map<string, string>;
  /** Plans that the session left. */
  left: (readonly Todo[])[];
}

/** What is absent stays as it is. */
export type Saved<T> = Readonly<Partial<Rows>> &
  Readonly<{
    result: T;
    /**
     * Todos that are not the objects that were loaded are written; none may be missing.
     */
    state?: State;
    outbox?: readonly OutboxRow[];
    /** One timer per session; null removes it. */
    timer?: SessionTimer | null;
  }>;

type Additions = Readonly<{
  policies?: Rows['policies'];
  evidence?: readonly EvidenceRow[];
  messages?: readonly Omit<MessageRow, 'sequence'>[];
  /** New, made again or ended; a result is never taken back. */
  calls?: readonly CallRow[];
  /** What a run showed, as JSON; the oldest of very many give way. */
  shown?: readonly { sessionId: string; body: string }[];
  /** The messages of this step are written: its calls are history. */
  settled?: { sessionId: string; stepId: string };
}>;

type QueueChange<T> = Pick<Additions, 'evidence'> &
  Readonly<{
    result: T;
    runs?: readonly CheckRun[];
    events?: readonly Event[];
    /** Of the lease. */
    release?: boolean;
  }>;

/** `until`: when the lease ends unless it is renewed. */
export type LeaseHolder = Readonly<{ holder: string; until: number }>;

type LeaseRequest = Readonly<{
  name: string;
  holder: string;
  now: number;
  until: number;
}>;

/**
 * Where sessions are kept: each step loads, applies a function and saves, in one
 * transaction.
 */
export interface Store {
  /**
   * Saves what `apply` makes of what it loads, and never of an older load. `apply` is
   * synchronous, changes nothing outside itself, and may be called several times. If it
   * answers 'record', it gets the ledger, and the plan is read anew, so that an edited
   * row is seen (V4). Brings an archived session back.
   */
  step<T>(sessionId: string, apply: (loaded: Loaded) => Saved<T> | 'record'): Promise<T>;
  /**
   * Into the inboxes, all or none; false: the id is known. Loads no plan, as hooks call
   * it; brings sessions back.
   */
  append(events: readonly Event[]): Promise<readonly boolean[]>;
  record(additions: Additions): Promise<void>;
  /** Null: unknown, or archived. */
  state(sessionId: string): Promise<State | null>;
  /** Newest first, without their plans. */
  sessions(filter: SessionFilter): Promise<readonly Session[]>;
  todos(filter: TodoFilter): Promise<readonly Todo[]>;
  events(filter: EventFilter): Promise<readonly StoredEvent[]>;
  /** Newest first. */
  decisions(sessionId: string, limit: number): Promise<readonly StoredDecision[]>;
  /** In the order of the chain; `last`: only so many from its end. */
  ledger(planId: string, last?: number): Promise<readonly LedgerEntry[]>;
  policy(hash: string): Promise<string | null>;
  /** Of a session by epoch, or what an instance has intended or sent, oldest first. */
  outbox(
    filter: { sessionId: string } | { instance: string },
  ): Promise<readonly OutboxRow[]>;
  usage(sessionId: string): Promise<readonly UsageRow[]>;
  /** Earliest first. */
  timers(
    instance: string,
    now: number,
    limit: number,
  ): Promise<{ due: DueTimer[]; nextAt: number | null }>;
  /**
   * Takes, renews or, with `until` null, gives back one's own. Who holds it now; null:
   * nobody.
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
  /** By id, or those of a folder that are asked or running, as they were asked for. */
  checkRuns(filter: { id: string } | { directory: string }): Promise<readonly CheckRun[]>;
  /**
   * Over the runs that are asked or running; `holds`: the lease is ours. `apply` as in
   * `step`.
   */
  changeChecks<T>(
    directory: string,
    lease: LeaseRequest | null,
    apply: (queue: { active: readonly CheckRun[]; holds: boolean }) => QueueChange<T>,
  ): Promise<T>;
  /** Newest first. */
  evidence(sessionId: string, limit: number): Promise<readonly EvidenceRow[]>;
  /**
   * Messages after this sequence, and the calls of steps whose messages were never
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
   * Sessions untouched since `before` and without a timer, oldest first; how many. A plan
   * that others use stays.
   */
  archive(before: number, limit: number): Promise<number>;
  /**
   * Counts what is kept of a session and of the workers that it sent, in the archive too,
   * and with `isMeant` removes it for good, beside the store as well. A plan that others
   * use stays, and so do policies, which belong to nobody.
   */
  forget(sessionId: string, isMeant: boolean): Promise<KeptRows>;
  /** After what was asked for before; every later call is refused. */
  close(): Promise<void>;
}
