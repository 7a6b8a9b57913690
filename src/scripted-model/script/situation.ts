// What the model sees at one moment of a conversation, read off the messages alone: the todos it knows, what it heard
// since it last spoke, whether it was sent on after it had stopped. It never looks at anyone's wording.
import {
  isReply,
  type ModelMessage,
  type ModelRequest,
  type ToolCall,
  type ToolResult,
} from '../model-request.ts';
import { familyFor, learnFromCall } from '../todos/families.ts';
import type { KnownTodos } from '../todos/known-todos.ts';
import type { FamilyName, TodoFamily } from '../todos/todo-family.ts';
import { readAnchor } from './anchor.ts';

export interface Situation {
  readonly request: ModelRequest;
  readonly family: TodoFamily | undefined;
  readonly todos: KnownTodos;
  /** All that people and systems said since the model last spoke. */
  readonly heard: string;
  /** What its tools answered since then. */
  readonly results: readonly ToolResult[];
  /** The model had stopped without a call, and someone spoke to it again. */
  readonly isContinued: boolean;
}

/** One thing the model said, with the situation in which it said it. */
export interface Moment {
  readonly before: Situation;
  readonly said: ModelMessage;
}

export interface Conversation {
  readonly moments: readonly Moment[];
  readonly now: Situation;
}

export interface ReadingOptions {
  /** Messages before this one belong to an earlier script: they teach todos, but are no moments of this one. */
  readonly from: number;
  readonly family?: FamilyName;
  /** The todos known when a reply was given, by its serial. Exact where the history before it was trimmed. */
  readonly snapshots: ReadonlyMap<string, KnownTodos>;
}

export function readConversation(request: ModelRequest, options: ReadingOptions): Conversation {
  const family = familyFor(request.tools, options.family);
  const moments: Moment[] = [];
  const calls = new Map<string, ToolCall>();
  let todos: KnownTodos = [];
  let heard: string[] = [];
  let results: ToolResult[] = [];
  let stopped = false;

  const situation = (): Situation => ({
    request,
    family,
    todos,
    heard: heard.join('\n'),
    results,
    isContinued: stopped && heard.length > 0,
  });

  request.messages.forEach((message, index) => {
    if (isReply(message)) {
      todos = options.snapshots.get(readAnchor(message)?.serial ?? '') ?? todos;
      if (index >= options.from) moments.push({ before: situation(), said: message });
      for (const call of message.toolCalls) calls.set(call.id, call);
      stopped = message.toolCalls.length === 0 && index >= options.from;
      heard = [];
      results = [];
    }
    for (const result of message.toolResults) {
      const call = calls.get(result.id);
      if (call) todos = learnFromCall(todos, call, result);
      results = [...results, result];
    }
    if (message.role === 'user' || message.role === 'system') heard.push(message.text);
  });

  return { moments, now: situation() };
}
