// The shape of every todo tool: a plain object that knows no host, no framework and no model library.
// What a model can get wrong is answered with a value; only a broken store throws. Which session is meant comes
// from the context, never from the model (M7).
import type { Actor } from '../core/todo.ts';
import type { Clock, Identifiers } from '../engine/clock.ts';
import type { Engine } from '../engine/engine.ts';
import type { Store } from '../engine/store.ts';
import { type InputOf, type ObjectSchema, readInput } from './input-schema.ts';

export interface ToolCallContext {
  readonly engine: Pick<Engine, 'handle'>;
  readonly store: Pick<Store, 'read'>;
  readonly sessionId: string;
  readonly actor: Actor;
  readonly clock: Pick<Clock, 'now'>;
  readonly identifiers: Identifiers;
  /** Names of the checks that a human allowed todos to carry (V3); none by default. */
  readonly allowedChecks?: readonly string[];
  /** How long a call that claims a todo or asks for results waits for checks; default 45 s, 0: not at all. */
  readonly checkPatienceMs?: number;
  /** From what the model proposed to the id of an allowed check; null: no human allowed it. Default: by name. */
  readonly resolveCheck?: (proposal: string) => string | null;
}

/** Plain data: what a host hands to the model as JSON. */
export type ToolOutput = Readonly<Record<string, unknown>>;

export type ToolResult =
  | {
      readonly ok: true;
      readonly output: ToolOutput;
      readonly notices: readonly string[];
      /** A whole-list write that changed nothing (I5). */
      readonly duplicate?: boolean;
    }
  | { readonly ok: false; readonly error: { readonly code: string; readonly message: string } };

export interface TodoTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  call(input: unknown, context: ToolCallContext): Promise<ToolResult>;
}

/** A tool from its schema: the literal that the model sees is the one that its input is checked against. */
export function defineTodoTool<const Schema extends ObjectSchema>(tool: {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Schema;
  readonly run: (input: InputOf<Schema>, context: ToolCallContext) => Promise<ToolResult>;
}): TodoTool {
  const { name, description, inputSchema, run } = tool;
  return {
    name,
    description,
    inputSchema,
    async call(input, context) {
      if (context.actor === 'worker') {
        return failed(
          'not-for-workers',
          'Workers do not change the plan; report back to the agent that sent you.',
        );
      }
      const read = readInput(inputSchema, input);
      return read.ok ? run(read.input, context) : failed('invalid-input', read.message);
    },
  };
}

export function failed(code: string, message: string): ToolResult {
  return { ok: false, error: { code, message } };
}

/** Notices stand in the output too: some hosts show the model nothing else. */
export function succeeded(output: ToolOutput, notices: readonly string[] = []): ToolResult {
  return { ok: true, output: notices.length === 0 ? output : { ...output, notices }, notices };
}
