// Looks at a session in the store and tells what is new since the last look, as the events of a run. It only reads,
// and what has not changed costs a few indexed rows.
import type { Event } from '../../core/events.ts';
import type { Session } from '../../core/session.ts';
import type { Clock } from '../../engine/clock.ts';
import type { Store, StoredDecision, StoreReader } from '../../engine/store.ts';
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

  async function newEvents(reader: StoreReader): Promise<Event[]> {
    const fresh: Event[] = [];
    for (;;) {
      const page = await reader.appliedEvents(sessionId, applied, pageSize);
      fresh.push(...page.map(({ event }) => event));
      applied = page.at(-1)?.applied ?? applied;
      if (page.length < pageSize) break;
    }
    return [...fresh, ...(await reader.pendingEvents(sessionId))];
  }

  async function newDecisions(reader: StoreReader, session: Session): Promise<SessionEvent[]> {
    const recent = await reader.decisions(sessionId, recentDecisions);
    const fresh = recent.filter(({ sequence }) => sequence > lastDecision).reverse();
    lastDecision = recent[0]?.sequence ?? lastDecision;
    const sent = fresh.filter(({ decision }) => decision.answer === 'continue');
    const first = session.counters.total - sent.length + 1;
    const textOf = async ({ decision }: StoredDecision): Promise<string> =>
      (await reader.outboxRow(sessionId, decision.epoch))?.text ?? '';
    return Promise.all(
      fresh.map(async (row) =>
        decisionEvent(row, await textOf(row), Math.max(1, first + Math.max(0, sent.indexOf(row)))),
      ),
    );
  }

  async function newChecks(reader: StoreReader, session: Session): Promise<SessionEvent[]> {
    const { directory } = session.descriptor;
    const active = directory === null ? [] : await reader.activeCheckRuns(directory);
    const seen = (await reader.evidence(sessionId, recentEvidence))
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

  async function newPlan(reader: StoreReader, session: Session): Promise<SessionEvent[]> {
    const todos = await reader.todosOfPlan(session.planId);
    const titleOf = (todoId: string): string => todos.find(({ id }) => id === todoId)?.title ?? '';
    const workers = delegationEvents(known, session, titleOf);
    const event = planEvent(todos, session);
    const plan = event.type === 'plan-changed' ? JSON.stringify(event.todos) : '';
    if (plan === shownPlan || (shownPlan === '' && todos.length === 0)) return workers;
    shownPlan = plan;
    return [event, ...workers];
  }

  async function read(reader: StoreReader): Promise<readonly SessionEvent[] | null> {
    const session = await reader.session(sessionId);
    if (session === null) return null;
    const isOurs = session.descriptor.host === 'untildone';
    events ??= createStoredEvents(!isOurs);
    const isFirst = known === null;
    const fresh = await newEvents(reader);
    const found: SessionEvent[] = [
      ...events.take(fresh),
      ...permissions.take(fresh, session, clock.now()),
      ...(await newChecks(reader, session)),
    ];
    const rows = isOurs ? await reader.messages(sessionId, lastMessage) : [];
    lastMessage = rows.at(-1)?.sequence ?? lastMessage;
    if (isOurs) found.push(...messages.take(rows, await reader.unsettledCalls(sessionId), fresh));
    const decisions: SessionEvent[] = [];
    if (isFirst || changed(known, session)) {
      found.push(...(await newPlan(reader, session)));
      decisions.push(...(await newDecisions(reader, session)));
      if (session.usage.tokens > 0 && session.usage.tokens !== known?.usage.tokens)
        found.push(usageEvent(await reader.usage(sessionId), session));
    }
    if (isOurs) found.push(...(await worker.look(reader, session, isFirst)));
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

  return { look: () => store.read(read) };
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
