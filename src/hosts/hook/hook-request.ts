// What a hook call asks for, in words that seven hosts share. A host's own file translates its payload into one of
// these, purely; run-hook.ts performs it. Nothing here knows a host.
import type { AgentDescriptor, Event, Job, SessionDescriptor, StopEnd } from '../../core/events.ts';
import type { HookTimeout } from './timeouts.ts';

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
  /** These happened; nobody waits for an answer. */
  | { readonly type: 'record'; readonly events: readonly Event[]; readonly receipt: string | null }
  /** The session appears; its plan is given again where the agent may have lost sight of it. */
  | {
      readonly type: 'open';
      /** A process of the host begins: whatever ran before has ended. */
      readonly begins: boolean;
      readonly events: readonly Event[];
      readonly givesPlan: boolean;
    }
  /** Something was put in front of the agent; who spoke is settled with the record at hand. */
  | { readonly type: 'prompt'; readonly text: string; readonly speaker: Speaker }
  /** The agent marks a todo as completed and can still be refused. */
  | { readonly type: 'complete'; readonly todoKey: string }
  | { readonly type: 'stop'; readonly stop: StopFacts }
  /** The turn ended in an error of the provider; the host asks nothing. */
  | { readonly type: 'fail'; readonly events: readonly Event[] };

/** `notice`: the host's own message about work that ended, with the ids of that work. */
export type Speaker =
  | { readonly type: 'human' }
  | { readonly type: 'command' }
  | { readonly type: 'notice'; readonly jobIds: readonly string[] };

export interface StopFacts {
  readonly end: StopEnd;
  readonly lastText: string;
  readonly background: readonly Job[] | null;
  /** How many blocks in a row without a tool call the host takes; null: any number. */
  readonly blockCap: number | null;
}

/** What the payload was, when it asks for nothing. */
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

/** One entry of a host's own list. */
export interface ListedTodo {
  readonly key: string;
  readonly title: string;
  readonly status: string;
  readonly context: string | null;
}

export interface HookMoment {
  readonly at: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What stands before the names of our own tools here; null: the model cannot call them. */
  readonly toolPrefix: string | null;
}

/** The part of a host that hooks need. Pure but for `readList`, which only reads. */
export interface HookedHost {
  readonly name: string;
  translate(payload: unknown, moment: HookMoment): Translation;
  /** The host's own list; null where there is none or it cannot be read. Must not throw. */
  readList(call: HookCall, environment: HookMoment['environment']): readonly ListedTodo[] | null;
  render(answer: HookAnswer, hook: string): object;
}
