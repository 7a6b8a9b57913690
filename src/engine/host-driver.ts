// A host's own program as `run --with HOST` drives it: how it is started and resumed, and
// what its lines mean. A driver only translates: src/agent/drive.ts starts the program,
// follows it and asks the engine.
import type { SessionDescriptor, StopEnd } from '../core/events.ts';
import type { ListedTodo } from '../core/reconcile.ts';
import type { Environment } from './policy.ts';

/**
 * The host's own permissions, in three words of ours. `auto` gives the widest that the
 * host has, and comes only from the flag `--auto`.
 */
export type DriveMode = 'read-only' | 'edit' | 'auto';

/**
 * Translates between a host's program and us:
 *
 * ```ts
 * const { words } = driver.start(start); // ['-p', 'Fix the build', '--output-format', …]
 * const read = driver.createReader();
 * read('{"type":"result","result":"ok"}', 'output'); // [{ type: 'ended', … }]
 * read('anything else', 'output'); // []
 * ```
 *
 * No method may throw, keep anything between two starts, or start a program itself.
 */
export interface HostDriver {
  /** The host's name in src/hosts/hosts.ts. */
  readonly name: string;
  readonly title: string;
  /** The program's name, which is looked for on PATH. */
  readonly program: string;
  /** A command that installs it. */
  readonly howToGet: string;
  /**
   * True: a new conversation gets our session's id. False: the host makes the id, and the
   * first fact `conversation` brings it.
   */
  readonly takesId: boolean;
  /** True: no line says that the run ended; an exit with code 0 does. */
  readonly endsByExit?: true;
  /**
   * What the program's lines, or our hooks in it, report. A budget on anything else could
   * never be reached, so it is refused.
   */
  readonly reports: Readonly<{ tokens: boolean; cost: boolean }>;
  /**
   * The names by which the model knows our todo tools, if this driver brings them along.
   */
  readonly tools: SessionDescriptor['tools'];
  /** Shown before the start: what the agent may do, in one sentence for each mode. */
  readonly permissions: Readonly<Record<DriveMode, string>>;
  /**
   * Returns the words, variables and input of one start. Must not write anywhere but into
   * `start.scratch`.
   */
  start(start: DriveStart): DriveCall;
  /**
   * Returns a reader for the lines of one start. What it remembers belongs to this start
   * alone; it must do nothing but read.
   */
  createReader(): LineReader;
  /**
   * Reads the host's own todo list between two starts, if the host keeps one; null: it
   * cannot be read.
   */
  readTodos?(
    id: string,
    environment: Environment,
  ): readonly ListedTodo[] | null | Promise<readonly ListedTodo[] | null>;
}

/** What a driver is told about one start of its program. */
export type DriveStart = Readonly<{
  /** The text for the model: the human's words, or a continuation of ours. */
  text: string;
  /**
   * Our id for a new conversation of a host that `takesId`; else the host's id; null: the
   * host will tell it.
   */
  id: string | null;
  /**
   * False: the conversation `id` is resumed. The flags must then be those of the first
   * start, or the provider's cache is cold.
   */
  isNew: boolean;
  mode: DriveMode;
  /** Null: the host chooses. */
  model: string | null;
  /** The human's flags, from behind `--`. They come last if the order matters. */
  flags: readonly string[];
  /**
   * A private folder for the files of this start, such as hooks and servers that hold for
   * it alone. It is removed when the run ends.
   */
  scratch: string;
  environment: Environment;
}>;

/**
 * Returns what one line means; [] for a line that says nothing. A line may hold anything,
 * so it is read field by field. Must not throw.
 */
export type LineReader = (
  line: string,
  from: 'output' | 'errors',
) => readonly DriveFact[];

/** How the program is called. */
export type DriveCall = Readonly<{
  /** The arguments behind the program's name. */
  words: readonly string[];
  /** Variables besides those of the human's environment. */
  variables?: Readonly<Record<string, string>>;
  /** The text for standard input, which is then closed; absent: there is no input. */
  input?: string;
}>;

/** Tokens of one or several calls of the model; cached tokens are part of the input. */
export type Tokens = Readonly<{
  inputTokens: number;
  cachedTokens: number;
  outputTokens: number;
}>;

/** What one line says, in words that all hosts share. */
export type DriveFact = Readonly<
  /** The host's id of the conversation. */
  | { type: 'conversation'; id: string }
  /**
   * The host does not know the conversation that it should resume: it was killed in its
   * first moments.
   */
  | { type: 'unknown-conversation' }
  /** One call of the model began; a second line with the same id means the same call. */
  | { type: 'step'; id: string }
  | { type: 'text'; text: string }
  | { type: 'tool-started'; callId: string; tool: string; input: unknown }
  /**
   * A tool call ended. `tool` is there if the line names it. A call that never began
   * counts as begun and ended.
   */
  | {
      type: 'tool-ended';
      callId: string;
      tool?: string;
      input?: unknown;
      ok: boolean;
      output: string;
    }
  /** The host's whole todo list. It counts only if our hooks in the host are silent. */
  | { type: 'todos'; todos: readonly ListedTodo[] }
  /**
   * Tokens and cost. `of` says what they are the sum of: one step (counted once for its
   * id), everything since this start, or the whole conversation with its resumes.
   * `tokens` null: only the cost is reported.
   */
  | { type: 'usage'; of: 'step'; id: string; tokens: Tokens; cost: number | null }
  | {
      type: 'usage';
      of: 'start' | 'conversation';
      tokens: Tokens | null;
      cost: number | null;
    }
  /**
   * The host repeats a failed call by itself, so it does not hang. `inMs` 0: it does not
   * say when.
   */
  | { type: 'retrying'; sentence: string; inMs: number }
  /** Why the host will end. We wait for limits to pass; any other error counts (G9). */
  | {
      type: 'error';
      kind: 'rate-limit' | 'overload' | 'overflow' | 'other';
      message: string;
    }
  /** The result line. It counts as the end, whatever the exit code says. */
  | { type: 'ended'; end: StopEnd; text?: string }
>;
