// All that can happen to a session, as one table. The reader judges shape and size, never
// whether a plan is good.
import type { CheckSpec } from './check-specs.ts';
import { didYouMean, excerpt, withFullStop } from './problem.ts';
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
  ownValue,
  read,
  taken,
  text as textOf,
  type Values,
  variant,
} from './schema.ts';
import { actors, priorities, todoStatuses, verifications } from './todo.ts';

/** UTF-16 units, roughly a megabyte. */
const longestText = 1_048_576;
const text = textOf(longestText);

/** Five times the default limit of a plan, which speaks first. */
const list = <T>(of: Kind<T>) => listOf(of, 100_000);

/** The last moment that a Date can hold. */
const moment: Kind<number> = {
  ...number(Number.MIN_VALUE, 8_640_000_000_000_000),
  expected: 'a time in milliseconds since 1970',
};

/**
 * A bad title costs its todo, not the list (T6): no text becomes '', an endless one stays
 * too long.
 */
const listedTitle = taken((value) =>
  typeof value === 'string' ? value.slice(0, longestText) : '',
);

const listedWord = optional(
  taken((word) => (typeof word === 'string' ? word.slice(0, 200) : excerpt(word))),
);

export const access = choice('read', 'write', 'todo', 'unknown');
const actor = choice(...actors);
/** Only `normal`, `length` and `empty` may be continued (G2). */
export const stopEnd = choice(
  'normal',
  'length',
  'empty',
  'error',
  'cancelled',
  'refusal',
  'content-filter',
  'iteration-budget',
);

/** `interrupted`: by the human or a crash, nobody's failure. */
export const workerResults = [
  'done',
  'failed',
  'timed-out',
  'refused',
  'interrupted',
] as const;
/** `withdrawn`: nobody waits for the answer any more. */
const permissionAnswer = choice('once', 'session', 'always', 'no', 'withdrawn');

const descriptor = object({
  host: identifier,
  /** It owns timers and outbox. */
  instance: identifier,
  mode: choice('asked', 'told'),
  /** `other`: neither main nor subagent (titles, summaries …). */
  kind: choice('main', 'subagent', 'other', 'unknown'),
  parentId: nullable(identifier),
  directory: nullable(text),
  /** An unanswered question ends `paused`. */
  headless: flag,
  /** A told host that is gone if not answered at once: no countdown. */
  immediate: flag,
  /** "unknown" is not read-only (G4). */
  everyAgentWrites: flag,
  /** If not, a bulk claim cannot be told from an honest one. */
  seesTools: flag,
  /**
   * A run that answers for its goal: checks on it are due in every turn, and words of the
   * human join the turn while anything is open (V1, T3). In hosts a turn may be about
   * something else.
   */
  judgesGoal: optional(flag),
  /**
   * The program that `run --with` drives in this session: which host it is, the host's id
   * for the conversation (null: not known yet), and what every start of it is given
   * again.
   */
  driven: optional(
    object({
      host: identifier,
      id: nullable(identifier),
      mode: identifier,
      flags: list(text),
    }),
  ),
  /** Their names for the model; null: texts must not name it. */
  tools: object({
    pause: nullable(identifier),
    verify: nullable(identifier),
    /** Hands a todo to its worker; absent: there are none. */
    delegate: optional(identifier),
    /** Waits for a background job. */
    wait: optional(identifier),
  }),
});

const agentDescriptor = object({
  name: nullable(identifier),
  canWrite: choice('yes', 'no', 'unknown'),
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
  /** 1-based position; default: at the end. */
  order: optional(integer(1)),
  checks: optional(list(identifier)),
  hostKey: optional(identifier),
  status: listedWord,
});

const writtenTodo = object({
  /** Ours or the host's; if unknown, the title counts. */
  id: optional(identifier),
  content: listedTitle,
  status: listedWord,
  priority: listedWord,
  reason: optional(text),
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
  /** Of a file that the human names; what an agent says here is ignored (V3). */
  checks: optional(list(identifier)),
});

/** As it stands in the session that gives it away; its id is new. */
const movedTodo = object({
  id: identifier,
  title: text,
  context: nullable(text),
  completionCriteria: nullable(text),
  agentType: nullable(text),
  status: choice(...todoStatuses),
  priority: choice(...priorities),
  outcome: nullable(text),
  reason: nullable(text),
  attempts: integer(0),
  verification: choice(...verifications),
  checks: list(identifier),
  failureTail: nullable(text),
  evidence: list(
    object({ check: identifier, fingerprint: nullable(identifier), flaky: flag }),
  ),
  startedAt: nullable(moment),
  completedAt: nullable(moment),
  finalAt: nullable(moment),
  passedAt: nullable(moment),
});

const job = object({
  id: identifier,
  kind: choice('shell', 'subagent'),
  description: text,
});
const permissionSubject = object({
  callId: identifier,
  tool: identifier,
  subject: text,
  pattern: text,
});

const startedWait = variant('kind', {
  recovery: {},
  compaction: {},
  permission: {
    requestId: identifier,
    /** Absent: a host asks, and shows it itself. */
    about: optional(permissionSubject),
  },
  question: { requestId: identifier },
  background: { job },
});

const endedWait = variant('kind', {
  recovery: {},
  compaction: { shrunk: flag },
  permission: {
    requestId: identifier,
    granted: flag,
    /** Absent: a host's answer. */
    remembered: optional(permissionAnswer),
  },
  question: { requestId: identifier, rejected: flag },
  background: { jobId: identifier },
});

/** Set by the engine: this state of the workspace was seen before. */
const known = optional(flag);
const todoOrGoal = nullable(identifier);
const fingerprint = nullable(identifier);
const epoch = integer(0);
const count = integer(0);
const sourceKind = choice(
  'prompt',
  'work',
  'stop',
  'failure',
  'open',
  'side',
  'list',
  'gate',
);
/**
 * The hook that says it, and which stop it is asked about; times of a clock that nobody
 * sets.
 */
const asking = object({
  by: identifier,
  about: identifier,
  since: number(0),
  until: number(0),
});

const base = {
  /** An event with a known id is applied once, however often it is delivered. */
  id: identifier,
  sessionId: identifier,
  at: moment,
  source: optional(
    object({
      kind: sourceKind,
      promptId: nullable(identifier),
      asking: optional(asking),
    }),
  ),
};

const eventTable = {
  'session-opened': {
    descriptor,
    agent,
    /** The process of our own agent that ran it is gone. */
    resumed: optional(flag),
  },
  /** The session can come back. */
  'session-closed': {},
  'session-deleted': {},
  'human-spoke': {
    messageId: nullable(identifier),
    text: nullable(text),
    turnId: identifier,
    /**
     * The host knows that none runs which it could join: the last one ended, was broken
     * off or died with its program.
     */
    turnIsOver: optional(flag),
    agent,
    /** Where one was taken: the baseline for progress. */
    fingerprint,
    known,
    /** Filled in by the engine: the policy snapshot from here on (V2). */
    policyHash: nullable(identifier),
    /** Our own loop takes it up between two steps (T3). */
    queued: optional(flag),
    /**
     * Set by the engine where `at` is later: what the clock showed, which files are
     * stamped by.
     */
    clock: optional(moment),
  },
  'words-joined': { messageId: identifier },
  'human-aborted': { how: text },
  'human-paused': { reason: nullable(text) },
  'human-resumed': {
    /** The policy of a run that is taken up; null: the policy of now is recorded. */
    policyHash: optional(nullable(identifier)),
    /** The agent is started again, and the turn that had ended goes on. */
    goesOn: optional(flag),
  },
  'model-paused': {
    reason: text,
    /** The agent called `untildone stop` or `untildone pause`, and not `todo_pause`. */
    byCommand: optional(flag),
  },
  'activity-seen': {
    /** The host itself sent its agent to work, such as when a background job ended. */
    wakes: optional(flag),
  },
  'tool-started': { tool: identifier, access, requestId: optional(identifier) },
  'tool-ended': { tool: identifier, access, error: nullable(text) },
  'todos-created': { actor, items: list(newTodo) },
  'plan-written': { actor, items: list(writtenTodo) },
  'todo-updated': { actor, todoId: identifier, changes },
  'todo-completed': {
    actor,
    todoId: identifier,
    status: choice('completed', 'cancelled'),
    outcome: text,
  },
  /**
   * By the human, to another session: this one has none any more. `to` is in words for
   * people.
   */
  'plan-moved': { to: text },
  'plan-taken': {
    from: text,
    title: nullable(text),
    todos: list(movedTodo),
    /** What the human let prove it, as it was frozen there. */
    checks: list(taken((value) => value as CheckSpec)),
    goalChecks: list(identifier),
    /** What holds here, with these checks. */
    policyHash: nullable(identifier),
  },
  'delegation-started': {
    todoId: identifier,
    workerId: identifier,
    agentType: identifier,
    /** By it the result is found after a crash. */
    callId: identifier,
  },
  'delegation-ended': {
    workerId: identifier,
    result: choice(...workerResults),
    sentence: text,
  },
  'check-started': { todoId: todoOrGoal, check: identifier },
  'check-finished': {
    todoId: todoOrGoal,
    check: identifier,
    /**
     * waiting: for a human who has not answered. cannot-start: there is no such program
     * or file (yet).
     */
    result: choice('passed', 'failed', 'waiting', 'cannot-start'),
    /** It passed only when run again: at best `claimed`. */
    flaky: flag,
    tail: nullable(text),
    /** null: unknown, or changed meanwhile. */
    fingerprint,
    /** Of all files, as the run left them. */
    tree: optional(fingerprint),
    final: flag,
    /** Writing calls that had ended when it was asked for; null: one was running. */
    writes: nullable(count),
  },
  /** How things stood before the first model call (V1). More checks may come later. */
  'baseline-seen': {
    fingerprint,
    checks: list(
      object({ check: identifier, result: choice('passed', 'failed', 'cannot-start') }),
    ),
  },
  /** Someone wants the results of what is claimed or running (M8). */
  'verification-asked': { todoId: nullable(identifier) },
  /** Every check was looked at, stale ones too (V2). */
  'final-run-ended': {
    stop: identifier,
    /** Configuration that counts from the human's next message. */
    edited: list(text),
    /** Files that count although they are ignored by now. */
    hidden: optional(list(text)),
  },
  /**
   * The human named other checks on the goal: those of before say nothing any more (V1).
   */
  'checks-replaced': { checks: list(identifier) },
  'record-broken': { sentence: text },
  /** An asked host's deadline came before the checks ended. */
  'checks-overdue': {},
  'workspace-seen': { fingerprint: identifier, known },
  'stop-attempted': {
    end: stopEnd,
    question: flag,
    fingerprint,
    known,
    /** null: the host does not say, our own count holds. */
    background: nullable(list(job)),
    toolError: nullable(text),
  },
  /** It must end before a stop attempt can be answered (G3). */
  'wait-started': { wait: startedWait },
  'wait-ended': { wait: endedWait },
  'error-occurred': {
    kind: choice('rate-limit', 'overload', 'overflow', 'other'),
    signature: text,
    message: text,
    retryAt: nullable(moment),
  },
  /** The host takes no further continuation of this turn (V8). */
  'host-cap-reached': {
    cap: count,
    /** What a human can type to go on all the same. */
    goOn: optional(text),
  },
  'loop-alarmed': { pattern: text },
  'usage-reported': {
    inputTokens: count,
    outputTokens: count,
    cost: nullable(number(0)),
    contextTokens: nullable(count),
    contextLimit: nullable(count),
  },
  'timer-fired': { epoch, dueAt: moment },
  /** Told hosts (design: "Delivery"). */
  'delivery-reported': {
    epoch,
    /** lost: our process ended meanwhile. */
    news: choice('sent', 'failed', 'observed', 'lost'),
    error: nullable(text),
  },
} as const;

type Table = typeof eventTable;
export type EventType = keyof Table;
export const eventTypes = Object.keys(eventTable) as readonly EventType[];
export type EventBase = Values<typeof base>;
export type EventOf<Type extends EventType> = {
  [T in Type]: EventBase & { readonly type: T } & Values<Table[T]>;
}[Type];
/** One thing that happened to a session. */
export type Event = EventOf<EventType>;

/** Before it has its id, time and session. */
export type Draft<Kind> = Kind extends unknown
  ? Omit<Kind, 'id' | 'sessionId' | 'at'>
  : never;

type WithoutSender<E> = E extends Event ? Omit<E, keyof EventBase | 'actor'> : never;
export type PlanChange = WithoutSender<
  EventOf<'todos-created' | 'plan-written' | 'todo-updated' | 'todo-completed'>
>;

export type SourceKind = Infer<typeof sourceKind>;
export type Asking = Infer<typeof asking>;
export type HostMode = SessionDescriptor['mode'];
export type ToolAccess = Infer<typeof access>;
export type StopEnd = Infer<typeof stopEnd>;
export type WorkerResult = (typeof workerResults)[number];
export type PermissionAnswer = Infer<typeof permissionAnswer>;
export type SessionDescriptor = Infer<typeof descriptor>;
export type AgentDescriptor = Infer<typeof agentDescriptor>;
export type NewTodo = Infer<typeof newTodo>;
export type WrittenTodo = Infer<typeof writtenTodo>;
export type MovedTodo = Infer<typeof movedTodo>;
export type TodoChanges = Infer<typeof changes>;
export type Job = Infer<typeof job>;
export type PermissionSubject = Infer<typeof permissionSubject>;

export type ParsedEvent =
  | Readonly<{ ok: true; event: Event }>
  | Readonly<{ ok: false; sentence: string }>;

const kinds = new Map(
  Object.entries(eventTable).map(([type, own]) => [type, object({ ...base, ...own })]),
);

/** Reads an event from outside: the event, or one sentence that names the wrong field. */
export function parseEvent(value: unknown): ParsedEvent {
  try {
    if (!isObject(value))
      return refuse(`An event must be an object, got ${excerpt(value)}.`);
    const type = ownValue(value, 'type');
    if (typeof type !== 'string')
      return refuse(`The type of an event must be a text, got ${excerpt(type)}.`);
    return parseFields(type, value);
  } catch {
    // Safe: only a getter or proxy can throw here, and the value is refused.
    return refuse('An event must be plain data, and this one cannot be read.');
  }
}

function parseFields(type: string, value: unknown): ParsedEvent {
  const kind = kinds.get(type);
  if (kind === undefined) {
    const sentence = didYouMean(`There is no event of the type ${excerpt(type)}`, type, [
      ...kinds.keys(),
    ]);
    return refuse(withFullStop(sentence));
  }
  const fields = read<object>(kind, value, 1);
  if (fields.ok)
    return { ok: true, event: { type: type as EventType, ...fields.value } as Event };
  const [problem] = fields.problems;
  return refuse(
    withFullStop(`This ${type} event is not valid: ${problem?.path} ${problem?.message}`),
  );
}

function refuse(sentence: string): ParsedEvent {
  return { ok: false, sentence };
}
