// The settings of our own agent: which model, at what price, how much context, how many steps, which commands.
// Part of the one table in settings.ts. Keys of providers never stand here, only the variables that hold them.

import { choice, integer, list, named, nullable, number, section, text } from './kinds.ts';
import { field, perAgent, perAgentSection, shared } from './setting.ts';

export interface ModelProvider {
  readonly baseUrl?: string;
  readonly apiKeyEnv?: string;
  readonly api?: 'chat' | 'responses' | 'anthropic' | 'google';
  readonly contextLimit?: number;
}

/** Per million tokens, in whatever currency `maxCost` is meant. */
export interface ModelPrice {
  readonly input?: number;
  readonly output?: number;
  readonly cachedInput?: number;
  readonly cacheWrite?: number;
}

export interface ContextSettings {
  readonly maxMessages: number;
  readonly limit: number | null;
  readonly compactAt: number;
  readonly planTodos: number;
}

export interface IterationSettings {
  readonly base: number;
  readonly extend: number;
  readonly cap: number;
}

export interface ToolSettings {
  readonly shellAllow: readonly string[];
  readonly shellTimeoutSeconds: number;
}

const tokens = integer(1000, 100_000_000);
const pricePerMillion = number(0, 1_000_000);

export const ownAgentSettings = {
  model: perAgent(
    nullable(text(200)),
    null,
    'Model of our own agent as provider/model; null: chosen by the keys in the environment.',
  ),
  models: shared(
    named(
      section({
        baseUrl: {
          kind: text(2000),
          summary: 'Address of the API, with its version: http://127.0.0.1:8000/v1.',
        },
        apiKeyEnv: {
          kind: text(100),
          summary: 'Environment variable that holds the key; none: no key is sent.',
        },
        api: {
          kind: choice('chat', 'responses', 'anthropic', 'google'),
          summary: 'Protocol that the provider speaks: chat is OpenAI-compatible chat completions.',
        },
        contextLimit: { kind: tokens, summary: 'Tokens that fit into the context of its models.' },
      }),
      200,
    ),
    {},
    'Providers by the name that stands before the slash of a model; a known name changes that provider.',
  ),
  prices: shared(
    named(
      section({
        input: { kind: pricePerMillion, summary: 'Price of a million input tokens.' },
        output: { kind: pricePerMillion, summary: 'Price of a million output tokens.' },
        cachedInput: {
          kind: pricePerMillion,
          summary: 'Price of a million input tokens read from a cache; not given: the price of input.',
        },
        cacheWrite: {
          kind: pricePerMillion,
          summary: 'Price of a million input tokens written to a cache; not given: the price of input.',
        },
      }),
      1000,
    ),
    {},
    'Prices per million tokens by provider/model; without one the cost of a model is unknown.',
  ),
  context: perAgentSection(
    {
      maxMessages: field(
        integer(8, 10_000),
        50,
        'Messages of the history that one call to the model carries.',
      ),
      limit: field(
        nullable(tokens),
        null,
        'Tokens that fit into the context of the model; null: what is known about it.',
      ),
      compactAt: field(
        number(0.1, 1),
        0.8,
        'Share of the context at which the history is replaced by a summary.',
      ),
      planTodos: field(integer(1, 200), 20, 'Open todos of the plan that every call to the model names.'),
    },
    'How much of the conversation our own agent sends to the model.',
  ),
  iterations: perAgentSection(
    {
      base: field(integer(1, 10_000), 10, 'Steps with tool calls before the agent is asked about its plan.'),
      extend: field(integer(0, 10_000), 10, 'Steps that are added while the plan has open todos.'),
      cap: field(integer(1, 10_000), 50, 'Steps since the last continuation, whatever is open.'),
    },
    'How many steps in a row our own agent may spend on tool calls.',
  ),
  tools: perAgentSection(
    {
      shellAllow: field(list(text(500), 1000), [], 'Patterns of commands that the agent may run by itself.'),
      shellTimeoutSeconds: field(integer(1, 86_400), 120, 'Seconds after which a command is ended.'),
    },
    'What the workspace tools of our own agent may do.',
  ),
} as const;
