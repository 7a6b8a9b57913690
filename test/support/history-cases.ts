// For tests: random histories as a run of our agent leaves them, and the rule that every
// one of them keeps.
import type { ModelMessage, ToolCallPart, ToolResultPart } from 'ai';
import fc from 'fast-check';
import { syntheticMessage } from '../../src/agent/context/history.ts';

export function human(text: string): ModelMessage {
  return { role: 'user', content: text };
}

export function says(text: string): ModelMessage {
  return { role: 'assistant', content: text };
}

/** One step: the calls in one message, the results in one message or in one each. */
export function exchange(
  ids: readonly string[],
  isSplit = false,
  output = 'ok',
): ModelMessage[] {
  const calls: ToolCallPart[] = ids.map((toolCallId) => ({
    type: 'tool-call',
    toolCallId,
    toolName: 'read_file',
    input: { path: toolCallId },
  }));
  const results: ToolResultPart[] = ids.map((toolCallId) => ({
    type: 'tool-result',
    toolCallId,
    toolName: 'read_file',
    output: { type: 'text', value: output },
  }));
  const tools: ModelMessage[] = isSplit
    ? results.map((result) => ({ role: 'tool', content: [result] }))
    : [{ role: 'tool', content: results }];
  return [
    { role: 'assistant', content: [{ type: 'text', text: 'I look.' }, ...calls] },
    ...tools,
  ];
}

/** Call ids are unique, or start from zero in every step as some servers do. */
export function histories(mostSteps: number): fc.Arbitrary<ModelMessage[]> {
  const step = fc.record({
    kind: fc.constantFrom('calls', 'calls', 'calls', 'text', 'continuation', 'human'),
    calls: fc.integer({ min: 1, max: 4 }),
    isSplit: fc.boolean(),
  });
  return fc
    .tuple(
      fc.boolean(),
      fc.array(step, { maxLength: mostSteps }),
      fc.integer({ min: 0, max: 300 }),
    )
    .map(([hasUniqueIds, steps, length]) => [
      human('the request'),
      ...steps.flatMap(({ kind, calls, isSplit }, index): ModelMessage[] => {
        if (kind === 'text') return [says(`text ${index}`)];
        if (kind === 'continuation')
          return [syntheticMessage('continuation', `go on ${index}`)];
        if (kind === 'human') return [human(`human ${index}`)];
        const ids = Array.from({ length: calls }, (_, call) =>
          hasUniqueIds ? `call-${index}-${call}` : `call_${call}`,
        );
        return exchange(ids, isSplit, 'x'.repeat(length));
      }),
    ]);
}

/**
 * Every result follows its call, every call is followed by its result, before anything
 * else is said.
 */
export function hasWholePairs(messages: readonly ModelMessage[]): boolean {
  let open: string[] = [];
  for (const { role, content } of messages) {
    if (role !== 'tool' && open.length > 0) return false;
    if (typeof content === 'string') continue;
    for (const part of content) {
      if (part.type === 'tool-call') open.push(part.toolCallId);
      if (part.type !== 'tool-result') continue;
      if (!open.includes(part.toolCallId)) return false;
      open = open.filter((id) => id !== part.toolCallId);
    }
  }
  return open.length === 0;
}
