// The JSON Schema (draft 2020-12) of what `untildone run --json` writes. The tables are typed by the events: a new
// event, a new field or another type of a field does not compile until it is described here.
import type { AgentEvent, RunEnded, TodoView, UsageView } from '../../agent/agent-event.ts';
import type { JsonSchema } from '../../core/config/schema.ts';
import { outcomes, type TextKind } from '../../core/decision.ts';
import { workerResults } from '../../core/events.ts';
import { priorities, todoStatuses, type Verification } from '../../core/todo.ts';
import { continuationNames } from './continuation-names.ts';

/** Rises when a field is taken away or means something else; new fields and events leave it as it is. */
export const formatVersion = 1;

type Described<Schema> = Schema & { readonly description?: string };

/** The schemas that describe a TypeScript type: exact for lists and words, open for `unknown`. */
type SchemaFor<Value> = unknown extends Value
  ? Described<Record<never, never>>
  : null extends Value
    ? Described<{ readonly anyOf: readonly [SchemaFor<NonNullable<Value>>, { readonly type: 'null' }] }>
    : [Value] extends [readonly (infer Item)[]]
      ? Described<{ readonly type: 'array'; readonly items: SchemaFor<Item> }>
      : [Value] extends [string]
        ? Described<WordSchema<Value>>
        : [Value] extends [number]
          ? Described<{ readonly type: 'integer' | 'number'; readonly minimum: 0 }>
          : [Value] extends [boolean]
            ? Described<{ readonly type: 'boolean' }>
            : [Value] extends [TodoView]
              ? { readonly $ref: '#/$defs/todo' }
              : [Value] extends [UsageView]
                ? { readonly $ref: '#/$defs/token-usage' }
                : ObjectSchema<Value>;

type WordSchema<Value extends string> = string extends Value
  ? { readonly type: 'string' }
  : { readonly type: 'string'; readonly enum: readonly Value[] };

type FieldSchemas<Value> = { readonly [Field in keyof Value]-?: SchemaFor<Value[Field]> };

interface ObjectSchema<Value> {
  readonly type: 'object';
  readonly properties: FieldSchemas<Value>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

function object<Value>(properties: FieldSchemas<Value>): ObjectSchema<Value> {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const whole = { type: 'integer', minimum: 0 } as const;
const amount = { type: 'number', minimum: 0 } as const;
const todo = { $ref: '#/$defs/todo' } as const;
const usage = { $ref: '#/$defs/token-usage' } as const;

function orNull<Schema>(schema: Schema): { readonly anyOf: readonly [Schema, { readonly type: 'null' }] } {
  return { anyOf: [schema, { type: 'null' }] };
}

const verifications: Readonly<Record<Verification, true>> = {
  none: true,
  claimed: true,
  running: true,
  passed: true,
  failed: true,
};
const verification = { type: 'string', enum: Object.keys(verifications) as Verification[] } as const;
const textKind = { type: 'string', enum: Object.keys(continuationNames) as TextKind[] } as const;
const permissionChoice = { type: 'string', enum: ['once', 'session', 'always', 'no'] } as const;
const milliseconds = { ...amount, description: 'How long it took.' } as const;
const sentence = { ...text, description: 'One sentence for people.' } as const;

const todoFields: FieldSchemas<TodoView> = {
  id: text,
  title: text,
  status: { type: 'string', enum: todoStatuses },
  priority: { type: 'string', enum: priorities },
  verification: { ...verification, description: 'passed: a check of the system passed; claimed: only said.' },
  dropped: { ...flag, description: 'Left out of the list by the agent without being settled.' },
  outcome: { ...orNull(text), description: "The agent's own words on what came of it." },
  reason: { ...orNull(text), description: 'Why it is blocked or cancelled.' },
};

const usageFields: FieldSchemas<UsageView> = {
  inputTokens: { ...whole, description: 'Cached ones included.' },
  cachedTokens: whole,
  outputTokens: whole,
  cost: { ...orNull(amount), description: 'In the currency of the configured prices; null: no price.' },
};

type BaseField = 'type' | 'at' | 'sessionId';
type EventFields = {
  readonly [Type in AgentEvent['type']]: FieldSchemas<
    Omit<Extract<AgentEvent, { readonly type: Type }>, BaseField>
  >;
};

export const eventFields: EventFields = {
  'run-started': {
    goal: { ...orNull(text), description: 'null: a session is taken up, or a plan was given.' },
    model: { ...text, description: 'provider/model' },
    directory: { ...text, description: 'Root of the workspace.' },
    resumed: flag,
    permissions: { ...text, description: 'ask, allow-list, read-only or auto.' },
  },
  'step-started': { step: whole },
  text: { text: { ...text, description: "A piece of the agent's released answer." } },
  'text-held-back': { text: { ...text, description: 'Not an answer: the agent goes on.' } },
  'text-held': {
    text: { ...text, description: 'Held while the decision is out; text or text-held-back follows.' },
  },
  'tool-started': {
    callId: text,
    tool: text,
    input: { description: 'As the model sent it; null: nothing.' },
  },
  'tool-ended': {
    callId: text,
    tool: text,
    ok: flag,
    output: { ...text, description: "First part of the output, or the error's sentence." },
    milliseconds,
  },
  'plan-changed': { todos: { type: 'array', items: todo }, completed: whole, total: whole },
  continuation: {
    textKind,
    level: { ...whole, description: '1 to 3: how firm the text was.' },
    sentence,
    text: { ...text, description: 'What was sent to the agent.' },
    number: { ...whole, description: "Continuations since the human's message." },
  },
  waiting: {
    reason: { ...text, description: 'Reason code of the rule that waits.' },
    sentence,
    until: { ...orNull(whole), description: 'When the wait ends by itself; null: an event ends it.' },
  },
  error: {
    kind: text,
    sentence,
    retryAt: { ...orNull(whole), description: 'When it is tried again; null: it is not.' },
  },
  notice: { sentence },
  'worker-started': {
    workerId: { ...text, description: "The worker's own session; its events carry it as sessionId." },
    agentType: text,
    todoId: orNull(text),
    title: { ...text, description: 'Of the todo.' },
  },
  'worker-ended': {
    workerId: text,
    agentType: text,
    todoId: orNull(text),
    result: { type: 'string', enum: workerResults, description: 'interrupted: by the human.' },
    sentence,
    milliseconds,
  },
  'permission-asked': {
    requestId: { ...text, description: 'Named by `untildone approve --request`.' },
    tool: text,
    subject: { ...text, description: 'The command or the path.' },
    pattern: { ...text, description: 'What an answer for longer than once would cover.' },
    choices: { type: 'array', items: permissionChoice },
  },
  'permission-answered': {
    requestId: text,
    granted: flag,
    remembered: permissionChoice,
    by: { type: 'string', enum: ['terminal', 'elsewhere'], description: 'Where it was answered.' },
  },
  'human-message': {
    text: { ...text, description: 'What the human said while the agent worked.' },
    state: {
      type: 'string',
      enum: ['queued', 'joined'],
      description: 'queued: said; joined: the agent reads it from here on.',
    },
  },
  'check-started': {
    check: text,
    todoId: { ...orNull(text), description: 'null: for the goal, or for several todos.' },
  },
  'check-ended': {
    check: text,
    todoId: orNull(text),
    result: {
      type: 'string',
      enum: ['passed', 'failed', 'waiting'],
      description: 'waiting: a human has to answer.',
    },
    flaky: { ...flag, description: 'It failed first and passed when it was run once more.' },
    sentence: { ...text, description: 'Why it did not pass.' },
    milliseconds,
  },
  usage: { step: usage, total: usage },
  compacted: { messagesBefore: whole, messagesAfter: whole },
  'run-ended': {
    outcome: { type: 'string', enum: outcomes },
    reason: { ...text, description: 'Reason code of the rule that let go.' },
    sentence,
    exitCode: whole,
    todos: { type: 'array', items: todo },
    failedChecks: {
      type: 'array',
      items: object<RunEnded['failedChecks'][number]>({ check: text, tail: orNull(text) }),
      description: 'Checks on the whole work that failed last.',
    },
    leftOver: { type: 'array', items: text, description: 'Open todos of earlier turns, not taken up.' },
    continuations: {
      type: 'array',
      items: object<RunEnded['continuations'][number]>({ textKind, count: whole }),
    },
    steps: whole,
    toolCalls: whole,
    usage,
    milliseconds,
    resumeCommand: { ...text, description: 'Takes the session up again; empty: nothing of it is kept.' },
  },
};

export function eventSchema(): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'untildone run event',
    description: 'One line of `untildone run --json`.',
    oneOf: Object.entries(eventFields).map(([type, fields]) => eventObject(type, fields)),
    $defs: { todo: object<TodoView>(todoFields), 'token-usage': object<UsageView>(usageFields) },
  };
}

function eventObject(type: string, fields: object): JsonSchema {
  const properties = {
    v: { const: formatVersion },
    type: { const: type },
    at: { type: 'integer', description: 'Milliseconds since 1970.' },
    sessionId: text,
    ...fields,
  };
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}
