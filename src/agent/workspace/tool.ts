// The shape of a workspace tool. It does not throw for what a model gets wrong;
// permission.ts decides if it may run.
import type { Refusal } from '../../core/error.ts';
import { type Fields, jsonSchema, object, type Values } from '../../core/schema.ts';
import { readInput } from '../../tools/tool-input.ts';
import type { FileChange } from './file-change.ts';
import type { Jobs } from './shell.ts';

/**
 * It quotes files and programs: whoever prints it to a terminal strips it. `timedOut`: a
 * second try may do better (S6); a command that ran out of time is none, it may have done
 * half its work.
 */
export type Answer = string | (Refusal & { readonly timedOut?: true });

/** For the model's context and the human's machine. A tool says what it cut. */
export const defaultLimits = {
  readLines: 2000,
  /** A command's output keeps its head and its tail. */
  outputCharacters: 30_000,
  lineCharacters: 2000,
  fileBytes: 4_000_000,
  entries: 500,
  walkedEntries: 200_000,
  grepMatches: 200,
  /** Long enough for a big tree, short for a hopeless pattern. */
  grepMs: 10_000,
  commandMs: 120_000,
  maxCommandMs: 1_800_000,
  /** From SIGTERM to SIGKILL; too short loses output. */
  endGraceMs: 2000,
  runningJobs: 8,
  maxJobWaitMs: 30_000,
};
export type WorkspaceLimits = Readonly<typeof defaultLimits>;

export type ToolContext = Readonly<{
  /** May be reached by links. */
  root: string;
  signal: AbortSignal;
  limits: WorkspaceLimits;
  jobs: Jobs;
  /** All that commands get. */
  environment: Readonly<Record<string, string>>;
  /** Hears what became of a file. */
  changed?: (change: FileChange) => void;
}>;

export type WorkspaceTool = ReturnType<typeof defineTool>;

/** What the model sees is what its input is read against. */
export function defineTool<const F extends Fields>(tool: {
  name: string;
  description: string;
  /** Only `read` may be run again by itself (S6). */
  access: 'read' | 'write' | 'execute';
  input: F;
  run(input: Values<F>, context: ToolContext): Promise<Answer>;
  /**
   * After the call: it waited for something that still goes on. Repeating it is no loop
   * (P18).
   */
  waits?(input: Values<F>, context: Pick<ToolContext, 'jobs'>): boolean;
}) {
  const { input, run, waits, ...about } = tool;
  return {
    ...about,
    inputSchema: jsonSchema(object(input)),
    waits(value: unknown, context: Pick<ToolContext, 'jobs'>): boolean {
      const read = readInput(input, value, Number.MAX_SAFE_INTEGER);
      return read.ok && waits?.(read.input, context) === true;
    },
    async call(value: unknown, context: ToolContext): Promise<Answer> {
      // Files have no bound of their own.
      const read = readInput(input, value, Number.MAX_SAFE_INTEGER);
      return read.ok ? run(read.input, context) : read;
    },
  };
}
