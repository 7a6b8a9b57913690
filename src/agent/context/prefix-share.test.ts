import { describe, expect, it } from 'vitest';
import {
  type CallParts,
  median,
  prefixShare,
  prefixShares,
} from '../../../test/support/prefix-share.ts';

const call = (...messages: unknown[]): CallParts => ({
  system: 'You are…',
  tools: [{ name: 'x' }],
  messages,
});

describe('V9: the share of a call that the next one repeats', () => {
  it('is everything when the next call only adds', () => {
    expect(prefixShare(call('a', 'b'), call('a', 'b', 'c'))).toBe(1);
  });

  it('is what stands before the first difference', () => {
    const share = prefixShare(
      call('a'.repeat(900), 'old plan'),
      call('a'.repeat(900), 'new step', 'new plan'),
    );
    expect(share).toBeGreaterThan(0.95);
    expect(share).toBeLessThan(1);
  });

  it('is next to nothing when the system prompt changes', () => {
    expect(
      prefixShare(
        { ...call('a'.repeat(900)), system: 'at 12:01' },
        { ...call('a'.repeat(900)), system: 'at 12:02' },
      ),
    ).toBeLessThan(0.05);
  });

  it('is not lessened by the marks of a cache that move on', () => {
    const mark = { anthropic: { cacheControl: { type: 'ephemeral' } } };
    expect(
      prefixShare(
        call({ text: 'a', providerOptions: mark }),
        call({ text: 'a' }, { text: 'b', providerOptions: mark }),
      ),
    ).toBe(1);
    expect(prefixShare(call({ text: 'a', cache_control: {} }), call({ text: 'a' }))).toBe(
      1,
    );
  });

  it('is measured for every call but the last, and has a median', () => {
    expect(prefixShares([call('a'), call('a', 'b'), call('a', 'b')])).toEqual([1, 1]);
    expect(prefixShares([])).toEqual([]);
    expect(median([0.5, 1, 0])).toBe(0.5);
    expect(median([0, 1])).toBe(0.5);
    expect(median([])).toBeNull();
  });
});
