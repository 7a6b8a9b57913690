// Decides recorded events again, twice side by side in memory: as they were, and under
// other settings (V6). It shows where answers differ. What the agent and the host would
// then have done nobody knows: the recorded events were shaped by the recorded answers.

import type { Decision } from '../core/decision.ts';
import type { Event } from '../core/events.ts';
import type { Policy } from '../core/policy.ts';
import { defaultSettings, type Settings } from '../core/settings.ts';
import type { Session, SessionTimer } from '../core/state.ts';
import { policyFromText } from './policy.ts';
import { createRuntime } from './runtime.ts';
import { recordedEvents } from './session-record.ts';
import type { Store } from './store.ts';
import { sha256 } from './system.ts';

export interface Difference {
  /**
   * Number of the recorded event, or of the one before a countdown that only the other
   * settings have.
   */
  readonly event: number;
  readonly type: Event['type'];
  readonly at: number;
  /** Null: no decision was (or would be) made here. */
  readonly was: Decision | null;
  readonly would: Decision | null;
}

export interface Replay {
  readonly events: number;
  /** Recorded decisions, and decisions under the other settings. */
  readonly decisions: number;
  readonly redecided: number;
  readonly differences: readonly Difference[];
  /**
   * Recorded answers that the recorded settings do not give again: another version
   * decided them.
   */
  readonly notReproduced: number;
}

/** `openStore`: an empty one in memory, for each of the two runs. */
export async function replaySession(
  store: Store,
  session: Session,
  other: Settings,
  openStore: () => Promise<Store>,
): Promise<Replay> {
  const decisions = await store.decisions(session.id, Number.MAX_SAFE_INTEGER);
  const record = new Map(decisions.map((stored) => [stored.eventId, stored.decision]));
  // Until the human's first message nothing but the first decision says which policy
  // held.
  const first = await policyText(store, decisions.at(-1)?.policyHash ?? null);
  const before = createRun(await openStore(), session.id, null, first);
  const after = createRun(await openStore(), session.id, other, first);
  const differences: Difference[] = [];
  let events = 0;
  let redecided = 0;
  let notReproduced = 0;
  const compare = (difference: Difference): void => {
    if (difference.would !== null) redecided += 1;
    if (!sameAnswer(difference.was, difference.would)) differences.push(difference);
  };
  const fireOwnTimer = async (next: Event | null): Promise<void> => {
    const timer = ownTimer(before.session(), after.session(), next);
    if (timer === null) return;
    const would = await after.fire(timer);
    compare({ event: events, type: 'timer-fired', at: timer.dueAt, was: null, would });
  };
  for await (const event of recordedEvents(store, session.id)) {
    await fireOwnTimer(event);
    events += 1;
    const was = record.get(event.id) ?? null;
    const policy = await policyText(
      store,
      event.type === 'human-spoke' ? event.policyHash : null,
    );
    const translated = translate(event, before.session(), after.session());
    if (!sameAnswer(was, await before.apply(event, policy))) notReproduced += 1;
    const would = await after.apply(translated, policy);
    compare({ event: events, type: event.type, at: event.at, was, would });
  }
  await fireOwnTimer(null);
  return { events, decisions: decisions.length, redecided, differences, notReproduced };
}

async function policyText(store: Store, hash: string | null): Promise<string | null> {
  return hash === null ? null : store.policy(hash);
}

/**
 * A countdown that only the other settings have, or that they end first, runs out before
 * the next recorded event.
 */
function ownTimer(
  before: Session | null,
  after: Session | null,
  next: Event | null,
): SessionTimer | null {
  const timer = after?.timer ?? null;
  if (timer === null || timer.purpose !== 'due') return null;
  if (next !== null && timer.dueAt >= next.at) return null;
  const recorded = before?.timer ?? null;
  if (recorded === null || recorded.purpose !== 'due') return timer;
  const endsNow =
    next === null || (next.type === 'timer-fired' && next.epoch === recorded.epoch);
  return endsNow || timer.dueAt >= recorded.dueAt ? null : timer;
}

/**
 * The end of a countdown stays the end of a countdown, and a delivery that of the last
 * continuation.
 */
function translate(event: Event, before: Session | null, after: Session | null): Event {
  if (event.type === 'timer-fired') {
    const timer = after?.timer ?? null;
    if (timer === null || before?.timer?.epoch !== event.epoch) return event;
    return {
      ...event,
      epoch: timer.epoch,
      dueAt: timer.dueAt,
      at: Math.max(event.at, timer.dueAt),
    };
  }
  if (event.type === 'delivery-reported') {
    const injection = after?.injection ?? null;
    return injection !== null && before?.injection?.epoch === event.epoch
      ? { ...event, epoch: injection.epoch }
      : event;
  }
  return event;
}

/**
 * In observe mode the answer is only recorded: that is another answer than carrying it
 * out.
 */
function sameAnswer(was: Decision | null, would: Decision | null): boolean {
  if (was === null || would === null) return was === would;
  const facts = ({ answer, reason, outcome, textKind, level, observed }: Decision) =>
    JSON.stringify([answer, reason, outcome, textKind, level, observed]);
  return facts(was) === facts(would);
}

/**
 * One run of recorded events through the engine. Nothing leaves it: there is no host, and
 * checks are not run, since their recorded results are events themselves. `other` null:
 * every event under the settings that held when it happened; `first` until the record
 * says more.
 */
function createRun(
  store: Store,
  sessionId: string,
  other: Settings | null,
  first: string | null,
) {
  let session: Session | null = null;
  let now = 0;
  let fired = 0;
  // Checks are no settings: their recorded results make sense only with the recorded
  // checks and names.
  const held = (text: string): Policy => {
    const policy = policyFromText(text);
    const { goalChecks, checks = {} } = policy;
    return other === null ? policy : { settings: other, goalChecks, checks };
  };
  let policy: Policy =
    first === null ? { settings: other ?? defaultSettings, goalChecks: [] } : held(first);
  const runtime = createRuntime({
    store,
    clock: { now: () => now, wake: () => () => {} },
    identifiers: { next: () => `replay-${++fired}` },
    hash: sha256,
    policy: () => policy,
    checker: { run: async () => {} },
  });

  async function handle(event: Event): Promise<Decision | null> {
    now = event.at;
    const handled = await runtime.handle(event);
    session = handled.state;
    return handled.decision;
  }

  return {
    /** Null before the first event. */
    session: (): Session | null => session,
    /**
     * `recorded` is the text of the policy snapshot that the event brought, where it
     * brought one.
     */
    apply(event: Event, recorded: string | null) {
      if (recorded !== null) policy = held(recorded);
      // Without a hash the engine takes a new snapshot, which is the policy above.
      return handle(
        event.type === 'human-spoke' ? { ...event, policyHash: null } : event,
      );
    },
    /** Lets the countdown of this run end. */
    fire: ({ epoch, dueAt }: SessionTimer) =>
      handle({
        type: 'timer-fired',
        id: `replay-timer-${++fired}`,
        sessionId,
        at: dueAt,
        epoch,
        dueAt,
      }),
  };
}
