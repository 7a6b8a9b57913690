// Looks at a session in the store and tells what is new since the last look, as the
// events of a run: those that our own agent wrote, or those that a host's record is
// translated to. It only reads, and what has not changed costs a few indexed rows.
import { planView } from '../../agent/agent-event.ts';
import { createStreamReader, type StreamReader } from '../../agent/event-stream.ts';
import { createHostReader } from '../../agent/host-record.ts';
import type { Session, State } from '../../core/state.ts';
import type { Clock } from '../../engine/host.ts';
import { readPresentState } from '../../engine/present-state.ts';
import type { Store } from '../../engine/store.ts';
import {
  type DescribedState,
  describeState,
  describeWaits,
  isAtWork,
} from '../describe-session.ts';
import { describeCurrentState } from '../session-process.ts';
import type { SessionEvent, SessionStateSeen } from './events.ts';

/** How much of the past is told at the first look. */
const pastEvents = 30;
/**
 * Time between two looks at a process that was alive: without /proc, each look starts
 * `ps`.
 */
const processLookMs = 2000;

export function createSessionWatch(store: Store, sessionId: string, clock: Clock) {
  let reader: StreamReader | null = null;
  let shownPlan = '';
  let shownState = '';
  let aliveUntil = 0;
  const asked = new Set<string>();

  /**
   * Told where the run told it, with the plan of now; or at the end, where nobody told
   * it.
   */
  function withPlan(
    events: readonly SessionEvent[],
    { plan, id, updatedAt }: State,
  ): SessionEvent[] {
    const view = planView(plan);
    const shown = JSON.stringify(view);
    const isNew = shown !== shownPlan && (plan.length > 0 || shownPlan !== '');
    shownPlan = shown;
    const told = isNew ? events.find(({ type }) => type === 'plan-changed') : undefined;
    const kept = events.filter(
      (event) => event === told || event.type !== 'plan-changed',
    );
    if (!isNew || told !== undefined) return kept;
    return [...kept, { type: 'plan-changed', at: updatedAt, sessionId: id, ...view }];
  }

  async function readStateNow(session: Session): Promise<DescribedState> {
    const now = clock.now();
    const recorded = describeState(session, now);
    if (isAtWork(recorded) && now < aliveUntil) return recorded;
    const found = await describeCurrentState(store, session, now);
    if (isAtWork(found)) aliveUntil = now + processLookMs;
    return found;
  }

  /** A run that ended leaves its questions behind: nobody said no. */
  function withdrawn(events: readonly SessionEvent[], isOver: boolean): SessionEvent[] {
    for (const event of events) {
      if (event.type === 'permission-asked') asked.add(event.requestId);
      if (event.type === 'permission-answered') asked.delete(event.requestId);
    }
    if (!isOver) return [];
    const left = [...asked];
    asked.clear();
    return left.map((requestId) => ({
      type: 'permission-withdrawn',
      at: clock.now(),
      sessionId,
      requestId,
    }));
  }

  return {
    /**
     * What is new, in order of time, the state of the session last. Null: the session is
     * gone.
     */
    async look(): Promise<readonly SessionEvent[] | null> {
      const recorded = await store.state(sessionId);
      if (recorded === null) return null;
      const state = await readPresentState(store, recorded);
      const isFirst = reader === null;
      const isOurs = state.descriptor.host === 'untildone';
      reader ??= isOurs ? createStreamReader(state) : createHostReader(sessionId, clock);
      const found = withPlan(await reader.look(store, state), state);
      // What our own agent wrote is in order; of a host several lists are one now.
      if (!isOurs) found.sort((one, other) => one.at - other.at);
      const seen = stateEvent(state, await readStateNow(state), clock.now());
      const told = isFirst ? present(found, state) : found;
      const left = withdrawn(told, isOver(seen));
      const shown = JSON.stringify({ ...seen, at: 0 });
      const isSame = shown === shownState && told.length + left.length === 0;
      shownState = shown;
      return [...told, ...left, ...(isSame ? [] : [seen])];
    },
  };
}

/** The turn is over: a script that looks on may end. */
export function isOver({ state }: SessionStateSeen): boolean {
  return state === 'settled' || state === 'deleted' || state === 'latched';
}

function stateEvent(
  session: Session,
  { name, words }: DescribedState,
  now: number,
): SessionStateSeen {
  const { descriptor, agent, turn, timer } = session;
  return {
    type: 'session-state',
    at: now,
    sessionId: session.id,
    host: descriptor.host,
    agent: agent.name,
    model: agent.model,
    directory: descriptor.directory,
    title: session.title,
    state: name,
    // How long is left is counted down by whoever shows it.
    words: timer === null ? words : words.replace(/, (?:in \d+ \w+|overdue)$/u, ''),
    waits: describeWaits(session, now),
    until: timer?.dueAt ?? null,
    turnSince: turn === null || turn.ended ? null : turn.startedAt,
  };
}

/** What ends what was begun: the past is told without both. */
const ends: Readonly<Partial<Record<SessionEvent['type'], SessionEvent['type']>>> = {
  'tool-ended': 'tool-started',
  'check-ended': 'check-started',
  'check-cancelled': 'check-started',
  'worker-ended': 'worker-started',
  'permission-answered': 'permission-asked',
};

function keyOf(event: SessionEvent): string {
  const of = event as Partial<
    Record<'callId' | 'check' | 'todoId' | 'workerId' | 'requestId', string>
  >;
  return JSON.stringify([
    event.sessionId,
    of.callId,
    of.check,
    of.todoId,
    of.workerId,
    of.requestId,
  ]);
}

/**
 * Of the past, what belongs to the present: how it stands, what is open, and the last of
 * what was said and done.
 */
function present(events: readonly SessionEvent[], { turn }: Session): SessionEvent[] {
  const open = new Map<string, SessionEvent>();
  for (const event of events) {
    const begun = ends[event.type];
    if (begun !== undefined) open.delete(begun + keyOf(event));
    else if (Object.values(ends).includes(event.type))
      open.set(event.type + keyOf(event), event);
    if (event.type === 'run-ended') open.clear();
  }
  const latest = ['plan-changed', 'usage', 'step-started', 'run-started'].map((type) =>
    events.findLast((event) => event.type === type),
  );
  const kept = new Set([...open.values(), ...latest]);
  const since = turn?.startedAt ?? 0;
  const passing = events
    .filter((event) => event.at >= since && !kept.has(event))
    .slice(-pastEvents);
  return events.filter((event) => kept.has(event) || passing.includes(event));
}
