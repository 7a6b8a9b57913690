// What a model answers, in words that belong to no vendor, including every way in which it can fail to answer.
// A reply is plain data: how it looks on the wire is the business of the protocols.

export type Finish = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'refusal';

export interface PlannedCall {
  readonly name: string;
  readonly input: unknown;
}

export type FailureKind =
  | 'invalid-request'
  | 'authentication'
  | 'permission'
  | 'unknown-model'
  | 'context-length'
  | 'rate-limit'
  | 'overload'
  | 'server-error';

/** An HTTP error, or (when it breaks a stream) an error event. Each protocol gives it its own body. */
export interface ModelFailure {
  readonly kind: FailureKind;
  /** Overrides the status that the protocol uses for this kind. */
  readonly status?: number;
  readonly message?: string;
  readonly retryAfterSeconds?: number;
  /** Overrides the whole body. */
  readonly body?: unknown;
}

/** What goes wrong on the connection, after so many events of the stream (0: before the first byte). */
export interface Breakage {
  readonly kind: 'reset' | 'stall' | 'malformed' | 'error-event';
  readonly afterEvents: number;
  readonly failure?: ModelFailure;
}

export interface Usage {
  /** All input, the cached part included. */
  readonly inputTokens: number;
  readonly cachedTokens: number;
  /** All output, thinking included. */
  readonly outputTokens: number;
  readonly thinkingTokens: number;
}

export interface Delays {
  readonly beforeMs?: number;
  readonly perEventMs?: number;
}

export interface ModelReply {
  readonly text?: string;
  readonly thinking?: string;
  readonly calls?: readonly PlannedCall[];
  readonly finish: Finish;
  /** Estimated from the sizes when absent. */
  readonly usage?: Usage;
  readonly error?: ModelFailure;
  readonly breakage?: Breakage;
  readonly delays?: Delays;
}

export function textReply(text: string, finish: Finish = 'stop'): ModelReply {
  return { text, finish };
}

export function callReply(calls: readonly PlannedCall[]): ModelReply {
  return { calls, finish: 'tool-calls' };
}

/**
 * True when a client that sends the conversation again shows no sign of this reply, so that only the server can
 * know that it was given.
 */
export function isTraceless(reply: ModelReply): boolean {
  if (reply.error || reply.breakage) return true;
  return (reply.text ?? '').trim() === '' && (reply.calls ?? []).length === 0;
}
