// A host's own program as `run --with HOST` drives it: how it is started and taken up
// again, and what its lines mean. A driver only translates: src/agent/drive.ts starts the
// program, follows it and asks the engine. No method may throw.
import type { SessionDescriptor, StopEnd } from '../core/events.ts';
import type { ListedTodo } from '../core/reconcile.ts';
import type { Environment } from './policy.ts';

/**
 * The host's own permissions, by three words of ours. `auto`, the widest it has, comes
 * only from the flag `--auto`.
 */
export type DriveMode = 'read-only' | 'edit' | 'auto';

export interface HostDriver {
  /** As in src/hosts/hosts.ts. */
  readonly name: string;
  readonly title: string;
  /** Looked for on PATH. */
  readonly program: string;
  /** A command that installs it. */
  readonly howToGet: string;
  /**
   * True: a new conversation gets our session's id. False: the id comes with the first
   * fact `conversation`.
   */
  readonly takesId: boolean;
  /** No line says that it ended: its exit with code 0 does. */
  readonly endsByExit?: true;
  /**
   * What its lines or our hooks in it tell of; a budget on anything else would never be
   * reached and is refused.
   */
  readonly reports: Readonly<{ tokens: boolean; cost: boolean }>;
  /** The names that the model knows our todo tools by, where this driver brings them. */
  readonly tools: SessionDescriptor['tools'];
  /** Shown before it starts: what the agent may do, in one sentence each. */
  readonly permissions: Readonly<Record<DriveMode, string>>;
  /** Words, variables and input of one start. Writes nothing but into `start.scratch`. */
  start(start: DriveStart): DriveCall;
  /**
   * For the lines of one start: what it remembers of them is no other start's. Does
   * nothing else.
   */
  createReader(): LineReader;
  /**
   * The host's own list, where it keeps one that can be read between two starts; null: it
   * cannot be.
   */
  readTodos?(
    id: string,
    environment: Environment,
  ): readonly ListedTodo[] | null | Promise<readonly ListedTodo[] | null>;
}

export type DriveStart = Readonly<{
  /** For the model: the human's words, or ours. */
  text: string;
  /**
   * Ours for a new conversation of a host that `takesId`, else the host's; null: it will
   * tell.
   */
  id: string | null;
  /**
   * False: the conversation `id` is taken up again. The flags must be those of the first
   * start, or its cache is cold.
   */
  isNew: boolean;
  mode: DriveMode;
  /** null: the host's own choice. */
  model: string | null;
  /** The human's, from behind `--`; they come last where the order matters. */
  flags: readonly string[];
  /**
   * A private folder for files of this start: hooks and servers that hold for it alone.
   * Removed when the run ends.
   */
  scratch: string;
  environment: Environment;
}>;

/**
 * What one line means; [] for what says nothing. As hostile as any text: read field by
 * field. Must not throw.
 */
export type LineReader = (
  line: string,
  from: 'output' | 'errors',
) => readonly DriveFact[];

export type DriveCall = Readonly<{
  /** Behind the program's name. */
  words: readonly string[];
  /** Besides the human's environment. */
  variables?: Readonly<Record<string, string>>;
  /** For standard input, which is closed behind it; absent: there is none. */
  input?: string;
}>;

export type Tokens = Readonly<{
  inputTokens: number;
  cachedTokens: number;
  outputTokens: number;
}>;

/** What one line says, in words that all hosts share. */
export type DriveFact = Readonly<
  /** The host's id for the conversation. */
  | { type: 'conversation'; id: string }
  /**
   * It does not know the conversation that it was to take up: it was killed in its first
   * moments.
   */
  | { type: 'unknown-conversation' }
  /** One call of the model began; told again under the same id it is the same. */
  | { type: 'step'; id: string }
  | { type: 'text'; text: string }
  | { type: 'tool-started'; callId: string; tool: string; input: unknown }
  /**
   * `tool`: where the line names it; a call that was not begun before counts as begun and
   * ended.
   */
  | {
      type: 'tool-ended';
      callId: string;
      tool?: string;
      input?: unknown;
      ok: boolean;
      output: string;
    }
  /** Its whole list. Counts only where our hooks in it are silent. */
  | { type: 'todos'; todos: readonly ListedTodo[] }
  /**
   * `of` says of what the numbers are the sum: of one step (under its id once), of all
   * since this start, or of the whole conversation, resumes included. Cached tokens are
   * part of the input. `tokens` null: only the cost is told.
   */
  | { type: 'usage'; of: 'step'; id: string; tokens: Tokens; cost: number | null }
  | {
      type: 'usage';
      of: 'start' | 'conversation';
      tokens: Tokens | null;
      cost: number | null;
    }
  /**
   * It tries a failed call again by itself: it does not hang. `inMs` 0: it does not say
   * when.
   */
  | { type: 'retrying'; sentence: string; inMs: number }
  /** Why it will end; limits are waited for, anything else is counted (G9). */
  | {
      type: 'error';
      kind: 'rate-limit' | 'overload' | 'overflow' | 'other';
      message: string;
    }
  /** The result event: what counts as the end, whatever the exit code says. */
  | { type: 'ended'; end: StopEnd; text?: string }
>;
