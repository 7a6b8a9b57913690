// Looks at a session in the store and tells what is new since the last look, as the events of a run. It only reads,
// and what has not changed costs a few indexed rows.
import { type Event, parseEvent } from '../../core/events.ts';
import type { Session, State } from '../../core/state.ts';
import type { Clock } from '../../engine/host.ts';
import type { Store, StoredDecision, StoredEvent } from '../../engine/store.ts';
import type { SessionEvent, SessionStateSeen } from '../view/view-event.ts';
import { createHeldContinuations } from './held-continuations.ts';
import { createStoredEvents } from './stored-events.ts';
import { createStoredMessages } from './stored-messages.ts';
import { createStoredPermissions } from './stored-permissions.ts';
import {
  askedBy,
  decisionEvent,
  delegationEvents,
  evidenceEvent,
  planEvent,
  stateEvent,
  usageEvent,
} from './stored-state.ts';
import { createWorkerWatch } from './watch-worker.ts';

export interface SessionWatch {
  /** What is new, in order of time, the state of the session last. Null: the session is gone. */
  look(): Promise<readonly SessionEvent[] | null>;
}

/** Rows that one look reads at most of what only ever grows; the next look reads on. */
const pageSize = 500;
const recentDecisions = 50;
const recentEvidence = 20;
/** How much of the past is told at the first look. */
const pastEvents = 30;

export function createSessionWatch(store: Store, sessionId: string, clock: Clock): SessionWatch {
  let known: Session | null = null;
  let events: ReturnType<typeof createStoredEvents> | null = null;
  const messages = createStoredMessages();
  const permissions = createStoredPermissions();
  const worker = createWorkerWatch();
  const continuations = createHeldContinuations();
  let applied = 0;
  let lastMessage = 0;
  let lastDecision = 0;
  let lastEvidence = 0;
  let shownPlan = '';
  let shownState = '';
  let checks = new Map<string, { readonly check: string; readonly todoId: string | null }>();

  async function newEvents(): Promise<Event[]> {
    const fresh: Event[] = [];
    for (;;) {
      const page = await store.events({ sessionId, after: applied, limit: pageSize });
      fresh.push(...page.map(readStored));
      applied = page.at(-1)?.applied ?? applied;
      if (page.length < pageSize) break;
    }
    return [...fresh, ...(await store.events({ sessionId, waiting: true })).map(readStored)];
  }

  async function newDecisions(session: Session): Promise<SessionEvent[]> {
    const recent = await store.decisions(sessionId, recentDecisions);
    const fresh = recent.filter(({ sequence }) => sequence > lastDecision).reverse();
    lastDecision = recent[0]?.sequence ?? lastDecision;
    const sent = fresh.filter(({ decision }) => decision.answer === 'continue');
    const first = session.counters.total - sent.length + 1;
    const textOf = async ({ decision }: StoredDecision): Promise<string> =>
      (await store.outbox({ sessionId })).find((row) => row.epoch === decision.epoch)?.text ?? '';
    return Promise.all(
      fresh.map(async (row) =>
        decisionEvent(row, await textOf(row), Math.max(1, first + Math.max(0, sent.indexOf(row)))),
      ),
    );
  }

  async function newChecks(session: Session): Promise<SessionEvent[]> {
    const { directory } = session.descriptor;
    const active = directory === null ? [] : await store.checkRuns({ directory });
    const seen = (await store.evidence(sessionId, recentEvidence))
      .filter(({ at }) => at > lastEvidence)
      .reverse();
    lastEvidence = seen.at(-1)?.at ?? lastEvidence;
    const before = checks;
    checks = new Map();
    const begun: SessionEvent[] = [];
    for (const run of active) {
      const todoId = askedBy(run, sessionId);
      if (todoId === undefined) continue;
      const check = run.spec.id;
      checks.set(run.id, { check, todoId });
      const at = run.startedAt ?? run.askedAt;
      if (!before.has(run.id)) begun.push({ type: 'check-started', at, sessionId, check, todoId });
    }
    const gone = [...before]
      .filter(([id]) => !checks.has(id))
      .map(([, { check, todoId }]): SessionEvent => {
        // A run that ended has its evidence, of the same moment, told after this.
        const at = seen.find((row) => row.check === check)?.at ?? clock.now();
        return { type: 'check-cancelled', at, sessionId, check, todoId };
      });
    return [...begun, ...gone, ...seen.map(evidenceEvent)];
  }

  async function newPlan(session: State): Promise<SessionEvent[]> {
    const todos = session.plan;
    const titleOf = (todoId: string): string => todos.find(({ id }) => id === todoId)?.title ?? '';
    const workers = delegationEvents(known, session, titleOf);
    const event = planEvent(todos, session);
    const plan = event.type === 'plan-changed' ? JSON.stringify(event.todos) : '';
    if (plan === shownPlan || (shownPlan === '' && todos.length === 0)) return workers;
    shownPlan = plan;
    return [event, ...workers];
  }

  async function look(): Promise<readonly SessionEvent[] | null> {
    const session = await store.state(sessionId);
    if (session === null) return null;
    const isOurs = session.descriptor.host === 'untildone';
    events ??= createStoredEvents(!isOurs);
    const isFirst = known === null;
    const fresh = await newEvents();
    const found: SessionEvent[] = [
      ...events.take(fresh),
      ...permissions.take(fresh, session, clock.now()),
      ...(await newChecks(session)),
    ];
    const { messages: rows, calls } = isOurs
      ? await store.transcript(sessionId, lastMessage)
      : { messages: [], calls: [] };
    lastMessage = rows.at(-1)?.sequence ?? lastMessage;
    if (isOurs) found.push(...messages.take(rows, calls, fresh));
    const decisions: SessionEvent[] = [];
    if (isFirst || changed(known, session)) {
      found.push(...(await newPlan(session)));
      decisions.push(...(await newDecisions(session)));
      if (session.usage.tokens > 0 && session.usage.tokens !== known?.usage.tokens)
        found.push(usageEvent(await store.usage(sessionId), session));
    }
    if (isOurs) found.push(...(await worker.look(store, session, isFirst)));
    found.push(...(isOurs ? continuations.take(decisions, rows, clock.now()) : decisions));
    known = session;
    const ordered = found.map((event, index) => ({ event, index }));
    ordered.sort((one, other) => one.event.at - other.event.at || one.index - other.index);
    const told = ordered.map(({ event }) => event);
    return [...(isFirst ? recent(told, session) : told), ...state(session, told.length > 0)];
  }

  function state(session: Session, again: boolean): readonly SessionStateSeen[] {
    const event = stateEvent(session, clock.now());
    const shown = JSON.stringify({ ...event, at: 0 });
    if (shown === shownState && !again) return [];
    shownState = shown;
    return [event];
  }

  return { look };
}

/** Older versions had other names for some events; what cannot be read is shown as it is. */
function readStored({ event }: StoredEvent): Event {
  const read = parseEvent(event);
  return read.ok ? read.event : event;
}

function changed(before: Session | null, { updatedAt, seal, epoch }: Session): boolean {
  return before === null || before.updatedAt !== updatedAt || before.seal !== seal || before.epoch !== epoch;
}

/** Of the past, what belongs to the present: the plan, what is open, and the last of what was said and done. */
function recent(events: readonly SessionEvent[], { turn }: Session): readonly SessionEvent[] {
  const since = turn?.startedAt ?? 0;
  const passing = events.filter(({ type }) => !standing.has(type));
  const last = new Set(passing.filter(({ at }) => at >= since).slice(-pastEvents));
  return events.filter((event) => standing.has(event.type) || last.has(event));
}

const standing: ReadonlySet<SessionEvent['type']> = new Set([
  'plan-changed',
  'usage',
  'check-started',
  'permission-asked',
  'worker-started',
]);
