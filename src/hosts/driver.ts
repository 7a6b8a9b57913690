// What the drivers of hosts share: reading lines of JSON, facts that several hosts word
// alike, and our MCP server for one run.
import type { DriveFact, LineReader } from '../engine/host-driver.ts';
import { shippedCall } from './install/files.ts';
import { offeredTools } from './install/hook-host.ts';
import { amountOf, type Fields, readHostError, recordOf, textOf } from './untrusted.ts';

export type Facts = readonly DriveFact[];
/** What the lines of a host mean, by their `type`. */
export type Readers = Readonly<Record<string, (line: Fields) => Facts>>;

/**
 * Reads lines on stdout by their `type`, after `prepare`.
 * @param readError what a line on stderr means
 */
export function createLineReader(
  readers: Readers,
  readError: (line: string) => Facts = () => [],
  prepare: (line: Fields) => Fields = (line) => line,
): LineReader {
  return (line, from) => {
    if (from === 'errors') return readError(line);
    try {
      const fields = prepare(recordOf(JSON.parse(line)));
      const type = textOf(fields['type']) ?? '';
      return (Object.hasOwn(readers, type) ? readers[type]?.(fields) : undefined) ?? [];
    } catch {
      // Safe: a line that is no JSON is for people.
      return [];
    }
  };
}

/**
 * Reads a line on stderr: one that matches `words` says that the conversation to resume
 * does not exist.
 */
export const unknownIf = (words: RegExp) => (line: string) =>
  words.test(line) ? [{ type: 'unknown-conversation' } as const] : [];

/** The fact that names the conversation; none without an id. */
export const conversationOf = (id: unknown): Facts =>
  typeof id === 'string' ? [{ type: 'conversation', id }] : [];

/** The fact that the model said this; none for an empty text. */
export function joinSpokenText(words: unknown): Facts {
  const text = textOf(words) ?? '';
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

/** The fact that a tool call began; none if the line names no call. */
export function toolStarted(id: unknown, name: unknown, input: unknown): Facts {
  const callId = textOf(id);
  const tool = textOf(name);
  return callId && tool ? [{ type: 'tool-started', callId, tool, input }] : [];
}

/** The fact that a tool call ended; none if the line names no call. */
export function toolEnded(id: unknown, ok: boolean, output: string | null): Facts {
  const callId = textOf(id);
  return callId ? [{ type: 'tool-ended', callId, ok, output: output ?? '' }] : [];
}

/**
 * The tokens of a call.
 * @param cached the field of the tokens that came from a cache
 */
export function tokensOf(usage: unknown, cached: string) {
  const of = (name: string) => Math.round(amountOf(recordOf(usage)[name]));
  return {
    inputTokens: of('input_tokens'),
    cachedTokens: of(cached),
    outputTokens: of('output_tokens'),
  };
}

/**
 * An error of the model.
 * @param status HTTP status; anything but a whole number says nothing
 */
export function describeFailure(message: string, status: unknown): DriveFact {
  const read = readHostError({ message, status }, 0);
  return {
    type: 'error',
    kind: read.type === 'error-occurred' ? read.kind : 'other',
    message,
  };
}

/** Our MCP server, with the tools that a host's own list lacks. */
export function ourServer() {
  const [command, ...args] = shippedCall('host-commands.js');
  return { command, args: [...args, 'mcp', '--tools', offeredTools.join(',')] };
}
