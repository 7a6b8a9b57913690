// Keeps the history of a call within a number of messages (S5). Tool calls stay with their results, the request and
// the human's last message stay, and what goes leaves a note or the last summary. It goes in steps: the beginning of
// the prompt then changes once in many calls, not at every call, and the provider's cache stays warm (V9).
import type { ModelMessage } from 'ai';
import { cutHistory, joinHistory } from './history-parts.ts';
import { syntheticMessage } from './synthetic.ts';
import { cutPlaces } from './tool-pairs.ts';

/** The request, the note, the human's last message. */
const fixedMessages = 3;

/** A step removes this share of the window: larger forgets more at once, smaller changes the prefix more often. */
const stepShare = 0.4;

/** Returns what it was given when nothing can or need go. A single exchange larger than the window stays whole. */
export function trimHistory(messages: readonly ModelMessage[], maxMessages: number): readonly ModelMessage[] {
  if (messages.length <= maxMessages) return messages;
  const window = Math.max(1, maxMessages - fixedMessages);
  const step = Math.max(1, Math.floor(window * stepShare));
  // A whole number of steps, counted from the beginning: the same place for every length between two steps.
  const wanted = Math.ceil((messages.length - window) / step) * step;
  const parts = cutHistory(messages, nearestCut(messages, wanted));
  if (parts.lost.length === 0) return messages;
  return joinHistory(parts, parts.summary ?? leftOutNote(parts.leftOut));
}

export function leftOutNote(leftOut: number): ModelMessage {
  const text = `[EARLIER MESSAGES LEFT OUT] ${leftOut} earlier messages of this conversation are not shown. The plan is kept; read files again instead of relying on memory.`;
  return syntheticMessage('note', text, leftOut);
}

/** The first place at or after the wanted one; where a last exchange reaches back beyond it, the place before that. */
function nearestCut(messages: readonly ModelMessage[], wanted: number): number {
  const places = cutPlaces(messages);
  const after = places.findIndex((canCut, place) => canCut && place >= wanted && place < messages.length);
  if (after !== -1) return after;
  return places.findLastIndex((canCut, place) => canCut && place < Math.min(wanted, messages.length));
}
