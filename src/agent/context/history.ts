// The conversation of an agent: what is kept, who said what, where it may be cut (S5),
// what it costs in tokens.
import type { ModelMessage } from 'ai';
import type { Clock, MessageKind } from '../../engine/host.ts';
import type { Store } from '../../engine/store.ts';

export type TranscriptMessage = Readonly<{ kind: MessageKind; message: ModelMessage }>;
type Messages = readonly ModelMessage[];
export type Transcript = Awaited<ReturnType<typeof openTranscript>>;

/** In prompts' worth of messages; the store keeps all. */
const memoryFactor = 3;

export async function openTranscript(
  { store, clock }: { store: Store; clock: Clock },
  { sessionId, maxMessages }: { sessionId: string; maxMessages: number },
  turnId: () => string | null = () => null,
) {
  type Body = { cut: boolean; message: ModelMessage };
  const stored = await store.transcript(sessionId, 0);
  const rows = stored.messages.map(({ kind, body }) => ({
    kind,
    ...(JSON.parse(body) as Body),
  }));
  // A row with `cut` begins the window anew: what was before it was summarised.
  const start = rows.findLastIndex(({ cut }) => cut);
  let window = markedHistory(rows.slice(Math.max(0, start)));

  const write = (
    messages: readonly TranscriptMessage[],
    isCut: boolean,
    stepId?: string,
  ) => {
    const place = { sessionId, turnId: turnId(), at: clock.now() };
    const added = messages.map(({ kind, message }, at) => {
      const body: Body = { cut: isCut && at === 0, message };
      return { ...place, kind, body: JSON.stringify(body) };
    });
    const settled = stepId === undefined ? {} : { settled: { sessionId, stepId } };
    return store.record({ messages: added, ...settled });
  };

  return {
    /** Everything since the last summary, which is included. */
    messages: () => window,
    async append(messages: readonly TranscriptMessage[], stepId?: string) {
      await write(messages, false, stepId);
      window = [...window, ...markedHistory(messages)];
      // As the prompt shows it: cut elsewhere, the next prompt would be cut anew (V9).
      if (window.length > maxMessages * memoryFactor)
        window = trimHistory(window, maxMessages);
    },
    /** The rows before the summary stay in the store. */
    async replace(messages: Messages) {
      const rows = messages.map((message) => ({
        kind: transcriptKind(message),
        message,
      }));
      await write(rows, true);
      window = messages;
    },
  };
}

export const partsOf = ({ content }: ModelMessage) =>
  typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;

export function lastWords(messages: Messages) {
  const last = messages.findLast(({ role }) => role === 'assistant');
  const texts =
    last && partsOf(last).flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts?.join('\n').trim() ?? '';
}

// A mark tells a human's messages from ours. Providers ignore options of other names.

/** `note`: messages were left out here; `summary`: what they said. */
const syntheticKinds = ['continuation', 'note', 'summary'] as const;
const asSynthetic = (kind: unknown) =>
  syntheticKinds.find((known) => known === kind) ?? null;

const owner = 'untildone';
const marksOf = (message: ModelMessage) => message.providerOptions?.[owner] ?? {};

export function syntheticMessage(
  synthetic: (typeof syntheticKinds)[number],
  content: string,
  leftOut = 0,
): ModelMessage {
  return { role: 'user', content, providerOptions: { [owner]: { synthetic, leftOut } } };
}

export const syntheticKind = (message: ModelMessage) =>
  asSynthetic(marksOf(message)['synthetic']);
export const isHuman = (message: ModelMessage) =>
  message.role === 'user' && syntheticKind(message) === null;

/** `messageId`: as the engine hears it; that of the turn if it begins one. */
export function humanWords(text: string, messageId: string): TranscriptMessage {
  const providerOptions = { [owner]: { messageId } };
  return { kind: 'human', message: { role: 'user', content: text, providerOptions } };
}

export function humanMessageId(message: ModelMessage) {
  const { messageId } = marksOf(message);
  return isHuman(message) && typeof messageId === 'string' ? messageId : null;
}

export function leftOutBy(message: ModelMessage) {
  const { leftOut } = marksOf(message);
  return typeof leftOut === 'number' ? leftOut : 0;
}

/** Ours must never pass for the human's words. */
export function markedHistory(rows: readonly TranscriptMessage[]): Messages {
  return rows.map(({ kind, message }) => {
    if (asSynthetic(kind) === null || syntheticKind(message) !== null) return message;
    // A transcript's note is any word of the system; a marked one stands for lost
    // messages.
    const mark = {
      synthetic: kind === 'summary' ? 'summary' : 'continuation',
      leftOut: 0,
    };
    return { ...message, providerOptions: { ...message.providerOptions, [owner]: mark } };
  });
}

export function transcriptKind(message: ModelMessage): MessageKind {
  if (message.role === 'assistant') return 'agent';
  if (message.role === 'tool') return 'tools';
  return syntheticKind(message) ?? 'human';
}

const fixedMessages = 3;
/**
 * A larger step forgets more at once; a smaller one changes the start of the prompt more
 * often, which costs the whole cache.
 */
const stepShare = 0.7;

/**
 * Keeps the request and the last human message. The rest goes in steps: so the cache
 * stays warm (V9).
 */
export function trimHistory(messages: Messages, maxMessages: number) {
  if (messages.length <= maxMessages) return messages;
  const window = Math.max(1, maxMessages - fixedMessages);
  const step = Math.max(1, Math.floor(window * stepShare));
  // The same place for every length between two steps.
  const wanted = Math.ceil((messages.length - window) / step) * step;
  // Where a last exchange reaches back beyond it, the place before that.
  const places = cutPlaces(messages).slice(0, -1);
  const after = places.indexOf(true, wanted);
  const parts = cutHistory(
    messages,
    after === -1 ? places.lastIndexOf(true, wanted - 1) : after,
  );
  return parts.lost.length === 0 ? messages : joinHistory(parts);
}

function idOf(part: ReturnType<typeof partsOf>[number]): string {
  if ('approvalId' in part) return part.approvalId;
  return 'toolCallId' in part ? part.toolCallId : '';
}

/**
 * No place parts a call from its result, an approval from its answer. Servers may number
 * calls anew from zero.
 */
export function cutPlaces(messages: Messages) {
  const places = Array.from({ length: messages.length + 1 }, () => true);
  const open = new Map<string, number>();
  messages.forEach((message, index) => {
    for (const part of partsOf(message)) {
      const pair = `${part.type.startsWith('tool-approval') ? 'approval' : 'call'} ${idOf(part)}`;
      // It stays open: an approval may be followed by the result.
      if (part.type === 'tool-call' || part.type === 'tool-approval-request')
        open.set(pair, index);
      else if (part.type === 'tool-result' || part.type === 'tool-approval-response')
        places.fill(false, (open.get(pair) ?? index) + 1, index + 1);
    }
  });
  return places;
}

export type HistoryParts = ReturnType<typeof cutHistory>;

/**
 * `request`, `lastHuman`, `summary` stay, though before the place. `leftOut`: all that
 * ever went.
 */
export function cutHistory(messages: Messages, place: number) {
  const gone = messages.slice(0, place);
  const request = gone.find(isHuman) ?? null;
  const last = messages.findLast(isHuman) ?? null;
  const lastHuman =
    last !== null && last !== request && gone.includes(last) ? last : null;
  const isOurs = (message: ModelMessage) =>
    ['note', 'summary'].includes(syntheticKind(message) ?? '');
  const lost = gone.filter(
    (message) => message !== request && message !== lastHuman && !isOurs(message),
  );
  const summary =
    gone.findLast((message) => syntheticKind(message) === 'summary') ?? null;
  const leftOut = gone.reduce((sum, message) => sum + leftOutBy(message), lost.length);
  return { request, lastHuman, summary, lost, leftOut, tail: messages.slice(place) };
}

export function joinHistory(
  { request, lastHuman, summary, leftOut, tail }: HistoryParts,
  standIn: ModelMessage | null = summary,
) {
  const note = `[EARLIER MESSAGES LEFT OUT] ${leftOut} earlier messages of this conversation are not shown. The plan is kept; read files again instead of relying on memory.`;
  const between = standIn ?? syntheticMessage('note', note, leftOut);
  return [request, between, lastHuman, ...tail].filter((message) => message !== null);
}

// On the high side: compacting too early costs a summary, too late a failed call.

const tokensPerMessage = 6;
/** A picture of ordinary size; bytes say nothing about it. */
const tokensPerFile = 1600;

export function estimateTokens(text: string) {
  let tokens = 0;
  for (let index = 0; index < text.length; index += 1)
    tokens += weight(text.charCodeAt(index));
  return Math.ceil(tokens);
}

/** Per UTF-16 unit. Latin words are known whole, CJK by character. */
function weight(unit: number) {
  const isLetter = (unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a;
  if (unit < 0x80)
    return isLetter || unit === 0x20 || (unit >= 0x30 && unit <= 0x39) ? 0.29 : 0.6;
  if (unit < 0x2000) return 0.6;
  return unit >= 0xd800 && unit <= 0xdfff ? 1.5 : 1.2;
}

export const estimateMessages = (messages: Messages) =>
  messages.reduce(
    (sum, { content }) => sum + tokensPerMessage + estimateValue(content),
    0,
  );

export function estimateValue(value: unknown): number {
  if (typeof value === 'string') return estimateTokens(value);
  if (typeof value !== 'object' || value === null) return 1;
  if (Array.isArray(value))
    return value.reduce((sum: number, entry) => sum + estimateValue(entry), 1);
  if (ArrayBuffer.isView(value)) return tokensPerFile;
  // Not text for the model.
  const { providerOptions: _, ...fields } = value as Readonly<Record<string, unknown>>;
  if (fields['type'] === 'image' || fields['type'] === 'file') return tokensPerFile;
  const sizes = Object.entries(fields).map(
    ([key, inner]) => estimateTokens(key) + estimateValue(inner),
  );
  return sizes.reduce((sum, size) => sum + size, 2);
}

/** It rises at once and falls slowly: an estimate too low does more harm. */
export function calibrateRatio(ratio: number, estimated: number, reported: number) {
  // Tiny prompts tell of the provider's wrapping.
  if (estimated < 200 || !(reported > 0)) return ratio;
  const seen = Math.min(4, Math.max(0.25, reported / estimated));
  return seen > ratio ? seen : ratio * 0.8 + seen * 0.2;
}
