// What a model is asked and how it answers, in words of no vendor, and the contract of
// the wires that translate them.
import type { FailureKind } from './failures.ts';
import { joinTexts, recordOf, textOf } from './values.ts';

/** The protocols that the server speaks. */
export type Protocol = 'openai-chat' | 'openai-responses' | 'anthropic' | 'gemini';

export type ToolCall = Readonly<{
  /** As the client echoed it; made of its place where a Gemini client echoes none. */
  id: string;
  name: string;
  input: unknown;
}>;

export type ToolResult = Readonly<{ id: string; text: string; isError: boolean }>;

/**
 * Results stand in `tool` messages, calls in `assistant` messages, whatever the wire
 * says.
 */
export type ModelMessage = Readonly<{
  role: 'system' | 'user' | 'assistant' | 'tool';
  text: string;
  toolCalls: readonly ToolCall[];
  toolResults: readonly ToolResult[];
}>;

export type ToolOffer = Readonly<{
  name: string;
  schema: unknown;
  /** Codex's group of MCP tools, which a call must repeat. */
  namespace?: string;
  /** Codex's code mode: the tool is reached by JavaScript given to this tool. */
  throughCode?: string;
  /**
   * Claude Code tells only the name of the tool: the model must search for it with this
   * tool before it can call it.
   */
  foundBy?: string;
}>;

export type ModelRequest = Readonly<{
  protocol: Protocol;
  model: string;
  system: string;
  messages: readonly ModelMessage[];
  tools: readonly ToolOffer[];
  stream: boolean;
  conversation?: string | undefined;
  /** Nothing but JSON is wanted; `schema` is undefined if none was named. */
  wantsJson?: Readonly<{ schema: unknown }> | undefined;
  /**
   * Chat completions stream usage only when asked; Anthropic caches only what is marked.
   */
  wantsUsage: boolean;
  marksCache: boolean;
}>;

export type Finish = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'refusal';
export type Breakage = 'reset' | 'stall' | 'malformed' | 'error-event';
export type PlannedCall = Omit<ToolCall, 'id'>;

export type ModelFailure = Readonly<{
  kind: FailureKind;
  /** Instead of the protocol's status for this kind. */
  status?: number;
  message?: string;
  retryAfterSeconds?: number;
}>;

type Count = 'inputTokens' | 'cachedTokens' | 'outputTokens' | 'thinkingTokens';
/** Input includes the cached part, output the thinking. */
export type Usage = Readonly<Record<Count, number>>;

export type ModelReply = Readonly<{
  text?: string;
  thinking?: string;
  calls?: readonly PlannedCall[];
  finish: Finish;
  /** Default: estimated. */
  usage?: Usage;
  error?: ModelFailure;
  /** After so many events of the stream (0: before the first byte). */
  breakage?: Readonly<{ kind: Breakage; afterEvents: number }>;
  delays?: Readonly<{ beforeMs?: number; perEventMs?: number }>;
}>;

export function message(
  role: ModelMessage['role'],
  parts: Partial<ModelMessage>,
): ModelMessage {
  return { role, text: '', toolCalls: [], toolResults: [], ...parts };
}

export const textReply = (text: string, finish: Finish = 'stop'): ModelReply => ({
  text,
  finish,
});
export const callReply = (calls: readonly PlannedCall[]): ModelReply => ({
  calls,
  finish: 'tool-calls',
});

/** A client's next request shows no sign of it: only the server can know. */
export const isTraceless = ({ error, breakage, text = '', calls = [] }: ModelReply) =>
  error !== undefined ||
  breakage !== undefined ||
  (text.trim() === '' && calls.length === 0);

/** `data` is sent as it stands when it is a string, else as JSON. */
export type WireEvent = Readonly<{ event?: string; data: unknown }>;

export type RenderContext = Readonly<{
  request: ModelRequest;
  replyId: string;
  /** One per call; clients send them back, which tells the script where it stood. */
  callIds: readonly string[];
  createdAtSeconds: number;
  usage: Usage;
}>;

/** A wire opens no socket, keeps no state and decides nothing. */
export interface Wire {
  readonly protocol: Protocol;
  /**
   * Must not throw: an odd body gives an odd request. Gemini names model and stream in
   * the path.
   */
  parseRequest(
    body: unknown,
    inPath: Readonly<{ model?: string; stream?: boolean }>,
  ): ModelRequest;
  render(
    reply: ModelReply,
    context: RenderContext,
  ): { whole: unknown; events: readonly WireEvent[] };
}

/** `own`: what this protocol has in a place of its own. */
export function requestOf(
  protocol: Protocol,
  body: unknown,
  own: Pick<ModelRequest, 'system' | 'messages' | 'tools'> & Partial<ModelRequest>,
): ModelRequest {
  const stream = recordOf(body)['stream'] === true;
  return {
    protocol,
    model: textOf(body, 'model'),
    stream,
    wantsUsage: true,
    marksCache: true,
    ...own,
  };
}

/**
 * What a reply says, in order. The text of a call is its input as JSON; a string stands
 * for input that is none.
 */
export type Part = ToolCall &
  Readonly<{ kind: 'thinking' | 'text' | 'call'; text: string; index: number }>;

export function partsOf(reply: ModelReply, { callIds }: RenderContext): readonly Part[] {
  const said = (['thinking', 'text'] as const).flatMap((kind) => {
    const text = reply[kind];
    return text === undefined
      ? []
      : { kind, text, name: '', input: {}, id: '', index: 0 };
  });
  const called = (reply.calls ?? []).map((call, index) => {
    const text = typeof call.input === 'string' ? call.input : JSON.stringify(call.input);
    return { ...call, kind: 'call' as const, text, index, id: callIds[index] ?? '' };
  });
  return [...said, ...called];
}

const pieceCharacters = 12;
/** Long texts get longer pieces so that tests stay fast. */
const mostPieces = 64;

export function inPieces(text: string): readonly string[] {
  const size = Math.max(pieceCharacters, Math.ceil(text.length / mostPieces));
  return text.match(new RegExp(`.{1,${size}}`, 'gsu')) ?? [];
}

/** Results of tools and the text that came with them are messages of their own. */
export function splitResults(
  toolResults: ModelMessage['toolResults'],
  text: string,
  role: 'user' | 'system',
) {
  const results = toolResults.length > 0 ? [message('tool', { toolResults })] : [];
  return text === '' && results.length > 0
    ? results
    : [...results, message(role, { text })];
}

/**
 * One message for the results of one step, and for a reply that a protocol lists in
 * pieces.
 */
export function mergeNeighbours(
  messages: readonly ModelMessage[],
  ...roles: ModelMessage['role'][]
) {
  const merged: ModelMessage[] = [];
  for (const next of messages) {
    const { role } = next;
    const last =
      merged.at(-1)?.role === role && roles.includes(role) ? merged.pop() : undefined;
    const text = joinTexts([last?.text ?? '', next.text]);
    const toolCalls = [...(last?.toolCalls ?? []), ...next.toolCalls];
    merged.push({
      role,
      text,
      toolCalls,
      toolResults: [...(last?.toolResults ?? []), ...next.toolResults],
    });
  }
  return merged;
}
