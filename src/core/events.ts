// Every event that can happen to a session, as one table. The reader judges the shape and
// the size of an event, and never whether its plan is good.
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

/** In UTF-16 units: roughly a megabyte. */
const longestText = 1_048_576;
const text = textOf(longestText);

/** Five times the default limit of a plan, so that the plan's own limit speaks first. */
const list = <T>(of: Kind<T>) => listOf(of, 100_000);

/** Up to the last moment that a Date can hold. */
const moment: Kind<number> = {
  ...number(Number.MIN_VALUE, 8_640_000_000_000_000),
  expected: 'a time in milliseconds since 1970',
};

/**
 * A bad title costs its todo and not the list (T6): a value that is no text becomes '',
 * and an endless text stays too long.
 */
const listedTitle = taken((value) =>
  typeof value === 'string' ? value.slice(0, longestText) : '',
);

const listedWord = optional(
  taken((word) => (typeof word === 'string' ? word.slice(0, 200) : excerpt(word))),
);

/** Whether a tool only reads, may write, or edits the plan. */
export const access = choice('read', 'write', 'todo', 'unknown');
const actor = choice(...actors);
/** How a step ended. Only `normal`, `length` and `empty` may be continued (G2). */
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

/**
 * How a worker ended. If the human or a crash `interrupted` it, that is nobody's failure.
 */
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
  /** The process that owns the timers and the outbox. */
  instance: identifier,
  mode: choice('asked', 'told'),
  /** `other`: neither a main session nor a subagent, such as one that writes titles. */
  kind: choice('main', 'subagent', 'other', 'unknown'),
  parentId: nullable(identifier),
  directory: nullable(text),
  /** Nobody is at a terminal, so an unanswered question ends the turn as `paused`. */
  headless: flag,
  /** A told host that is gone if it gets no answer at once, so there is no countdown. */
  immediate: flag,
  /** An agent with unknown rights does not count as read-only (G4). */
  everyAgentWrites: flag,
  /**
   * Tool calls are reported. Without them a bulk claim cannot be told from an honest one.
   */
  seesTools: flag,
  /**
   * A run that answers for its goal: the checks on the goal are due in every turn, and
   * words of the human join the turn while anything is open (V1, T3). In a host, a turn
   * may be about something else.
   */
  judgesGoal: optional(flag),
  /**
   * The program that `run --with` drives in this session: which host it is, the host's id
   * for the conversation (null: not known yet), and the mode and flags that each start of
   * it gets again.
   */
  driven: optional(
    object({
      host: identifier,
      id: nullable(identifier),
      mode: identifier,
      flags: list(text),
    }),
  ),
  /** The model's names for these tools; null: texts must not name the tool. */
  tools: object({
    pause: nullable(identifier),
    verify: nullable(identifier),
    /** The tool that hands a todo to its worker; absent: there are no workers. */
    delegate: optional(identifier),
    /** The tool that waits for a background job. */
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
  /** The 1-based position; absent: at the end. */
  order: optional(integer(1)),
  checks: optional(list(identifier)),
  hostKey: optional(identifier),
  status: listedWord,
});

const writtenTodo = object({
  /** Our id or the host's; if it is unknown, the title counts. */
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
  /**
   * For a file that the human names; checks that an agent gives here are ignored (V3).
   */
  checks: optional(list(identifier)),
});

/** A todo as it stands in the session that gives it away; its id is new. */
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
    /** Absent: the host asks, and shows the request itself. */
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
    /** Absent: the answer was given in a host. */
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
 * The hook that asks, and the stop that it asks about. The times come from a clock that
 * nobody can set.
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
    /** The process of our own agent that ran the session is gone. */
    resumed: optional(flag),
  },
  /** A closed session can come back. */
  'session-closed': {},
  'session-deleted': {},
  'human-spoke': {
    messageId: nullable(identifier),
    text: nullable(text),
    turnId: identifier,
    /**
     * The host knows that no turn runs which the message could join: the last one ended,
     * was broken off or died with its program.
     */
    turnIsOver: optional(flag),
    agent,
    /** The workspace at that moment, if it was looked at: the baseline for progress. */
    fingerprint,
    known,
    /** Filled in by the engine: the policy that holds from here on (V2). */
    policyHash: nullable(identifier),
    /** Our own loop takes the message up between two steps (T3). */
    queued: optional(flag),
    /**
     * Set by the engine if `at` is later than the clock: the time of the clock, which
     * files are stamped with.
     */
    clock: optional(moment),
  },
  'words-joined': { messageId: identifier },
  'human-aborted': { how: text },
  'human-paused': { reason: nullable(text) },
  'human-resumed': {
    /** The policy of the run that is taken up; null: the present policy is recorded. */
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
   * The human moved the plan to another session, so this one has none any more. `to` is
   * in words for people.
   */
  'plan-moved': { to: text },
  'plan-taken': {
    from: text,
    title: nullable(text),
    todos: list(movedTodo),
    /** The checks that the human accepted as proof, as they were frozen there. */
    checks: list(taken((value) => value as CheckSpec)),
    goalChecks: list(identifier),
    /** The policy that holds here together with these checks. */
    policyHash: nullable(identifier),
  },
  'delegation-started': {
    todoId: identifier,
    workerId: identifier,
    agentType: identifier,
    /** The call by which the result is found after a crash. */
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
     * `waiting`: a human has not answered yet. `cannot-start`: the program or the file
     * does not exist (yet).
     */
    result: choice('passed', 'failed', 'waiting', 'cannot-start'),
    /** The check passed only when it ran again: the outcome is `claimed` at best. */
    flaky: flag,
    tail: nullable(text),
    /** Null: unknown, or the files changed meanwhile. */
    fingerprint,
    /** The fingerprint of all files, as the run left them. */
    tree: optional(fingerprint),
    final: flag,
    /**
     * How many writing calls had ended when the check was asked for; null: one was
     * running.
     */
    writes: nullable(count),
  },
  /**
   * How the checks stood before the first call of the model (V1). More of them may come
   * later.
   */
  'baseline-seen': {
    fingerprint,
    checks: list(
      object({ check: identifier, result: choice('passed', 'failed', 'cannot-start') }),
    ),
  },
  /** Someone asks for the results of todos that are claimed or being checked (M8). */
  'verification-asked': { todoId: nullable(identifier) },
  /** Every check was looked at, the stale ones too (V2). */
  'final-run-ended': {
    stop: identifier,
    /** Changed configuration that counts only from the human's next message. */
    edited: list(text),
    /** Files that are ignored by now and count all the same. */
    hidden: optional(list(text)),
  },
  /**
   * The human named other checks on the goal: results of the earlier ones do not count
   * (V1).
   */
  'checks-replaced': { checks: list(identifier) },
  'record-broken': { sentence: text },
  /** The deadline of an asked host came before the checks ended. */
  'checks-overdue': {},
  'workspace-seen': { fingerprint: identifier, known },
  'stop-attempted': {
    end: stopEnd,
    question: flag,
    fingerprint,
    known,
    /** Null: the host does not say, so our own count holds. */
    background: nullable(list(job)),
    toolError: nullable(text),
  },
  /** This wait must end before a stop attempt can be answered (G3). */
  'wait-started': { wait: startedWait },
  'wait-ended': { wait: endedWait },
  'error-occurred': {
    kind: choice('rate-limit', 'overload', 'overflow', 'other'),
    signature: text,
    message: text,
    retryAt: nullable(moment),
  },
  /** The host takes no further continuation in this turn (V8). */
  'host-cap-reached': {
    cap: count,
    /** What a human can type so that the agent goes on all the same. */
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
  /** News about a text that was sent to a told host. */
  'delivery-reported': {
    epoch,
    /** `lost`: our process ended meanwhile. */
    news: choice('sent', 'failed', 'observed', 'lost'),
    error: nullable(text),
  },
} as const;

type Table = typeof eventTable;
/** The name of an event. */
export type EventType = keyof Table;
/** The names of all events. */
export const eventTypes = Object.keys(eventTable) as readonly EventType[];
/** The fields that every event has. */
export type EventBase = Values<typeof base>;
/** The event with this name. */
export type EventOf<Type extends EventType> = {
  [T in Type]: EventBase & { readonly type: T } & Values<Table[T]>;
}[Type];
/** One thing that happened to a session. */
export type Event = EventOf<EventType>;

/** An event before it has its id, time and session. */
export type Draft<Kind> = Kind extends unknown
  ? Omit<Kind, 'id' | 'sessionId' | 'at'>
  : never;

type WithoutSender<E> = E extends Event ? Omit<E, keyof EventBase | 'actor'> : never;
/** A change of the plan before it has an id, a time and an actor. */
export type PlanChange = WithoutSender<
  EventOf<'todos-created' | 'plan-written' | 'todo-updated' | 'todo-completed'>
>;

/** Which part of a host reports an event. */
export type SourceKind = Infer<typeof sourceKind>;
/** The hook that asks about a stop. */
export type StopQuestion = Infer<typeof asking>;
/** Whether a host asks us when it stops, or only tells us. */
export type HostMode = SessionDescriptor['mode'];
/** What a tool may do. */
export type ToolAccess = Infer<typeof access>;
/** How a step ended. */
export type StopEnd = Infer<typeof stopEnd>;
/** How a worker ended. */
export type WorkerResult = (typeof workerResults)[number];
/** How a request for permission was answered. */
export type PermissionAnswer = Infer<typeof permissionAnswer>;
/** What is known about a session and its host. */
export type SessionDescriptor = Infer<typeof descriptor>;
/** What is known about an agent. */
export type AgentDescriptor = Infer<typeof agentDescriptor>;
/** A todo that is added. */
export type NewTodo = Infer<typeof newTodo>;
/** An item of a list that is written as a whole. */
export type WrittenTodo = Infer<typeof writtenTodo>;
/** A todo that another session gave away. */
export type MovedTodo = Infer<typeof movedTodo>;
/** The fields of a todo that change. */
export type TodoChanges = Infer<typeof changes>;
/** A job in the background. */
export type Job = Infer<typeof job>;
/** What a call wants to do, for the human who permits it. */
export type PermissionSubject = Infer<typeof permissionSubject>;

/** An event, or one sentence that says why the value is none. */
export type ParsedEvent =
  | Readonly<{ ok: true; event: Event }>
  | Readonly<{ ok: false; sentence: string }>;

const kinds = new Map(
  Object.entries(eventTable).map(([type, own]) => [type, object({ ...base, ...own })]),
);

/**
 * Reads an event from outside. Never throws: a refusal is one sentence with the wrong
 * field.
 */
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
