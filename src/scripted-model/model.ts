// What a model is asked and what it answers, in words that belong to no vendor, including every way in which it can fail
// to answer; and the contract of the wire protocols, which translate from and to these shapes. Images, temperatures and
// other settings are dropped.
import { joinTexts, recordOf, textOf } from './values.ts';

export type Protocol = 'openai-chat' | 'openai-responses' | 'anthropic' | 'gemini';

export interface ToolCall {
  /** As the client echoed it. Gemini clients may echo none: then it is made of the call's place in the history. */
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface ToolResult {
  readonly id: string;
  readonly text: string;
  readonly isError: boolean;
}

/** Results stand in messages of role `tool`, calls in messages of role `assistant`, whatever the wire says. */
export interface ModelMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly toolResults: readonly ToolResult[];
}

export interface ToolOffer {
  readonly name: string;
  /** JSON Schema of the input, as sent. */
  readonly schema: unknown;
  /** Codex groups MCP tools in namespaces; a call must repeat the name of its group. */
  readonly namespace?: string;
  /** Codex's code mode: the tool is reached by JavaScript given to the tool named here. */
  readonly throughCode?: string;
}

export interface ModelRequest {
  readonly protocol: Protocol;
  readonly model: string;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolOffer[];
  readonly stream: boolean;
  /** The client's own name for the conversation, where the protocol carries one. */
  readonly conversation?: string | undefined;
  /** Set when the client wants JSON and nothing else; `schema` is undefined if it named none. */
  readonly wantsJson?: { readonly schema: unknown } | undefined;
  /** Chat completions send usage in a stream only when asked; Anthropic caches only what is marked. */
  readonly wantsUsage: boolean;
  readonly marksCache: boolean;
}

export type Finish = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'refusal';
export type PlannedCall = Omit<ToolCall, 'id'>;

export type FailureKind =
  | ('invalid-request' | 'authentication' | 'permission' | 'unknown-model')
  | ('context-length' | 'rate-limit' | 'overload' | 'server-error');

/** An HTTP error. Each protocol gives it its own body. */
export interface ModelFailure {
  readonly kind: FailureKind;
  /** Overrides the status that the protocol uses for this kind. */
  readonly status?: number;
  readonly message?: string;
  readonly retryAfterSeconds?: number;
}

export interface Usage {
  /** All input, the cached part included; all output, thinking included. */
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly thinkingTokens: number;
}

export interface ModelReply {
  readonly text?: string;
  readonly thinking?: string;
  readonly calls?: readonly PlannedCall[];
  readonly finish: Finish;
  /** Estimated from the sizes when absent. */
  readonly usage?: Usage;
  readonly error?: ModelFailure;
  /** What goes wrong on the connection, after so many events of the stream (0: before the first byte). */
  readonly breakage?: {
    readonly kind: 'reset' | 'stall' | 'malformed' | 'error-event';
    readonly afterEvents: number;
  };
  readonly delays?: { readonly beforeMs?: number; readonly perEventMs?: number };
}

export function message(role: ModelMessage['role'], parts: Partial<ModelMessage>): ModelMessage {
  return { role, text: '', toolCalls: [], toolResults: [], ...parts };
}

export function textReply(text: string, finish: Finish = 'stop'): ModelReply {
  return { text, finish };
}

export function callReply(calls: readonly PlannedCall[]): ModelReply {
  return { calls, finish: 'tool-calls' };
}

/** True when a client that sends the conversation again shows no sign of this reply: only the server can know of it. */
export function isTraceless({ error, breakage, text = '', calls = [] }: ModelReply): boolean {
  return error !== undefined || breakage !== undefined || (text.trim() === '' && calls.length === 0);
}

/** One server-sent event. `data` is sent as it stands when it is a string, else as JSON. */
export interface WireEvent {
  readonly event?: string;
  readonly data: unknown;
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

/** A wire opens no socket, keeps no state and decides nothing; ids and times come in by the context. */
export interface Wire {
  readonly protocol: Protocol;
  /** Must not throw: an odd body gives an odd but valid request. Gemini names model and stream in the path. */
  parseRequest(body: unknown, inPath: { readonly model?: string; readonly stream?: boolean }): ModelRequest;
  wholeReply(reply: ModelReply, context: RenderContext): unknown;
  streamReply(reply: ModelReply, context: RenderContext): readonly WireEvent[];
}

/** The request with what most protocols carry in the same place; `own` is what this one reads elsewhere. */
export function requestOf(
  protocol: Protocol,
  body: unknown,
  own: Pick<ModelRequest, 'system' | 'messages' | 'tools'> & Partial<ModelRequest>,
): ModelRequest {
  const stream = recordOf(body)['stream'] === true;
  return { protocol, model: textOf(body, 'model'), stream, wantsUsage: true, marksCache: true, ...own };
}

/** A reply as the list of what it says, in order. The text of a call is its input as JSON. */
export interface Part extends ToolCall {
  readonly kind: 'thinking' | 'text' | 'call';
  readonly text: string;
  readonly index: number;
}

export function partsOf({ thinking, text, calls = [] }: ModelReply, { callIds }: RenderContext) {
  const part = (kind: Part['kind'], said?: string, call = { name: '', input: {} as unknown }, index = 0) =>
    said === undefined ? [] : [{ kind, text: said, ...call, index, id: callIds[index] ?? '' }];
  const called = calls.flatMap((call, index) => part('call', JSON.stringify(call.input), call, index));
  return [...part('thinking', thinking), ...part('text', text), ...called] satisfies readonly Part[];
}

// Real servers send a few dozen characters per event; long texts get longer pieces so that tests stay fast.
const pieceCharacters = 12;
const mostPieces = 64;

/** Cuts a text into what a stream sends one by one; joined again it is the same text. */
export function inPieces(text: string): readonly string[] {
  const size = Math.max(pieceCharacters, Math.ceil(text.length / mostPieces));
  const characters = Array.from(text);
  const count = Math.ceil(characters.length / size);
  return Array.from({ length: count }, (_, at) => characters.slice(at * size, (at + 1) * size).join(''));
}

/**
 * Results of one step become one message, and for protocols that list a reply's thoughts, text and calls as separate
 * entries the pieces of one reply. Nothing is reordered.
 */
export function mergeNeighbours(
  messages: readonly ModelMessage[],
  ...roles: readonly ModelMessage['role'][]
): readonly ModelMessage[] {
  const merged: ModelMessage[] = [];
  for (const entry of messages) {
    const last = merged.at(-1);
    const isSame = last?.role === entry.role && roles.includes(entry.role);
    if (isSame) merged.pop();
    const text = isSame ? joinTexts([last.text, entry.text]) : entry.text;
    const toolCalls = [...(isSame ? last.toolCalls : []), ...entry.toolCalls];
    const toolResults = [...(isSame ? last.toolResults : []), ...entry.toolResults];
    merged.push({ role: entry.role, text, toolCalls, toolResults });
  }
  return merged;
}
