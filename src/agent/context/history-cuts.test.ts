import { describe, expect, it } from 'vitest';
import { exchange, human, says } from '../../../test/support/history-cases.ts';
import { cutPlaces } from './history.ts';

describe('S5: where a history may be cut', () => {
  it('is nowhere between parallel calls and their results, in one message or in several', () => {
    const messages = [
      human('a'),
      ...exchange(['x', 'y']),
      ...exchange(['v', 'w'], true),
      says('b'),
    ];
    expect(cutPlaces(messages)).toEqual([
      true,
      true,
      false,
      true,
      false,
      false,
      true,
      true,
    ]);
  });

  it('is between steps that use the same ids again', () => {
    const messages = [
      ...exchange(['call_0']),
      ...exchange(['call_0']),
      ...exchange(['call_0']),
    ];
    expect(cutPlaces(messages)).toEqual([true, false, true, false, true, false, true]);
  });

  it('is not between a question for approval and its answer', () => {
    const messages = [
      {
        role: 'assistant' as const,
        content: [
          { type: 'tool-approval-request' as const, approvalId: 'p', toolCallId: 'x' },
        ],
      },
      {
        role: 'tool' as const,
        content: [
          { type: 'tool-approval-response' as const, approvalId: 'p', approved: true },
        ],
      },
    ];
    expect(cutPlaces(messages)).toEqual([true, false, true]);
  });

  it('is everywhere around a result without a call', () => {
    expect(cutPlaces(exchange(['x']).slice(1))).toEqual([true, true]);
  });
});
