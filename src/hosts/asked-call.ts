// The words that hosts which ask us share: a hook call, what it asks for, and what it is answered. A host's own files translate
// its payloads into these and back; nothing here knows a host, opens a file or decides.
import type { AgentDescriptor, Event, Job, SessionDescriptor, SourceKind, StopEnd } from '../core/events.ts';
import type { ListedTodo } from '../core/reconcile.ts';
import type { Environment } from '../engine/policy.ts';
import type { Runtime } from '../engine/runtime.ts';
import type { Store } from '../engine/store.ts';

/** The part of a host that hooks need. Pure but for `readList`, which only reads. */
export interface AskedHost {
  readonly name: string;
  translate(payload: unknown, moment: HookMoment): Translation;
  /** The host's own list; null where there is none or it cannot be read. Must not throw. */
  readList(call: HookCall, environment: Environment): readonly ListedTodo[] | null;
  render(answer: HookAnswer, hook: string): object;
}

export interface HookMoment {
  readonly at: number;
  readonly environment: Environment;
  /** What stands before the names of our own tools here; null: the model cannot call them. */
  readonly toolPrefix: string | null;
}

export interface HookCall {
  /** The host's name of the hook, as its answer and the log say it. */
  readonly hook: string;
  readonly sessionId: string;
  /** What the host calls the prompt that runs; null where it does not say. */
  readonly promptId: string | null;
  readonly at: number;
  readonly timeout: HookTimeout;
  readonly descriptor: SessionDescriptor;
  readonly agent: AgentDescriptor;
  readonly asks: HookAsks;
}

export type HookAsks =
  /** These happened; nobody waits for an answer. A receipt binds a call of our own tools to this session. */
  | { readonly type: 'record'; readonly events: readonly Event[]; readonly receipt: string | null }
  /** The session appears; `begins`: with a new process of the host, so that whatever ran before has ended. */
  | { type: 'open'; readonly begins: boolean; readonly events: readonly Event[]; readonly givesPlan: boolean }
  /** Something was put in front of the agent; a `notice` is the host's own, about background work that ended. */
  | { readonly type: 'prompt'; readonly text: string; readonly speaker: Speaker }
  /** The agent marks a todo as completed and can still be refused. */
  | { readonly type: 'complete'; readonly todoKey: string }
  | { readonly type: 'stop'; readonly stop: StopFacts }
  /** The turn ended in an error of the provider; the host asks nothing. */
  | { readonly type: 'fail'; readonly events: readonly Event[] };

export type Speaker =
  | { readonly type: 'human' | 'command' }
  | { readonly type: 'notice'; readonly jobIds: readonly string[] };

export interface StopFacts {
  readonly end: StopEnd;
  readonly lastText: string;
  readonly background: readonly Job[] | null;
  /** How many blocks in a row without a tool call the host takes; null: any number. */
  readonly blockCap: number | null;
}

/** `quiet`: the payload asks for nothing, and that is no fault worth a line in the log. */
export type Translation =
  | { readonly ok: true; readonly call: HookCall }
  | { readonly ok: false; readonly quiet: boolean; readonly sentence: string };

/** What the hook says to its host; how that looks on stdout is the host's business. */
export type HookAnswer =
  | { readonly type: 'nothing' }
  | { readonly type: 'continue'; readonly text: string; readonly message: string | null }
  | { readonly type: 'let-go'; readonly message: string | null }
  | { readonly type: 'refuse'; readonly reason: string }
  | { readonly type: 'tell'; readonly text: string };

/**
 * How long a hook may take, in seconds: `init` writes these into the host's settings, and the hook ends before them. A
 * stop may run most test suites (the host's own default would cut at 600); a completion that takes longer is gated at
 * the stop instead; everything else only writes a row.
 */
export const hookTimeouts = { stop: 900, completion: 120, other: 10 } as const;
export type HookTimeout = keyof typeof hookTimeouts;

/**
 * What every event of a host carries. The id is made from the payload alone, so that the same call delivered twice is one
 * event. `work` and `stop` are by the main agent; `side` says nothing about where its turn stands.
 */
export function eventBase(
  origin: Pick<HookCall, 'sessionId' | 'promptId' | 'at'> & { readonly host: string },
  kind: SourceKind,
  detail: string,
) {
  const { host, sessionId, promptId, at } = origin;
  // Longer details, and those that could be taken for a border, are told by their hash.
  const told = /^[\w.:-]{1,64}$/u.test(detail) ? detail : shortHash(detail);
  const id = [host, sessionId, promptId ?? '', kind, told].join('/');
  return { id, sessionId, at, source: { kind, promptId } };
}

export function shortHash(text: string): string {
  // Loaded here and not above: most calls need no hash, and the module costs a hook a tenth of its time.
  const { createHash } = process.getBuiltinModule('node:crypto');
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** Our id for a todo of a host's list: unique everywhere, and the same however we learn of the todo. */
export function todoIdOf(sessionId: string, todoKey: string): string {
  return `${sessionId}/${todoKey}`;
}

/** Gives a call of our own tools, which did not know its session, to the session that made it. */
export type BindReceipt = (
  store: Store,
  engine: Pick<Runtime, 'handle' | 'append'>,
  call: { readonly receipt: string; readonly sessionId: string; readonly at: number },
) => Promise<void>;

export interface HookProcess {
  readonly environment: Environment;
  readonly startedAt: number;
  readonly toolPrefix: string | null;
  /** In seconds, where the host's settings do not have the timeout that `init` writes. */
  readonly timeout: number | null;
  readonly bindReceipt: BindReceipt;
  /** Settles when the host breaks the hook off. */
  whenTerminated(): Promise<void>;
}
