// What a program gives the enforcer: callbacks that read its sessions and act on them. Every callback may answer at
// once or with a promise; one that throws or does not answer in time is told to `onError` and changes nothing else.
import type { PartialSettings } from '../../core/config/settings.ts';
import type { ToolAccess } from '../../core/events.ts';
import type { Clock } from '../../engine/clock.ts';
import type { Checker } from '../../engine/host.ts';
import type { Store } from '../../engine/store.ts';
import type { Toast } from '../told/told-runtime.ts';

type Answer<T> = T | PromiseLike<T>;

/** One todo as the program keeps it. Unknown words cost the item, not the list. */
export interface EnforcerTodo {
  readonly id?: string | undefined;
  readonly content: string;
  /** pending, in_progress, completed, cancelled, blocked, and the usual other words for them; default: pending. */
  readonly status?: string | undefined;
  readonly priority?: string | undefined;
}

export interface EnforcerMessage {
  /** Unique in the session. Without ids a message cannot be told from an echo of it: give them if you can. */
  readonly id?: string | undefined;
  readonly role: 'user' | 'assistant';
  readonly text?: string | undefined;
  /** The key that `inject` got, if the program keeps it with the message: the surest way to know our own. */
  readonly key?: string | undefined;
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  readonly variant?: string | undefined;
  /** What ended an assistant's message too early; an AbortError here is the human's stop. */
  readonly error?: unknown;
}

export interface EnforcerAgent {
  readonly name?: string | undefined;
  /** undefined: unknown, and then the agent is never continued (G4). */
  readonly canWrite?: boolean | undefined;
}

/** How a continuation is to be sent: as the human's last message was, so that nobody gains rights by it. */
export interface InjectOptions {
  readonly agent: string | null;
  readonly model: string | null;
  readonly variant: string | null;
  /** The same key is the same continuation, however often it is sent. */
  readonly key: string;
}

export interface EnforcerOptions {
  /** The program's list, read again at the moment of acting. */
  readonly getTodos: (sessionId: string) => Answer<readonly EnforcerTodo[]>;
  /** Oldest first; the last few dozen are enough. */
  readonly getMessages: (sessionId: string) => Answer<readonly EnforcerMessage[]>;
  /** Puts the text into the session as a user's message. Throw, or reject, if it could not be taken. */
  readonly inject: (sessionId: string, text: string, options: InjectOptions) => Answer<unknown>;
  /** Shows a short note. Absent: the human is told nothing. */
  readonly toast?: (sessionId: string, toast: Toast) => Answer<void>;
  /** Background work that belongs to the session; while it is above zero nothing is sent. */
  readonly backgroundCount?: (sessionId: string) => Answer<number>;
  /** The session that the human works in; null: not known, every session that is no subagent counts. */
  readonly mainSession?: () => Answer<string | null>;
  /** Subagents are left alone unless the setting `subagents` is on. */
  readonly isSubagent?: (sessionId: string) => Answer<boolean>;
  /** The agent at work. Absent: the program has no agents without write access. */
  readonly agentInfo?: (sessionId: string, agent: string | null) => Answer<EnforcerAgent | null>;
  /** Is nothing running in the session? Absent: the last event says it. */
  readonly isIdle?: (sessionId: string) => Answer<boolean>;
  /** What a tool may do. Default: todo for names with "todo" in them, unknown for all others. */
  readonly toolAccess?: (tool: string) => ToolAccess;
  /** False: the program emits no tool events. Default: true. */
  readonly seesTools?: boolean;
  /** Nobody is there to answer: an open question ends the turn as paused. Default: false. */
  readonly headless?: boolean;
  /** Names under which the model can call todo_pause and todo_verify here; the texts name them. Default: none. */
  readonly tools?: { readonly pause?: string; readonly verify?: string };
  /** Over what files and environment say; a wrong one throws at once. */
  readonly settings?: PartialSettings;
  /** The workspace: its untildone.json holds. Absolute. Absent: only the user's file. */
  readonly directory?: string;
  /** Default: the user's SQLite store, opened and closed by the enforcer. */
  readonly store?: Store;
  readonly clock?: Clock;
  /** Runs checks. Without one, checks that files ask for are left out, and nothing ends better than claimed. */
  readonly checker?: Checker;
  /** Default: the process's. Only UNTILDONE_*, XDG_* and HOME are read. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Stable across restarts and unique on the machine: sessions and countdowns are found by it. */
  readonly name?: string;
  readonly description?: string;
  /** For a bus that orders its listeners; the default of 40 lets other loops go first. */
  readonly priority?: number;
  /** What went wrong while nobody waited for an answer. Must not throw. */
  readonly onError?: (error: unknown) => void;
}
