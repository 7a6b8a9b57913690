// Everything that can happen to a session, as one table: the types of events and their reader come from it.
// Time and ids come inside the event, so that decide() needs neither a clock nor randomness. Adapters translate hosts'
// payloads into these; nothing here knows a host. The reader judges shape and size, never whether a plan is good.
import { didYouMean, excerpt } from './problem.ts';
import {
  choice,
  flag,
  type Infer,
  identifier,
  integer,
  isObject,
  type Kind,
  list as listOf,
  nullable,
  number,
  object,
  optional,
  read,
  taken,
  text as textOf,
  type Values,
  variant,
} from './schema.ts';
import { actors, priorities, todoStatuses } from './todo.ts';

/** In UTF-16 units, roughly a megabyte: a message, an error, the tail of a check. */
const longestText = 1_048_576;
const text = textOf(longestText);

/** Five times the largest plan that is allowed by default, so that the plan's own limit speaks first. */
function list<T>(of: Kind<T>): Kind<readonly T[]> {
  return listOf(of, 100_000);
}

/** Up to the last moment that a Date can hold; later ones cannot be shown. */
const moment: Kind<number> = {
  ...number(Number.MIN_VALUE, 8_640_000_000_000_000),
  expected: 'a time in milliseconds since 1970',
};

/**
 * The title of one todo of a list. A bad title costs its todo, not the list (T6), so that everything is read:
 * what is no text becomes the empty title, and an endless one is cut where it is still too long.
 */
const listedTitle = taken((value) => (typeof value === 'string' ? value.slice(0, longestText) : ''));

/** A status or priority of one todo: an unknown word, or what is no word, costs its todo as well (T6). */
const listedWord = optional(
  taken((value) => (typeof value === 'string' ? value.slice(0, 200) : excerpt(value))),
);

const hostMode = choice('asked', 'told');
/** `other`: a session of the host that is neither main nor subagent (titles, summaries …). */
const sessionKind = choice('main', 'subagent', 'other', 'unknown');
const knowledge = choice('yes', 'no', 'unknown');
const access = choice('read', 'write', 'todo', 'unknown');
const actor = choice(...actors);
/** How the model's last step ended. Only `normal`, `length` and `empty` may be continued (G2). */
const stopEnd = choice(
  'normal',
  'length',
  'empty',
  'error',
  'cancelled',
  'refusal',
  'content-filter',
  'iteration-budget',
);

/** How a worker's work on a todo ended. `interrupted`: by the human or by a crash, which is nobody's failure. */
export const workerResults = ['done', 'failed', 'timed-out', 'refused', 'interrupted'] as const;

/** `withdrawn`: nobody waits for the answer any more. */
export const permissionAnswers = ['once', 'session', 'always', 'no', 'withdrawn'] as const;

/** What an adapter knows about a session and its host. */
const descriptor = object({
  host: identifier,
  /** Which running instance of the host this session lives in; timers and outbox belong to its owner. */
  instance: identifier,
  mode: hostMode,
  kind: sessionKind,
  parentId: nullable(identifier),
  directory: nullable(text),
  /** Nobody sits at a terminal: an unanswered question ends `paused` instead of waiting. */
  headless: flag,
  /** A told host that is gone if it is not answered at once: no countdown, no minimum interval. */
  immediate: flag,
  /** The host has no agents without write access, so that "unknown" need not be treated as read-only (G4). */
  everyAgentWrites: flag,
  /** The host reports tool calls; without them idle claims cannot be told from honest ones. */
  seesTools: flag,
  /** Names under which the model can call these tools here; null: it cannot, and texts must not name them. */
  tools: object({
    pause: nullable(identifier),
    verify: nullable(identifier),
    /** Hands a todo to the worker that it is for; absent: there are no workers here. */
    delegate: optional(identifier),
  }),
});

const agentDescriptor = object({
  name: nullable(identifier),
  canWrite: knowledge,
  model: nullable(identifier),
  variant: nullable(identifier),
});
const agent = nullable(agentDescriptor);

const newTodo = object({
  id: identifier,
  title: listedTitle,
  context: optional(text),
  completionCriteria: optional(text),
  agentType: optional(text),
  priority: listedWord,
  /** 1-based position in the plan; default: at the end. */
  order: optional(integer(1)),
  checks: optional(list(identifier)),
  hostKey: optional(identifier),
  status: listedWord,
});

const writtenTodo = object({
  /** Our id or the host's; unknown ids fall back to the title. */
  id: optional(identifier),
  content: listedTitle,
  status: listedWord,
  priority: listedWord,
  reason: optional(text),
  /** The id a new row gets if nothing matches. */
  freshId: identifier,
});

const changes = object({
  status: optional(choice(...todoStatuses)),
  reason: optional(text),
  title: optional(text),
  context: optional(text),
  completionCriteria: optional(text),
  priority: optional(choice(...priorities)),
  agentType: optional(text),
});

const job = object({ id: identifier, kind: choice('shell', 'subagent'), description: text });

/** What a permission would allow: asked for by our own agent, which tells the model the answer itself. */
const permissionSubject = object({
  callId: identifier,
  tool: identifier,
  /** The command or the path, as the human is shown it. */
  subject: text,
  /** What a lasting answer would cover. */
  pattern: text,
});

const startedWait = variant('kind', {
  recovery: {},
  compaction: {},
  permission: {
    requestId: identifier,
    /** Absent: a host asks, and knows itself what for. */
    about: optional(permissionSubject),
  },
  question: { requestId: identifier },
  background: { job },
});

const endedWait = variant('kind', {
  recovery: {},
  compaction: {
    /** False when the context could not be made smaller. */
    shrunk: flag,
  },
  permission: {
    requestId: identifier,
    granted: flag,
    /** For how long it was said; absent: a host's answer. */
    remembered: optional(choice(...permissionAnswers)),
  },
  question: { requestId: identifier, rejected: flag },
  background: { jobId: identifier },
});

/** The engine's mark beside a fingerprint: this session has seen this state of the workspace before. */
const known = optional(flag);
/** null: a check of the goal. */
const todoOrGoal = nullable(identifier);
const fingerprint = nullable(identifier);
const epoch = integer(0);
const count = integer(0);

/** What an event says about where a host's turn stands. */
export const sourceKinds = ['prompt', 'work', 'stop', 'failure', 'open', 'side', 'list', 'gate'] as const;

const base = {
  /** Unique; an event with a known id is applied once, however often it is delivered. */
  id: identifier,
  sessionId: identifier,
  /** Milliseconds since 1970, taken when it happened. */
  at: moment,
  source: optional(object({ kind: choice(...sourceKinds), promptId: nullable(identifier) })),
};

const eventTable = {
  'session-opened': {
    descriptor,
    agent,
    /** Our own agent takes its session up again: the process that ran it before is gone. */
    resumed: optional(flag),
  },
  /** The host process or window went away; the session itself can come back. */
  'session-closed': {},
  'session-deleted': {},
  'human-spoke': {
    messageId: nullable(identifier),
    text: nullable(text),
    /** Becomes the turn's id if this message starts one. */
    turnId: identifier,
    agent,
    /** Workspace fingerprint at this moment, where one was taken: the baseline for progress. */
    fingerprint,
    known,
    /** Filled in by the engine: the policy snapshot that is valid from here on (V2). */
    policyHash: nullable(identifier),
    /** True: said while our own agent works; its loop takes the words up between two steps (T3). */
    queued: optional(flag),
  },
  /** Words that were queued stand in the conversation now. */
  'words-joined': { messageId: identifier },
  'human-aborted': { how: text },
  'human-paused': { reason: nullable(text) },
  'human-resumed': {},
  'model-paused': { reason: text },
  /** The host is doing something: it turned busy, or an assistant message appeared. */
  'activity-seen': {},
  'tool-started': {
    tool: identifier,
    access,
    /** The permission request that this call waited for; from here on the call has begun. */
    requestId: optional(identifier),
  },
  'tool-ended': {
    tool: identifier,
    access,
    /** The error's text when the call failed. */
    error: nullable(text),
  },
  'todos-created': { actor, items: list(newTodo) },
  'plan-written': { actor, items: list(writtenTodo) },
  'todo-updated': { actor, todoId: identifier, changes },
  'todo-completed': { actor, todoId: identifier, status: choice('completed', 'cancelled'), outcome: text },
  /** The agent hands a todo to a worker and waits for it (S4). */
  'delegation-started': {
    todoId: identifier,
    /** The session of the worker. */
    workerId: identifier,
    agentType: identifier,
    /** The call by which it was delegated: after a crash its result is found by it. */
    callId: identifier,
  },
  'delegation-ended': { workerId: identifier, result: choice(...workerResults), sentence: text },
  'check-started': { todoId: todoOrGoal, check: identifier },
  'check-finished': {
    todoId: todoOrGoal,
    check: identifier,
    /** waiting: only a human can answer it, and none has. */
    result: choice('passed', 'failed', 'waiting'),
    /** It failed first and passed when run once more: at best `claimed`. */
    flaky: flag,
    tail: nullable(text),
    /** State of the check's files; null: unknown, or not the same before and after. */
    fingerprint,
    /** It ran while the agent had stopped. */
    final: flag,
    /** Calls of writing tools that had ended when it was asked for; null: one was running. */
    writes: nullable(count),
  },
  /** Someone wants the results of what is claimed or running (M8). */
  'verification-asked': {
    /** null: all of them. */
    todoId: nullable(identifier),
  },
  /** Every check of a stop attempt has been looked at, those that had gone stale too (V2). */
  'final-run-ended': {
    stop: identifier,
    /** Files that say what is checked and were changed since the human's message: that counts from the next one. */
    edited: list(text),
  },
  /** The rows of the plan and its ledger do not agree (V4). */
  'record-broken': { sentence: text },
  /** An asked host's deadline came before the checks ended. */
  'checks-overdue': {},
  'workspace-seen': { fingerprint: identifier, known },
  'stop-attempted': {
    end: stopEnd,
    /** The final text ends in a question to the human (G11). */
    question: flag,
    fingerprint,
    known,
    /** Background work the host listed with the stop; null: it does not say, our own count holds. */
    background: nullable(list(job)),
    /** The last tool call before the stop failed with this error (P12). */
    toolError: nullable(text),
  },
  /** Something began that must end before a stop attempt can be answered (G3). */
  'wait-started': { wait: startedWait },
  'wait-ended': { wait: endedWait },
  'error-occurred': {
    kind: choice('rate-limit', 'overload', 'overflow', 'other'),
    /** What makes two errors the same error. */
    signature: text,
    message: text,
    retryAt: nullable(moment),
  },
  /** The host takes no further continuation of this turn, whatever we answer: its own limit was reached (V8). */
  'host-cap-reached': { cap: count },
  'loop-alarmed': { pattern: text },
  'usage-reported': {
    inputTokens: count,
    outputTokens: count,
    cost: nullable(number(0)),
    contextTokens: nullable(count),
    contextLimit: nullable(count),
  },
  'timer-fired': { epoch, dueAt: moment },
  /** What became of a continuation on its way into a told host (design: "Delivery"). */
  'delivery-reported': {
    epoch,
    /** lost: it was on its way when the process ended, and after the restart the host does not show it. */
    news: choice('sent', 'failed', 'observed', 'lost'),
    /** Why it failed. */
    error: nullable(text),
  },
} as const;

type Table = typeof eventTable;
export type EventType = keyof Table;
export type EventBase = Values<typeof base>;
export type EventOf<Type extends EventType> = {
  [T in Type]: EventBase & { readonly type: T } & Values<Table[T]>;
}[Type];
export type Event = EventOf<EventType>;

type WithoutSender<E> = E extends Event ? Omit<E, keyof EventBase | 'actor'> : never;
/** A change of the plan, without what its sender fills in. */
export type PlanChange = WithoutSender<
  EventOf<'todos-created' | 'plan-written' | 'todo-updated' | 'todo-completed'>
>;

export type SourceKind = (typeof sourceKinds)[number];
export type HostMode = Infer<typeof hostMode>;
export type SessionKind = Infer<typeof sessionKind>;
export type Knowledge = Infer<typeof knowledge>;
export type ToolAccess = Infer<typeof access>;
export type StopEnd = Infer<typeof stopEnd>;
export type WorkerResult = (typeof workerResults)[number];
export type PermissionAnswer = (typeof permissionAnswers)[number];
export type SessionDescriptor = Infer<typeof descriptor>;
export type AgentDescriptor = Infer<typeof agentDescriptor>;
export type NewTodo = Infer<typeof newTodo>;
export type WrittenTodo = Infer<typeof writtenTodo>;
export type TodoChanges = Infer<typeof changes>;
export type Job = Infer<typeof job>;
export type PermissionSubject = Infer<typeof permissionSubject>;

export type ParsedEvent =
  | { readonly ok: true; readonly event: Event }
  | { readonly ok: false; readonly sentence: string };

const kinds = new Map(
  Object.entries(eventTable).map(([type, fields]) => [type, object({ ...base, ...fields })]),
);

/** Makes an Event of anything: a line of an inbox, a plugin's object, a test's. Keys it does not know are left behind. */
export function parseEvent(value: unknown): ParsedEvent {
  try {
    if (!isObject(value)) return refuse(`An event must be an object, got ${excerpt(value)}.`);
    const type = Object.hasOwn(value, 'type') ? value['type'] : undefined;
    if (typeof type !== 'string') return refuse(`The type of an event must be a text, got ${excerpt(type)}.`);
    return Object.hasOwn(formerTypes, type) ? parseFormer(type, value) : parseFields(type, value);
  } catch {
    // Only a getter or proxy of the value can throw here: it is refused like any other value that cannot be read.
    return refuse('An event must be plain data, and this one cannot be read.');
  }
}

function parseFields(type: string, value: unknown): ParsedEvent {
  const kind = kinds.get(type);
  if (kind === undefined) {
    const sentence = didYouMean(`There is no event of the type ${excerpt(type)}`, type, [...kinds.keys()]);
    return refuse(sentence.endsWith('?') ? sentence : `${sentence}.`);
  }
  const fields = read<object>(kind, value, 1);
  if (fields.ok) {
    // The kind was chosen by the type and made from its row of the table.
    return { ok: true, event: { type: type as EventType, ...fields.value } as Event };
  }
  const [problem] = fields.problems;
  return refuse(`This ${type} event is not valid: ${problem?.path} ${problem?.message}.`);
}

function refuse(sentence: string): ParsedEvent {
  return { ok: false, sentence };
}

/** Types that 0.1.0 recorded: which type they are now, and by which word they are told apart there. */
const formerTypes: Readonly<
  Record<string, readonly ['wait-started' | 'wait-ended' | 'delivery-reported', string]>
> = {
  'recovery-started': ['wait-started', 'recovery'],
  'recovery-ended': ['wait-ended', 'recovery'],
  'compaction-started': ['wait-started', 'compaction'],
  'compaction-ended': ['wait-ended', 'compaction'],
  'permission-asked': ['wait-started', 'permission'],
  'permission-answered': ['wait-ended', 'permission'],
  'question-asked': ['wait-started', 'question'],
  'question-answered': ['wait-ended', 'question'],
  'background-started': ['wait-started', 'background'],
  'background-ended': ['wait-ended', 'background'],
  'injection-sent': ['delivery-reported', 'sent'],
  'injection-failed': ['delivery-reported', 'failed'],
  'injection-observed': ['delivery-reported', 'observed'],
  'injection-lost': ['delivery-reported', 'lost'],
};

function parseFormer(former: string, value: Record<string, unknown>): ParsedEvent {
  const [type, word] = formerTypes[former] ?? ['wait-started', former];
  const told = type === 'delivery-reported' ? { news: word } : { wait: { ...value, kind: word } };
  return parseFields(type, { ...value, ...told });
}
