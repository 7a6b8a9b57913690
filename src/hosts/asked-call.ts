// What all hosts that ask share: a hook call, what it asks for and what it is answered.
import type {
  AgentDescriptor,
  Event,
  Job,
  SessionDescriptor,
  SourceKind,
  StopEnd,
} from '../core/events.ts';
import type { ListedTodo } from '../core/reconcile.ts';
import type { Environment } from '../engine/policy.ts';
import type { Runtime } from '../engine/runtime.ts';
import type { Store } from '../engine/store.ts';
import { sha256 } from '../engine/system.ts';
import { recordOf } from './untrusted.ts';

export interface AskedHost {
  translate(payload: unknown, moment: HookMoment): Translation;
  /** Absent: the host keeps no list. null: it cannot be read. Must not throw. */
  readList?(call: HookCall, environment: Environment): Listed | Promise<Listed>;
  /** False: one that is typed while a turn runs may come under another id as well. */
  readonly namesPrompts?: false;
  /**
   * Driven, its lines tell of tokens only when a turn ends, as the sum of the
   * conversation: hooks read them before.
   */
  readonly tellsUsageLate?: true;
  /**
   * What calls of the model used since then, as far as its transcript shows: bounded, and
   * empty if unreadable.
   */
  readUsage?(transcript: string, since: number): readonly UsedTokens[];
  /**
   * Variables that the project's own settings of the host set: anyone may have written
   * those (V10). null: they are there and cannot be read, so they may set any. Must not
   * throw. Absent: they cannot set any.
   */
  projectVariables?(
    directory: string | null,
    environment: Environment,
  ): readonly string[] | null;
  /** Variables that this adapter reads and that do not count if a project sets them. */
  readonly variables: readonly string[];
  /**
   * Variables that this adapter reads and that the host sets for each hook, or obeys
   * itself.
   */
  readonly hostVariables: readonly string[];
  /**
   * The hook, if bytes that cannot be read as a payload are about a stop; null: about
   * anything else.
   */
  findStop(bytes: Buffer): string | null;
  /** Of several, each is a line. */
  render(answer: HookAnswer, hook: string): object | readonly object[];
  /**
   * A sentence for when it takes no more continuations: what the human types so that it
   * goes on.
   */
  goOn?(sessionId: string): string;
  /**
   * Whether the variables of a process show that it is a command of an agent in this
   * host: no human speaks from there. null: it is none.
   * @param strangers variables that the project may have set: alone they prove nothing
   */
  agentCommandOf(
    variable: (name: string) => string | undefined,
    strangers?: readonly string[],
  ): { sessionId: string | null } | null;
}

type Listed = readonly ListedTodo[] | null;
/** `key`: of the call, so that it is counted once. */
export type UsedTokens = Readonly<{
  key: string;
  inputTokens: number;
  outputTokens: number;
}>;

export type HookMoment = Readonly<{
  /** When the process was started. */
  at: number;
  environment: Environment;
  /** Before the names of our own tools; null: the model cannot call them. */
  toolPrefix: string | null;
}>;
export interface HookProcess extends HookMoment {
  /** When the process was started, by `steady`. */
  readonly since: number;
  /**
   * Milliseconds of a clock that nobody sets and that all processes of this machine
   * share.
   */
  steady(): number;
  /**
   * Variables that the project set and that were taken out of `environment`; the human is
   * told.
   */
  readonly ignored: readonly string[];
  /**
   * The environment as the host gave it; default: `environment`. Only to tell an agent's
   * command from a hook.
   */
  readonly given?: Environment;
  /**
   * Variables that the project set. null: its settings cannot be read, and it may have
   * set any.
   */
  readonly strangers?: readonly string[] | null;
  /** In seconds; null: what `init` writes. */
  readonly timeout: number | null;
  /** The state directory, where the call names it; else it comes from the environment. */
  readonly home?: string | null;
  bindReceipt(store: Store, engine: Runtime, seen: SeenReceipt): Promise<void>;
}
type SeenReceipt = Readonly<{ receipt: string; sessionId: string; at: number }>;

export type HookCall = Readonly<{
  hook: string;
  sessionId: string;
  promptId: string | null;
  at: number;
  timeout: HookTimeout;
  descriptor: SessionDescriptor;
  agent: AgentDescriptor;
  asks: HookAsks;
}>;

export type Question = Readonly<{
  host: AskedHost;
  hook: HookProcess;
  call: HookCall;
  store: Store;
}>;

export type HookAsks = Readonly<
  /**
   * `decided`: now, not with a later call. `listed`: the host's list may have changed.
   * `asksHuman`: it waits for an answer.
   */
  | {
      type: 'record';
      events: readonly Event[];
      decided?: boolean;
      listed?: boolean;
      receipt?: string | null;
      asksHuman?: boolean;
    }
  /** `begins`: a new process of the host, so that whatever ran before has ended. */
  | { type: 'open'; begins: boolean; events: readonly Event[]; givesPlan: boolean }
  | { type: 'prompt'; text: string; speaker: Speaker }
  /** By the host's keys, or by titles where it has none. */
  | { type: 'complete'; todos: readonly string[] }
  | StopAsked
>;

export type AsksOf<Type extends HookAsks['type']> = Extract<HookAsks, { type: Type }>;

/**
 * A `command` is one of ours that a human typed; `pauses`: it is the one that pauses the
 * session. A `notice` is the host's own, about background work that ended.
 */
export type Speaker = Readonly<
  | { type: 'human' }
  | { type: 'command'; pauses?: Readonly<{ reason: string | null }> }
  | { type: 'notice'; jobIds: readonly string[] }
>;

export type StopAsked = Readonly<{
  type: 'stop';
  end: StopEnd;
  lastText: string;
  /** The host says that a stop hook continued the agent in this turn. */
  isContinued: boolean;
  background: readonly Job[] | null;
  /**
   * Continuations in a row that the host takes; null: any number. A tool call begins a
   * new row, unless `capsTurn`.
   */
  blockCap: number | null;
  capsTurn?: boolean;
  /** Path of the session's transcript, where it shows what the model used. */
  transcript: string | null;
}>;

/** The sentence goes into the log; null: nothing is asked for. */
export type Translation = Readonly<
  { ok: true; call: HookCall } | { ok: false; sentence: string | null }
>;

/** Empty: the host goes on as if we were not there. */
export type HookAnswer = Readonly<{
  /** For the model; at a stop it continues the agent. */
  text?: string | null;
  /** For the human. */
  message?: string | null;
  /** For the model: why its completion does not count. */
  refusal?: string;
}>;

/**
 * In seconds, as `init` writes them. What a completion has no time for is gated at the
 * stop. `ending`: the host is about to go.
 */
export const hookTimeouts = { stop: 900, completion: 120, other: 10, ending: 3 } as const;
export type HookTimeout = keyof typeof hookTimeouts;

/** The answer has to be out before the host gives up. */
const marginMs = 2000;
export const deadlineOf = (hook: HookProcess, { timeout }: HookCall) =>
  hook.at + (hook.timeout ?? hookTimeouts[timeout]) * 1000 - marginMs;

/** The id comes from the payload alone: a call that is delivered twice is one event. */
export function eventBase(
  call: Omit<HookCall, 'asks'>,
  kind: SourceKind,
  detail: string,
) {
  const { descriptor, sessionId, promptId, at } = call;
  // A hash for what could be taken for a border.
  const told = /^[\w.:-]{1,64}$/u.test(detail) ? detail : shortHash(detail);
  const id = [descriptor.host, sessionId, promptId ?? '', kind, told].join('/');
  return { id, sessionId, at, source: { kind, promptId } };
}

export const shortHash = (text: string) => sha256(text).slice(0, 32);
export const todoIdOf = (sessionId: string, todoKey: string) => `${sessionId}/${todoKey}`;

/** Only the last line of a result: what stands before it quotes strangers. */
export function findReceipt(result: unknown): string | null {
  const line = textsOf(result).join('\n').trimEnd().split('\n').at(-1) ?? '';
  return /^receipt: (udr_[0-9a-f]{32})$/u.exec(line)?.[1] ?? null;
}

function textsOf(result: unknown): readonly string[] {
  if (typeof result === 'string') return [result];
  const parts = Array.isArray(result) ? result : recordOf(result)['content'];
  return Array.isArray(parts)
    ? parts.flatMap((part) => textsOf(recordOf(part)['text']))
    : [];
}
