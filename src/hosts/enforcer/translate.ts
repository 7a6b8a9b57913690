// What a program gives the enforcer: the options with its callbacks, and the events of its bus. All of it is read field
// by field; a callback that throws or does not answer in time is told to `onError`, and nothing is concluded from it.

import { UntildoneError } from '../../core/error.ts';
import type { SessionKind, StopEnd, ToolAccess } from '../../core/events.ts';
import type { ListedTodo } from '../../core/reconcile.ts';
import type { PartialSettings } from '../../core/settings.ts';
import type { Checker, Clock } from '../../engine/host.ts';
import type { OutboxRow, Store } from '../../engine/store.ts';
import type { Toast } from '../told-runtime.ts';
import { type Fields, recordOf, textOf, withinTime } from '../untrusted.ts';

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

/** What each event carries beside its type and `sessionId`. */
interface Details {
  /** `end`: how the model's last step ended; default: normal, or error if an error was the last that happened. */
  'session.idle': { readonly end?: StopEnd | undefined };
  'session.error': { readonly error: unknown };
  'session.deleted': object;
  /** A message appeared or changed; after: it is complete. */
  'message.updated': { readonly message: EnforcerMessage };
  'message.after': { readonly message: EnforcerMessage };
  'tool.before': { readonly tool: string };
  /** `error`: the text of what went wrong in the call. */
  'tool.after': { readonly tool: string; readonly error?: string | null | undefined };
  'permission.asked': { readonly requestId: string };
  'permission.answered': { readonly requestId: string; readonly granted: boolean };
  'question.asked': { readonly requestId: string };
  'question.answered': { readonly requestId: string; readonly rejected?: boolean | undefined };
  'compaction.started': object;
  'compaction.ended': object;
}

export type EnforcerEventName = keyof Details;
export type EventOf<Name extends EnforcerEventName> = {
  [Type in Name]: { readonly type: Type; readonly sessionId: string } & Details[Type];
}[Name];
export type EnforcerEvent = EventOf<EnforcerEventName>;

/** Null: it lacks a field or has a wrong one. Nothing else of a payload comes along. */
const readDetails: { readonly [Name in EnforcerEventName]: (fields: Fields) => Details[Name] | null } = {
  'session.idle': ({ end }) => ({ end: ends.find((known) => known === end) }),
  'session.error': ({ error }) => ({ error }),
  'session.deleted': () => ({}),
  'message.updated': readMessageField,
  'message.after': readMessageField,
  'tool.before': readToolFields,
  'tool.after': readToolFields,
  'permission.asked': readRequestFields,
  'permission.answered': readRequestFields,
  'question.asked': readRequestFields,
  'question.answered': readRequestFields,
  'compaction.started': () => ({}),
  'compaction.ended': () => ({}),
};

export const enforcerEvents = Object.keys(readDetails) as readonly EnforcerEventName[];

const endWords = 'normal length empty error cancelled refusal content-filter iteration-budget';
const ends = endWords.split(' ') as readonly StopEnd[];
/** Ids of hosts are UUIDs, paths or hashes; room is left for the name of the program before it. */
const longestId = 120;
const longestText = 1_000_000;

export type ReadEvent =
  | { readonly read: 'event'; readonly event: EnforcerEvent }
  /** Somebody else's event: a bus carries many. */
  | { readonly read: 'foreign' }
  | { readonly read: 'broken'; readonly sentence: string };

export function readEnforcerEvent(value: unknown): ReadEvent {
  try {
    const fields = recordOf(value);
    const type = enforcerEvents.find((name) => name === fields['type']);
    if (type === undefined) return { read: 'foreign' };
    const sessionId = readId(fields['sessionId']);
    const details = readDetails[type](fields);
    if (sessionId !== null && details !== null)
      return { read: 'event', event: { type, sessionId, ...details } as EnforcerEvent };
    const sentence = `an event "${type}" lacks a field or has a wrong one; it was left out`;
    return { read: 'broken', sentence };
  } catch (error) {
    // Safe: nothing was done with it yet, and the caller tells that it could not be read.
    return { read: 'broken', sentence: `an event could not be read: ${String(error).slice(0, 200)}` };
  }
}

function readMessageField(fields: Fields) {
  const message = readMessage(fields['message']);
  return message === null ? null : { message };
}

function readToolFields({ tool, error }: Fields) {
  const name = readId(tool);
  return name === null ? null : { tool: name, error: readText(error) };
}

/** What is not clearly granted or answered was not: a rejection is the human's will, a grant must be said. */
function readRequestFields(fields: Fields) {
  const requestId = readId(fields['requestId']);
  const answer = { granted: fields['granted'] === true, rejected: fields['rejected'] === true };
  return requestId === null ? null : { requestId, ...answer };
}

/** null: it is neither the human's nor the assistant's. */
function readMessage(value: unknown): EnforcerMessage | null {
  const fields = recordOf(value);
  const { role, error } = fields;
  if (role !== 'user' && role !== 'assistant') return null;
  const [id, key, agent, model, variant] = ['id', 'key', 'agent', 'model', 'variant'].map(
    (name) => readId(fields[name]) ?? undefined,
  );
  const text = readText(fields['text']) ?? undefined;
  return { role, id, text, key, agent, model, variant, ...(error == null ? {} : { error }) };
}

export function readId(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' && value.length <= longestId ? value : null;
}

function readText(value: unknown): string | null {
  return typeof value === 'string' ? value.slice(0, longestText) : null;
}

/** Long enough for a program that asks a server, short enough for a human who waits for the countdown to end. */
const patienceMs = 5000;
/** What a program can sensibly hand over; reading more would hold up its own event loop. */
const mostMessages = 5000;
const mostTodos = 100_000;
const accesses: readonly ToolAccess[] = ['read', 'write', 'todo', 'unknown'];

/** The program's callbacks, asked with care. An answer of null means "not known". */
export function createProgram(options: EnforcerOptions, clock: Clock, onError: (error: unknown) => void) {
  async function ask<T>(call: () => T | PromiseLike<T>): Promise<T | null> {
    const answer = await withinTime(clock, patienceMs, call);
    if (answer.answered) return answer.value;
    onError(answer.error);
    return null;
  }

  /** What is no list says nothing, and whoever wrote the callback is told so. */
  function askList(callback: 'getTodos' | 'getMessages', sessionId: string) {
    return ask(async () => {
      const list: unknown = await options[callback](sessionId);
      if (Array.isArray(list)) return list as readonly unknown[];
      throw new UntildoneError('invalid-event', `${callback}: must give a list`);
    });
  }

  return {
    async todos(sessionId: string): Promise<readonly ListedTodo[] | null> {
      return (await askList('getTodos', sessionId))?.slice(0, mostTodos).map(readTodo) ?? null;
    },
    async messages(sessionId: string): Promise<readonly EnforcerMessage[] | null> {
      const list = await askList('getMessages', sessionId);
      return list?.slice(-mostMessages).flatMap((message) => readMessage(message) ?? []) ?? null;
    },
    async background(sessionId: string): Promise<number | null> {
      const count: unknown = await ask(() => options.backgroundCount?.(sessionId) ?? null);
      return typeof count === 'number' && count >= 0 ? count : null;
    },
    async isIdle(sessionId: string): Promise<boolean | null> {
      const { isIdle } = options;
      return isIdle === undefined ? null : ask(async () => (await isIdle(sessionId)) === true);
    },
    async kind(sessionId: string): Promise<SessionKind> {
      if ((await ask(() => options.isSubagent?.(sessionId) ?? null)) === true) return 'subagent';
      const main = await ask(() => options.mainSession?.() ?? null);
      return typeof main !== 'string' ? 'unknown' : main === sessionId ? 'main' : 'other';
    },
    async agentInfo(sessionId: string, agent: string | null) {
      const info = await ask(() => options.agentInfo?.(sessionId, agent) ?? null);
      const canWrite = typeof info?.canWrite !== 'boolean' ? 'unknown' : info.canWrite ? 'yes' : 'no';
      return { name: readId(info?.name), canWrite } as const;
    },
    toolAccess(tool: string): ToolAccess {
      if (options.toolAccess === undefined) return tool.toLowerCase().includes('todo') ? 'todo' : 'unknown';
      try {
        const access: unknown = options.toolAccess(tool);
        return accesses.find((known) => known === access) ?? 'unknown';
      } catch (error) {
        // Safe: a tool of which nothing is known counts as one that can write.
        onError(error);
        return 'unknown';
      }
    },
  };
}

/** A todo that is none stays in the list as one without a title: it is refused with a word, and the others apply. */
function readTodo(value: unknown): ListedTodo {
  const { id, content, status, priority } = recordOf(value);
  const said = { title: textOf(content) ?? '', status: textOf(status) ?? 'pending' };
  return { key: readId(id), ...said, priority: textOf(priority) ?? undefined };
}

/**
 * The epoch of the continuation that this message is; null: it is not ours. By the key that went with it, or by the text
 * that the outbox of its session has; never by the marker in the text alone: anyone can write that (E6).
 */
export function findOwn(rows: readonly OutboxRow[], message: EnforcerMessage): number | null {
  if (message.role !== 'user') return null;
  if (message.key !== undefined) return rows.find((row) => keyOf(row) === message.key)?.epoch ?? null;
  const onItsWay = rows.filter(({ state }) => state === 'intended' || state === 'sent');
  // Nothing to compare, and something of ours was just sent: a human who writes in the same moment is rarer.
  if (message.text === undefined) return onItsWay.at(-1)?.epoch ?? null;
  const text = message.text.trim();
  const isSame = (row: OutboxRow): boolean => row.text.trim() === text;
  return (onItsWay.find(isSame) ?? rows.findLast(isSame))?.epoch ?? null;
}

/** Is the continuation of this epoch shown? Earlier ones with the same text account for earlier messages. */
export function isShown(
  rows: readonly OutboxRow[],
  epoch: number,
  messages: readonly EnforcerMessage[],
): boolean {
  const row = rows.find((candidate) => candidate.epoch === epoch);
  if (row === undefined) return false;
  const own = messages.filter(({ role }) => role === 'user');
  if (own.some(({ key }) => key === keyOf(row))) return true;
  const text = row.text.trim();
  const shown = own.filter((message) => message.key === undefined && message.text?.trim() === text);
  const isEarlier = (one: OutboxRow): boolean => one.epoch < epoch && one.state === 'observed';
  return shown.length > rows.filter((one) => isEarlier(one) && one.text.trim() === text).length;
}

function keyOf({ sessionId, epoch }: OutboxRow): string {
  return `${sessionId}:${epoch}`;
}
