import { describe, expect, it } from 'vitest';
import { exchange, human, says } from '../../../test/support/history-cases.ts';
import { estimateTokens, syntheticMessage } from './history.ts';
import { quoteHistory } from './prompt.ts';

const roomy = { tokens: 100_000, ratio: 1 };

describe('P23: the text that is summarised', () => {
  it('names who spoke and quotes every line', () => {
    const messages = [
      human('do\nit'),
      says('yes'),
      ...exchange(['a.ts'], false, 'line 1\nline 2'),
    ];
    expect(quoteHistory(null, messages, roomy).split('\n')).toEqual([
      'human:',
      '| do',
      '| it',
      'agent:',
      '| yes',
      'agent:',
      '| I look.',
      'agent calls read_file:',
      '| {"path":"a.ts"}',
      'read_file answers:',
      '| line 1',
      '| line 2',
    ]);
  });

  it('keeps the head and the tail of a long result: the failure stands at the end', () => {
    const text = quoteHistory(
      null,
      exchange(['a'], false, `start${'x'.repeat(5000)}FAILED`),
      roomy,
    );
    expect(text).toContain('start');
    expect(text).toContain('FAILED');
    expect(text.length).toBeLessThan(1300);
  });

  it('begins with the earlier summary, however much is cut after it', () => {
    const summary = syntheticMessage('summary', 'we decided on vitest', 9);
    const many = Array.from({ length: 500 }, (_, n) =>
      says(`text ${n} ${'word '.repeat(50)}`),
    );
    const text = quoteHistory(summary, many, { tokens: 2000, ratio: 1.5 });
    expect(text).toMatch(
      /^system:\n\| we decided on vitest\n\(\d+ earlier messages are cut\.\)\n/,
    );
    expect(text).toContain('text 499');
    expect(estimateTokens(text) * 1.5).toBeLessThan(2200);
  });
});
