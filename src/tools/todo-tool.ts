// The shape of every todo tool: a plain object that knows no host, no framework and no model library. What a model can
// get wrong is answered with a value; only a broken store throws. Which session is meant comes from the context, never
// from the model (M7).
import { type JsonSchema, jsonSchema } from '../core/json-schema.ts';
import { type Fields, object, type Values } from '../core/schema.ts';
import type { Actor } from '../core/todo.ts';
import { readInput } from '../core/tool-input.ts';
import type { Engine } from '../engine/engine.ts';
import type { Clock, Identifiers } from '../engine/host.ts';
import type { Store } from '../engine/store.ts';

export interface ToolCallContext {
  readonly engine: Pick<Engine, 'handle'>;
  readonly store: Pick<Store, 'state'>;
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

export type ToolResult =
  | {
      readonly ok: true;
      /** Plain data: what a host hands to the model as JSON. */
      readonly output: Readonly<Record<string, unknown>>;
      readonly notices: readonly string[];
      /** A whole-list write that changed nothing (I5). */
      readonly duplicate?: boolean;
    }
  | { readonly ok: false; readonly error: { readonly code: string; readonly message: string } };

export interface TodoTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  call(input: unknown, context: ToolCallContext): Promise<ToolResult>;
}

interface Definition<F extends Fields> extends Pick<TodoTool, 'name' | 'description'> {
  readonly input: F;
  readonly run: (input: Values<F>, context: ToolCallContext) => Promise<ToolResult>;
}

const forWorkers = 'Workers do not change the plan; report back to the agent that sent you.';

/** A tool from its table of fields: what the model sees is what its input is read against. */
export function defineTodoTool<const F extends Fields>({ input, run, ...tool }: Definition<F>): TodoTool {
  return {
    ...tool,
    inputSchema: jsonSchema(object(input)),
    async call(value, context) {
      if (context.actor === 'worker') return failed('not-for-workers', forWorkers);
      const read = readInput(input, value);
      return read.ok ? run(read.input, context) : failed('invalid-input', read.message);
    },
  };
}

export function failed(code: string, message: string): ToolResult {
  return { ok: false, error: { code, message } };
}

/** Notices stand in the output too: some hosts show the model nothing else. */
export function succeeded(output: object, notices: readonly string[] = []): ToolResult {
  return { ok: true, output: notices.length === 0 ? { ...output } : { ...output, notices }, notices };
}
