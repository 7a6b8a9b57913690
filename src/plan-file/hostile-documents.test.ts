import { describe, expect, it } from 'vitest';
import { mostCharacters, parsePlanFile, writeBoxes } from './plan-file.ts';

const megabyte = 1_000_000;
const fill = (part: string): string => part.repeat(Math.floor(megabyte / part.length));
const stairs = Array.from(
  { length: 400 },
  (_, level) => `${'  '.repeat(level)}- [ ] x\n`,
).join('');

const documents: Readonly<Record<string, string>> = {
  prose: fill('word *a_ `b` [c](<d> ![e '),
  'list marks on one line': fill('- '),
  'quotes and lists on one line': fill('>- '),
  'quotes on one line': fill('>'),
  'nested quotes, then lazy lines': `${'> '.repeat(200)}a\n${'b\n'.repeat(98_000)}`,
  'nested lists, then empty lines': `${'- '.repeat(200)}a\n${'\n'.repeat(98_000)}`,
  'stairs of lists': stairs.repeat(6),
  'backticks of every length': Array.from(
    { length: 1_400 },
    (_, length) => `${'`'.repeat(length)} `,
  ).join(''),
  'a todo of backticks of every length': `- [ ] a ${Array.from({ length: 1_400 }, (_, length) => `${'`'.repeat(length)} `).join('')}`,
  'open comments': `- [ ] a ${fill('<!-- ')}`,
  'open tags': fill('<a '),
  'half an attribute': `<a${fill(' b=')}`,
  brackets: fill('['),
  boxes: `- [ ] ${fill('[ ] ')}`,
  emphasis: fill('*a_'),
  backslashes: `- [ ] ${fill('\\')}`,
  tabs: fill('\t'),
  spaces: `- [ ] a${fill(' ')}b`,
  marks: `- [ ] a${fill(' !high')}`,
  'one long wrapped title': `- [ ] a\n${'  check it\n'.repeat(98_000)}`,
  'definitions of links': '[a]: b\n'.repeat(98_000),
  fences: '```\n'.repeat(98_000),
};

describe('hostile documents', () => {
  it.each(Object.entries(documents))(
    'answers a megabyte of %s within seconds',
    (_name, text) => {
      const before = performance.now();
      const result = parsePlanFile(text);
      if (result.ok) expect(writeBoxes(text, result.plan, [])).toBe(text);
      // Ten times what an idle machine needs: it tells seconds from minutes, not from
      // milliseconds.
      expect(performance.now() - before).toBeLessThan(10_000);
    },
  );

  it('T6: 20,000 todos are read and written, one more is refused', () => {
    const lines = Array.from(
      { length: 20_000 },
      (_, index) => `- [ ] Todo number ${index} !high\n  check: npm test\n`,
    );
    const text = lines.join('');
    const result = parsePlanFile(text);
    const plan = result.ok ? result.plan : null;
    expect(plan?.items).toHaveLength(20_000);
    const ticked = plan?.items.map(() => true) ?? [];
    expect(plan && writeBoxes(text, plan, ticked)).toBe(text.replaceAll('[ ]', '[x]'));
    expect(parsePlanFile(`${text}- [ ] one more\n`)).toEqual({
      ok: false,
      problems: ['the file has 20001 todos; at most 20000 are allowed'],
    });
  });

  it('T6: refuses at once what is too large to be a plan', () => {
    expect(parsePlanFile('x'.repeat(mostCharacters + 1))).toMatchObject({ ok: false });
    expect(parsePlanFile('\n'.repeat(100_000))).toMatchObject({ ok: false });
  });

  it('T6: tells the first problems of a file and not each of ten thousand', () => {
    const result = parsePlanFile('- [ ] a\n  - check:\n'.repeat(10_000));
    expect(!result.ok && result.problems).toHaveLength(20);
  });
});
