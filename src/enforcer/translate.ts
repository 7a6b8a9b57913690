// Reads what a program gives the enforcer, field by field. If a callback throws or is
// late, nothing is concluded.
import type { Decision } from '../core/decision.ts';
import { UntildoneError } from '../core/error.ts';
import {
  access,
  type SessionDescriptor,
  stopEnd,
  type ToolAccess,
} from '../core/events.ts';
import {
  type Kind,
  optional,
  read,
  taken,
  type Variant,
  variant,
} from '../core/schema.ts';
import type { PartialSettings } from '../core/settings.ts';
import type { OwnTexts } from '../core/texts.ts';
import type { Checker, Clock, ToldHost } from '../engine/host.ts';
import type { Environment } from '../engine/policy.ts';
import type { OutboxRow, Store } from '../engine/store.ts';
import { amountOf, readTodo, recordOf, textOf, withinTime } from '../hosts/untrusted.ts';

type Answer<T> = T | PromiseLike<T>;
type Ask<T> = (sessionId: string) => Answer<T>;
/** A short message for the human. */
export type Toast = Readonly<Required<Parameters<ToldHost['notify']>[1]>>;
type Some<Names extends string> = { readonly [Name in Names]?: string | undefined };

/** A todo as the program has it. A wrong field costs the todo, not the list. */
export interface EnforcerTodo extends Some<'id' | 'status' | 'priority'> {
  readonly content: string;
}

/**
 * A message. Without a unique `id` it cannot be told from its echo. `key`: the key that
 * `inject` got.
 */
export interface EnforcerMessage
  extends Some<'id' | 'text' | 'key' | 'agent' | 'model' | 'variant'> {
  readonly role: 'user' | 'assistant';
  /** The error that ended the message too early; an AbortError is the human's stop. */
  readonly error?: unknown;
}

/** What is known about an agent. */
export interface EnforcerAgent extends Some<'name'> {
  /** Absent means unknown: such an agent is never continued (G4). */
  readonly canWrite?: boolean | undefined;
}

/**
 * The agent as the human last chose it, so that nobody gains rights. The same key means
 * the same continuation.
 */
export interface InjectOptions
  extends Readonly<Record<'agent' | 'model' | 'variant', string | null>> {
  readonly key: string;
}

/**
 * Why a session was sent on, waits, or was left alone. `observed`: only noted, not done
 * (`mode: observe`).
 */
export type EnforcerDecision = Pick<
  Decision,
  'answer' | 'reason' | 'sentence' | 'outcome' | 'dueAt' | 'observed'
>;

/** What a program gives the enforcer; see docs/enforcer.md. */
export type EnforcerOptions = Readonly<{
  clock?: Clock;
  environment?: Environment;
  onError?: (error: unknown) => void;
  /** Called for every decision (C4): each continuation, wait and end. */
  onDecision?: (sessionId: string, decision: EnforcerDecision) => Answer<void>;
  getTodos: Ask<readonly EnforcerTodo[]>;
  /** The messages, oldest first; the last few dozen are enough. */
  getMessages: Ask<readonly EnforcerMessage[]>;
  /** Sends the text as a user's message. Must throw or reject if it was not taken. */
  inject: (sessionId: string, text: string, options: InjectOptions) => Answer<unknown>;
  toast?: (sessionId: string, toast: Toast) => Answer<void>;
  backgroundCount?: Ask<number>;
  /**
   * The session that the human sees. Null: unknown, so every session that is no subagent
   * counts.
   */
  mainSession?: () => Answer<string | null>;
  isSubagent?: Ask<boolean>;
  /** Absent: every agent may write. */
  agentInfo?: (sessionId: string, agent: string | null) => Answer<EnforcerAgent | null>;
  isIdle?: Ask<boolean>;
  toolAccess?: (tool: string) => ToolAccess;
  seesTools?: boolean;
  headless?: boolean;
  tools?: { readonly pause?: string; readonly verify?: string };
  /** A wrong setting throws at once. */
  settings?: PartialSettings;
  /** Your own words for a continuation; what must stay in them is checked. */
  texts?: OwnTexts;
  directory?: string;
  store?: Store;
  /** Absent: no session ends better than claimed. */
  checker?: Checker;
  /** Stable, and unique on the machine: countdowns are found by it after a restart. */
  name?: string;
  description?: string;
  priority?: number;
}>;

/** The enforcer's name is put before it. */
const longestId = 120;
const longestText = 1_000_000;
/** An id as the program has it; null: it is blank, too long or no text. */
export const readId = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' && value.length <= longestId
    ? value
    : null;
const readText = (value: unknown): string | null =>
  textOf(value)?.slice(0, longestText) ?? null;
const id: Kind<string> = { type: 'text', minimum: 1, maximum: longestId, notBlank: true };
const sessionField = { sessionId: id };
const amount: Kind<number> = taken(amountOf);
const isTrue = taken((value) => value === true);
const message = taken(readMessage) as Kind<EnforcerMessage>;

/**
 * The fields of each event. An answer that is not clearly granted or rejected was not.
 */
const eventTable = {
  /** Absent: the last event decides. */
  'session.idle': {
    ...sessionField,
    end: optional(taken((value) => wordOf(stopEnd, value))),
  },
  'session.error': { ...sessionField, error: taken((value) => value) },
  'session.deleted': sessionField,
  'message.updated': { ...sessionField, message },
  'message.after': { ...sessionField, message },
  'tool.before': { ...sessionField, tool: id },
  'tool.after': { ...sessionField, tool: id, error: optional(taken(readText)) },
  'permission.asked': { ...sessionField, requestId: id },
  'permission.answered': { ...sessionField, requestId: id, granted: isTrue },
  'question.asked': { ...sessionField, requestId: id },
  'question.answered': { ...sessionField, requestId: id, rejected: optional(isTrue) },
  /**
   * What one call of the model used (G8). With both fields of the context, the context is
   * watched too.
   */
  'usage.reported': {
    ...sessionField,
    inputTokens: amount,
    outputTokens: amount,
    cost: optional(amount),
    contextTokens: optional(amount),
    contextLimit: optional(amount),
  },
  'compaction.started': sessionField,
  'compaction.ended': sessionField,
};
const eventKind = variant('type', eventTable);
/** The name of an event. */
export type EnforcerEventName = keyof typeof eventTable;
/** What the program reports: one thing that happened in a session. */
export type EnforcerEvent = Variant<'type', typeof eventTable>;
export type EventOf<Name extends EnforcerEventName> = Extract<
  EnforcerEvent,
  { readonly type: Name }
>;
/** The events that the enforcer listens to. */
export const enforcerEvents = Object.keys(eventTable) as readonly EnforcerEventName[];

/** Reads an event. `foreign`: not one of ours, of which a bus carries many. */
export function readEnforcerEvent(value: unknown) {
  try {
    const type = enforcerEvents.find((name) => name === recordOf(value)['type']);
    if (type === undefined) return { read: 'foreign' } as const;
    const event = read(eventKind, value);
    if (event.ok && !('message' in event.value && event.value.message === null))
      return { read: 'event', event: event.value } as const;
    return broken(`an event "${type}" lacks a field or has a wrong one; it was left out`);
  } catch (error) {
    // Safe: nothing was done yet, and the sentence is reported.
    return broken(`an event could not be read: ${String(error).slice(0, 200)}`);
  }
}
const broken = (sentence: string) => ({ read: 'broken', sentence }) as const;

function wordOf<Word>(words: Kind<Word>, value: unknown): Word | undefined {
  const known = read(words, value);
  return known.ok ? known.value : undefined;
}

const messageWords = ['id', 'key', 'agent', 'model', 'variant'] as const;
function readMessage(value: unknown): EnforcerMessage | null {
  const fields = recordOf(value);
  const { role, error } = fields;
  if (role !== 'user' && role !== 'assistant') return null;
  const words = messageWords.map((name) => [name, readId(fields[name])] as const);
  const fieldValues = [
    ...words,
    ['text', readText(fields['text'])],
    ['error', error ?? null],
  ] as const;
  return {
    role,
    ...Object.fromEntries(fieldValues.filter(([, value]) => value !== null)),
  };
}

/** Enough for a program that asks a server. */
const patienceMs = 5000;
/** More would hold up the program's event loop. */
const mostMessages = 5000;
const mostTodos = 100_000;
export interface Parts extends Required<Pick<EnforcerOptions, 'clock' | 'onError'>> {
  readonly options: EnforcerOptions;
}
/**
 * The program's callbacks, called for one session. They return null if the answer is not
 * known.
 */
export function createProgram({ options, clock, onError }: Parts, id: string) {
  async function askProgram<T>(call: () => Answer<T> | undefined): Promise<T | null> {
    const answer = await withinTime(clock, patienceMs, call);
    if (answer.answered) return answer.value ?? null;
    onError(answer.error);
    return null;
  }

  function askList(callback: 'getTodos' | 'getMessages') {
    return askProgram(async () => {
      const list: unknown = await options[callback](id);
      if (Array.isArray(list)) return list as readonly unknown[];
      throw new UntildoneError('invalid-event', `${callback}: must give a list`);
    });
  }

  return {
    async todos() {
      const list = await askList('getTodos');
      return (
        list
          ?.slice(0, mostTodos)
          .map((one) => readTodo(one, readId(recordOf(one)['id']))) ?? null
      );
    },
    async messages() {
      const list = await askList('getMessages');
      return (
        list?.slice(-mostMessages).flatMap((message) => readMessage(message) ?? []) ??
        null
      );
    },
    async background() {
      const count: unknown = await askProgram(() => options.backgroundCount?.(id));
      return typeof count === 'number' && count >= 0 ? count : null;
    },
    async isIdle() {
      const isIdle: unknown = await askProgram(() => options.isIdle?.(id));
      return isIdle === null ? null : isIdle === true;
    },
    async kind(): Promise<SessionDescriptor['kind']> {
      if ((await askProgram(() => options.isSubagent?.(id))) === true) return 'subagent';
      const main = await askProgram(() => options.mainSession?.());
      if (typeof main !== 'string') return 'unknown';
      return main === id ? 'main' : 'other';
    },
    async agentInfo(agent: string | null) {
      const { name, canWrite } = recordOf(
        await askProgram(() => options.agentInfo?.(id, agent)),
      );
      const answer = canWrite === true ? 'yes' : 'no';
      const knowledge = typeof canWrite === 'boolean' ? answer : 'unknown';
      return { name: readId(name), canWrite: knowledge } as const;
    },
    /** An unknown tool counts as one that can write. */
    async toolAccess(tool: string): Promise<ToolAccess> {
      if (options.toolAccess === undefined)
        return tool.toLowerCase().includes('todo') ? 'todo' : 'unknown';
      return (
        wordOf(access, await askProgram(() => options.toolAccess?.(tool))) ?? 'unknown'
      );
    },
  };
}

/** The usage in whole tokens. A context without its tokens or its limit is not known. */
export function usageOf({
  inputTokens,
  outputTokens,
  cost,
  ...context
}: EventOf<'usage.reported'>) {
  const { contextTokens, contextLimit } = context;
  const isKnown =
    contextTokens !== undefined && contextLimit !== undefined && contextLimit > 0;
  return {
    type: 'usage-reported',
    inputTokens: Math.ceil(inputTokens),
    outputTokens: Math.ceil(outputTokens),
    cost: cost ?? null,
    contextTokens: isKnown ? Math.ceil(contextTokens) : null,
    contextLimit: isKnown ? Math.ceil(contextLimit) : null,
  } as const;
}

/**
 * Finds the continuation that a message shows, by its key or text; null: the message is
 * not ours. The marker alone proves nothing, since anyone can write it (E6).
 */
export function findOwn(
  rows: readonly OutboxRow[],
  message: EnforcerMessage,
): number | null {
  if (message.role !== 'user') return null;
  if (message.key !== undefined)
    return rows.find((row) => keyOf(row) === message.key)?.epoch ?? null;
  const onItsWay = rows.filter(({ state }) => state === 'intended' || state === 'sent');
  // Our text was just sent, and it is rare that a human writes in that moment.
  if (message.text === undefined) return onItsWay.at(-1)?.epoch ?? null;
  const isSame = hasText(message.text);
  return (onItsWay.find(isSame) ?? rows.findLast(isSame))?.epoch ?? null;
}

/**
 * Tells whether the messages show this continuation. Earlier continuations with the same
 * text account for earlier messages.
 */
export function isShown(
  rows: readonly OutboxRow[],
  epoch: number,
  messages: readonly EnforcerMessage[],
) {
  const row = rows.find((candidate) => candidate.epoch === epoch);
  if (row === undefined) return false;
  const userMessages = messages.filter(({ role }) => role === 'user');
  if (userMessages.some(({ key }) => key === keyOf(row))) return true;
  const isSame = hasText(row.text);
  const shown = userMessages.filter(
    (message) => message.key === undefined && isSame(message),
  );
  const isEarlier = (one: OutboxRow): boolean =>
    one.epoch < epoch && one.state === 'observed';
  return shown.length > rows.filter((one) => isEarlier(one) && isSame(one)).length;
}

const keyOf = ({ sessionId, epoch }: OutboxRow): string => `${sessionId}:${epoch}`;
const hasText = (text: string) => (one: Some<'text'>) => one.text?.trim() === text.trim();
