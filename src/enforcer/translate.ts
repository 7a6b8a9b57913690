// What a program gives the enforcer, read field by field. From a callback that throws or
// is late nothing is concluded.
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

/** Unknown words cost the todo, not the list. */
export interface EnforcerTodo extends Some<'id' | 'status' | 'priority'> {
  readonly content: string;
}

/** Without a unique `id` it cannot be told from its echo. `key`: as `inject` got it. */
export interface EnforcerMessage
  extends Some<'id' | 'text' | 'key' | 'agent' | 'model' | 'variant'> {
  readonly role: 'user' | 'assistant';
  /** What ended it too early; an AbortError is the human's stop. */
  readonly error?: unknown;
}

/** What is known about an agent. */
export interface EnforcerAgent extends Some<'name'> {
  /** Unknown: never continued (G4). */
  readonly canWrite?: boolean | undefined;
}

/**
 * As the human spoke last: nobody gains rights. The same key is the same continuation.
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

/** See docs/enforcer.md. */
export type EnforcerOptions = Readonly<{
  clock?: Clock;
  environment?: Environment;
  onError?: (error: unknown) => void;
  /** Each one (C4): every continuation, wait and end. */
  onDecision?: (sessionId: string, decision: EnforcerDecision) => Answer<void>;
  getTodos: Ask<readonly EnforcerTodo[]>;
  /** Oldest first; the last few dozen are enough. */
  getMessages: Ask<readonly EnforcerMessage[]>;
  /** As a user's message. Throw or reject if it was not taken. */
  inject: (sessionId: string, text: string, options: InjectOptions) => Answer<unknown>;
  toast?: (sessionId: string, toast: Toast) => Answer<void>;
  backgroundCount?: Ask<number>;
  /** Null: unknown; every session that is no subagent counts. */
  mainSession?: () => Answer<string | null>;
  isSubagent?: Ask<boolean>;
  /** Absent: every agent may write. */
  agentInfo?: (sessionId: string, agent: string | null) => Answer<EnforcerAgent | null>;
  isIdle?: Ask<boolean>;
  toolAccess?: (tool: string) => ToolAccess;
  seesTools?: boolean;
  headless?: boolean;
  tools?: { readonly pause?: string; readonly verify?: string };
  /** A wrong one throws at once. */
  settings?: PartialSettings;
  /** Your own words for a continuation; what must stay in them is checked. */
  texts?: OwnTexts;
  directory?: string;
  store?: Store;
  /** Absent: nothing ends better than claimed. */
  checker?: Checker;
  /** Stable, unique on the machine: countdowns are found by it. */
  name?: string;
  description?: string;
  priority?: number;
}>;

/** The program's name goes before it. */
const longestId = 120;
const longestText = 1_000_000;
export const readId = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' && value.length <= longestId
    ? value
    : null;
const readText = (value: unknown): string | null =>
  textOf(value)?.slice(0, longestText) ?? null;
const id: Kind<string> = { type: 'text', minimum: 1, maximum: longestId, notBlank: true };
const at = { sessionId: id };
const amount: Kind<number> = taken(amountOf);
const isTrue = taken((value) => value === true);
const message = taken(readMessage) as Kind<EnforcerMessage>;

/** What is not clearly granted or rejected was not. */
const eventTable = {
  /** Default: by the last that happened. */
  'session.idle': { ...at, end: optional(taken((value) => wordOf(stopEnd, value))) },
  'session.error': { ...at, error: taken((value) => value) },
  'session.deleted': at,
  'message.updated': { ...at, message },
  'message.after': { ...at, message },
  'tool.before': { ...at, tool: id },
  'tool.after': { ...at, tool: id, error: optional(taken(readText)) },
  'permission.asked': { ...at, requestId: id },
  'permission.answered': { ...at, requestId: id, granted: isTrue },
  'question.asked': { ...at, requestId: id },
  'question.answered': { ...at, requestId: id, rejected: optional(isTrue) },
  /**
   * What one call of the model used (G8); with both of the context, that is watched too.
   */
  'usage.reported': {
    ...at,
    inputTokens: amount,
    outputTokens: amount,
    cost: optional(amount),
    contextTokens: optional(amount),
    contextLimit: optional(amount),
  },
  'compaction.started': at,
  'compaction.ended': at,
};
const eventKind = variant('type', eventTable);
/** The name of an event. */
export type EnforcerEventName = keyof typeof eventTable;
/** What the program tells: one thing that happened in a session. */
export type EnforcerEvent = Variant<'type', typeof eventTable>;
export type EventOf<Name extends EnforcerEventName> = Extract<
  EnforcerEvent,
  { readonly type: Name }
>;
/** The events that it wants to hear. */
export const enforcerEvents = Object.keys(eventTable) as readonly EnforcerEventName[];

/** A bus carries many `foreign` ones. */
export function readEnforcerEvent(value: unknown) {
  try {
    const type = enforcerEvents.find((name) => name === recordOf(value)['type']);
    if (type === undefined) return { read: 'foreign' } as const;
    const event = read(eventKind, value);
    if (event.ok && !('message' in event.value && event.value.message === null))
      return { read: 'event', event: event.value } as const;
    return broken(`an event "${type}" lacks a field or has a wrong one; it was left out`);
  } catch (error) {
    // Safe: nothing was done yet, and it is told.
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
  const said = [
    ...words,
    ['text', readText(fields['text'])],
    ['error', error ?? null],
  ] as const;
  return { role, ...Object.fromEntries(said.filter(([, value]) => value !== null)) };
}

/** Enough for a program that asks a server. */
const patienceMs = 5000;
/** More would hold up the program's event loop. */
const mostMessages = 5000;
const mostTodos = 100_000;
export interface Parts extends Required<Pick<EnforcerOptions, 'clock' | 'onError'>> {
  readonly options: EnforcerOptions;
}
/** The callbacks, asked about one session. Null: not known. */
export function createProgram({ options, clock, onError }: Parts, id: string) {
  async function ask<T>(call: () => Answer<T> | undefined): Promise<T | null> {
    const answer = await withinTime(clock, patienceMs, call);
    if (answer.answered) return answer.value ?? null;
    onError(answer.error);
    return null;
  }

  function askList(callback: 'getTodos' | 'getMessages') {
    return ask(async () => {
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
      const count: unknown = await ask(() => options.backgroundCount?.(id));
      return typeof count === 'number' && count >= 0 ? count : null;
    },
    async isIdle() {
      const isIdle: unknown = await ask(() => options.isIdle?.(id));
      return isIdle === null ? null : isIdle === true;
    },
    async kind(): Promise<SessionDescriptor['kind']> {
      if ((await ask(() => options.isSubagent?.(id))) === true) return 'subagent';
      const main = await ask(() => options.mainSession?.());
      if (typeof main !== 'string') return 'unknown';
      return main === id ? 'main' : 'other';
    },
    async agentInfo(agent: string | null) {
      const { name, canWrite } = recordOf(
        await ask(() => options.agentInfo?.(id, agent)),
      );
      const said = canWrite === true ? 'yes' : 'no';
      const knowledge = typeof canWrite === 'boolean' ? said : 'unknown';
      return { name: readId(name), canWrite: knowledge } as const;
    },
    /** An unknown tool counts as one that can write. */
    async toolAccess(tool: string): Promise<ToolAccess> {
      if (options.toolAccess === undefined)
        return tool.toLowerCase().includes('todo') ? 'todo' : 'unknown';
      return wordOf(access, await ask(() => options.toolAccess?.(tool))) ?? 'unknown';
    },
  };
}

/** Whole tokens; a context without tokens or without a limit is not known. */
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

/** By key or text; never by the marker alone: anyone can write that (E6). */
export function findOwn(
  rows: readonly OutboxRow[],
  message: EnforcerMessage,
): number | null {
  if (message.role !== 'user') return null;
  if (message.key !== undefined)
    return rows.find((row) => keyOf(row) === message.key)?.epoch ?? null;
  const onItsWay = rows.filter(({ state }) => state === 'intended' || state === 'sent');
  // Ours was just sent: a human who writes in that moment is rarer.
  if (message.text === undefined) return onItsWay.at(-1)?.epoch ?? null;
  const isSame = saying(message.text);
  return (onItsWay.find(isSame) ?? rows.findLast(isSame))?.epoch ?? null;
}

/** Earlier continuations with the same text account for earlier messages. */
export function isShown(
  rows: readonly OutboxRow[],
  epoch: number,
  messages: readonly EnforcerMessage[],
) {
  const row = rows.find((candidate) => candidate.epoch === epoch);
  if (row === undefined) return false;
  const own = messages.filter(({ role }) => role === 'user');
  if (own.some(({ key }) => key === keyOf(row))) return true;
  const isSame = saying(row.text);
  const shown = own.filter((message) => message.key === undefined && isSame(message));
  const isEarlier = (one: OutboxRow): boolean =>
    one.epoch < epoch && one.state === 'observed';
  return shown.length > rows.filter((one) => isEarlier(one) && isSame(one)).length;
}

const keyOf = ({ sessionId, epoch }: OutboxRow): string => `${sessionId}:${epoch}`;
const saying = (text: string) => (one: Some<'text'>) => one.text?.trim() === text.trim();
