// What the parsers of several protocols need to bring a history into one shape: leading system messages lifted out,
// results of one step in one message, pieces of one reply in one message. Nothing is reordered.
import { type ModelMessage, message } from '../model-request.ts';

export function liftSystem(messages: readonly ModelMessage[]): {
  system: string;
  messages: readonly ModelMessage[];
} {
  const found = messages.findIndex((entry) => entry.role !== 'system');
  const first = found < 0 ? messages.length : found;
  return {
    system: messages
      .slice(0, first)
      .map((entry) => entry.text)
      .join('\n'),
    messages: messages.slice(first),
  };
}

function joined(earlier: ModelMessage, later: ModelMessage): ModelMessage {
  return message(earlier.role, {
    text: [earlier.text, later.text].filter((text) => text !== '').join('\n'),
    toolCalls: [...earlier.toolCalls, ...later.toolCalls],
    toolResults: [...earlier.toolResults, ...later.toolResults],
  });
}

function mergeNeighbours(
  messages: readonly ModelMessage[],
  role: ModelMessage['role'],
): readonly ModelMessage[] {
  const merged: ModelMessage[] = [];
  for (const entry of messages) {
    const last = merged.at(-1);
    if (last && last.role === role && entry.role === role) merged[merged.length - 1] = joined(last, entry);
    else merged.push(entry);
  }
  return merged;
}

export function mergeToolMessages(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  return mergeNeighbours(messages, 'tool');
}

/** For protocols that list a reply's thoughts, text and calls as separate entries. */
export function mergeReplies(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  return mergeNeighbours(mergeToolMessages(messages), 'assistant');
}

/** OpenAI's protocols carry no mark on a failed result: its first word has to do. */
export function looksLikeError(text: string): boolean {
  return /^\W*error\b/i.test(text);
}
