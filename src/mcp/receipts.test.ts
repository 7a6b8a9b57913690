import { describe, expect, it } from 'vitest';
import { formatReceipt, isOfCall, parseReceipt } from './receipts.ts';

const receipt = { server: 'a47de8ffbe170c79', place: 2, call: '01a1df2044d2' };
const text = 'udr_a47de8ffbe170c79000201a1df2044d2';

describe('a receipt', () => {
  it('M7: reads back as what it was written from', () => {
    expect(formatReceipt(receipt)).toBe(text);
    expect(parseReceipt(text)).toEqual(receipt);
  });

  it('M7: knows the ids that its call gave out by their time', () => {
    expect(isOfCall('01a1df20-44d2-78a7-82e7-c36178dd7c9b', receipt)).toBe(true);
    expect(isOfCall('01a1df20-44d3-78a7-82e7-c36178dd7c9b', receipt)).toBe(false);
  });
});
