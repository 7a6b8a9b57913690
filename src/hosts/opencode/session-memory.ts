// What this process knows of the sessions that it sees, beside the record: what the model said last, which messages are
// ours, and one queue per session, so that what happens is told to the engine in the order in which it happened.
import type { Handled } from '../../engine/engine.ts';
import type { PromptBodyLike } from './plugin-types.ts';
import type { SessionInfo } from './translate.ts';

export interface LastStep {
  readonly messageId: string;
  /** The message that it answers. */
  readonly parentId: string | null;
  readonly finish: string | null;
  readonly failed: boolean;
  readonly summary: boolean;
}

export interface HeldMessage {
  readonly stepId: string;
  readonly messageId: string;
  readonly partId: string;
  /** The step was the last one: what is sent now goes here. */
  isWanted: boolean;
  /** What it was filled with; null: it says nothing yet. */
  text: string | null;
}

/** Who a message is from, as the host wants to hear it. */
export type Speaker = Pick<PromptBodyLike, 'agent' | 'model' | 'variant'>;

export interface SessionMemory {
  readonly id: string;
  info: SessionInfo | null;
  /** The record knows what this session is. */
  opened: boolean;
  busy: boolean;
  /** An error came and no step after it: idles that follow are its echoes. */
  failedSinceBusy: boolean;
  /** A stop attempt was answered since the host was last busy. */
  answeredSinceBusy: boolean;
  lastStep: LastStep | null;
  /** The newest message of the human; empty: none in this process. */
  lastHumanId: string;
  lastText: { readonly messageId: string; readonly text: string } | null;
  /** Error of the last tool call, if it failed (P12). */
  toolError: string | null;
  /** The step whose stop attempt was answered before it ended. */
  answeredStep: string | null;
  /** Taken while the host waited for us. */
  fingerprint: { readonly messageId: string; readonly value: string | null } | null;
  /** A message that keeps the host from leaving after this step; see hold-step.ts. */
  held: HeldMessage | null;
  /** If this step ends without a word, it is to be held; see hold-step.ts. */
  prepared: { readonly stepId: string; readonly speaker: Speaker } | null;
  /** The host was told by us to leave: the abort that it reports is nobody's will. */
  leaving: boolean;
  compacting: boolean;
  /** What became of the last list that the agent wrote, until its tool call has been answered. */
  written: Handled | null;
  /** Starts and ends of tool calls that were told already: the host repeats them while a call prints. */
  readonly calls: Set<string>;
  /** Messages of ours by their ids, with the epoch of a continuation; null: an answer to a command. */
  readonly sent: Map<string, number | null>;
  queue: Promise<void>;
}

export interface SessionMemories {
  of(sessionId: string): SessionMemory;
  /** Subagents of this session that are at work. */
  busyChildren(sessionId: string): readonly SessionMemory[];
  forget(sessionId: string): void;
}

/** Sessions that one host works on at once; beyond that the oldest that sits idle is looked up again when it comes back. */
const mostSessions = 2000;
/** Continuations and calls that the host may still tell about. */
const mostSent = 50;
const mostCalls = 400;

export function createSessionMemories(): SessionMemories {
  const known = new Map<string, SessionMemory>();
  return {
    of(sessionId) {
      const found = known.get(sessionId);
      if (found !== undefined) return found;
      if (known.size >= mostSessions) {
        const oldest = [...known.values()].find(({ busy }) => !busy);
        if (oldest !== undefined) known.delete(oldest.id);
      }
      const created = emptyMemory(sessionId);
      known.set(sessionId, created);
      return created;
    },
    busyChildren: (sessionId) =>
      [...known.values()].filter(({ info, busy }) => busy && info?.parentId === sessionId),
    forget: (sessionId) => known.delete(sessionId),
  };
}

function emptyMemory(id: string): SessionMemory {
  return {
    id,
    info: null,
    opened: false,
    busy: false,
    failedSinceBusy: false,
    answeredSinceBusy: false,
    lastStep: null,
    lastHumanId: '',
    lastText: null,
    toolError: null,
    answeredStep: null,
    fingerprint: null,
    held: null,
    prepared: null,
    leaving: false,
    compacting: false,
    written: null,
    calls: new Set(),
    sent: new Map(),
    queue: Promise.resolve(),
  };
}

export function rememberSent(memory: SessionMemory, messageId: string, epoch: number | null): void {
  memory.sent.set(messageId, epoch);
  const [oldest] = memory.sent.keys();
  if (memory.sent.size > mostSent && oldest !== undefined) memory.sent.delete(oldest);
}

/** False: it was told before. */
export function rememberCall(memory: SessionMemory, call: string): boolean {
  if (memory.calls.has(call)) return false;
  memory.calls.add(call);
  const [oldest] = memory.calls;
  if (memory.calls.size > mostCalls && oldest !== undefined) memory.calls.delete(oldest);
  return true;
}
