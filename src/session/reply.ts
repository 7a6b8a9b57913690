// Reads what a call of someone's agent came back with: the AI SDK's results, streamed or
// not, our own small form, or a text.
import { UntildoneError } from '../core/error.ts';
import type { EventOf, StopEnd } from '../core/events.ts';
import { excerpt } from '../core/problem.ts';

type Usage = Pick<EventOf<'usage-reported'>, 'inputTokens' | 'outputTokens'>;

export type Reply = Readonly<{
  text: string;
  end: StopEnd;
  /** To be put behind those that the agent was called with. */
  messages: readonly unknown[];
  /**
   * It waits for the human: to approve a call, or to make one that the program has no
   * code for.
   */
  asks: boolean;
  usage: Usage | null;
}>;

const unreadable =
  'hold: the function must return what the agent answered: the result of generateText, streamText or an agent of the AI SDK, { text, messages }, or a text. An agent of another framework has an entry of its own: see docs/frameworks.';

/**
 * A streamed answer is read to its end. Rejects with what the stream failed with.
 * `before`: what the agent was called with.
 */
export async function readReply(
  given: unknown,
  before: readonly unknown[] = [],
): Promise<Reply> {
  if (typeof given === 'string')
    return {
      text: given,
      end: endOf('stop', given),
      messages: [said(given)],
      asks: false,
      usage: null,
    };
  if (typeof given !== 'object' || given === null)
    throw new UntildoneError('usage', unreadable);
  const whole = await field(given, 'responseMessages');
  // The AI SDK before version 7 has it in `response.messages` or in `messages`.
  const messages =
    whole ??
    (await field(await field(given, 'response'), 'messages')) ??
    (await field(given, 'messages'));
  const text = await field(given, 'text');
  if (typeof text !== 'string') throw new UntildoneError('usage', unreadable);
  const all: readonly unknown[] = Array.isArray(messages) ? messages : [said(text)];
  // Some agents hand the whole conversation back.
  const isWhole =
    before.length > 0 && before.every((message, place) => all[place] === message);
  const added = isWhole ? all.slice(before.length) : all;
  return {
    text,
    end: endOf(await field(given, 'finishReason'), text),
    messages: added,
    asks: (await field(given, 'asks')) === true || hasUnansweredCall(added),
    usage: usageOf((await field(given, 'totalUsage')) ?? (await field(given, 'usage'))),
  };
}

const said = (content: string) => ({ role: 'assistant', content });

/** Results that stream have promises in these places. */
async function field(value: unknown, name: string): Promise<unknown> {
  if (typeof value !== 'object' || value === null || !(name in value)) return undefined;
  return await (value as Record<string, unknown>)[name];
}

/** In messages of the AI SDK; to speak to such an agent would break the conversation. */
function hasUnansweredCall(messages: readonly unknown[]): boolean {
  const parts = messages.flatMap((message) => {
    const { content } = (message ?? {}) as { content?: unknown };
    return Array.isArray(content)
      ? (content as ({ type?: unknown; toolCallId?: unknown } | null)[])
      : [];
  });
  const idsOf = (type: string) =>
    parts.flatMap((part) => (part?.type === type ? [part.toolCallId] : []));
  const answered = idsOf('tool-result');
  return idsOf('tool-call').some((id) => !answered.includes(id));
}

const ends: Readonly<Record<string, StopEnd>> = {
  length: 'length',
  'content-filter': 'content-filter',
  error: 'error',
  interrupted: 'cancelled',
  // Its last step called tools, and then its own limit of steps ended it.
  'tool-calls': 'iteration-budget',
};

export function endOf(reason: unknown, text: string): StopEnd {
  const known =
    typeof reason === 'string' && Object.hasOwn(ends, reason) ? ends[reason] : undefined;
  return known ?? (text.trim() === '' ? 'empty' : 'normal');
}

export function usageOf(given: unknown): Usage | null {
  const { inputTokens, outputTokens } = (given ?? {}) as Partial<
    Record<keyof Usage, unknown>
  >;
  const isCount = (count: unknown): count is number =>
    Number.isSafeInteger(count) && Number(count) >= 0;
  return isCount(inputTokens) && isCount(outputTokens)
    ? { inputTokens, outputTokens }
    : null;
}

/** For programs without types: a session that was not awaited would hold nobody. */
export function assertSession(caller: string, session: unknown): void {
  const tools = (session as { tools?: unknown } | null | undefined)?.tools;
  if (typeof tools === 'object' && tools !== null) return;
  const sentence = `${caller}: session: must be what \`await openSession(…)\` gives, got ${excerpt(session)}`;
  throw new UntildoneError('usage', sentence);
}
