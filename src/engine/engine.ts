// Runs decide() against the store: it loads a session, decides, saves in one transaction,
// and only then performs what was saved (V5). It decides nothing itself.
import { decide } from '../core/decide.ts';
import type {
  AnswerCommand,
  Decision,
  PlanReply,
  RunChecksCommand,
  Step,
} from '../core/decision.ts';
import { type Event, parseEvent } from '../core/events.ts';
import { findDamage, type HashFunction, linkEntry } from '../core/ledger.ts';
import { createState, type State } from '../core/state.ts';
import type { OwnTexts } from '../core/texts.ts';
import type { Checker, Clock, Identifiers, ToldHost } from './host.ts';
import { type CurrentPolicy, createPolicies } from './policy.ts';
import type { Loaded, OutboxRow, Rows, Saved, Store } from './store.ts';
import { brokenSeal, sealOf } from './system.ts';

/**
 * What an engine needs. Without `host` no text is ever sent; without `checker` every
 * check fails.
 */
export type EngineOptions = Readonly<{
  store: Store;
  clock: Clock;
  identifiers: Identifiers;
  hash: HashFunction;
  policy: CurrentPolicy;
  host?: ToldHost;
  checker?: Checker;
  /**
   * The caller's own words instead of ours. Must not throw: it is called within a
   * transaction.
   */
  texts?: OwnTexts;
  /** For crash tests: called at each of these points. */
  trace?: (point: EnginePoint) => void;
  /** Called after each commit, before anything is performed. */
  watch?: (
    state: State,
    events: readonly Event[],
    decisions: readonly Decision[],
  ) => void;
}>;

/** The points of one event at which a crash test may kill the process. */
export type EnginePoint =
  | 'before-commit'
  | 'after-commit'
  | 'before-send'
  | 'after-send'
  | 'after-record';

/** What one event led to. */
export interface Handled {
  /**
   * False: the event's id was known already, or the plan change was refused as a whole.
   */
  readonly applied: boolean;
  readonly state: State;
  readonly decision: Decision | null;
  readonly answer: AnswerCommand | null;
  readonly reply: PlanReply | null;
  /**
   * The checks that this event started. Resolves with the last decision that they led to,
   * or with null if they led to none; null: the event started no checks.
   */
  readonly checks: Promise<Handled | null> | null;
}

/** Carries out what the engine saved: sends texts, shows notices, keeps timers. */
interface Performer {
  inject(sessionId: string, epoch: number): Promise<void>;
  notify: ToldHost['notify'];
  timerChanged(state: State): void;
}

/**
 * `handle` applies one event and performs what follows from it; `append` only puts an
 * event into the inbox; `foresee` returns what would be decided, and saves nothing.
 */
export type Engine = ReturnType<typeof createEngine>;

/**
 * Creates the engine over a store. `performer` is called only after the commit, so that a
 * crash never leaves an act without its record.
 */
export function createEngine(options: EngineOptions, performer: Performer) {
  const { store, hash, trace = () => {}, checker = createRefuser(options) } = options;
  const policies = createPolicies(options.policy, hash);
  /** States whose seal was made or compared in this process. */
  const soundStates = new WeakSet<State>();

  async function handle(event: Event): Promise<Handled> {
    const folded = await store.step(event.sessionId, (loaded) => fold(event, loaded));
    trace('after-commit');
    const applied = folded.steps.map((step) => step.event);
    const decisions = folded.steps.flatMap(({ step }) => step.decision ?? []);
    if (applied.length > 0) options.watch?.(folded.state, applied, decisions);
    return perform(folded);
  }

  /** Returns the decision that this event would get; saves and performs nothing. */
  async function foresee(event: Event): Promise<Decision | null> {
    const { own } = await store.step(event.sessionId, (loaded) => {
      const folded = fold(event, loaded);
      return folded === 'record' ? folded : { result: folded.result };
    });
    return own?.step.decision ?? null;
  }

  /** Applies the events of the inbox in order of arrival, and then the event itself. */
  function fold(event: Event, loaded: Loaded): Saved<Folded> | 'record' {
    const firstEventAt = loaded.inbox[0]?.at ?? event.at;
    const first =
      loaded.state === null
        ? createState(event.sessionId, firstEventAt)
        : withComparedSeal(loaded.state, loaded);
    const save = createSave(first, loaded);
    const stamped = stampPolicy(event, first, save.rows.policies);
    const batch = loaded.inbox.map((waiting) =>
      waiting.id === event.id ? stamped : waiting,
    );
    if (!batch.includes(stamped) && !loaded.isApplied(event.id)) batch.push(stamped);
    if (loaded.wentBack()) insertLoss(batch, event);
    for (const waiting of batch) {
      const read =
        waiting === stamped
          ? ({ ok: true, event: stamped } as const)
          : parseEvent(waiting);
      // An event that this version cannot read must not hold the session up: it counts as
      // applied and changes nothing.
      if (!read.ok) save.rows.applied.push(waiting);
      else if (!applyOne(read.event, save)) return 'record';
    }
    const { steps, state, rows } = save;
    const own = steps.find((step) => step.event.id === event.id);
    const reply = own && replyOf(own.step);
    // A plan change that is refused as a whole leaves no trace, and the inbox stays (T6).
    const isRefused = reply && !reply.applied && reply.refused.length > 0;
    if (own && isRefused) return { result: { first, state: first, steps: [own], own } };
    trace('before-commit');
    if (steps.length === 0)
      return { result: { first, state: first, steps, own }, applied: rows.applied };
    const sealed = { ...state, seal: seal(state, save.heads.get(state.planId)) };
    soundStates.add(sealed);
    // A session that moves to another instance takes its timer along.
    const planned = hasMoved(first, state) && state.timer !== null;
    const timer = state.timer !== first.timer || planned ? { timer: state.timer } : {};
    const result = { first, state: sealed, steps, own };
    return {
      result,
      ...rows,
      state: sealed,
      outbox: [...save.outbox.values()],
      ...timer,
    };
  }

  function seal(state: State, head: Loaded['head'] = null): string {
    return sealOf(state, head?.hash ?? null, state.plan.length, hash);
  }

  function withComparedSeal(state: State, { head }: Loaded): State {
    if (!soundStates.has(state) && seal(state, head) !== state.seal)
      return withBrokenRecord(state, brokenSeal);
    soundStates.add(state);
    return state;
  }

  /** A human's message freezes the policy that holds now (V2). */
  function stampPolicy(event: Event, state: State, saved: Map<string, string>): Event {
    if (!('policyHash' in event) || event.policyHash !== null) return event;
    return { ...event, policyHash: policies.snapshot(state, saved) };
  }

  /** Returns false if the ledger has to be loaded before this event can be decided. */
  function applyOne(incoming: Event, save: Save): boolean {
    const { state: before, loaded } = save;
    const timed =
      incoming.at < before.updatedAt
        ? withLaterTime(incoming, before.updatedAt)
        : incoming;
    const isSeen = (tree: string | null) =>
      tree !== null && (save.seen.has(tree) || loaded.wasSeen(tree));
    const event = showsTree(timed)
      ? { ...timed, known: isSeen(timed.fingerprint) }
      : timed;
    // A session that is opened here gets the policy of its new folder.
    const openedState =
      event.type === 'session-opened'
        ? { ...before, descriptor: event.descriptor }
        : before;
    const frozen = ('policyHash' in event ? event.policyHash : null) ?? before.policyHash;
    const key = frozen ?? policies.snapshot(openedState, save.rows.policies);
    const snapshot = policies.byHash(key, loaded.policy);
    const policy = snapshot ?? options.policy(openedState);
    const known =
      snapshot === null
        ? withBrokenRecord(before, 'what the human wanted checked is gone or was changed')
        : before;
    const governed = { ...known, policyHash: known.policyHash ?? key };
    let step = decide(governed, event, policy);
    const { outcome, reason } = step.decision ?? {};
    const isSettled = outcome === 'done' || outcome === 'claimed' || reason === 'no-plan';
    // The todos that were loaded are compared with the ledger (V4). A plan that this
    // event began has no ledger yet.
    if (isSettled && loaded.state?.planId === before.planId) {
      if (loaded.record === null) return false;
      const damage = findDamage(loaded.record, loaded.state.plan, hash);
      if (damage !== null && loaded.state.recordBroken === null)
        step = decide({ ...governed, recordBroken: damage }, event, policy);
    }
    recordStep(withOwnTexts(step), event, save);
    return true;
  }

  /**
   * Words are replaced before they are recorded: the record holds what was really sent.
   */
  function withOwnTexts(step: Step): Step {
    const { texts } = options;
    if (texts === undefined) return step;
    const commands = step.commands.map((command) =>
      'said' in command ? { ...command, text: texts(command.said) } : command,
    );
    return { ...step, commands };
  }

  function recordStep(step: Step, event: Event, save: Save): void {
    const { rows, state: before, loaded } = save;
    const { state, decision } = step;
    const { id: sessionId, injection, descriptor, updatedAt: at, policyHash } = state;
    const isNew = injection !== before.injection;
    if (injection !== null && (isNew || hasMoved(before, state))) {
      const { epoch, attempts } = injection;
      const text =
        step.commands.flatMap((command) =>
          'text' in command ? [command.text] : [],
        )[0] ?? null;
      const row = save.outbox.get(epoch) ?? loaded.outboxRow(epoch);
      const { instance, mode } = descriptor;
      const news = { state: injection.state, attempts, updatedAt: at };
      if (isNew && text !== null)
        save.outbox.set(epoch, {
          sessionId,
          epoch,
          instance,
          mode,
          text,
          createdAt: at,
          ...news,
        });
      else if (isNew && row !== null) save.outbox.set(epoch, { ...row, ...news });
      // A text that is on its way moves to the new instance too.
      else if (row?.state === 'intended' || row?.state === 'sent')
        save.outbox.set(epoch, { ...row, instance });
    }
    for (const draft of step.ledger) {
      const entry = linkEntry(draft, save.heads.get(draft.planId) ?? null, hash);
      save.heads.set(draft.planId, entry);
      rows.ledger.push(entry);
    }
    const { fingerprint } = state.work;
    if (
      fingerprint !== null &&
      showsTree(event) &&
      event.fingerprint === fingerprint &&
      !event.known
    ) {
      rows.fingerprints.push({ fingerprint, at });
      save.seen.add(fingerprint);
    }
    const turnId = state.turn?.id ?? null;
    if (event.type === 'usage-reported') {
      const { inputTokens, outputTokens, cost } = event;
      rows.usage.push({
        sessionId,
        turnId,
        at: event.at,
        inputTokens,
        outputTokens,
        cost,
      });
    }
    const base = { sessionId, turnId, eventId: event.id, at, policyHash };
    if (decision !== null) rows.decisions.push({ ...base, decision });
    if (state.planId !== before.planId) rows.left.push(before.plan);
    rows.applied.push(event);
    save.steps.push({ event, step });
    save.state = state;
  }

  async function perform({ first, state, steps, own }: Folded): Promise<Handled> {
    let checks: Promise<Handled | null> | null = null;
    if (state.timer !== first.timer || hasMoved(first, state))
      performer.timerChanged(state);
    for (const { step, event } of steps) {
      if (event.type === 'record-broken' && first.recordBroken === null)
        await performer.notify(state, {
          level: 'warning',
          title: 'untildone',
          message: lossSentence(event.sentence),
        });
      for (const command of step.commands) {
        if (command.type === 'inject') await performer.inject(state.id, command.epoch);
        else if (command.type === 'notify') await performer.notify(state, command);
        else if (command.type === 'run-checks') {
          checks = joinChecks(checks, runChecks(state, command));
          // A caller that awaits the checks sees their failure. If no caller does, the
          // failure must not end the process.
          checks.catch(() => {});
        }
      }
    }
    const { decision = null, commands = [] } = own?.step ?? {};
    const answer = commands.find((command) => command.type === 'answer') ?? null;
    const applied = own !== undefined && state !== first;
    return {
      applied,
      state,
      decision,
      answer,
      reply: own ? replyOf(own.step) : null,
      checks,
    };
  }

  async function runChecks(
    state: State,
    command: RunChecksCommand,
  ): Promise<Handled | null> {
    let last: Handled | null = null;
    await checker.run(state, command, async (event) => {
      const handled = await handle(event);
      if (handled.decision !== null) last = handled;
    });
    return last;
  }

  /**
   * Only puts the event into the inbox, without deciding; returns false if its id is
   * known.
   */
  async function append(event: Event): Promise<boolean> {
    const saved = new Map<string, string>();
    const isUnstamped = event.type === 'human-spoke' && event.policyHash === null;
    const state = isUnstamped ? await store.state(event.sessionId) : null;
    const stamped = stampPolicy(
      event,
      state ?? createState(event.sessionId, event.at),
      saved,
    );
    if (saved.size > 0) await store.record({ policies: saved });
    return (await store.append([stamped]))[0] === true;
  }

  return { handle, append, foresee };
}

type AppliedEvent = { readonly event: Event; readonly step: Step };

/** What `fold` made of one event and the inbox before it. */
type Folded = Readonly<{
  first: State;
  /** The same object as `first` if nothing was saved. */
  state: State;
  steps: readonly AppliedEvent[];
  /** The step of the event itself; undefined: its id was known. */
  own: AppliedEvent | undefined;
}>;

function createSave(state: State, loaded: Loaded) {
  const rows: Rows = {
    applied: [],
    decisions: [],
    ledger: [],
    fingerprints: [],
    usage: [],
    policies: new Map(),
    left: [],
  };
  return {
    state,
    loaded,
    steps: [] as AppliedEvent[],
    heads: new Map<string, Loaded['head']>([[state.planId, loaded.head]]),
    /** Fingerprints that this batch recorded. */
    seen: new Set<string>(),
    outbox: new Map<number, OutboxRow>(),
    rows,
  };
}
type Save = ReturnType<typeof createSave>;

/**
 * Events count in order of arrival: an event that is older than the session's last one
 * gets the last one's time.
 */
function withLaterTime(event: Event, at: number): Event {
  return event.type === 'human-spoke'
    ? { ...event, at, clock: event.at }
    : { ...event, at };
}

/** Events with a fingerprint. Only the store knows whether the session had it before. */
function showsTree(
  event: Event,
): event is Extract<Event, { readonly known?: boolean | undefined }> {
  return (
    event.type === 'human-spoke' ||
    event.type === 'workspace-seen' ||
    event.type === 'stop-attempted'
  );
}

const hasMoved = (before: State, after: State) =>
  before.descriptor.instance !== after.descriptor.instance;
const replyOf = (step: Step) =>
  step.commands.find((command) => command.type === 'reply')?.reply ?? null;

/** Marks the record as broken: it proves nothing until the human speaks again (V4). */
function withBrokenRecord(state: State, sentence: string): State {
  return { ...state, recordBroken: state.recordBroken ?? sentence };
}

/**
 * Puts the loss on the record. It stands before a stop, so that the stop is decided with
 * it, and behind the human's message, since their words do not mend the loss.
 */
function insertLoss(batch: Event[], { id, sessionId, at, type }: Event): void {
  const lost: Event = {
    type: 'record-broken',
    id: `${id}:store`,
    sessionId,
    at,
    sentence: storeWentBack,
  };
  const ownIndex =
    type === 'human-spoke' ? -1 : batch.findIndex((waiting) => waiting.id === id);
  batch.splice(ownIndex < 0 ? batch.length : ownIndex, 0, lost);
}

/** The sentence that tells a human that the session's record lost something. */
export const lossSentence = (loss: string) =>
  `The record of this session is not complete: ${loss}. Todos may be missing.`;

const storeWentBack =
  'the store was restored to an earlier state, or lost, and with it what happened since';

/**
 * Stands in where there is no checker: every check fails, since nothing can be proved.
 */
function createRefuser({ clock, identifiers }: EngineOptions): Checker {
  return {
    async run({ id: sessionId }, { checks, stop }, report) {
      const base = () => ({ id: identifiers.next(), sessionId, at: clock.now() });
      const tail = 'This process has no checker, so the check could not be run.';
      const unknownFacts = {
        flaky: false,
        tail,
        fingerprint: null,
        final: stop !== null,
        writes: null,
      };
      for (const check of checks)
        await report({
          ...base(),
          ...check,
          type: 'check-finished',
          result: 'failed',
          ...unknownFacts,
        });
      if (stop !== null)
        await report({ ...base(), type: 'final-run-ended', stop, edited: [] });
    },
  };
}

/**
 * Several events of one batch may ask for checks: all are awaited, and the last decision
 * counts.
 */
async function joinChecks(
  first: Handled['checks'],
  second: Promise<Handled | null>,
): Promise<Handled | null> {
  const [earlier, later] = await Promise.all([first, second]);
  return later ?? earlier;
}
