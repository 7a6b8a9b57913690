// Reads the lines of JSON that Claude Code prints (`stream-json`), and Qwen Code after
// it, as facts for the driver.
import type { DriveFact } from '../engine/host-driver.ts';
import * as driver from './driver.ts';
import { amountOf, type Fields, listOf, recordOf, textOf } from './untrusted.ts';

type Stream = Readonly<{
  title: string;
  /** Tokens from the cache are counted beside the input, not in it. */
  cacheIsApart: boolean;
  /** What the tokens in the line `result` are the sum of. */
  resultIs: 'start' | 'conversation';
}>;

/** Makes the reader of the lines of one start. */
export const createStreamReader = (stream: Stream) =>
  driver.createLineReader(
    readersOf(stream),
    driver.unknownIf(/^No saved session found/u),
  );

const readersOf = ({ title, cacheIsApart, resultIs }: Stream): driver.Readers => ({
  system({ subtype, session_id, attempt, max_retries, retry_delay_ms, error_status }) {
    if (subtype === 'init') return driver.conversationOf(session_id);
    if (subtype !== 'api_retry') return [];
    const sentence = `The model did not answer (${error_status ?? 'no connection'}); ${title} tries again, ${attempt} of ${max_retries}.`;
    return [{ type: 'retrying', sentence, inMs: amountOf(retry_delay_ms) }];
  },
  assistant({ message, parent_tool_use_id }) {
    const { id, content, usage, model } = recordOf(message);
    const step = textOf(id);
    const isError = /^\[API Error: /u.test(
      textOf(recordOf(listOf(content)[0])['text']) ?? '',
    );
    // These are words of the host in the model's place. Taken as an answer, an error that
    // never ends would look like work.
    if (step === null || model === '<synthetic>' || isError) return [];
    const tokens = tokensOf(usage, cacheIsApart);
    return [
      { type: 'step', id: step },
      // The words of a subagent are for its parent.
      ...listOf(content)
        .map(recordOf)
        .flatMap((part) => factsOf(part, parent_tool_use_id === null)),
      { type: 'usage', of: 'step', id: step, tokens, cost: null },
    ];
  },
  user({ message }) {
    const parts = listOf(recordOf(message)['content']).map(recordOf);
    return parts.flatMap(({ type, tool_use_id, is_error, content }) => {
      const texts = listOf(content).map((part) => textOf(recordOf(part)['text']));
      const output = textOf(content) ?? texts.join('\n');
      return type === 'tool_result'
        ? driver.toolEnded(tool_use_id, is_error !== true, output)
        : [];
    });
  },
  result(line) {
    const { subtype, is_error, terminal_reason, result, usage, total_cost_usd, errors } =
      line;
    const errorText =
      listOf(errors).map(textOf).join(' ') || textOf(recordOf(line['error'])['message']);
    const text = errorText || textOf(result) || '';
    if (/^No conversation found/u.test(text)) return [{ type: 'unknown-conversation' }];
    const cost = typeof total_cost_usd === 'number' ? amountOf(total_cost_usd) : null;
    const used: DriveFact[] = [
      { type: 'usage', of: resultIs, tokens: tokensOf(usage, cacheIsApart), cost: null },
      ...(cost === null
        ? []
        : [{ type: 'usage', of: 'conversation', tokens: null, cost } as const]),
    ];
    if (/^aborted/u.test(textOf(terminal_reason) ?? ''))
      return [...used, { type: 'ended', end: 'cancelled' }];
    // Errors of the model come with the subtype "success" too.
    if (is_error !== true && subtype === 'success')
      return [...used, { type: 'ended', end: text === '' ? 'empty' : 'normal', text }];
    const status =
      line['api_error_status'] ?? Number(/API Error: (\d{3})\b/u.exec(text)?.[1]);
    return [
      ...used,
      driver.describeFailure(text || String(subtype), status),
      { type: 'ended', end: 'error' },
    ];
  },
});

function factsOf({ type, text, id, name, input }: Fields, isMain: boolean): driver.Facts {
  if (type === 'text' && isMain) return driver.joinSpokenText(text);
  return type === 'tool_use' ? driver.toolStarted(id, name, input) : [];
}

function tokensOf(usage: unknown, cacheIsApart: boolean) {
  const tokens = driver.tokensOf(usage, 'cache_read_input_tokens');
  if (!cacheIsApart) return tokens;
  const written = Math.round(amountOf(recordOf(usage)['cache_creation_input_tokens']));
  return { ...tokens, inputTokens: tokens.inputTokens + tokens.cachedTokens + written };
}
