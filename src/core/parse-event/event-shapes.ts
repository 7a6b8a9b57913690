// What each event carries, once, as a table: field → kind. A new event without a row here does not compile.
// `id`, `sessionId`, `at` and `type` are the same for all and are read by parse-event.ts.
import {
  type AgentDescriptor,
  type Event,
  type EventType,
  type Job,
  type NewTodo,
  type PermissionSubject,
  permissionAnswers,
  type SessionDescriptor,
  type TodoChanges,
  type WrittenTodo,
  workerResults,
} from '../events.ts';
import { actors, priorities, todoStatuses } from '../todo.ts';
import {
  amount,
  choice,
  flag,
  identifier,
  list,
  listedTitle,
  listedWord,
  moment,
  nullable,
  object,
  optional,
  type Shape,
  text,
  wholeNumber,
} from './value-kinds.ts';

type Details<Type extends EventType> = Omit<
  Extract<Event, { readonly type: Type }>,
  'id' | 'sessionId' | 'at' | 'type'
>;

const descriptor = object<SessionDescriptor>({
  host: identifier,
  instance: identifier,
  mode: choice('asked', 'told'),
  kind: choice('main', 'subagent', 'other', 'unknown'),
  parentId: nullable(identifier),
  directory: nullable(text),
  headless: flag,
  immediate: flag,
  everyAgentWrites: flag,
  seesTools: flag,
  tools: object<SessionDescriptor['tools']>({
    pause: nullable(identifier),
    verify: nullable(identifier),
    delegate: optional(identifier),
  }),
});

const agent = nullable(
  object<AgentDescriptor>({
    name: nullable(identifier),
    canWrite: choice('yes', 'no', 'unknown'),
    model: nullable(identifier),
    variant: nullable(identifier),
  }),
);

const newTodo = object<NewTodo>({
  id: identifier,
  title: listedTitle,
  context: optional(text),
  completionCriteria: optional(text),
  agentType: optional(text),
  priority: listedWord,
  order: optional(wholeNumber(1)),
  checks: optional(list(identifier)),
  hostKey: optional(identifier),
  status: listedWord,
});

const writtenTodo = object<WrittenTodo>({
  id: optional(identifier),
  content: listedTitle,
  status: listedWord,
  priority: listedWord,
  reason: optional(text),
  freshId: identifier,
});

const changes = object<TodoChanges>({
  status: optional(choice(...todoStatuses)),
  reason: optional(text),
  title: optional(text),
  context: optional(text),
  completionCriteria: optional(text),
  priority: optional(choice(...priorities)),
  agentType: optional(text),
});

const job = object<Job>({ id: identifier, kind: choice('shell', 'subagent'), description: text });

const permissionSubject = object<PermissionSubject>({
  callId: identifier,
  tool: identifier,
  subject: text,
  pattern: text,
});

const actor = choice(...actors);
const access = choice('read', 'write', 'todo', 'unknown');
const nothing = {};
const request = { requestId: identifier };
const epoch = wholeNumber(0);

export const eventShapes: { readonly [Type in EventType]: Shape<Details<Type>> } = {
  'session-opened': { descriptor, agent },
  'session-closed': nothing,
  'session-deleted': nothing,
  'human-spoke': {
    messageId: nullable(identifier),
    text: nullable(text),
    turnId: identifier,
    agent,
    fingerprint: nullable(identifier),
    policyHash: nullable(identifier),
    queued: optional(flag),
  },
  'words-joined': { messageId: identifier },
  'human-aborted': { how: text },
  'human-paused': { reason: nullable(text) },
  'human-resumed': nothing,
  'model-paused': { reason: text },
  'activity-seen': nothing,
  'tool-started': { tool: identifier, access, requestId: optional(identifier) },
  'tool-ended': { tool: identifier, access, error: nullable(text) },
  'todos-created': { actor, items: list(newTodo) },
  'plan-written': { actor, items: list(writtenTodo) },
  'todo-updated': { actor, todoId: identifier, changes },
  'todo-completed': { actor, todoId: identifier, status: choice('completed', 'cancelled'), outcome: text },
  'delegation-started': {
    todoId: identifier,
    workerId: identifier,
    agentType: identifier,
    callId: identifier,
  },
  'delegation-ended': { workerId: identifier, result: choice(...workerResults), sentence: text },
  'check-started': { todoId: nullable(identifier), check: identifier },
  'check-finished': {
    todoId: nullable(identifier),
    check: identifier,
    result: choice('passed', 'failed', 'waiting'),
    flaky: flag,
    tail: nullable(text),
    fingerprint: nullable(identifier),
    final: flag,
    writes: nullable(wholeNumber(0)),
  },
  'verification-asked': { todoId: nullable(identifier) },
  'final-run-ended': { stop: identifier, edited: list(text) },
  'record-broken': { sentence: text },
  'checks-overdue': nothing,
  'workspace-seen': { fingerprint: identifier },
  'stop-attempted': {
    end: choice(
      'normal',
      'length',
      'empty',
      'error',
      'cancelled',
      'refusal',
      'content-filter',
      'iteration-budget',
    ),
    question: flag,
    fingerprint: nullable(identifier),
    background: nullable(list(job)),
    toolError: nullable(text),
  },
  'recovery-started': nothing,
  'recovery-ended': nothing,
  'compaction-started': nothing,
  'compaction-ended': { shrunk: flag },
  'permission-asked': { ...request, about: optional(permissionSubject) },
  'permission-answered': {
    ...request,
    granted: flag,
    remembered: optional(choice(...permissionAnswers)),
  },
  'question-asked': request,
  'question-answered': { ...request, rejected: flag },
  'background-started': { job },
  'background-ended': { jobId: identifier },
  'error-occurred': {
    kind: choice('rate-limit', 'overload', 'overflow', 'other'),
    signature: text,
    message: text,
    retryAt: nullable(moment),
  },
  'host-cap-reached': { cap: wholeNumber(0) },
  'loop-alarmed': { pattern: text },
  'usage-reported': {
    inputTokens: wholeNumber(0),
    outputTokens: wholeNumber(0),
    cost: nullable(amount),
    contextTokens: nullable(wholeNumber(0)),
    contextLimit: nullable(wholeNumber(0)),
  },
  'timer-fired': { epoch, dueAt: moment },
  'injection-sent': { epoch },
  'injection-failed': { epoch, error: text },
  'injection-observed': { epoch },
  'injection-lost': { epoch },
};
