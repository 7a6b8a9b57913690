// What a run tells its watchers, as one table. Text in it is as hostile as its source:
// whoever shows it makes it safe.
import { outcomes } from '../core/decision.ts';
import { workerResults } from '../core/events.ts';
import type { Fields, Infer, JsonSchema, Values } from '../core/schema.ts';
import * as kinds from '../core/schema.ts';
import {
  choice,
  described,
  flag,
  jsonSchema,
  list,
  nullable,
  object,
  objectSchema,
  optional,
} from '../core/schema.ts';
import { texts } from '../core/texts.ts';
import { isDropped, priorities, type Todo, todoStatuses } from '../core/todo.ts';

const text = kinds.text();
const whole = kinds.integer(0);
const amount = kinds.number(0);
const words = (summary: string) => described(text, summary);
const maybe = (summary: string) => described(nullable(text), summary);
const milliseconds = described(amount, 'How long it took.');
const sentence = words('One sentence for people.');
const textKind = choice(...texts.map(({ kind }) => kind));
export const permissionChoices = ['once', 'session', 'always', 'no'] as const;
const permissionChoice = choice(...permissionChoices);
const verification = choice('none', 'claimed', 'running', 'passed', 'failed');

const todoKind = object({
  id: text,
  title: text,
  status: choice(...todoStatuses),
  priority: choice(...priorities),
  verification: described(
    verification,
    'passed: a check of the system passed; claimed: only said.',
  ),
  dropped: described(flag, 'Left out of the list by the agent without being settled.'),
  outcome: maybe("The agent's own words on what came of it."),
  reason: maybe('Why it is blocked or cancelled.'),
});

const usageKind = object({
  inputTokens: described(whole, 'Cached ones included.'),
  cachedTokens: whole,
  outputTokens: whole,
  cost: described(nullable(amount), 'In US dollars, as the prices; null: no price.'),
});

const todos = list({ ...todoKind, definition: 'todo' });
const usage = { ...usageKind, definition: 'token-usage' };
const aboutCall = { callId: text, tool: text };
const aboutWorker = { agentType: text, todoId: nullable(text) };
const failedCheck = object({
  check: text,
  tail: nullable(text),
  failedBefore: optional(
    described(flag, 'It failed before the first call of the model too.'),
  ),
});
const input = kinds.taken((value) => value);

export const eventFields = {
  'run-started': {
    goal: maybe('null: a session is resumed, or a plan was given.'),
    model: words('provider/model'),
    directory: words('Root of the workspace.'),
    resumed: flag,
    permissions: words('ask, allow-list, read-only or auto.'),
  },
  'step-started': { step: whole },
  text: { text: words("A piece of the agent's released answer.") },
  'text-held-back': { text: words('Not an answer: the agent goes on.') },
  'text-held': {
    text: words('Held back until the decision; text or text-held-back follows.'),
  },
  'tool-started': {
    ...aboutCall,
    input: described(input, 'As the model sent it; null: nothing.'),
  },
  'tool-ended': {
    ...aboutCall,
    ok: described(
      flag,
      'false: an error, or a command that exited with another status than 0.',
    ),
    output: words("First part of the output, or the error's sentence."),
    milliseconds,
  },
  'file-changed': {
    ...aboutCall,
    path: words('Relative to the workspace.'),
    isNew: flag,
    added: described(whole, 'Lines.'),
    removed: described(whole, 'Lines.'),
    diff: words('In unified form; cut where it is long.'),
  },
  'plan-changed': { todos, completed: whole, total: whole },
  continuation: {
    textKind,
    level: described(whole, '1 to 3: how firm the text was.'),
    sentence,
    text: words('What was sent to the agent.'),
    number: described(whole, "Continuations since the human's message."),
    open: optional(
      described(
        whole,
        'Todos that were open; absent: those of the plan that was shown last.',
      ),
    ),
    total: optional(described(whole, 'How many todos the plan had when this was sent.')),
    next: optional(maybe('The todo that it was told to go on with.')),
  },
  waiting: {
    reason: words('Reason code of the rule that waits.'),
    sentence,
    until: described(
      nullable(whole),
      'When the wait ends by itself; null: an event ends it.',
    ),
  },
  error: {
    kind: text,
    sentence,
    retryAt: described(
      nullable(whole),
      'When it is tried again; null: it is not, or nobody says when.',
    ),
  },
  notice: { sentence },
  'worker-started': {
    workerId: words("The worker's own session; its events carry it as sessionId."),
    ...aboutWorker,
    title: words('Of the todo.'),
  },
  'worker-ended': {
    workerId: text,
    ...aboutWorker,
    result: described(choice(...workerResults), 'interrupted: by the human.'),
    sentence,
    milliseconds,
  },
  'permission-asked': {
    requestId: words('Named by `untildone approve --request`.'),
    tool: text,
    subject: words('The command or the path.'),
    pattern: words('What an answer for longer than once would cover.'),
    choices: list(permissionChoice),
  },
  'permission-answered': {
    requestId: text,
    granted: flag,
    remembered: permissionChoice,
    by: described(choice('terminal', 'elsewhere'), 'Where it was answered.'),
  },
  'human-message': {
    text: words('What the human said while the agent worked.'),
    state: described(
      choice('queued', 'joined'),
      'queued: said; joined: the agent reads it from here on.',
    ),
  },
  'check-started': {
    check: text,
    todoId: maybe('null: for the goal, or for several todos.'),
  },
  'check-ended': {
    check: text,
    todoId: nullable(text),
    result: described(
      choice('passed', 'failed', 'waiting', 'cannot-start'),
      'waiting: a human has to answer; cannot-start: there is no such program or file.',
    ),
    flaky: described(flag, 'It failed first and passed when it was run once more.'),
    sentence: words('Why it did not pass.'),
    milliseconds,
    tail: words('The end of its output, and above it the lines that say what failed.'),
  },
  baseline: {
    check: text,
    result: described(
      choice('passed', 'failed', 'cannot-start'),
      'How a check of the human stood before the first model call.',
    ),
    sentence: words('Why it did not pass.'),
  },
  usage: { step: usage, total: usage },
  compacted: { messagesBefore: whole, messagesAfter: whole },
  'run-ended': {
    outcome: choice(...outcomes),
    reason: words('Reason code of the rule that decided.'),
    sentence,
    exitCode: whole,
    todos,
    failedChecks: described(
      list(failedCheck),
      'Checks on the whole work that failed last.',
    ),
    leftOver: described(
      list(text),
      'Open todos of earlier turns that this one did not work on.',
    ),
    continuations: list(object({ textKind, count: whole })),
    steps: whole,
    toolCalls: whole,
    usage,
    milliseconds,
    resumeCommand: words('Resumes the session; empty: nothing of it is kept.'),
  },
} as const;

export type TodoView = Infer<typeof todoKind>;
export type UsageView = Infer<typeof usageKind>;
export type PermissionChoice = Infer<typeof permissionChoice>;
export type EventType = keyof typeof eventFields;
export type EventOf<Type extends EventType> = Readonly<{
  type: Type;
  at: number;
  sessionId: string;
}> &
  Values<(typeof eventFields)[Type]>;
export type AgentEvent = { [Type in EventType]: EventOf<Type> }[EventType];
export type RunEnded = EventOf<'run-ended'>;
export type Emit = (event: AgentEvent) => void;

export function planView(plan: readonly Todo[]) {
  const todos = plan.map((todo): TodoView => {
    const { id, title, status, priority, verification, outcome, reason } = todo;
    return {
      id,
      title,
      status,
      priority,
      verification,
      dropped: isDropped(todo),
      outcome,
      reason,
    };
  });
  const completed = todos.filter(({ status }) => status === 'completed').length;
  return { todos, completed, total: todos.length };
}

/**
 * Rises when a field is taken away or means something else; new fields and events leave
 * it as it is.
 */
export const formatVersion = 1;

/** Draft 2020-12, of what `untildone run --json` writes. */
export function eventSchema(): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'untildone run event',
    description: 'One line of `untildone run --json`.',
    oneOf: Object.entries<Fields>(eventFields).map(([type, fields]) =>
      objectSchema(fields, {
        v: { const: formatVersion },
        type: { const: type },
        at: { type: 'integer', description: 'Milliseconds since 1970.' },
        sessionId: { type: 'string' },
      }),
    ),
    $defs: { todo: jsonSchema(todoKind), 'token-usage': jsonSchema(usageKind) },
  };
}
