// The conversation of an agent: what is kept in the store and in memory, who said what, where it may be cut, and how it
// is kept within a number of messages (S5). What is not written down did not happen. It calls no model.
import type { ModelMessage } from 'ai';
import type { Clock, MessageKind } from '../../engine/host.ts';
import type { Store } from '../../engine/store.ts';

export interface TranscriptMessage {
  readonly kind: MessageKind;
  readonly message: ModelMessage;
}

export type Transcript = Awaited<ReturnType<typeof openTranscript>>;

/** How many prompts' worth of messages stay in memory before the older ones are let go; the store keeps all. */
const memoryFactor = 3;

export async function openTranscript(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  { sessionId, maxMessages }: { readonly sessionId: string; readonly maxMessages: number },
  turnId: () => string | null = () => null,
) {
  const stored = await store.transcript(sessionId, 0);
  const rows = stored.messages.map(({ kind, body }) => ({
    kind,
    ...(JSON.parse(body) as { cut: boolean; message: ModelMessage }),
  }));
  // A row that carries `cut` begins the window anew: everything before it was summarised.
  const start = rows.findLastIndex(({ cut }) => cut);
  let window: readonly TranscriptMessage[] = rows.slice(Math.max(0, start));

  async function write(
    messages: readonly TranscriptMessage[],
    isCut: boolean,
    stepId?: string,
  ): Promise<void> {
    const place = { sessionId, turnId: turnId(), at: clock.now() };
    const added = messages.map(({ kind, message }, index) => ({
      ...place,
      kind,
      body: JSON.stringify({ cut: isCut && index === 0, message }),
    }));
    const settled = stepId === undefined ? {} : { settled: { sessionId, stepId } };
    await store.record({ messages: added, ...settled });
  }

  return {
    /** What the next prompt is made from: everything since the last summary, the summary included. */
    messages: () => window,
    async append(messages: readonly TranscriptMessage[], stepId?: string): Promise<void> {
      await write(messages, false, stepId);
      window = [...window, ...messages];
      if (window.length > maxMessages * memoryFactor)
        window = toTranscript(trimHistory(markedHistory(window), maxMessages * (memoryFactor - 1)));
    },
    /** A summary takes the place of all that came before; the rows themselves stay in the store. */
    async replace(messages: readonly TranscriptMessage[]): Promise<void> {
      await write(messages, true);
      window = messages;
    },
  };
}

export function lastWords(messages: readonly TranscriptMessage[]): string {
  const last = messages.findLast(({ message }) => message.role === 'assistant')?.message;
  if (last?.role !== 'assistant') return '';
  if (typeof last.content === 'string') return last.content.trim();
  const texts = last.content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.join('\n').trim();
}

// Messages that a human wrote are told from ours in the same role by a mark. It travels with the message into the store
// and back; providers ignore options under a name that is not theirs.

/** `note`: messages were left out here. `summary`: what they said. `plan`: only for one call, never stored. */
const syntheticKinds = ['continuation', 'note', 'summary', 'plan'] as const;
export type SyntheticKind = (typeof syntheticKinds)[number];

const owner = 'untildone';

function markOf(message: ModelMessage, name: 'synthetic' | 'leftOut' | 'messageId'): unknown {
  return message.providerOptions?.[owner]?.[name];
}

export function syntheticMessage(kind: SyntheticKind, text: string, leftOut = 0): ModelMessage {
  return { role: 'user', content: text, providerOptions: { [owner]: { synthetic: kind, leftOut } } };
}

export function syntheticKind(message: ModelMessage): SyntheticKind | null {
  return syntheticKinds.find((kind) => kind === markOf(message, 'synthetic')) ?? null;
}

export function isHuman(message: ModelMessage): boolean {
  return message.role === 'user' && syntheticKind(message) === null;
}

/** A human's message with the id under which the engine hears it, which is that of the turn if it begins one. */
export function humanWords(text: string, messageId: string): TranscriptMessage {
  const providerOptions = { [owner]: { messageId } };
  return { kind: 'human', message: { role: 'user', content: text, providerOptions } };
}

export function humanMessageId(message: ModelMessage): string | null {
  const messageId = markOf(message, 'messageId');
  return isHuman(message) && typeof messageId === 'string' ? messageId : null;
}

export function leftOutBy(message: ModelMessage): number {
  const leftOut = markOf(message, 'leftOut');
  return typeof leftOut === 'number' && leftOut > 0 ? leftOut : 0;
}

/** Messages of a transcript with their marks: what the system said never passes for the human's words. */
export function markedHistory(rows: readonly TranscriptMessage[]): readonly ModelMessage[] {
  return rows.map(({ kind, message }) => {
    const isOurs = kind === 'continuation' || kind === 'note' || kind === 'summary';
    if (!isOurs || syntheticKind(message) !== null) return message;
    // A note of the transcript is any word of the system; only a note of ours stands for messages that went.
    const mark = { synthetic: kind === 'summary' ? 'summary' : 'continuation', leftOut: 0 };
    return { ...message, providerOptions: { ...message.providerOptions, [owner]: mark } };
  });
}

export function toTranscript(messages: readonly ModelMessage[]): readonly TranscriptMessage[] {
  return messages.map((message) => ({ kind: transcriptKind(message), message }));
}

export function transcriptKind(message: ModelMessage): MessageKind {
  if (message.role === 'assistant') return 'agent';
  if (message.role === 'tool') return 'tools';
  const kind = syntheticKind(message);
  return kind === null ? 'human' : kind === 'plan' ? 'note' : kind;
}

const fixedMessages = 3;
/** A step removes this share of the window: larger forgets more at once, smaller changes the prefix more often. */
const stepShare = 0.4;

/**
 * Tool calls stay with their results, the request and the human's last message stay, and what goes leaves a note or the
 * last summary. It goes in steps, so that the beginning of the prompt changes once in many calls and the provider's
 * cache stays warm (V9). Returns what it was given when nothing can or need go.
 */
export function trimHistory(messages: readonly ModelMessage[], maxMessages: number): readonly ModelMessage[] {
  if (messages.length <= maxMessages) return messages;
  const window = Math.max(1, maxMessages - fixedMessages);
  const step = Math.max(1, Math.floor(window * stepShare));
  // A whole number of steps, counted from the beginning: the same place for every length between two steps.
  const wanted = Math.ceil((messages.length - window) / step) * step;
  // The first place at or after the wanted one; where a last exchange reaches back beyond it, the place before that.
  const places = cutPlaces(messages);
  const after = places.findIndex((canCut, at) => canCut && at >= wanted && at < messages.length);
  const before = places.findLastIndex((canCut, at) => canCut && at < Math.min(wanted, messages.length));
  const parts = cutHistory(messages, after === -1 ? before : after);
  if (parts.lost.length === 0) return messages;
  return joinHistory(parts, parts.summary ?? leftOutNote(parts.leftOut));
}

export function leftOutNote(leftOut: number): ModelMessage {
  const text = `[EARLIER MESSAGES LEFT OUT] ${leftOut} earlier messages of this conversation are not shown. The plan is kept; read files again instead of relying on memory.`;
  return syntheticMessage('note', text, leftOut);
}

/**
 * Entry `i`: the messages before `i` and those from `i` on share no call with its result, nor approval with its answer.
 * Ids are matched in order, because some servers number the calls of every answer from zero.
 */
export function cutPlaces(messages: readonly ModelMessage[]): readonly boolean[] {
  const places = Array.from({ length: messages.length + 1 }, () => true);
  const open = new Map<string, number>();
  messages.forEach(({ content }, index) => {
    for (const part of typeof content === 'string' ? [] : content) {
      const id = 'approvalId' in part ? part.approvalId : 'toolCallId' in part ? part.toolCallId : '';
      const pair = `${part.type.startsWith('tool-approval') ? 'approval' : 'call'} ${id}`;
      // An answered call stays: an approval may be followed by the result, and both belong to it.
      if (part.type === 'tool-call' || part.type === 'tool-approval-request') open.set(pair, index);
      else if (part.type === 'tool-result' || part.type === 'tool-approval-response')
        places.fill(false, (open.get(pair) ?? index) + 1, index + 1);
    }
  });
  return places;
}

type HistoryParts = ReturnType<typeof cutHistory>;

/**
 * A history that is cut at one place. `request`, `lastHuman` and `summary` would go and are kept, `lost` goes, `leftOut`
 * counts what the reader will not see: what goes and what went before.
 */
export function cutHistory(messages: readonly ModelMessage[], place: number) {
  const gone = messages.slice(0, place);
  const request = gone.find(isHuman) ?? null;
  const last = messages.findLast(isHuman) ?? null;
  const lastHuman = last !== null && last !== request && gone.includes(last) ? last : null;
  const isOurs = (message: ModelMessage) => ['note', 'summary'].includes(syntheticKind(message) ?? '');
  const lost = gone.filter((message) => message !== request && message !== lastHuman && !isOurs(message));
  const summary = gone.findLast((message) => syntheticKind(message) === 'summary') ?? null;
  const leftOut = gone.reduce((sum, message) => sum + leftOutBy(message), lost.length);
  return { request, lastHuman, summary, lost, leftOut, tail: messages.slice(place) };
}

export function joinHistory(parts: HistoryParts, standIn: ModelMessage): readonly ModelMessage[] {
  const { request, lastHuman, tail } = parts;
  return [request, standIn, lastHuman, ...tail].filter((message) => message !== null);
}
