// A history that is cut at one place: what stays in any case (the request, what the human said last) and what goes.
// Trimming and compaction both build on it; it decides nothing about where or when to cut.
import type { ModelMessage } from 'ai';
import { isHuman, leftOutBy, syntheticKind } from './synthetic.ts';

export interface HistoryParts {
  /** The original request; null: no human has spoken. */
  readonly request: ModelMessage | null;
  /** What the human said last, if it would go and is not the request itself. */
  readonly lastHuman: ModelMessage | null;
  /** The last summary among what goes. */
  readonly summary: ModelMessage | null;
  /** Messages of the conversation that go. */
  readonly lost: readonly ModelMessage[];
  /** How many messages the reader will not see: those that go and those that went before. */
  readonly leftOut: number;
  readonly tail: readonly ModelMessage[];
}

export function cutHistory(messages: readonly ModelMessage[], place: number): HistoryParts {
  const gone = messages.slice(0, place);
  const request = messages.find(isHuman) ?? null;
  const last = messages.findLast(isHuman) ?? null;
  const lastHuman = last !== null && last !== request && gone.includes(last) ? last : null;
  const isRequestGone = request !== null && gone.includes(request);
  const kept = [request, lastHuman];
  const isOurs = (message: ModelMessage) => ['note', 'summary'].includes(syntheticKind(message) ?? '');
  const lost = gone.filter((message) => !kept.includes(message) && !isOurs(message));
  return {
    request: isRequestGone ? request : null,
    lastHuman,
    summary: gone.findLast((message) => syntheticKind(message) === 'summary') ?? null,
    lost,
    leftOut: lost.length + gone.reduce((sum, message) => sum + leftOutBy(message), 0),
    tail: messages.slice(place),
  };
}

/** The request, what stands for the lost part, the human's last word, the rest. */
export function joinHistory(parts: HistoryParts, standIn: ModelMessage): readonly ModelMessage[] {
  const { request, lastHuman, tail } = parts;
  return [
    ...(request === null ? [] : [request]),
    standIn,
    ...(lastHuman === null ? [] : [lastHuman]),
    ...tail,
  ];
}
