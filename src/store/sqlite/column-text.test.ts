import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromColumn, toColumn } from './open-database.ts';

const anyText = fc.string({
  unit: fc.constantFrom('"', '\\', '\0', '\ud800', '\udc00', '\ufffd', 'a', 'é', '👩'),
});

describe('column text', () => {
  it('T6: every text comes back from its column form', () => {
    fc.assert(fc.property(anyText, (text) => fromColumn(toColumn(text)) === text));
  });

  it('T6: different texts have different column forms, and no form holds what UTF-8 cannot', () => {
    fc.assert(
      fc.property(anyText, anyText, (one, other) => {
        expect(toColumn(one) === toColumn(other)).toBe(one === other);
        expect(Buffer.from(toColumn(one)).toString()).toBe(toColumn(one));
        expect(toColumn(one)).not.toContain('\0');
      }),
    );
  });

  it('T6: ordinary text is kept as it is, so that people can read the tables', () => {
    expect(toColumn('Write the "tests" – 👩')).toBe('Write the "tests" – 👩');
  });
});
