import type { ModelMessage } from 'ai';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  exchange,
  hasWholePairs,
  histories,
  human,
  says,
} from '../../../test/support/history-cases.ts';
import { createMemoryStore } from '../../../test/support/memory-store.ts';
import { prefixShare } from '../../../test/support/prefix-share.ts';
import { systemClock } from '../../engine/system.ts';
import {
  humanWords,
  isHuman,
  markedHistory,
  openTranscript,
  syntheticKind,
  syntheticMessage,
  trimHistory,
} from './history.ts';

const sizes = fc.integer({ min: 8, max: 60 });

/** No history can be shorter than its last exchange and what stays in any case. */
function shortest(messages: readonly ModelMessage[]): number {
  const lastSaid = messages.findLastIndex(({ role }) => role !== 'tool');
  return messages.length - lastSaid + 3;
}

describe('S5: a trimmed history', () => {
  it('keeps every tool call with its results, whatever is cut', () => {
    fc.assert(
      fc.property(histories(60), sizes, (messages, size) => {
        expect(hasWholePairs(messages)).toBe(true);
        expect(hasWholePairs(trimHistory(messages, size))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('keeps the request at its beginning and the human’s last message', () => {
    fc.assert(
      fc.property(histories(60), sizes, (messages, size) => {
        const trimmed = trimHistory(messages, size);
        expect(trimmed[0]).toBe(messages[0]);
        expect(trimmed).toContain(messages.findLast(isHuman));
      }),
      { numRuns: 500 },
    );
  });

  it('is no longer than allowed, or as short as its last exchange lets it be', () => {
    fc.assert(
      fc.property(histories(60), sizes, (messages, size) => {
        expect(trimHistory(messages, size).length).toBeLessThanOrEqual(
          Math.max(size, shortest(messages)),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('stays as it is when it is trimmed again', () => {
    fc.assert(
      fc.property(histories(60), sizes, (messages, size) => {
        const trimmed = trimHistory(messages, size);
        expect(trimHistory(trimmed, size)).toEqual(trimmed);
      }),
      { numRuns: 500 },
    );
  });

  it('ends as the whole one ends', () => {
    fc.assert(
      fc.property(histories(60), sizes, (messages, size) => {
        expect(trimHistory(messages, size).at(-1)).toBe(messages.at(-1));
      }),
    );
  });

  it('V9: begins alike from call to call; only one call in many changes the beginning', () => {
    const messages = [
      human('request'),
      ...Array.from({ length: 200 }, (_, n) => exchange([`c${n}`])).flat(),
    ];
    const calls = Array.from({ length: 200 }, (_, step) =>
      trimHistory(messages.slice(0, 1 + 2 * (step + 1)), 50),
    );
    const shares = calls
      .slice(1)
      .map((later, index) =>
        prefixShare(
          { system: '', tools: [], messages: calls[index] ?? [] },
          { system: '', tools: [], messages: later },
        ),
      );
    const broken = shares.filter((share) => share < 1);
    // 400 messages in steps of 32.
    expect(broken.length).toBe(12);
    expect(shares).toHaveLength(199);
  });

  it('V9: a long run is trimmed rarely and much, also where the oldest messages leave the memory', async () => {
    const parts = { store: createMemoryStore(), clock: systemClock };
    const transcript = await openTranscript(parts, { sessionId: 's', maxMessages: 50 });
    await transcript.append([humanWords('request', 'm1')]);
    const trims: number[] = [];
    let before = trimHistory(transcript.messages(), 50);
    for (let call = 0; call < 200; call += 1) {
      const [asked, answered] = exchange([`c${call}`]) as [ModelMessage, ModelMessage];
      await transcript.append([
        { kind: 'agent', message: asked },
        { kind: 'tools', message: answered },
      ]);
      const shown = trimHistory(transcript.messages(), 50);
      if (shown[2] !== before[2] && before.length > 2)
        trims.push(before.length + 2 - shown.length);
      before = shown;
    }
    expect(trims.length).toBeLessThanOrEqual(13);
    expect(Math.min(...trims)).toBeGreaterThanOrEqual(28);
  });

  it('is trimmed the same way whether each call starts from the whole history or from the trimmed one', () => {
    const messages = [
      human('request'),
      ...Array.from({ length: 90 }, (_, n) => says(`text ${n}`)),
    ];
    let kept: readonly ModelMessage[] = messages.slice(0, 1);
    for (const message of messages.slice(1)) kept = trimHistory([...kept, message], 20);
    expect(kept.length).toBeLessThanOrEqual(20);
    expect(kept[0]).toBe(messages[0]);
    expect(kept.filter((message) => syntheticKind(message) === 'note')).toHaveLength(1);
    const shown = kept.filter((message) => message.role === 'assistant').length;
    expect(kept[1]?.content).toContain(`${messages.length - 1 - shown} earlier messages`);
  });

  it('says how many messages are not shown', () => {
    const messages = [
      human('request'),
      ...Array.from({ length: 50 }, (_, n) => says(`text ${n}`)),
    ];
    const [request, note, ...rest] = trimHistory(messages, 50);
    expect(request).toBe(messages[0]);
    expect(note?.content).toContain(`${50 - rest.length} earlier messages`);
  });

  it('keeps the last summary in place of a note', () => {
    const summary = syntheticMessage('summary', 'what happened', 70);
    const messages = [
      human('request'),
      summary,
      ...Array.from({ length: 50 }, (_, n) => says(`text ${n}`)),
    ];
    const trimmed = trimHistory(messages, 20);
    expect(trimmed.slice(0, 2)).toEqual([messages[0], summary]);
    expect(trimmed.length).toBeLessThanOrEqual(20);
  });

  it('does not take a continuation for the human’s last message', () => {
    const rows = [
      { kind: 'human', message: human('request') },
      { kind: 'human', message: human('and in French') },
      ...Array.from(
        { length: 60 },
        (_, n) => ({ kind: 'agent', message: says(`text ${n}`) }) as const,
      ),
      { kind: 'continuation', message: human('go on') },
    ] as const;
    const trimmed = trimHistory(markedHistory(rows), 20);
    expect(trimmed.slice(0, 3).map(({ content }) => content)).toEqual([
      'request',
      expect.stringContaining('LEFT OUT'),
      'and in French',
    ]);
  });

  it('is the very same list when nothing has to go', () => {
    const messages = [human('request'), says('x')];
    expect(trimHistory(messages, 50)).toBe(messages);
  });
});
