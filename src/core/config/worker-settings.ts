// The settings of the workers that our own agent hands todos to: the built-in ones changed, or own ones added.
// Part of the one table in settings.ts. What a worker may do is never more than what its run may do.

import { boolean, integer, list, named, nullable, section, text } from './kinds.ts';
import { shared } from './setting.ts';

export interface WorkerSetting {
  readonly enabled?: boolean;
  readonly purpose?: string;
  readonly prompt?: string;
  readonly model?: string | null;
  readonly tools?: readonly string[];
  readonly maxSteps?: number;
  readonly timeoutSeconds?: number;
  readonly maxTokens?: number | null;
}

export interface WorkerSettings {
  /** Keys are types of workers in lower case. */
  readonly workers: { readonly [agentType: string]: WorkerSetting };
}

export const workerSettings = {
  workers: shared(
    named(
      section({
        enabled: { kind: boolean, summary: 'Whether todos may be handed to it; not given: yes.' },
        purpose: {
          kind: text(300),
          summary: 'What it is for, in a few words: the agent chooses by them.',
        },
        prompt: { kind: text(4000), summary: 'What it is told beside the rules that all workers have.' },
        model: {
          kind: nullable(text(200)),
          summary: 'Its model as provider/model; null or not given: that of the run.',
        },
        tools: {
          kind: list(text(100), 50),
          summary: 'Names of the workspace tools that it gets; not given: those that only read.',
        },
        maxSteps: { kind: integer(1, 1000), summary: 'Steps after which it must report.' },
        timeoutSeconds: { kind: integer(1, 86_400), summary: 'Seconds after which it is ended.' },
        maxTokens: {
          kind: nullable(integer(1000, 1_000_000_000)),
          summary: 'Tokens that it may spend on one todo; null: what the run may spend.',
        },
      }),
      50,
    ),
    {},
    'Workers by their type: those that come along (explorer, coder, tester) changed, and your own.',
  ),
} as const;
