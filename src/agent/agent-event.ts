// What a run tells its watchers, one event at a time: the terminal prints them, `--json` writes them as NDJSON, the
// live view draws them. Plain data from one table, which the types and the JSON Schema come from. Text in it is as
// hostile as its source and is made safe by whoever shows it.
import { outcomes } from '../core/decision.ts';
import { workerResults } from '../core/events.ts';
import {
  choice,
  described,
  flag,
  type Infer,
  integer,
  list,
  nullable,
  number,
  object,
  taken,
  text as textOf,
  type Values,
} from '../core/schema.ts';
import { texts } from '../core/texts.ts';
import { isDropped, priorities, type Todo, todoStatuses } from '../core/todo.ts';

const text = textOf();
const whole = integer(0);
const amount = number(0);
const milliseconds = described(amount, 'How long it took.');
const sentence = described(text, 'One sentence for people.');
const textKind = choice(...texts.map(({ kind }) => kind));
const permissionChoice = choice('once', 'session', 'always', 'no');

export const todoKind = object({
  id: text,
  title: text,
  status: choice(...todoStatuses),
  priority: choice(...priorities),
  verification: described(
    choice('none', 'claimed', 'running', 'passed', 'failed'),
    'passed: a check of the system passed; claimed: only said.',
  ),
  dropped: described(flag, 'Left out of the list by the agent without being settled.'),
  outcome: described(nullable(text), "The agent's own words on what came of it."),
  reason: described(nullable(text), 'Why it is blocked or cancelled.'),
});

export const usageKind = object({
  inputTokens: described(whole, 'Cached ones included.'),
  cachedTokens: whole,
  outputTokens: whole,
  cost: described(nullable(amount), 'In the currency of the configured prices; null: no price.'),
});

const todo = { ...todoKind, definition: 'todo' };
const usage = { ...usageKind, definition: 'token-usage' };
const aboutWorker = { agentType: text, todoId: nullable(text) };

export const eventFields = {
  'run-started': {
    goal: described(nullable(text), 'null: a session is taken up, or a plan was given.'),
    model: described(text, 'provider/model'),
    directory: described(text, 'Root of the workspace.'),
    resumed: flag,
    permissions: described(text, 'ask, allow-list, read-only or auto.'),
  },
  'step-started': { step: whole },
  text: { text: described(text, "A piece of the agent's released answer.") },
  'text-held-back': { text: described(text, 'Not an answer: the agent goes on.') },
  'text-held': {
    text: described(text, 'Held while the decision is out; text or text-held-back follows.'),
  },
  'tool-started': {
    callId: text,
    tool: text,
    input: described(
      taken((value) => value),
      'As the model sent it; null: nothing.',
    ),
  },
  'tool-ended': {
    callId: text,
    tool: text,
    ok: flag,
    output: described(text, "First part of the output, or the error's sentence."),
    milliseconds,
  },
  'plan-changed': { todos: list(todo), completed: whole, total: whole },
  continuation: {
    textKind,
    level: described(whole, '1 to 3: how firm the text was.'),
    sentence,
    text: described(text, 'What was sent to the agent.'),
    number: described(whole, "Continuations since the human's message."),
  },
  waiting: {
    reason: described(text, 'Reason code of the rule that waits.'),
    sentence,
    until: described(nullable(whole), 'When the wait ends by itself; null: an event ends it.'),
  },
  error: {
    kind: text,
    sentence,
    retryAt: described(nullable(whole), 'When it is tried again; null: it is not.'),
  },
  notice: { sentence },
  'worker-started': {
    workerId: described(text, "The worker's own session; its events carry it as sessionId."),
    ...aboutWorker,
    title: described(text, 'Of the todo.'),
  },
  'worker-ended': {
    workerId: text,
    ...aboutWorker,
    result: described(choice(...workerResults), 'interrupted: by the human.'),
    sentence,
    milliseconds,
  },
  'permission-asked': {
    requestId: described(text, 'Named by `untildone approve --request`.'),
    tool: text,
    subject: described(text, 'The command or the path.'),
    pattern: described(text, 'What an answer for longer than once would cover.'),
    choices: list(permissionChoice),
  },
  'permission-answered': {
    requestId: text,
    granted: flag,
    remembered: permissionChoice,
    by: described(choice('terminal', 'elsewhere'), 'Where it was answered.'),
  },
  'human-message': {
    text: described(text, 'What the human said while the agent worked.'),
    state: described(choice('queued', 'joined'), 'queued: said; joined: the agent reads it from here on.'),
  },
  'check-started': {
    check: text,
    todoId: described(nullable(text), 'null: for the goal, or for several todos.'),
  },
  'check-ended': {
    check: text,
    todoId: nullable(text),
    result: described(choice('passed', 'failed', 'waiting'), 'waiting: a human has to answer.'),
    flaky: described(flag, 'It failed first and passed when it was run once more.'),
    sentence: described(text, 'Why it did not pass.'),
    milliseconds,
  },
  usage: { step: usage, total: usage },
  compacted: { messagesBefore: whole, messagesAfter: whole },
  'run-ended': {
    outcome: choice(...outcomes),
    reason: described(text, 'Reason code of the rule that let go.'),
    sentence,
    exitCode: whole,
    todos: list(todo),
    failedChecks: described(
      list(object({ check: text, tail: nullable(text) })),
      'Checks on the whole work that failed last.',
    ),
    leftOver: described(list(text), 'Open todos of earlier turns, not taken up.'),
    continuations: list(object({ textKind, count: whole })),
    steps: whole,
    toolCalls: whole,
    usage,
    milliseconds,
    resumeCommand: described(text, 'Takes the session up again; empty: nothing of it is kept.'),
  },
} as const;

export type TodoView = Infer<typeof todoKind>;
export type UsageView = Infer<typeof usageKind>;
export type PermissionChoice = Infer<typeof permissionChoice>;
export type EventType = keyof typeof eventFields;
export type EventOf<Type extends EventType> = {
  readonly type: Type;
  readonly at: number;
  readonly sessionId: string;
} & Values<(typeof eventFields)[Type]>;
export type AgentEvent = { [Type in EventType]: EventOf<Type> }[EventType];
export type RunEnded = EventOf<'run-ended'>;
export type Emit = (event: AgentEvent) => void;

export function todoViews(todos: readonly Todo[]): TodoView[] {
  return todos.map((todo) => {
    const { id, title, status, priority, verification, outcome, reason } = todo;
    return { id, title, status, priority, verification, dropped: isDropped(todo), outcome, reason };
  });
}
