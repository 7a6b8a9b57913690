import { describe, expect, it } from 'vitest';
import { type PlanFile, parsePlanFile } from './plan-file.ts';

function plan(...lines: string[]): PlanFile {
  const result = parsePlanFile(lines.join('\n'));
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.plan;
}

function problems(...lines: string[]): readonly string[] {
  const result = parsePlanFile(lines.join('\n'));
  return result.ok ? [] : result.problems;
}

const titles = (...lines: string[]): string[] =>
  plan(...lines).items.map(({ title }) => title);

describe('boxes', () => {
  it.each([
    ['- [ ] Write it', 'Write it', false],
    ['* [x] Write it', 'Write it', true],
    ['+ [X] Write it', 'Write it', true],
    ['1. [ ] Write it', 'Write it', false],
    ['12) [x] Write it', 'Write it', true],
    ['   - [ ]   Write it  ', 'Write it', false],
    ['-\t[ ]\tWrite it', 'Write it', false],
    ['- - [ ] Write it', 'Write it', false],
    [
      '- [ ] Write **it** in `src/a_b.ts`, not \\*that\\* &amp; more',
      'Write **it** in `src/a_b.ts`, not \\*that\\* &amp; more',
      false,
    ],
    [
      '- [ ] [docs](https://example.org/a_b) are old',
      '[docs](https://example.org/a_b) are old',
      false,
    ],
    ['- [ ] # no heading', '# no heading', false],
    ['- [ ] check: whether it works', 'check: whether it works', false],
    ['- [ ] Write it <!-- by Friday -->', 'Write it', false],
    ['- [ ] Escaped \\<!-- mark', 'Escaped <!-- mark', false],
    ['- [ ] 🎉 日本語', '🎉 日本語', false],
  ])('V1: reads %j as a todo', (line, title, checked) => {
    expect(plan(line).items).toMatchObject([{ title, checked, line: 1 }]);
  });

  it.each([
    [['```', '- [ ] no', '```']],
    [['    - [ ] no']],
    [['text', '', '\t- [ ] no']],
    [['> - [ ] no']],
    [['- > [ ] no']],
    [['<!--', '- [ ] no', '-->']],
    [['<div>', '- [ ] no']],
    [['| - [ ] no |', '|---|']],
    [['[ ] no']],
    [['- [ ](no)']],
    [['- [x][no]']],
    [['- [x]: http://no']],
    [['- [ ]no']],
    [['- [ ]']],
    [['- [ ]', '  no: the title belongs beside its box']],
    [['- ', '  [ ] no: the box belongs beside its mark']],
    [['- [  ] no']],
    [['- [-] no']],
    [['- \\[ ] no']],
    [['\\- [ ] no']],
    [['- text', '', '  [ ] no']],
    [['- [ ] <!-- nothing but a comment -->']],
  ])('V1: finds no todo in %j', (lines) => {
    expect(plan(...lines).items).toEqual([]);
  });

  it('V1: knows the offset of every box behind a byte order mark, front matter, CRLF, tabs and emoji', () => {
    const text =
      '\ufeff---\r\ntitle: 🎉\r\n---\r\n🎉\r\n\r\n-\t[x] one\r\n\t- [ ] 👩‍👩‍👧 two\r\n\r\n3) [ ] three';
    const result = parsePlanFile(text);
    expect(result.ok && result.plan.title).toBe('🎉');
    const items = result.ok ? result.plan.items : [];
    expect(items.map(({ title, line }) => [title, line])).toEqual([
      ['one', 6],
      ['👩‍👩‍👧 two', 7],
      ['three', 9],
    ]);
    expect(
      items.map(({ boxOffset }) => text.slice(boxOffset - 1, boxOffset + 2)),
    ).toEqual(['[x]', '[ ]', '[ ]']);
  });
});

describe('what stands below a todo', () => {
  it('V1: a nested item is a todo of its own, and the items above it are its context', () => {
    const { items } = plan(
      '- Phase 1',
      '  - [ ] Parser !high',
      '    1. [x] Lexer',
      '- [ ] Docs',
    );
    expect(items.map(({ title, context }) => [title, context])).toEqual([
      ['Parser', 'Phase 1'],
      ['Lexer', 'Phase 1 › Parser'],
      ['Docs', null],
    ]);
  });

  it('V1: takes checks, reasons, context and criteria from lines, further paragraphs and plain bullets', () => {
    const { items, warnings } = plan(
      '- [ ] One',
      '  check: npm test -- --run "a b" *.ts',
      '  Check: unit',
      '- [ ] Two',
      '',
      '  Some prose about it.',
      '  blocked: needs a key <!-- ask Ann -->',
      '  - check: `make`',
      '  - done when: it is *there*',
      '  - context: see the wiki',
      '  - just a note',
      '    - [ ] Three',
    );
    expect(items).toMatchObject([
      { title: 'One', checks: ['$ npm test -- --run "a b" *.ts', 'unit'], blocked: null },
      {
        title: 'Two',
        checks: ['$ make'],
        blocked: 'needs a key',
        completionCriteria: 'it is *there*',
        context: 'see the wiki',
      },
      { title: 'Three', context: 'Two › just a note' },
    ]);
    expect(warnings).toEqual([]);
  });

  it('T1: a wrapped title is one title, and a priority stands at its end', () => {
    const { items } = plan(
      '- [ ] Write the',
      '  parser\\',
      '  today !HIGH',
      '  check: unit',
      '  what follows is prose',
    );
    expect(items).toMatchObject([
      { title: 'Write the parser today', priority: 'high', checks: ['unit'] },
    ]);
    expect(
      plan('- [ ] a !low', '- [ ] b', '- [ ] Wow!high', '- [ ] !low', '- [ ] c !urgent')
        .items,
    ).toMatchObject([
      { title: 'a', priority: 'low' },
      { title: 'b', priority: null },
      { title: 'Wow!high', priority: null },
      { title: '!low', priority: null },
      { title: 'c !urgent', priority: null },
    ]);
  });

  it('V3: a check inside a comment or a code span is no check, and the latter is told', () => {
    const { items, warnings } = plan(
      '- [ ] a <!--',
      '  check: rm -rf .',
      '  -->',
      '- [ ] b `',
      '  check: npm test`',
    );
    expect(items.map(({ checks }) => checks)).toEqual([[], []]);
    expect(items[0]?.title).toBe('a');
    expect(warnings).toEqual([expect.stringMatching(/^line 5: .*inside backticks/)]);
  });

  it('V1: names the line of a check that stands where no todo is', () => {
    const { items, warnings } = plan(
      '# Work',
      'check: npm test',
      '',
      '- check: npm run lint',
      '- [ ] a',
      '  check: true',
      '  - check: false',
      '  - words',
      '    check: lost',
      '',
      'Check: the end.',
      '',
      '> check: quoted',
      '',
      '    check: code',
    );
    expect(items.flatMap(({ checks }) => checks)).toEqual(['true', 'false']);
    expect(warnings.map((warning) => warning.split(':')[0])).toEqual([
      'line 2',
      'line 4',
      'line 9',
      'line 11',
    ]);
    expect(warnings[0]).toContain('belongs to no todo');
  });

  it('V1: names the line of a misspelt check, and leaves other words alone', () => {
    for (const word of ['chekc', 'chek', 'checks', 'Chheck', 'cheek', 'heck', 'hceck']) {
      const { items, warnings } = plan('- [ ] a', `  ${word}: npm test`);
      expect(items[0]?.checks, word).toEqual([]);
      expect(warnings, word).toEqual([
        expect.stringMatching(/^line 2: .*write "check:"/),
      ]);
    }
    for (const word of ['check', 'context', 'note', 'chicken', 'checked', 'deck', 'that'])
      expect(plan('- [ ] a', `  ${word}: npm test`).warnings, word).toEqual([]);
  });

  it('V1: warns where a file contradicts itself', () => {
    const { items, warnings } = plan(
      '- [x] a',
      '  blocked: no key',
      '- [ ] b',
      '  blocked:',
    );
    expect(items).toMatchObject([{ checked: true, blocked: null }, { blocked: null }]);
    expect(warnings.map((warning) => warning.split(':')[0])).toEqual([
      'line 1',
      'line 4',
    ]);
  });
});

describe('front matter', () => {
  it('V1: gives the title and the checks of the goal, and leaves other keys to others', () => {
    expect(
      plan(
        '---',
        'title: Release 2.0',
        'tags: [a, b]',
        'checks:',
        '  - npm test',
        '  - unit',
        "  - '`make`'",
        '---',
        '- [ ] a',
      ),
    ).toMatchObject({
      title: 'Release 2.0',
      goalChecks: ['$ npm test', 'unit', '$ make'],
      items: [{ line: 9 }],
    });
    expect(plan('---', 'checks: npm test', '---').goalChecks).toEqual(['$ npm test']);
    expect(
      titles('---', '- [ ] a line of dashes without a second one is no front matter'),
    ).toHaveLength(1);
  });

  it.each([
    [['---', '---']],
    [['---', '# only a comment', '---']],
    [['---', 'title:', 'checks:', '---']],
    [['---', 'a line of text', '---']],
  ])('V1: takes nothing from a front matter that says nothing: %j', (lines) => {
    const { title, goalChecks, items } = plan(...lines, '- [ ] a');
    expect({ title, goalChecks, todos: items.length }).toEqual({
      title: null,
      goalChecks: [],
      todos: 1,
    });
  });

  it.each([
    [['---', 'checks: !!js/function x', '---'], 'not YAML'],
    [['---', 'checks: [a', '---'], 'not YAML'],
    [
      ['---', 'checks:', '  - {run: npm test}', '---'],
      'a check must be a text, got an object',
    ],
    [['---', 'checks:', '  - ""', '---'], 'this check is empty'],
    [['---', `title: ${'x'.repeat(40_000)}`, '---'], 'more than 32768 characters'],
    [['---', `a: ${'['.repeat(30_000)}`, '---'], 'front matter'],
  ])(
    'V1: refuses a file whose goal checks cannot be read, instead of losing them: %#',
    (lines, sentence) => {
      const found = problems(...lines, '- [ ] a');
      expect(found).toHaveLength(1);
      expect(found[0]).toContain(sentence);
    },
  );

  it('V1: refuses a check that cannot be kept, with its line', () => {
    expect(problems('- [ ] a', `  check: ${'x '.repeat(120)}`)).toEqual([
      expect.stringMatching(/^line 2: .*more than 198 characters/),
    ]);
    expect(problems('- [ ] a', '  - check:')).toEqual(['line 2: this check is empty']);
  });
});
