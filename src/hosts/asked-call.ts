// What hosts that ask us at a stop share: a hook call, what it asks for, and our answer.
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

/** The adapter of a host that asks us at a stop. It translates and never decides. */
export interface AskedHost {
  translate(payload: unknown, moment: HookMoment): Translation;
  /**
   * The host's own list of todos; null: it cannot be read. Absent: the host keeps no
   * list. Must not throw.
   */
  readList?(call: HookCall, environment: Environment): Listed | Promise<Listed>;
  /**
   * False: a prompt that is typed while a turn runs may have a new id too, so a new id
   * does not show a new turn.
   */
  readonly namesPrompts?: false;
  /**
   * In a driven host, its lines report tokens only when a turn ends, as the sum of the
   * conversation. Hooks read them before that.
   */
  readonly tellsUsageLate?: true;
  /**
   * The tokens that calls of the model used since then, as far as the transcript shows.
   * Bounded; empty if the transcript cannot be read.
   */
  readUsage?(transcript: string, since: number): readonly UsedTokens[];
  /**
   * Variables that the project's own settings of the host set: anyone may have written
   * those settings (V10). null: there are settings that cannot be read, so they may set
   * any variable. Absent: the host lets a project set none. Must not throw.
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
   * For bytes that cannot be read as a payload: the name of the stop hook in them; null:
   * they name none.
   */
  findStop(bytes: Buffer): string | null;
  /** What the host prints for our answer; several objects become several lines. */
  render(answer: HookAnswer, hook: string): object | readonly object[];
  /**
   * For a host that takes no more continuations: the sentence that tells the human what
   * to type so that the agent goes on.
   */
  goOn?(sessionId: string): string;
  /**
   * Whether a process with these variables is a command of an agent in this host, from
   * which no human speaks; null: it is none. `sessionId`: the session of the agent, if a
   * variable names it.
   * @param strangers variables that the project may have set: alone they prove nothing
   */
  agentCommandOf(
    variable: (name: string) => string | undefined,
    strangers?: readonly string[],
  ): { sessionId: string | null } | null;
}

type Listed = readonly ListedTodo[] | null;
/** Tokens of one call of the model. `key` names the call, so that it is counted once. */
export type UsedTokens = Readonly<{
  key: string;
  inputTokens: number;
  outputTokens: number;
}>;

/** What an adapter knows of the process of a hook. */
export type HookMoment = Readonly<{
  /** When the process was started. */
  at: number;
  environment: Environment;
  /** What stands before the names of our own tools; null: the model cannot call them. */
  toolPrefix: string | null;
}>;
/** The process of a hook. */
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
  /** Time limit in seconds; null: the one that `init` writes. */
  readonly timeout: number | null;
  /**
   * The state directory, if the command line of the hook names it; else the environment
   * does.
   */
  readonly home?: string | null;
  bindReceipt(store: Store, engine: Runtime, seen: SeenReceipt): Promise<void>;
}
type SeenReceipt = Readonly<{ receipt: string; sessionId: string; at: number }>;

/** One call of a hook, in our words. */
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

/** A hook call with all that is needed to answer it. */
export type Question = Readonly<{
  host: AskedHost;
  hook: HookProcess;
  call: HookCall;
  store: Store;
}>;

/**
 * What a hook call asks for: a record of events, the plan of a session that opens, the
 * answer to a prompt, whether todos may be completed, or whether the agent may stop.
 */
export type HookAsks = Readonly<
  /**
   * `decided`: the engine takes the events now, not with a later call. `listed`: the
   * host's list may have changed. `asksHuman`: the host waits for an answer of the human.
   */
  | {
      type: 'record';
      events: readonly Event[];
      decided?: boolean;
      listed?: boolean;
      receipt?: string | null;
      asksHuman?: boolean;
    }
  /** `begins`: this is a new process of the host, so all that ran before has ended. */
  | { type: 'open'; begins: boolean; events: readonly Event[]; givesPlan: boolean }
  | { type: 'prompt'; text: string; speaker: Speaker }
  /** `todos`: the host's keys, or titles if the host has no keys. */
  | { type: 'complete'; todos: readonly string[] }
  | StopAsked
>;

export type AsksOf<Type extends HookAsks['type']> = Extract<HookAsks, { type: Type }>;

/**
 * The speaker of a prompt. A `command` is one of ours that a human typed; `pauses`: it
 * pauses the session. A `notice` is the host's own, about background work that ended.
 */
export type Speaker = Readonly<
  | { type: 'human' }
  | { type: 'command'; pauses?: Readonly<{ reason: string | null }> }
  | { type: 'notice'; jobIds: readonly string[] }
>;

/** A stop attempt. */
export type StopAsked = Readonly<{
  type: 'stop';
  end: StopEnd;
  lastText: string;
  /** The host says that a stop hook continued the agent in this turn. */
  isContinued: boolean;
  background: readonly Job[] | null;
  /**
   * How many continuations in a row the host takes; null: any number. A tool call begins
   * a new row, unless `capsTurn` is set.
   */
  blockCap: number | null;
  capsTurn?: boolean;
  /** Path of the session's transcript, if it shows how many tokens the model used. */
  transcript: string | null;
}>;

/** A payload in our words. `sentence` goes into the log; null: nothing is asked for. */
export type Translation = Readonly<
  { ok: true; call: HookCall } | { ok: false; sentence: string | null }
>;

/** Our answer to a hook call. Empty: the host goes on as if we were not there. */
export type HookAnswer = Readonly<{
  /** Text for the model; at a stop it continues the agent. */
  text?: string | null;
  /** Line for the human. */
  message?: string | null;
  /** Tells the model why its completion does not count. */
  refusal?: string;
}>;

/**
 * Time limits in seconds, as `init` writes them. A completion whose checks take longer
 * goes through, and the stop waits for them. `ending`: the host is about to exit.
 */
export const hookTimeouts = { stop: 900, completion: 120, other: 10, ending: 3 } as const;
export type HookTimeout = keyof typeof hookTimeouts;

/** How long before the time limit of the host our answer must be out. */
const marginMs = 2000;
/** When a hook must have answered. */
export const deadlineOf = (hook: HookProcess, { timeout }: HookCall) =>
  hook.at + (hook.timeout ?? hookTimeouts[timeout]) * 1000 - marginMs;

/**
 * Begins an event of this call. Its id comes from the payload alone, so a call that is
 * delivered twice is one event.
 */
export function eventBase(
  call: Omit<HookCall, 'asks'>,
  kind: SourceKind,
  detail: string,
) {
  const { descriptor, sessionId, promptId, at } = call;
  // A detail that could be mistaken for a separator of the id is replaced by its hash.
  const safeDetail = /^[\w.:-]{1,64}$/u.test(detail) ? detail : shortHash(detail);
  const id = [descriptor.host, sessionId, promptId ?? '', kind, safeDetail].join('/');
  return { id, sessionId, at, source: { kind, promptId } };
}

/** A hash for ids: 32 hexadecimal digits of SHA-256. */
export const shortHash = (text: string) => sha256(text).slice(0, 32);
/** The id of a todo that a host lists under this key. */
export const todoIdOf = (sessionId: string, todoKey: string) => `${sessionId}/${todoKey}`;

/**
 * The receipt in the result of one of our tools. Only the last line counts, because the
 * text before it may quote strangers.
 */
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
