// Reads a session in the store and reports what is new since the last look, as events of
// a run: the events that our own agent wrote, or those that a host's record translates
// to. It only reads. A look that finds no change reads a few indexed rows.
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

/** How many past events the first look reports. */
const pastEvents = 30;
/**
 * Time between two looks at a process that was alive: without /proc, each look starts
 * `ps`.
 */
const processLookMs = 2000;

/** Watches one session; `look` reports what is new. */
export function createSessionWatch(store: Store, sessionId: string, clock: Clock) {
  let reader: StreamReader | null = null;
  let lastPlanKey = '';
  let lastStateKey = '';
  let aliveUntil = 0;
  const openQuestions = new Set<string>();

  /**
   * Keeps one `plan-changed`, where the run reported it, with the plan as it is now. If
   * nobody reported the change, the event is added at the end.
   */
  function keepOnePlanChange(
    events: readonly SessionEvent[],
    { plan, id, updatedAt }: State,
  ): SessionEvent[] {
    const view = planView(plan);
    const planKey = JSON.stringify(view);
    const isNew = planKey !== lastPlanKey && (plan.length > 0 || lastPlanKey !== '');
    lastPlanKey = planKey;
    const planChange = isNew
      ? events.find(({ type }) => type === 'plan-changed')
      : undefined;
    const kept = events.filter(
      (event) => event === planChange || event.type !== 'plan-changed',
    );
    if (!isNew || planChange !== undefined) return kept;
    return [...kept, { type: 'plan-changed', at: updatedAt, sessionId: id, ...view }];
  }

  async function readStateNow(session: Session): Promise<DescribedState> {
    const now = clock.now();
    const recorded = describeState(session, now);
    if (isAtWork(recorded) && now < aliveUntil) return recorded;
    const currentState = await describeCurrentState(store, session, now);
    if (isAtWork(currentState)) aliveUntil = now + processLookMs;
    return currentState;
  }

  /** A run that ended withdraws its open questions: nobody said no. */
  function withdrawQuestions(
    events: readonly SessionEvent[],
    isOver: boolean,
  ): SessionEvent[] {
    for (const event of events) {
      if (event.type === 'permission-asked') openQuestions.add(event.requestId);
      if (event.type === 'permission-answered') openQuestions.delete(event.requestId);
    }
    if (!isOver) return [];
    const withdrawals = [...openQuestions];
    openQuestions.clear();
    return withdrawals.map((requestId) => ({
      type: 'permission-withdrawn',
      at: clock.now(),
      sessionId,
      requestId,
    }));
  }

  return {
    /**
     * The new events in order of time; the session's state comes last. Null: the session
     * was deleted.
     */
    async look(): Promise<readonly SessionEvent[] | null> {
      const recorded = await store.state(sessionId);
      if (recorded === null) return null;
      const state = await readPresentState(store, recorded);
      const isFirst = reader === null;
      const isOurs = state.descriptor.host === 'untildone';
      reader ??= isOurs ? createStreamReader(state) : createHostReader(sessionId, clock);
      const newEvents = keepOnePlanChange(await reader.look(store, state), state);
      // Our own agent writes its events in order; those of a host come from several
      // lists.
      if (!isOurs) newEvents.sort((one, other) => one.at - other.at);
      const stateNow = stateEvent(state, await readStateNow(state), clock.now());
      const reported = isFirst ? pickPresent(newEvents, state) : newEvents;
      const withdrawals = withdrawQuestions(reported, isOver(stateNow));
      const stateKey = JSON.stringify({ ...stateNow, at: 0 });
      const isSame =
        stateKey === lastStateKey && reported.length + withdrawals.length === 0;
      lastStateKey = stateKey;
      return [...reported, ...withdrawals, ...(isSame ? [] : [stateNow])];
    },
  };
}

/** Whether the turn is over, so that a script that watches may end. */
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
    // The view counts down the remaining time itself.
    words: timer === null ? words : words.replace(/, (?:in \d+ \w+|overdue)$/u, ''),
    waits: describeWaits(session, now),
    until: timer?.dueAt ?? null,
    turnSince: turn === null || turn.ended ? null : turn.startedAt,
  };
}

/** Which event ends which. If both lie in the past, neither is reported. */
const startsByEnd: Readonly<Partial<Record<SessionEvent['type'], SessionEvent['type']>>> =
  {
    'tool-ended': 'tool-started',
    'check-ended': 'check-started',
    'check-cancelled': 'check-started',
    'worker-ended': 'worker-started',
    'permission-answered': 'permission-asked',
  };

function keyOf(event: SessionEvent): string {
  const subject = event as Partial<
    Record<'callId' | 'check' | 'todoId' | 'workerId' | 'requestId', string>
  >;
  return JSON.stringify([
    event.sessionId,
    subject.callId,
    subject.check,
    subject.todoId,
    subject.workerId,
    subject.requestId,
  ]);
}

/**
 * Picks the past events that still matter: the state, what is open, and the last few
 * events of the turn.
 */
function pickPresent(events: readonly SessionEvent[], { turn }: Session): SessionEvent[] {
  const open = new Map<string, SessionEvent>();
  for (const event of events) {
    const begun = startsByEnd[event.type];
    if (begun !== undefined) open.delete(begun + keyOf(event));
    else if (Object.values(startsByEnd).includes(event.type))
      open.set(event.type + keyOf(event), event);
    if (event.type === 'run-ended') open.clear();
  }
  const latest = ['plan-changed', 'usage', 'step-started', 'run-started'].map((type) =>
    events.findLast((event) => event.type === type),
  );
  const presentEvents = new Set([...open.values(), ...latest]);
  const since = turn?.startedAt ?? 0;
  const passing = events
    .filter((event) => event.at >= since && !presentEvents.has(event))
    .slice(-pastEvents);
  return events.filter((event) => presentEvents.has(event) || passing.includes(event));
}
