import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJsonText } from './json-text.ts';

const aComment = 'a comment begins with //, or stands between /* and */';

const broken: readonly (readonly [text: string, message: string])[] = [
  ['', 'is empty; write {} or remove the file'],
  [' \n\t', 'is empty; write {} or remove the file'],
  [
    '{\n  // why\n  /* x\n */ mode }',
    'is not valid JSON: line 4, column 5: a key in double quotes is expected',
  ],
  ['{} /* never closed', `is not valid JSON: line 1, column 4: ${aComment}`],
  ['{ /*/ }', `is not valid JSON: line 1, column 3: ${aComment}`],
  ['# yaml?', `is not valid JSON: line 1, column 1: ${aComment}`],
  [
    '{"a": 1,\r\n}',
    'is not valid JSON: line 2, column 1: there is a comma too many before this bracket',
  ],
  [
    '[1, ]',
    'is not valid JSON: line 1, column 5: there is a comma too many before this bracket',
  ],
  ["{'a': 1}", 'is not valid JSON: line 1, column 2: texts must be in double quotes'],
  ['{"a": \'x\'}', 'is not valid JSON: line 1, column 7: texts must be in double quotes'],
  ['{a: 1}', 'is not valid JSON: line 1, column 2: a key in double quotes is expected'],
  ['{,}', 'is not valid JSON: line 1, column 2: a key in double quotes is expected'],
  ['{"a" 1}', 'is not valid JSON: line 1, column 6: a colon is expected after the key'],
  ['{"a"}', 'is not valid JSON: line 1, column 5: a colon is expected after the key'],
  ['{"a": }', 'is not valid JSON: line 1, column 7: a value is expected'],
  ['{"a": yes}', 'is not valid JSON: line 1, column 7: a value is expected'],
  ['{"a": NaN}', 'is not valid JSON: line 1, column 7: a value is expected'],
  [
    '{"a": 1 "b": 2}',
    'is not valid JSON: line 1, column 9: a comma or a closing bracket is expected',
  ],
  [
    '{"a": 01}',
    'is not valid JSON: line 1, column 8: a comma or a closing bracket is expected',
  ],
  [
    '[1}',
    'is not valid JSON: line 1, column 3: a comma or a closing bracket is expected',
  ],
  ['{} {}', 'is not valid JSON: line 1, column 4: nothing may follow the configuration'],
  [
    '{"a": 1',
    'is not valid JSON: line 1, column 8: the text ends too early; something was opened and not closed',
  ],
  [
    '{"a',
    'is not valid JSON: line 1, column 4: the text ends too early; something was opened and not closed',
  ],
  [
    '{"a": "x\ny"}',
    'is not valid JSON: line 1, column 9: a text must end in the line in which it starts',
  ],
  [
    '{"a": "C:\\dir"}',
    'is not valid JSON: line 1, column 10: this escape is unknown; a backslash itself is written \\\\',
  ],
];

describe('C1: a file that is not JSON', () => {
  it.each(broken)('%j is refused with its place', (text, error) => {
    expect(parseJsonText(text)).toEqual({ ok: false, error });
  });

  it('does not overflow anything with a megabyte of brackets', () => {
    expect(parseJsonText('['.repeat(1_000_000))).toMatchObject({ ok: false });
  });

  it('never has its content quoted in the sentence', () => {
    const result = parseJsonText('secret \u001b[2J');
    expect(result.ok ? '' : result.error).toBe(
      'is not valid JSON: line 1, column 1: a value is expected',
    );
  });
});

describe('C1: a file that is JSON', () => {
  it('first-use 24: may have comments, and what looks like one in a text stays', () => {
    const text =
      '// mine\r\n{ "a": "http://x /* y */ \\" //", /* why */ "b": [1, // one\n 2] } // end';
    expect(parseJsonText(text)).toEqual({
      ok: true,
      value: { a: 'http://x /* y */ " //', b: [1, 2] },
    });
  });

  it.each([['"\\"'], ['/*'], ['//'], ['"'], ['\\"']])(
    'a megabyte of %s is read once, not once for each of them',
    (part) => {
      const began = performance.now();
      parseJsonText(part.repeat(1_000_000 / part.length));
      expect(performance.now() - began).toBeLessThan(2000);
    },
  );

  it('may start with a byte order mark', () => {
    expect(parseJsonText('\uFEFF{"mode": "off"}')).toEqual({
      ok: true,
      value: { mode: 'off' },
    });
  });

  it('is read as JSON.parse reads it', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseJsonText(text)).toEqual({ ok: true, value: JSON.parse(text) });
      }),
    );
  });
});

describe('C1: the place of a fault', () => {
  it('is always found, wherever a right text is broken', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      '1',
      '-',
      'e',
      't',
      ' ',
      '\n',
      '\u0001',
      '/',
    );
    fc.assert(
      fc.property(
        fc.json(),
        pieces,
        fc.nat(),
        fc.boolean(),
        (json, piece, at, replaces) => {
          const offset = at % (json.length + 1);
          const text =
            json.slice(0, offset) + piece + json.slice(offset + (replaces ? 1 : 0));
          const result = parseJsonText(text);
          if (!result.ok)
            expect(result.error).toMatch(
              /^is empty|^is not valid JSON: line \d+, column \d+: \S/,
            );
        },
      ),
      { numRuns: 5000 },
    );
  });
});
