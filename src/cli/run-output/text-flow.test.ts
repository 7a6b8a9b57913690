import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { displayWidth } from './display-width.ts';
import { createTextFlow } from './text-flow.ts';

function flowed(pieces: readonly string[], width: number | null, margin = '| '): string[] {
  const parts: string[] = [];
  const flow = createTextFlow({ width, margin, emit: (text) => parts.push(text) });
  for (const piece of pieces) flow.push(piece);
  flow.end();
  return parts.join('').split('\n');
}

describe('text that arrives in pieces', () => {
  it('is wrapped between words, and inside a word only when the word is wider than a line', () => {
    expect(flowed(['one two three abcdefghijklmnop end'], 9)).toEqual([
      '| one two',
      '| three',
      '| abcdefghi',
      '| jklmnop',
      '| end',
    ]);
  });

  it('keeps indentation, one blank line between paragraphs, and no blank lines at the ends', () => {
    expect(flowed(['\n\n  code\n\n\n\n    more   wide  \n\n'], 30)).toEqual([
      '|   code',
      '|',
      '|     more   wide',
    ]);
  });

  it('is not wrapped where no width is known', () => {
    expect(flowed(['x '.repeat(200)], null)).toEqual([`| ${'x '.repeat(200).trimEnd()}`]);
  });

  it('wraps scripts without spaces at any letter, by the columns that they take', () => {
    expect(flowed(['日本語のテスト ok'], 6)).toEqual(['| 日本語', '| のテス', '| ト ok']);
  });

  it('shows the same whatever the pieces were, and nothing wider than the line', () => {
    const word = fc.constantFrom(
      'a',
      'word',
      'longer-word-than-a-line',
      '日本',
      '👩‍👩‍👧',
      'e\u0301',
      ' ',
      '  ',
      '\n',
      '\n\n',
    );
    const text = fc.array(word, { maxLength: 40 }).map((words) => words.join(''));
    fc.assert(
      fc.property(text, fc.array(fc.nat(200)), fc.integer({ min: 2, max: 20 }), (whole, cuts, width) => {
        // Pieces are cut between code points: the cleaner before this joins halves.
        const letters = [...whole];
        const at = [
          0,
          ...cuts.map((cut) => cut % (letters.length + 1)).sort((x, y) => x - y),
          letters.length,
        ];
        const pieces = at.slice(1).map((end, index) => letters.slice(at[index], end).join(''));
        const lines = flowed([whole], width, '');
        expect(flowed(pieces, width, '')).toEqual(lines);
        for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width);
        expect(lines.join('').replace(/\s/g, '')).toBe(whole.replace(/\s/g, ''));
      }),
      { numRuns: 500 },
    );
  });
});
