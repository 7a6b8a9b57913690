// The store port. Each method is one transaction. Never: one that is seen half-written; an event applied twice; an error
// that is no UntildoneError with a store code; a row that is deleted (`archive` only moves).
import type { Decision } from '../core/decision.ts';
import type { Event, EventOf, SessionDescriptor } from '../core/events.ts';
import type { LedgerEntry } from '../core/ledger.ts';
import type { Injection, Session, SessionTimer, State } from '../core/state.ts';
import type { Todo, TodoStatus } from '../core/todo.ts';
import type { CallRow, CheckRun, EvidenceRow, MessageRow } from './host.ts';

export interface StoredEvent {
  /** Its number in the order of the session; null while it waits in the inbox. */
  readonly applied: number | null;
  /** May be of an older version: see parseEvent. */
  readonly event: Event;
}

export interface StoredDecision {
  /** From 1 in each session; given by the store. */
  readonly sequence: number;
  readonly sessionId: string;
  readonly turnId: string | null;
  readonly eventId: string;
  readonly at: number;
  readonly policyHash: string | null;
  readonly decision: Decision;
}

export interface OutboxRow extends Omit<Injection, 'at'>, Pick<SessionDescriptor, 'instance' | 'mode'> {
  readonly sessionId: string;
  readonly text: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export type DueTimer = SessionTimer & { readonly sessionId: string };

type Usage = Pick<EventOf<'usage-reported'>, 'sessionId' | 'at' | 'inputTokens' | 'outputTokens' | 'cost'>;
export type UsageRow = Usage & { readonly turnId: string | null };

export interface SessionFilter {
  readonly host?: string;
  readonly directory?: string;
  readonly id?: string;
  readonly idPrefix?: string;
  readonly limit: number;
}

type TodoFilter =
  | { ids: readonly string[] }
  | { planId: string }
  | { turnId: string; statuses?: readonly TodoStatus[] };

/** By id, archived ones too; applied ones in their order; or those that wait, by arrival. */
type EventFilter =
  | { ids: readonly string[] }
  | { sessionId: string; after: number; limit: number }
  | { sessionId: string; waiting: true };

export interface Need {
  /** Was it applied before? */
  readonly event?: string;
  readonly fingerprint?: string | null;
  /** Of the outbox. */
  readonly epochs?: readonly number[];
  readonly policies?: readonly string[];
  /** The whole ledger; then the plan is read anew too, so that an edited row is seen (V4). */
  readonly record?: boolean;
}

export interface Loaded {
  /** Null: nothing was ever applied to this session. */
  readonly state: State | null;
  /** Of the plan's ledger. */
  readonly head: Pick<LedgerEntry, 'sequence' | 'hash'> | null;
  /** In order of arrival. */
  readonly inbox: readonly Event[];
  readonly known: boolean;
  /** Of the fingerprints asked for and in the inbox: those that this session saw. */
  readonly seen: ReadonlySet<string>;
  /** As far as asked for; null: there is none. */
  readonly outbox: ReadonlyMap<number, OutboxRow | null>;
  readonly policies: ReadonlyMap<string, string | null>;
  /** Null: it was not asked for. */
  readonly record: readonly LedgerEntry[] | null;
}

/** What is absent stays as it is. */
export interface Saved<T> {
  readonly result: T;
  /** Todos that are not the objects that were loaded are written; none may be missing. */
  readonly state?: State;
  /** Plans that the session left. */
  readonly left?: readonly (readonly Todo[])[];
  readonly applied?: readonly Event[];
  readonly decisions?: readonly Omit<StoredDecision, 'sequence'>[];
  readonly ledger?: readonly LedgerEntry[];
  readonly fingerprints?: readonly { fingerprint: string; at: number }[];
  readonly outbox?: readonly OutboxRow[];
  /** One timer per session; null removes it. */
  readonly timer?: SessionTimer | null;
  readonly usage?: readonly UsageRow[];
  /** By hash; what is there already is never replaced. */
  readonly policies?: ReadonlyMap<string, string>;
}

interface Additions extends Pick<Saved<unknown>, 'policies'> {
  readonly evidence?: readonly EvidenceRow[];
  readonly messages?: readonly Omit<MessageRow, 'sequence'>[];
  /** New, made again or ended; a result is never taken back. */
  readonly calls?: readonly CallRow[];
  /** The messages of this step are written: its calls are history. */
  readonly settled?: { sessionId: string; stepId: string };
}

interface QueueChange<T> {
  readonly result: T;
  readonly runs?: readonly CheckRun[];
  readonly evidence?: readonly EvidenceRow[];
  readonly events?: readonly Event[];
  /** Of the lease. */
  readonly release?: boolean;
}

export interface LeaseRequest {
  readonly name: string;
  readonly holder: string;
  readonly now: number;
  readonly until: number;
}

export interface Store {
  /**
   * Saves what `apply` makes of what it loads, and never of an older load. `apply` is synchronous, changes nothing outside
   * itself, and is called again after it answered with a Need. Brings an archived session back.
   */
  step<T>(sessionId: string, need: Need, apply: (loaded: Loaded) => Saved<T> | Need): Promise<T>;
  /** Into the inboxes, all or none; false: the id is known. Loads no plan, as hooks call it; brings sessions back. */
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
  outbox(filter: { sessionId: string } | { instance: string }): Promise<readonly OutboxRow[]>;
  usage(sessionId: string): Promise<readonly UsageRow[]>;
  /** Earliest first. */
  timers(instance: string, now: number, limit: number): Promise<{ due: DueTimer[]; nextAt: number | null }>;
  /** Takes, renews or, with `until` null, gives back one's own. Who holds it now; null: nobody. */
  lease(name: string, holder: string, now: number, until: number | null): Promise<string | null>;
  /** By id, or those of a folder that are asked or running, as they were asked for. */
  checkRuns(filter: { id: string } | { directory: string }): Promise<readonly CheckRun[]>;
  /** Over the runs that are asked or running; `holds`: the lease is ours. `apply` as in `step`. */
  changeChecks<T>(
    directory: string,
    lease: LeaseRequest | null,
    apply: (queue: { active: readonly CheckRun[]; holds: boolean }) => QueueChange<T>,
  ): Promise<T>;
  /** Newest first. */
  evidence(sessionId: string, limit: number): Promise<readonly EvidenceRow[]>;
  /** Messages after this sequence, and the calls of steps whose messages were never written. */
  transcript(sessionId: string, after: number): Promise<{ messages: MessageRow[]; calls: CallRow[] }>;
  /** Sessions untouched since `before` and without a timer, oldest first; how many. A plan that others use stays. */
  archive(before: number, limit: number): Promise<number>;
  /** After what was asked for before; every later call is refused. */
  close(): Promise<void>;
}
