// The shape of every workspace tool: a plain object that knows nothing of any model library. A tool answers with a value
// and does not throw for what a model can get wrong; whether it may run at all is decided before, in permission.ts.
import { refuse } from '../../core/error.ts';
import { jsonSchema } from '../../core/json-schema.ts';
import { type Fields, object, type Values } from '../../core/schema.ts';
import { readInput } from '../../core/tool-input.ts';
import type { JobRegistry } from './shell.ts';

/** What a tool touches. Only `read` may be run again by itself after a crash or a timeout (S6). */
export type ToolAccess = 'read' | 'write' | 'execute';

/** Both go to the model and quote files and programs: whoever prints them to a terminal strips them first. */
export type ToolOutcome = { ok: true; output: string } | { ok: false; error: string };

/**
 * How much one tool call may read, print, run and wait. Every number protects the model's context or the human's
 * machine; each tool says in its answer when one of them cut something.
 */
export const defaultLimits = {
  readLines: 2000,
  /** Of any one answer; a command's output keeps its head and its tail. */
  outputCharacters: 30_000,
  /** Minified files have lines of megabytes. */
  lineCharacters: 2000,
  /** Of a file that edit_file and grep take into memory. */
  fileBytes: 4_000_000,
  /** Names that list_directory and glob return. */
  entries: 500,
  /** Names that one walk looks at before it gives up. */
  walkedEntries: 200_000,
  grepMatches: 200,
  /** Of a whole grep, the pattern included: long enough for a big tree, short for a hopeless pattern. */
  grepMs: 10_000,
  commandMs: 120_000,
  maxCommandMs: 1_800_000,
  /** From SIGTERM to SIGKILL. Too short loses what a program would still have written. */
  endGraceMs: 2000,
  runningJobs: 8,
  maxJobWaitMs: 30_000,
};
export type WorkspaceLimits = Readonly<typeof defaultLimits>;

export interface ToolContext {
  /** The workspace root; need not be free of symbolic links. */
  readonly root: string;
  readonly signal: AbortSignal;
  readonly limits: WorkspaceLimits;
  readonly jobs: JobRegistry;
  /** The whole environment that commands get. */
  readonly environment: Readonly<Record<string, string>>;
}

export type WorkspaceTool = ReturnType<typeof defineTool>;

/** A tool from its fields: what the model sees is what its input is read against. */
export function defineTool<const F extends Fields>(tool: {
  name: string;
  description: string;
  access: ToolAccess;
  input: F;
  run(input: Values<F>, context: ToolContext): Promise<ToolOutcome>;
}) {
  const { input, run, ...about } = tool;
  return {
    ...about,
    inputSchema: jsonSchema(object(input)),
    async call(value: unknown, context: ToolContext): Promise<ToolOutcome> {
      // Contents of files have no bound of their own.
      const read = readInput(input, value, Number.MAX_SAFE_INTEGER);
      return read.ok ? run(read.input, context) : refuse(read.message);
    },
  };
}
