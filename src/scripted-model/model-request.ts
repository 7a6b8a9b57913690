// What a model is asked, in words that belong to no vendor. Every wire protocol is parsed into this shape and
// scripts read nothing else. It keeps texts, calls and results; it drops images, temperatures and other settings.

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
  readonly conversation?: string;
  /** Set when the client wants JSON and nothing else; `schema` is undefined if it named none. */
  readonly wantsJson?: { readonly schema: unknown };
  /** Chat completions send usage in a stream only when asked; Anthropic caches only what is marked. */
  readonly wantsUsage: boolean;
  readonly marksCache: boolean;
}

export function message(role: ModelMessage['role'], parts: Partial<ModelMessage>): ModelMessage {
  return { role, text: '', toolCalls: [], toolResults: [], ...parts };
}

/** An assistant message that the script must have said: empty ones and thoughts alone leave no trace. */
export function isReply(candidate: ModelMessage): boolean {
  return candidate.role === 'assistant' && (candidate.text.trim() !== '' || candidate.toolCalls.length > 0);
}
