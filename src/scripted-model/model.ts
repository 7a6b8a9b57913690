// What a model is asked and how it answers, in words of no vendor, and the contract of the wires that translate them.
import { joinTexts, recordOf, textOf } from './values.ts';

export type Protocol = 'openai-chat' | 'openai-responses' | 'anthropic' | 'gemini';

export interface ToolCall {
  /** As the client echoed it; made of its place where a Gemini client echoes none. */
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export type ToolResult = Readonly<{ id: string; text: string; isError: boolean }>;

/** Results stand in `tool` messages, calls in `assistant` messages, whatever the wire says. */
export interface ModelMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly toolResults: readonly ToolResult[];
}

export interface ToolOffer {
  readonly name: string;
  readonly schema: unknown;
  /** Codex's group of MCP tools, which a call must repeat. */
  readonly namespace?: string;
  /** Codex's code mode: the tool is reached by JavaScript given to this tool. */
  readonly throughCode?: string;
}

export interface ModelRequest {
  readonly protocol: Protocol;
  readonly model: string;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolOffer[];
  readonly stream: boolean;
  readonly conversation?: string | undefined;
  /** Nothing but JSON is wanted; `schema` is undefined if none was named. */
  readonly wantsJson?: { readonly schema: unknown } | undefined;
  /** Chat completions stream usage only when asked; Anthropic caches only what is marked. */
  readonly wantsUsage: boolean;
  readonly marksCache: boolean;
}

export type Finish = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'refusal';
export type PlannedCall = Omit<ToolCall, 'id'>;

export type FailureKind =
  | ('invalid-request' | 'authentication' | 'permission' | 'unknown-model')
  | ('context-length' | 'rate-limit' | 'overload' | 'server-error');

export type Breakage = 'reset' | 'stall' | 'malformed' | 'error-event';

export interface ModelFailure {
  readonly kind: FailureKind;
  /** Instead of the protocol's status for this kind. */
  readonly status?: number;
  readonly message?: string;
  readonly retryAfterSeconds?: number;
}

type Count = 'inputTokens' | 'cachedTokens' | 'outputTokens' | 'thinkingTokens';
/** Input includes the cached part, output the thinking. */
export type Usage = Readonly<Record<Count, number>>;

export interface ModelReply {
  readonly text?: string;
  readonly thinking?: string;
  readonly calls?: readonly PlannedCall[];
  readonly finish: Finish;
  /** Default: estimated. */
  readonly usage?: Usage;
  readonly error?: ModelFailure;
  /** After so many events of the stream (0: before the first byte). */
  readonly breakage?: Readonly<{ kind: Breakage; afterEvents: number }>;
  readonly delays?: Readonly<{ beforeMs?: number; perEventMs?: number }>;
}

export function message(role: ModelMessage['role'], parts: Partial<ModelMessage>): ModelMessage {
  return { role, text: '', toolCalls: [], toolResults: [], ...parts };
}

export const textReply = (text: string, finish: Finish = 'stop'): ModelReply => ({ text, finish });
export const callReply = (calls: readonly PlannedCall[]): ModelReply => ({ calls, finish: 'tool-calls' });

/** A client's next request shows no sign of it: only the server can know. */
export const isTraceless = ({ error, breakage, text = '', calls = [] }: ModelReply) =>
  error !== undefined || breakage !== undefined || (text.trim() === '' && calls.length === 0);

/** `data` is sent as it stands when it is a string, else as JSON. */
export type WireEvent = Readonly<{ event?: string; data: unknown }>;

export interface RenderContext {
  readonly request: ModelRequest;
  readonly replyId: string;
  /** One per call; clients send them back, which tells the script where it stood. */
  readonly callIds: readonly string[];
  readonly createdAtSeconds: number;
  readonly usage: Usage;
}

/** A wire opens no socket, keeps no state and decides nothing. */
export interface Wire {
  readonly protocol: Protocol;
  /** Must not throw: an odd body gives an odd request. Gemini names model and stream in the path. */
  parseRequest(body: unknown, inPath: { readonly model?: string; readonly stream?: boolean }): ModelRequest;
  render(reply: ModelReply, context: RenderContext): { whole: unknown; events: readonly WireEvent[] };
}

/** `own`: what this protocol has in a place of its own. */
export function requestOf(
  protocol: Protocol,
  body: unknown,
  own: Pick<ModelRequest, 'system' | 'messages' | 'tools'> & Partial<ModelRequest>,
): ModelRequest {
  const stream = recordOf(body)['stream'] === true;
  return { protocol, model: textOf(body, 'model'), stream, wantsUsage: true, marksCache: true, ...own };
}

/** What a reply says, in order. The text of a call is its input as JSON. */
export type Part = ToolCall & Readonly<{ kind: 'thinking' | 'text' | 'call'; text: string; index: number }>;

export function partsOf(reply: ModelReply, { callIds }: RenderContext): readonly Part[] {
  const noCall = { name: '', input: {}, id: '', index: 0 };
  const said = (['thinking', 'text'] as const).flatMap((kind) => {
    const text = reply[kind];
    return text === undefined ? [] : [{ ...noCall, kind, text }];
  });
  const called = (reply.calls ?? []).map((call, index) => {
    const text = JSON.stringify(call.input);
    return { ...call, kind: 'call' as const, text, index, id: callIds[index] ?? '' };
  });
  return [...said, ...called];
}

// Long texts get longer pieces so that tests stay fast.
const pieceCharacters = 12;
const mostPieces = 64;

export function inPieces(text: string): readonly string[] {
  const size = Math.max(pieceCharacters, Math.ceil(text.length / mostPieces));
  const characters = Array.from(text);
  const count = Math.ceil(characters.length / size);
  return Array.from({ length: count }, (_, at) => characters.slice(at * size, (at + 1) * size).join(''));
}

/** One message for the results of one step, and for a reply that a protocol lists in pieces. */
export function mergeNeighbours(messages: readonly ModelMessage[], ...roles: ModelMessage['role'][]) {
  const merged: ModelMessage[] = [];
  for (const { role, text, toolCalls, toolResults } of messages) {
    const last = merged.at(-1)?.role === role && roles.includes(role) ? merged.pop() : undefined;
    merged.push({
      role,
      text: last === undefined ? text : joinTexts([last.text, text]),
      toolCalls: [...(last?.toolCalls ?? []), ...toolCalls],
      toolResults: [...(last?.toolResults ?? []), ...toolResults],
    });
  }
  return merged;
}
