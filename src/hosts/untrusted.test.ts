import { describe, expect, it } from 'vitest';
import { readHostError } from './untrusted.ts';

const at = 1_800_000_000_000;

describe("a host's error", () => {
  it('G4: is the human’s stop by its name alone, however deep it lies', () => {
    const named = (name: string) => Object.assign(new Error('stopped'), { name });
    for (const error of [
      named('AbortError'),
      { name: 'MessageAbortedError', data: { message: 'stopped' } },
      { error: { name: 'AbortError' } },
      new Error('the step failed', { cause: named('AbortError') }),
    ])
      expect(readHostError(error, at)).toMatchObject({ type: 'human-aborted' });
    expect(readHostError(new Error('AbortError was thrown'), at).type).toBe(
      'error-occurred',
    );
  });

  it('G9: is a limit, an overload, an overflow or something else', () => {
    const kinds = [
      [
        { name: 'APIError', data: { statusCode: 429, message: 'slow down' } },
        'rate-limit',
      ],
      [new Error('Rate limit exceeded'), 'rate-limit'],
      [{ status: 529, message: 'try later' }, 'overload'],
      ['Overloaded', 'overload'],
      [{ name: 'ContextOverflowError', message: 'too long' }, 'overflow'],
      [new Error('prompt is too long: 210000 tokens'), 'overflow'],
      [{ status: 400, message: 'bad request' }, 'other'],
      [undefined, 'other'],
      [42, 'other'],
    ] as const;
    for (const [error, kind] of kinds)
      expect(readHostError(error, at), String(error)).toMatchObject({ kind });
  });

  it('G9: says when to try again, within reason', () => {
    expect(readHostError({ status: 429, retryAfterMs: 5000 }, at)).toMatchObject({
      retryAt: at + 5000,
    });
    for (const retryAfterMs of [-1, Number.NaN, Number.POSITIVE_INFINITY, 1e12, '5000'])
      expect(readHostError({ status: 429, retryAfterMs }, at)).toMatchObject({
        retryAt: null,
      });
  });

  it('P22: is the same error if only its numbers differ', () => {
    const signature = (message: string) => {
      const read = readHostError({ name: 'APIError', status: 400, message }, at);
      return read.type === 'human-aborted' ? null : read.signature;
    };
    expect(signature('request 123 failed')).toBe(signature('request 4567 failed'));
    expect(signature('request 123 failed')).not.toBe(
      signature('request 123 was refused'),
    );
  });

  it('cannot harm whoever reads it: traps, circles and terminal controls', () => {
    const trap = new Proxy(
      {},
      {
        get() {
          throw new Error('caught');
        },
      },
    );
    const circle: { cause?: unknown; message: string } = {
      message: '\u001b[31mred\u001b[0m\nand more',
    };
    circle.cause = circle;
    expect(readHostError(trap, at)).toMatchObject({ kind: 'other' });
    expect(readHostError(circle, at)).toMatchObject({ message: 'red and more' });
  });
});
