// The contract of a wire protocol: pure functions from request bodies to ModelRequest and from ModelReply to events.
// A wire opens no socket, keeps no state and decides nothing; ids and times come in by the context.
import type { ModelFailure, ModelReply, Usage } from './model-reply.ts';
import type { ModelRequest, Protocol } from './model-request.ts';

/** One server-sent event. `data` is sent as it stands when it is a string, else as JSON. */
export interface WireEvent {
  readonly event?: string;
  readonly data: unknown;
}

export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface ParseContext {
  /** Gemini names the model and the wish to stream in the path. */
  readonly model?: string;
  readonly stream?: boolean;
}

export interface RenderContext {
  readonly request: ModelRequest;
  /** Unique per reply; protocols put their own prefixes before it. */
  readonly replyId: string;
  /** One id per call, in order: they tell the script where it stood when the client sends them back. */
  readonly callIds: readonly string[];
  readonly createdAtSeconds: number;
  readonly usage: Usage;
}

export interface FailureContext {
  readonly requestId: string;
  readonly model: string;
  readonly inputTokens: number;
  readonly contextWindow: number;
}

export interface Wire {
  readonly protocol: Protocol;
  /** Must not throw: an odd body gives an odd but valid request. */
  parseRequest(body: unknown, context: ParseContext): ModelRequest;
  streamReply(reply: ModelReply, context: RenderContext): readonly WireEvent[];
  wholeReply(reply: ModelReply, context: RenderContext): unknown;
  renderError(failure: ModelFailure, context: FailureContext): ErrorAnswer;
  /** The same failure as an event inside a stream that has already begun. */
  renderErrorEvent(failure: ModelFailure, context: FailureContext): WireEvent;
  renderTokenCount(tokens: number): unknown;
}

// Real servers send a few dozen characters per event; long texts get longer pieces so that tests stay fast.
const PIECE_CHARACTERS = 12;
const MOST_PIECES = 64;

/** Cuts a text into what a stream sends one by one; joined again it is the same text. */
export function inPieces(text: string): readonly string[] {
  const size = Math.max(PIECE_CHARACTERS, Math.ceil(text.length / MOST_PIECES));
  const characters = Array.from(text);
  const pieces: string[] = [];
  for (let start = 0; start < characters.length; start += size) {
    pieces.push(characters.slice(start, start + size).join(''));
  }
  return pieces;
}

export function offerOf(request: ModelRequest, name: string) {
  return request.tools.find((tool) => tool.name === name);
}
