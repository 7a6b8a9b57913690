// The shape of every workspace tool: a plain object that knows nothing of any model library.
// A tool answers with a value and does not throw for what a model can get wrong; whether it may run at
// all is decided before, in permission.ts.
import { type InputOf, type ObjectSchema, type Parsed, parseInput } from './input-schema.ts';
import type { JobRegistry } from './job-registry.ts';
import type { WorkspaceLimits } from './limits.ts';

/** What a tool touches. Only `read` may be run again by itself after a crash or a timeout (S6). */
export type ToolAccess = 'read' | 'write' | 'execute';

/**
 * `output` and `error` go to the model. They quote files and programs, so they are hostile text: whoever
 * prints them to a terminal strips them first.
 */
export type ToolOutcome = { ok: true; output: string } | { ok: false; error: string };

export interface ToolContext {
  /** The workspace root; need not be free of symbolic links. */
  readonly root: string;
  readonly signal: AbortSignal;
  readonly limits: WorkspaceLimits;
  readonly jobs: JobRegistry;
  /** The whole environment that commands get: see command-environment.ts. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface WorkspaceTool<Input> {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly access: ToolAccess;
  parse(input: unknown): Parsed<Input>;
  run(input: Input, context: ToolContext): Promise<ToolOutcome>;
}

/** A tool from its schema: the literal that the model sees is the one that its input is checked against. */
export function defineTool<const Schema extends ObjectSchema>(tool: {
  name: string;
  description: string;
  inputSchema: Schema;
  access: ToolAccess;
  run(input: InputOf<Schema>, context: ToolContext): Promise<ToolOutcome>;
}): WorkspaceTool<InputOf<Schema>> {
  return { ...tool, parse: (input) => parseInput(tool.inputSchema, input) };
}
