// The shell around decide(): load → decide → save → perform. Load, decide and save share one transaction; what is
// performed afterwards was written down first, so that a crash loses nothing (V5). It decides nothing itself.
import type { AnswerCommand, Command, PlanReply } from '../core/commands.ts';
import type { Policy } from '../core/config/policy.ts';
import { decide } from '../core/decide.ts';
import type { Decision } from '../core/decision.ts';
import type { Event } from '../core/events.ts';
import type { HashFunction } from '../core/ledger.ts';
import { needs } from '../core/needs.ts';
import { parseEvent } from '../core/parse-event.ts';
import { findDamage } from '../core/plan/verify-record.ts';
import { noRows } from '../core/rows.ts';
import { createSession, type Session } from '../core/session.ts';
import type { Step } from '../core/step.ts';
import type { Clock, Identifiers } from './clock.ts';
import type { Checker, ToldHost } from './host.ts';
import { type CurrentPolicy, createPolicies } from './policies.ts';
import { saveStep } from './save-step.ts';
import { checkSeal, seal } from './seal.ts';
import type { Store, StoreReader, StoreTransaction } from './store.ts';

export interface EngineOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly identifiers: Identifiers;
  readonly hash: HashFunction;
  readonly policy: CurrentPolicy;
  /** Told hosts only: where continuations are injected. */
  readonly host?: ToldHost;
  readonly checker?: Checker;
  /** Called at named points around the transaction and the send; the crash tests end the process here. */
  readonly trace?: (point: EnginePoint) => void;
  /** Called after each commit, before anything is performed, with the session as saved and what was applied to it. */
  readonly watch?: (session: Session, events: readonly Event[]) => void;
}

export type EnginePoint = 'before-commit' | 'after-commit' | 'before-send' | 'after-send' | 'after-record';

/** What became of one event. */
export interface Handled {
  /** False: the event's id was known, nothing was done. */
  readonly applied: boolean;
  readonly session: Session;
  readonly decision: Decision | null;
  readonly answer: AnswerCommand | null;
  readonly reply: PlanReply | null;
  /** Settles when the checks that this event started are reported; its value is the last re-decision. */
  readonly checks: Promise<Handled | null> | null;
}

/** Performs what needs the outside world; see delivery.ts. */
export interface Performer {
  inject(sessionId: string, epoch: number): Promise<void>;
  notify(session: Session, command: Extract<Command, { type: 'notify' }>): Promise<void>;
  timerChanged(session: Session): void;
}

export interface Engine {
  /** Applies one event, together with everything that waits in the session's inbox. */
  handle(event: Event): Promise<Handled>;
  /** Puts an event into the inbox only; the next load folds it. */
  append(event: Event): Promise<boolean>;
}

export function createEngine(options: EngineOptions, performer: Performer): Engine {
  const { store, hash } = options;
  const policies = createPolicies(options.policy, hash);
  const trace = options.trace ?? (() => {});

  async function handle(event: Event): Promise<Handled> {
    let refused: Applied | null = null;
    const result = await store
      .transact(async (transaction) => {
        const applied = await applyAll(transaction, event);
        refused = refusedWhole(applied);
        if (refused !== null) throw rollBack;
        trace('before-commit');
        return applied;
      })
      .catch((error: unknown) => {
        if (error !== rollBack || refused === null) throw error;
        return refused;
      });
    trace('after-commit');
    if (result.steps.length > 0)
      options.watch?.(
        result.session,
        result.steps.map(({ event: applied }) => applied),
      );
    return perform(result);
  }

  /** The inbox first, by time; the event itself takes its place among the late ones. */
  async function applyAll(transaction: StoreTransaction, event: Event): Promise<Applied> {
    const stored = await transaction.session(event.sessionId);
    const before = stored === null ? createSession(event.sessionId, event.at) : checkSeal(stored, hash);
    const waiting = await transaction.pendingEvents(event.sessionId);
    const stamped = await stamp(transaction, before, event);
    const others = waiting.filter(({ id }) => id !== event.id);
    const batch = [...others, stamped].sort((a, b) => a.at - b.at);
    let session = before;
    const steps: AppliedStep[] = [];
    for (const next of batch) {
      // An event that this version cannot read must not hold the session up for ever: it is set aside as it is.
      if (next.id !== event.id && !parseEvent(next).ok) {
        await transaction.markApplied(next);
        continue;
      }
      // False only for the event itself: what waits in the inbox was never applied.
      if (!(await transaction.markApplied(next))) continue;
      const step = await applyOne(transaction, session, next);
      steps.push({ event: next, step, own: next.id === event.id });
      session = step.session;
    }
    const sealed = seal(session, hash);
    if (steps.length > 0) await transaction.saveSession(sealed);
    return { known: !steps.some(({ own }) => own), first: before, session: sealed, steps };
  }

  async function applyOne(transaction: StoreTransaction, session: Session, event: Event): Promise<Step> {
    const key = (event.type === 'human-spoke' ? event.policyHash : null) ?? session.policyHash;
    // The first event of a session says where it is: what holds there is what counts.
    const placed = event.type === 'session-opened' ? { ...session, descriptor: event.descriptor } : session;
    const hashed = key ?? (await policies.snapshot(transaction, placed));
    const snapshot = await policies.byHash(transaction, hashed);
    const policy = snapshot ?? options.policy(placed);
    const known = snapshot === null ? damaged(session, event, lostSnapshot, policy) : session;
    const governed = known.policyHash === null ? { ...known, policyHash: hashed } : known;
    const rows = await transaction.rows(governed, needs(governed, event));
    const decided = decide(governed, rows, event, policy);
    const damage =
      decided.decision?.outcome === 'done' ? await recordDamage(transaction, decided, hash) : null;
    const step =
      damage === null ? decided : decide(damaged(governed, event, damage, policy), rows, event, policy);
    await saveStep(transaction, session, step, event, hash);
    return step;
  }

  /** A human's message freezes the policy that holds from here on (V2). */
  async function stamp(transaction: StoreTransaction, session: Session, event: Event): Promise<Event> {
    if (event.type !== 'human-spoke' || event.policyHash !== null) return event;
    return { ...event, policyHash: await policies.snapshot(transaction, session) };
  }

  async function perform({ known, first, session, steps }: Applied): Promise<Handled> {
    let checks: Promise<Handled | null> | null = null;
    const moved = session.descriptor.instance !== first.descriptor.instance;
    if (session.timer !== first.timer || moved) performer.timerChanged(session);
    for (const { step, event } of steps) {
      for (const command of step.commands) {
        if (command.type === 'inject') await performer.inject(session.id, command.epoch);
        else if (command.type === 'notify') await performer.notify(session, command);
        else if (command.type === 'run-checks') {
          checks = both(checks, runChecks(session, command, event));
          // Whoever awaits `checks` gets the failure; if nobody does, it must not end the process.
          checks.catch(() => {});
        }
      }
    }
    const own = steps.find((step) => step.own)?.step ?? null;
    return {
      applied: !known,
      session,
      decision: own?.decision ?? null,
      answer: own?.commands.find((command) => command.type === 'answer') ?? null,
      reply: own?.commands.find((command) => command.type === 'reply')?.reply ?? null,
      checks,
    };
  }

  async function runChecks(
    session: Session,
    command: Extract<Command, { type: 'run-checks' }>,
    cause: Event,
  ): Promise<Handled | null> {
    let last: Handled | null = null;
    const report = async (event: Event): Promise<void> => {
      const handled = await handle(event);
      if (handled.decision !== null) last = handled;
    };
    const checker = options.checker ?? noChecker(options.clock, cause.id);
    await checker.run(session, command, report);
    return last;
  }

  async function append(event: Event): Promise<boolean> {
    return store.transact(async (transaction) => {
      const session =
        (await transaction.session(event.sessionId)) ?? createSession(event.sessionId, event.at);
      return transaction.addEvent(await stamp(transaction, session, event));
    });
  }

  return { handle, append };
}

/** Without a checker nothing can be proved: each check is reported as failed, with a sentence that says so. */
function noChecker(clock: Clock, cause: string): Checker {
  return {
    async run({ id: sessionId }, { checks, stop }, report) {
      const base = (name: string) => ({ id: `${cause}:${name}`, sessionId, at: clock.now() });
      for (const [index, { todoId, check }] of checks.entries()) {
        await report({
          ...base(`unchecked:${index}`),
          type: 'check-finished',
          todoId,
          check,
          result: 'failed',
          flaky: false,
          tail: 'This process has no checker, so the check could not be run.',
          fingerprint: null,
          final: stop !== null,
          writes: null,
        });
      }
      if (stop !== null)
        await report({ ...base('unchecked:end'), type: 'final-run-ended', stop, edited: [] });
    },
  };
}

/** One load may fold several events that ask for checks: all of them are waited for, the last decision counts. */
async function both(
  first: Promise<Handled | null> | null,
  second: Promise<Handled | null>,
): Promise<Handled | null> {
  const [earlier, later] = await Promise.all([first, second]);
  return later ?? earlier;
}

/** Looked at only before a turn is called done: it reads the whole plan (V4). */
async function recordDamage(
  reader: StoreReader,
  { session }: Step,
  hash: HashFunction,
): Promise<string | null> {
  const entries = await reader.ledger(session.planId);
  const todos = await reader.todosOfPlan(session.planId);
  return findDamage(entries, todos, session.counts, hash);
}

function damaged(session: Session, { id, at, sessionId }: Event, sentence: string, policy: Policy): Session {
  const event = { id: `${id}:record`, sessionId, at, type: 'record-broken' as const, sentence };
  return decide(session, noRows, event, policy).session;
}

const lostSnapshot = 'what the human wanted checked is gone or was changed';

const rollBack = new Error('refused as a whole');

/** A plan change that is refused as a whole leaves no trace, not even its event (T6). Null: something was applied. */
function refusedWhole({ first, steps }: Applied): Applied | null {
  const own = steps.find((step) => step.own);
  const reply = own?.step.commands.find((command) => command.type === 'reply')?.reply;
  if (own === undefined || reply === undefined || reply.applied || reply.refused.length === 0) return null;
  return { known: true, first, session: first, steps: [own] };
}

interface AppliedStep {
  readonly event: Event;
  readonly step: Step;
  readonly own: boolean;
}

interface Applied {
  readonly known: boolean;
  readonly first: Session;
  readonly session: Session;
  readonly steps: readonly AppliedStep[];
}
