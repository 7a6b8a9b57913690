// The shell around decide(): load → decide → save → perform. Load, decide and save share one transaction; what is
// performed afterwards was written down first, so that a crash loses nothing (V5). It decides nothing itself.
import { decide } from '../core/decide.ts';
import type { AnswerCommand, Command, Decision, PlanReply, Step } from '../core/decision.ts';
import { type Event, parseEvent } from '../core/events.ts';
import { findDamage, type HashFunction, type LedgerEntry, linkEntry } from '../core/ledger.ts';
import { createState, type State } from '../core/state.ts';
import type { Todo } from '../core/todo.ts';
import type { Checker, Clock, Identifiers, ToldHost } from './host.ts';
import { type CurrentPolicy, createPolicies } from './policy.ts';
import type { Loaded, Need, OutboxRow, Saved, Store, StoredDecision, UsageRow } from './store.ts';
import { brokenSeal, sealOf } from './system.ts';

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
  /** Called after each commit, before anything is performed, with the state as saved and what was applied to it. */
  readonly watch?: (state: State, events: readonly Event[]) => void;
}

export type EnginePoint = 'before-commit' | 'after-commit' | 'before-send' | 'after-send' | 'after-record';

/** What became of one event. */
export interface Handled {
  /** False: the event's id was known, or it was refused as a whole; nothing was done. */
  readonly applied: boolean;
  readonly state: State;
  readonly decision: Decision | null;
  readonly answer: AnswerCommand | null;
  readonly reply: PlanReply | null;
  /** Settles when the checks that this event started are reported; its value is the last re-decision. */
  readonly checks: Promise<Handled | null> | null;
}

/** Performs what needs the outside world; see runtime.ts. */
export interface Performer {
  inject(sessionId: string, epoch: number): Promise<void>;
  notify(state: State, command: Extract<Command, { type: 'notify' }>): Promise<void>;
  timerChanged(state: State): void;
}

export interface Engine {
  /** Applies one event, after everything that waits in the session's inbox. */
  handle(event: Event): Promise<Handled>;
  /** Puts an event into the inbox only; the next load folds it. */
  append(event: Event): Promise<boolean>;
}

export function createEngine(options: EngineOptions, performer: Performer): Engine {
  const { store, hash } = options;
  const policies = createPolicies(options.policy, hash);
  const trace = options.trace ?? (() => {});
  /** States whose seal this process made or has looked at. */
  const sound = new WeakSet<State>();

  async function handle(event: Event): Promise<Handled> {
    const need = { event: event.id, fingerprint: 'fingerprint' in event ? event.fingerprint : null };
    const folded = await store.step(event.sessionId, need, (loaded) => fold(event, loaded));
    trace('after-commit');
    const applied = folded.steps.map((step) => step.event);
    if (applied.length > 0) options.watch?.(folded.state, applied);
    return perform(folded);
  }

  /** The inbox in the order of arrival, then the event itself. Called again with more where something is missing. */
  function fold(event: Event, loaded: Loaded): Saved<Folded> | Need {
    const began = loaded.inbox[0]?.at ?? event.at;
    const first =
      loaded.state === null ? createState(event.sessionId, began) : unsealed(loaded.state, loaded);
    const save = createSave(first, loaded);
    const stamped = stamp(event, first, save.policies);
    const isWaiting = loaded.inbox.some(({ id }) => id === event.id);
    const batch = loaded.inbox.map((waiting) => (waiting.id === event.id ? stamped : waiting));
    if (!isWaiting && !loaded.known) batch.push(stamped);
    for (const waiting of batch) {
      const own = waiting.id === event.id;
      const read = own ? ({ ok: true, event: stamped } as const) : parseEvent(waiting);
      // An event that this version cannot read must not hold the session up for ever: it is set aside as it is.
      if (!read.ok) save.applied.push(waiting);
      else {
        const missing = applyOne(read.event, own, loaded, save);
        if (missing !== null) return missing;
      }
    }
    const { steps, state } = save;
    const own = steps.find((step) => step.own);
    const reply = own && replyOf(own.step);
    // A plan change that is refused as a whole leaves no trace, not even its event, and the inbox stays as it is (T6).
    if (own && reply && !reply.applied && reply.refused.length > 0)
      return { result: { known: true, first, state: first, steps: [own] } };
    trace('before-commit');
    if (steps.length === 0)
      return { result: { known: true, first, state: first, steps }, applied: save.applied };
    const head = save.heads.get(state.planId)?.hash ?? null;
    const sealed = { ...state, seal: sealOf(state, head, state.plan.length, hash) };
    sound.add(sealed);
    const moved = state.descriptor.instance !== first.descriptor.instance;
    // A session that is opened in another instance takes what is planned for it along: whoever runs it acts.
    const timer =
      state.timer !== first.timer || (moved && state.timer !== null) ? { timer: state.timer } : {};
    const { applied, decisions, ledger, fingerprints, usage, left } = save;
    return {
      result: { known: own === undefined, first, state: sealed, steps },
      ...{ state: sealed, applied, decisions, ledger, fingerprints, usage, left, ...timer },
      ...{ outbox: [...save.outbox.values()], policies: save.policies },
    };
  }

  /** As it is, or, if it was edited since it was saved, marked: then nothing in it is proof. */
  function unsealed(state: State, { head }: Loaded): State {
    if (sound.has(state)) return state;
    if (sealOf(state, head?.hash ?? null, state.plan.length, hash) === state.seal) {
      sound.add(state);
      return state;
    }
    return broken(state, brokenSeal);
  }

  /** A human's message freezes the policy that holds from here on (V2). */
  function stamp(event: Event, state: State, saved: Map<string, string>): Event {
    if (event.type !== 'human-spoke' || event.policyHash !== null) return event;
    return { ...event, policyHash: policies.snapshot(state, saved) };
  }

  /** Null: it was applied. */
  function applyOne(given: Event, own: boolean, loaded: Loaded, save: Save): Need | null {
    const before = save.state;
    // Events count in the order of their arrival, and their times never run backwards.
    const timed = given.at < before.updatedAt ? { ...given, at: before.updatedAt } : given;
    const event = showsTree(timed) ? { ...timed, known: isSeen(timed.fingerprint, save) } : timed;
    // The first event of a session says where it is: what holds there is what counts.
    const placed = event.type === 'session-opened' ? { ...before, descriptor: event.descriptor } : before;
    const key = (event.type === 'human-spoke' ? event.policyHash : null) ?? before.policyHash;
    const hashed = key ?? policies.snapshot(placed, save.policies);
    const snapshot = policies.byHash(hashed, loaded.policies);
    if (snapshot === undefined) return { policies: [...loaded.policies.keys(), hashed] };
    const policy = snapshot ?? options.policy(placed);
    const known =
      snapshot === null ? broken(before, 'what the human wanted checked is gone or was changed') : before;
    const governed = known.policyHash === null ? { ...known, policyHash: hashed } : known;
    let step = decide(governed, event, policy);
    const { outcome } = step.decision ?? { outcome: null };
    // A plan that this step began has no record yet. What was loaded is compared, not what the fold made of it (V4).
    if ((outcome === 'done' || outcome === 'claimed') && loaded.state?.planId === before.planId) {
      if (loaded.record === null) return { record: true };
      const damage = findDamage(loaded.record, loaded.state.plan, hash);
      // The ledger says more exactly what the seal only knows to be wrong.
      if (damage !== null && loaded.state.recordBroken === null)
        step = decide({ ...governed, recordBroken: damage }, event, policy);
    }
    return note(step, event, own, loaded, save);
  }

  /** Writes down what one step gave. Not null: the row of a continuation is missing. */
  function note(step: Step, event: Event, own: boolean, loaded: Loaded, save: Save): Need | null {
    const before = save.state;
    const { state, decision } = step;
    const { id: sessionId, injection, descriptor } = state;
    const isNew = injection !== before.injection;
    if (injection !== null && (isNew || descriptor.instance !== before.descriptor.instance)) {
      const { epoch, attempts } = injection;
      const at = state.updatedAt;
      const text = step.commands.flatMap((command) => ('text' in command ? [command.text] : []))[0] ?? null;
      const row = save.outbox.get(epoch) ?? loaded.outbox.get(epoch);
      const { instance, mode } = descriptor;
      const sent = { sessionId, epoch, instance, mode, text: text ?? '', createdAt: at };
      if (isNew && text !== null)
        save.outbox.set(epoch, { ...sent, state: injection.state, attempts, updatedAt: at });
      else if (row === undefined) return { epochs: [...loaded.outbox.keys(), epoch] };
      else if (isNew && row !== null)
        save.outbox.set(epoch, { ...row, state: injection.state, attempts, updatedAt: at });
      // A session that is opened in another instance takes what is on its way along.
      else if (row?.state === 'intended' || row?.state === 'sent')
        save.outbox.set(epoch, { ...row, instance });
    }
    for (const draft of step.ledger) {
      const entry = linkEntry(draft, save.heads.get(draft.planId) ?? null, hash);
      save.heads.set(draft.planId, entry);
      save.ledger.push(entry);
    }
    const { fingerprint } = state.work;
    if (fingerprint !== null && showsTree(event) && event.fingerprint === fingerprint && !event.known) {
      save.fingerprints.push({ fingerprint, at: state.updatedAt });
      save.seen.add(fingerprint);
    }
    const turnId = state.turn?.id ?? null;
    if (event.type === 'usage-reported') {
      const { inputTokens, outputTokens, cost } = event;
      save.usage.push({ sessionId, turnId, at: event.at, inputTokens, outputTokens, cost });
    }
    const made = { sessionId, turnId, eventId: event.id, at: state.updatedAt, policyHash: state.policyHash };
    if (decision !== null) save.decisions.push({ ...made, decision });
    if (state.planId !== before.planId) save.left.push(before.plan);
    save.applied.push(event);
    save.steps.push({ event, step, own });
    save.state = state;
    return null;
  }

  async function perform({ known, first, state, steps }: Folded): Promise<Handled> {
    let checks: Promise<Handled | null> | null = null;
    const moved = state.descriptor.instance !== first.descriptor.instance;
    if (state.timer !== first.timer || moved) performer.timerChanged(state);
    for (const { step, event } of steps) {
      for (const command of step.commands) {
        if (command.type === 'inject') await performer.inject(state.id, command.epoch);
        else if (command.type === 'notify') await performer.notify(state, command);
        else if (command.type === 'run-checks') {
          checks = both(checks, runChecks(state, command, event));
          // Whoever awaits `checks` gets the failure; if nobody does, it must not end the process.
          checks.catch(() => {});
        }
      }
    }
    const own = steps.find((step) => step.own)?.step ?? null;
    const answer = own?.commands.find((command) => command.type === 'answer') ?? null;
    const reply = own === null ? null : replyOf(own);
    return { applied: !known, state, decision: own?.decision ?? null, answer, reply, checks };
  }

  async function runChecks(
    state: State,
    command: Extract<Command, { type: 'run-checks' }>,
    cause: Event,
  ): Promise<Handled | null> {
    let last: Handled | null = null;
    const checker = options.checker ?? noChecker(options.clock, cause.id);
    await checker.run(state, command, async (event) => {
      const handled = await handle(event);
      if (handled.decision !== null) last = handled;
    });
    return last;
  }

  async function append(event: Event): Promise<boolean> {
    const saved = new Map<string, string>();
    const isUnstamped = event.type === 'human-spoke' && event.policyHash === null;
    const state = isUnstamped ? await store.state(event.sessionId) : null;
    const stamped = stamp(event, state ?? createState(event.sessionId, event.at), saved);
    if (saved.size > 0) await store.record({ policies: saved });
    return (await store.append([stamped]))[0] === true;
  }

  return { handle, append };
}

interface AppliedStep {
  readonly event: Event;
  readonly step: Step;
  readonly own: boolean;
}

interface Folded {
  readonly known: boolean;
  readonly first: State;
  readonly state: State;
  readonly steps: readonly AppliedStep[];
}

/** What a fold has gathered so far. */
function createSave(state: State, { head, seen }: Loaded) {
  return {
    state,
    steps: [] as AppliedStep[],
    applied: [] as Event[],
    decisions: [] as Omit<StoredDecision, 'sequence'>[],
    ledger: [] as LedgerEntry[],
    heads: new Map<string, Loaded['head']>([[state.planId, head]]),
    fingerprints: [] as { fingerprint: string; at: number }[],
    seen: new Set(seen),
    outbox: new Map<number, OutboxRow>(),
    usage: [] as UsageRow[],
    policies: new Map<string, string>(),
    left: [] as (readonly Todo[])[],
  };
}
type Save = ReturnType<typeof createSave>;

/** Events that show a state of the workspace; whether the session saw it before is a fact that only the store knows. */
function showsTree(event: Event): event is Extract<Event, { readonly known?: boolean | undefined }> {
  return event.type === 'human-spoke' || event.type === 'workspace-seen' || event.type === 'stop-attempted';
}

function isSeen(fingerprint: string | null, { seen }: Save): boolean {
  return fingerprint !== null && seen.has(fingerprint);
}

function replyOf(step: Step): PlanReply | null {
  return step.commands.find((command) => command.type === 'reply')?.reply ?? null;
}

/** The record is damaged: nothing in it proves anything until the human speaks (V4). */
function broken(state: State, sentence: string): State {
  return { ...state, recordBroken: state.recordBroken ?? sentence };
}

/** Without a checker nothing can be proved: each check is reported as failed, with a sentence that says so. */
function noChecker(clock: Clock, cause: string): Checker {
  return {
    async run({ id: sessionId }, { checks, stop }, report) {
      const base = (name: string) => ({ id: `${cause}:${name}`, sessionId, at: clock.now() });
      const tail = 'This process has no checker, so the check could not be run.';
      const nothing = { flaky: false, tail, fingerprint: null, final: stop !== null, writes: null };
      for (const [index, { todoId, check }] of checks.entries()) {
        const asked = { ...base(`unchecked:${index}`), todoId, check };
        await report({ ...asked, type: 'check-finished', result: 'failed', ...nothing });
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
