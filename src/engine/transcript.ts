// What our own agent keeps of a conversation, so that a run goes on after a crash: every message, and every tool
// call from before it starts until its step is written down. Part of the store port; bodies are JSON texts.
import type { Awaitable } from './store.ts';

/**
 * human: said by a person or, to a worker, by the agent that sent it. agent, tools: one step's answer and results. held: an answer that was held back, kept for
 * the model. continuation, note: said by the system. summary: stands for everything before it.
 */
export type MessageKind = 'human' | 'agent' | 'tools' | 'held' | 'continuation' | 'note' | 'summary';

export interface MessageRow {
  /** Counts from 1 in each session; given by the store. */
  readonly sequence: number;
  readonly sessionId: string;
  readonly turnId: string | null;
  readonly at: number;
  readonly kind: MessageKind;
  readonly body: string;
}

export interface CallRow {
  readonly sessionId: string;
  readonly callId: string;
  /** The step that made the call; its messages are written when it ends. */
  readonly stepId: string;
  readonly tool: string;
  /** Only calls that read may be made again after a crash. */
  readonly readOnly: boolean;
  readonly input: string;
  readonly startedAt: number;
  /** null: it was started and nothing is known of its end. */
  readonly result: string | null;
  readonly endedAt: number | null;
}

export interface TranscriptReader {
  /** In order, those after `after`. */
  messages(sessionId: string, after: number): Awaitable<MessageRow[]>;
  /** Calls of steps whose messages were never written, in the order in which they started. */
  unsettledCalls(sessionId: string): Awaitable<CallRow[]>;
}

export interface TranscriptWriter {
  addMessages(rows: readonly Omit<MessageRow, 'sequence'>[]): Awaitable<void>;
  startCall(row: CallRow): Awaitable<void>;
  finishCall(sessionId: string, callId: string, result: string, at: number): Awaitable<void>;
  /** The step's messages are written: its calls are history now. */
  settleCalls(sessionId: string, stepId: string): Awaitable<void>;
}
