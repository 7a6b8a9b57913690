import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatCheckLine, readCheckLine, shellCheck } from './line-text.ts';

describe('check lines', () => {
  it.each([
    ['unit', 'unit'],
    ['e2e:fast', 'e2e:fast'],
    ['"unit tests"', 'unit tests'],
    ['npm test', '$ npm test'],
    ['`make`', '$ make'],
    ['`` echo `date` ``', '$ echo `date`'],
    ['./check.sh', '$ ./check.sh'],
    ['a && b', '$ a && b'],
    ['`a` and `b`', '$ `a` and `b`'],
    ['test -f "a b"', '$ test -f "a b"'],
  ])('V3: %j is the check %j', (text, id) => {
    expect(readCheckLine(text)).toEqual({ ok: true, id });
  });

  it.each([[''], ['  '], ['``'], ['` `'], ['x '.repeat(100)]])(
    'V3: %j is refused',
    (text) => {
      expect(readCheckLine(text).ok).toBe(false);
    },
  );

  it('V3: a name is looked up, a shell line is what it says', () => {
    expect(shellCheck('unit')).toBeNull();
    expect(shellCheck('$ npm test')).toMatchObject({
      kind: 'command',
      command: { shell: 'npm test' },
      expectExit: 0,
    });
  });

  it('V3: quotes around a shell line make no name of it', () => {
    const read = readCheckLine('"$  a"');
    expect(read).toEqual({ ok: true, id: '$ "$  a"' });
    if (read.ok) expect(readCheckLine(formatCheckLine(read.id))).toEqual(read);
  });

  it('V3: what is written reads as the same check', () => {
    const line = fc.string({
      unit: fc.constantFrom('a', ' ', '`', '"', '<!--', '*', '\\', '$'),
      maxLength: 12,
    });
    fc.assert(
      fc.property(line, (text) => {
        const read = readCheckLine(text);
        if (read.ok) expect(readCheckLine(formatCheckLine(read.id))).toEqual(read);
      }),
      { numRuns: 1000 },
    );
  });
});
