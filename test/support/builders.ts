// Builds todos, sessions, events and rows for tests: valid as they are, every field can
// be overridden. Ids count up from one in the order of the calls, so that a failing test
// fails the same way again.
import type { Decision } from '../../src/core/decision.ts';
import type { EventOf, EventType } from '../../src/core/events.ts';
import {
  type HashFunction,
  type LedgerDraft,
  type LedgerEntry,
  linkEntry,
} from '../../src/core/ledger.ts';
import { createState, type State } from '../../src/core/state.ts';
import { normaliseTitle, type Todo } from '../../src/core/todo.ts';
import type { OutboxRow, StoredDecision, UsageRow } from '../../src/engine/store.ts';

/**
 * The time of everything that is built, unless a test says otherwise:
 * 2026-01-01T00:00:00Z.
 */
export const builtAt = 1_767_225_600_000;

let built = 0;

/** Looks like a UUID (v7) and sorts in the order of the calls. */
function nextTestId(): string {
  built += 1;
  return `00000000-0000-7000-8000-${String(built).padStart(12, '0')}`;
}

/** Starts counting from one again, for tests that compare ids with literals. */
export function aTodo(overrides: Partial<Todo> = {}): Todo {
  const id = overrides.id ?? nextTestId();
  const title = overrides.title ?? `Todo ${built}`;
  return {
    id,
    planId: 'session-1',
    sessionId: 'session-1',
    turnId: 'turn-1',
    hostKey: null,
    title,
    titleKey: normaliseTitle(title),
    context: null,
    completionCriteria: null,
    agentType: null,
    status: 'pending',
    priority: 'medium',
    order: built * 1024,
    outcome: null,
    reason: null,
    attempts: 0,
    verification: 'none',
    checks: [],
    failureTail: null,
    evidence: [],
    droppedAt: null,
    droppedNamedAt: null,
    createdAt: builtAt,
    startedAt: null,
    completedAt: null,
    finalAt: null,
    passedAt: null,
    late: false,
    createdWork: 0,
    endedIn: null,
    workerFailures: 0,
    ...overrides,
  };
}

/** A main session in a told host whose agents may write. */
export function aSession(overrides: Partial<State> = {}): State {
  const session = createState(overrides.id ?? 'session-1', builtAt);
  return {
    ...session,
    descriptor: {
      host: 'scripted',
      instance: 'instance-1',
      mode: 'told',
      kind: 'main',
      parentId: null,
      directory: '/workspace',
      headless: false,
      immediate: false,
      everyAgentWrites: true,
      seesTools: true,
      tools: { pause: 'todo_pause', verify: 'todo_verify' },
    },
    agent: { name: 'builder', canWrite: 'yes', model: 'scripted/model', variant: null },
    ...overrides,
  };
}

export function aDecision(overrides: Partial<Decision> = {}): Decision {
  return {
    answer: 'continue',
    reason: 'continue',
    sentence: 'One todo is open.',
    inputs: { open: 1 },
    outcome: null,
    textKind: 'standard',
    level: 1,
    dueAt: null,
    observed: false,
    epoch: 1,
    ...overrides,
  };
}

export function aStoredDecision(
  overrides: Partial<Omit<StoredDecision, 'sequence'>> = {},
): Omit<StoredDecision, 'sequence'> {
  return {
    sessionId: 'session-1',
    turnId: 'turn-1',
    eventId: overrides.eventId ?? nextTestId(),
    at: builtAt,
    policyHash: null,
    decision: aDecision(),
    ...overrides,
  };
}

export function anOutboxRow(overrides: Partial<OutboxRow> = {}): OutboxRow {
  return {
    sessionId: 'session-1',
    epoch: 1,
    instance: 'instance-1',
    mode: 'told',
    text: 'Go on with the next todo.',
    state: 'intended',
    attempts: 0,
    createdAt: builtAt,
    updatedAt: builtAt,
    ...overrides,
  };
}

export function aUsageRow(overrides: Partial<UsageRow> = {}): UsageRow {
  return {
    sessionId: 'session-1',
    turnId: 'turn-1',
    at: builtAt,
    inputTokens: 100,
    outputTokens: 20,
    cost: 0.01,
    ...overrides,
  };
}

export function aLedgerDraft(overrides: Partial<LedgerDraft> = {}): LedgerDraft {
  return {
    planId: 'session-1',
    sessionId: 'session-1',
    host: 'scripted',
    actor: 'agent',
    at: builtAt,
    change: 'created',
    todoId: null,
    detail: {},
    ...overrides,
  };
}

/** Links drafts into a chain that begins behind `last`. */
export function aLedger(
  drafts: readonly LedgerDraft[],
  hash: HashFunction,
  last: Pick<LedgerEntry, 'sequence' | 'hash'> | null = null,
): LedgerEntry[] {
  const entries: LedgerEntry[] = [];
  for (const draft of drafts)
    entries.push(linkEntry(draft, entries.at(-1) ?? last, hash));
  return entries;
}

type Details<T extends EventType> = Omit<EventOf<T>, 'id' | 'sessionId' | 'at' | 'type'>;

function eventBuilder<T extends EventType>(type: T, defaults: Details<T>) {
  return (overrides: Partial<Omit<EventOf<T>, 'type'>> = {}): EventOf<T> => {
    const id = overrides.id ?? nextTestId();
    // One generic shape for every event type: the compiler checks `defaults` at each call
    // below.
    return {
      id,
      sessionId: 'session-1',
      at: builtAt,
      type,
      ...defaults,
      ...overrides,
    } as EventOf<T>;
  };
}

/** `anEvent.stopAttempted({ at: 5 })`: one builder per event type, named after it. */
export const anEvent = {
  sessionOpened: eventBuilder('session-opened', {
    descriptor: aSession().descriptor,
    agent: aSession().agent,
  }),
  sessionClosed: eventBuilder('session-closed', {}),
  sessionDeleted: eventBuilder('session-deleted', {}),
  humanSpoke: eventBuilder('human-spoke', {
    messageId: null,
    text: 'Please do the work.',
    turnId: 'turn-1',
    agent: null,
    fingerprint: null,
    policyHash: null,
  }),
  humanAborted: eventBuilder('human-aborted', { how: 'escape' }),
  humanPaused: eventBuilder('human-paused', { reason: null }),
  humanResumed: eventBuilder('human-resumed', {}),
  modelPaused: eventBuilder('model-paused', { reason: 'A human has to decide.' }),
  activitySeen: eventBuilder('activity-seen', {}),
  toolStarted: eventBuilder('tool-started', { tool: 'edit', access: 'write' }),
  toolEnded: eventBuilder('tool-ended', { tool: 'edit', access: 'write', error: null }),
  todosCreated: eventBuilder('todos-created', { actor: 'agent', items: [] }),
  planWritten: eventBuilder('plan-written', { actor: 'agent', items: [] }),
  todoUpdated: eventBuilder('todo-updated', {
    actor: 'agent',
    todoId: 'todo-1',
    changes: { status: 'in_progress' },
  }),
  todoCompleted: eventBuilder('todo-completed', {
    actor: 'agent',
    todoId: 'todo-1',
    status: 'completed',
    outcome: 'It works.',
  }),
  checkStarted: eventBuilder('check-started', { todoId: null, check: 'unit' }),
  checkFinished: eventBuilder('check-finished', {
    todoId: null,
    check: 'unit',
    result: 'passed',
    flaky: false,
    tail: null,
    fingerprint: null,
    final: true,
    writes: null,
  }),
  checksOverdue: eventBuilder('checks-overdue', {}),
  workspaceSeen: eventBuilder('workspace-seen', { fingerprint: 'tree-1' }),
  stopAttempted: eventBuilder('stop-attempted', {
    end: 'normal',
    question: false,
    fingerprint: null,
    background: null,
    toolError: null,
  }),
  waitStarted: eventBuilder('wait-started', { wait: { kind: 'recovery' } }),
  waitEnded: eventBuilder('wait-ended', { wait: { kind: 'recovery' } }),
  errorOccurred: eventBuilder('error-occurred', {
    kind: 'other',
    signature: 'TypeError',
    message: 'It broke.',
    retryAt: null,
  }),
  hostCapReached: eventBuilder('host-cap-reached', { cap: 8 }),
  loopAlarmed: eventBuilder('loop-alarmed', { pattern: 'edit edit edit' }),
  usageReported: eventBuilder('usage-reported', {
    inputTokens: 100,
    outputTokens: 20,
    cost: 0.01,
    contextTokens: null,
    contextLimit: null,
  }),
  timerFired: eventBuilder('timer-fired', { epoch: 1, dueAt: builtAt }),
  deliveryReported: eventBuilder('delivery-reported', {
    epoch: 1,
    news: 'sent',
    error: null,
  }),
};
