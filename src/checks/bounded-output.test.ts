import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BoundedOutput } from './output.ts';

describe('BoundedOutput', () => {
  it('gives back what fits, however it came in pieces, and starts anew after each take', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '\n', 'ä') })),
        (chunks) => {
          const output = new BoundedOutput(10_000);
          for (const chunk of chunks) output.append(chunk);
          expect(output.take()).toBe(chunks.join(''));
          expect(output.isEmpty).toBe(true);
          expect(output.take()).toBe('');
        },
      ),
    );
  });

  it('of more, keeps the first and the last half and counts the rest exactly', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c') }), { minLength: 3 }),
        (chunks) => {
          const all = chunks.join('');
          fc.pre(all.length > 8);
          const output = new BoundedOutput(8);
          for (const chunk of chunks) output.append(chunk);
          expect(output.take()).toBe(
            `${all.slice(0, 4)}\n… ${all.length - 8} characters left out …\n${all.slice(-4)}`,
          );
        },
      ),
    );
  });

  it('leaves no half of a character at the cut', () => {
    const output = new BoundedOutput(6);
    output.append('ab👍 in between 👍yz');
    expect(output.take()).toMatch(/^ab\n… \d+ characters left out …\nyz$/u);
  });
});
