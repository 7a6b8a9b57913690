// Decides recorded events again, twice side by side in memory: as they were, and under other settings (V6).
// It shows where answers differ. What the agent and the host would then have done nobody knows: the recorded events
// were shaped by the recorded answers.

import type { Decision } from '../core/decision.ts';
import { type Event, parseEvent } from '../core/events.ts';
import type { Settings } from '../core/settings.ts';
import type { Session, SessionTimer } from '../core/state.ts';
import type { Store } from '../engine/store.ts';
import { createReplayRun } from './replay-run.ts';

/** Events read at a time: a long session is never in memory whole. */
const pageSize = 500;

export interface Difference {
  /** Number of the recorded event, or of the one before a countdown that only the other settings have. */
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
  /** Recorded answers that the recorded settings do not give again: another version decided them. */
  readonly notReproduced: number;
}

export async function replaySession(store: Store, session: Session, other: Settings): Promise<Replay> {
  const decisions = await store.decisions(session.id, Number.MAX_SAFE_INTEGER);
  const record = new Map(decisions.map((stored) => [stored.eventId, stored.decision]));
  // Until the human's first message nothing but the first decision says which policy held.
  const first = await policyText(store, decisions.at(-1)?.policyHash ?? null);
  const before = await createReplayRun(session.id, null, first);
  const after = await createReplayRun(session.id, other, first);
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
    const policy = await policyText(store, event.type === 'human-spoke' ? event.policyHash : null);
    const translated = translate(event, before.session(), after.session());
    if (!sameAnswer(was, await before.apply(event, policy))) notReproduced += 1;
    const would = await after.apply(translated, policy);
    compare({ event: events, type: event.type, at: event.at, was, would });
  }
  await fireOwnTimer(null);
  return { events, decisions: decisions.length, redecided, differences, notReproduced };
}

async function* recordedEvents(store: Store, sessionId: string): AsyncGenerator<Event> {
  for (let after = 0; ; ) {
    const page = await store.events({ sessionId, after, limit: pageSize });
    for (const { event } of page) {
      // Older versions had other names for some events.
      const read = parseEvent(event);
      yield read.ok ? read.event : event;
    }
    const last = page.at(-1)?.applied ?? null;
    if (last === null || page.length < pageSize) return;
    after = last;
  }
}

async function policyText(store: Store, hash: string | null): Promise<string | null> {
  return hash === null ? null : store.policy(hash);
}

/** A countdown that only the other settings have, or that they end first, runs out before the next recorded event. */
function ownTimer(before: Session | null, after: Session | null, next: Event | null): SessionTimer | null {
  const timer = after?.timer ?? null;
  if (timer === null || timer.purpose !== 'due') return null;
  if (next !== null && timer.dueAt >= next.at) return null;
  const recorded = before?.timer ?? null;
  if (recorded === null || recorded.purpose !== 'due') return timer;
  const endsNow = next === null || (next.type === 'timer-fired' && next.epoch === recorded.epoch);
  return endsNow || timer.dueAt >= recorded.dueAt ? null : timer;
}

/** The end of a countdown stays the end of a countdown, and a delivery that of the last continuation. */
function translate(event: Event, before: Session | null, after: Session | null): Event {
  if (event.type === 'timer-fired') {
    const timer = after?.timer ?? null;
    if (timer === null || before?.timer?.epoch !== event.epoch) return event;
    return { ...event, epoch: timer.epoch, dueAt: timer.dueAt, at: Math.max(event.at, timer.dueAt) };
  }
  if (event.type === 'delivery-reported') {
    const injection = after?.injection ?? null;
    return injection !== null && before?.injection?.epoch === event.epoch
      ? { ...event, epoch: injection.epoch }
      : event;
  }
  return event;
}

/** In observe mode the answer is only recorded: that is another answer than carrying it out. */
function sameAnswer(was: Decision | null, would: Decision | null): boolean {
  if (was === null || would === null) return was === would;
  const facts = ({ answer, reason, outcome, textKind, level, observed }: Decision) =>
    JSON.stringify([answer, reason, outcome, textKind, level, observed]);
  return facts(was) === facts(would);
}
