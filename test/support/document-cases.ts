// For tests: random Markdown documents of which the todos are known beforehand, and soups
// of fragments of which nothing is known. Blocks are parted by headings, so that none
// reaches into the next.
import fc from 'fast-check';

export interface ExpectedTodo {
  readonly title: string;
  readonly checked: boolean;
}

export interface KnownDocument {
  readonly text: string;
  readonly todos: readonly ExpectedTodo[];
}

interface Block {
  readonly lines: readonly string[];
  readonly todos: readonly ExpectedTodo[];
}

const word = fc.constantFrom(
  ...[
    'parser',
    'naïve',
    '日本語',
    '🎉👩‍👩‍👧',
    'a_b',
    '`code`',
    '**bold**',
    '[link](x)',
    'x < y',
    '&amp;',
    '[x]',
    '[ ]',
  ],
  ...['\u00a0', 'x\u200dy', '\\*', 'check:', '!', '<b>', '#1', '1.', '-', '|'],
);
const title = fc
  .tuple(
    fc.constantFrom('Write', 'Test', 'Über', '修正'),
    fc.array(word, { maxLength: 4 }),
    fc.nat(99),
  )
  .map(([first, words, number]) => [first, ...words, number].join(' '));
/** A list that begins with another number cannot interrupt a paragraph. */
const marker = fc.constantFrom('-', '*', '+', '1.', '1)');
const box = fc.constantFrom(['[ ]', false], ['[x]', true], ['[X]', true]) as fc.Arbitrary<
  [string, boolean]
>;
const gap = fc.constantFrom(' ', '  ', '\t');

interface Tree {
  readonly marker: string;
  readonly gap: string;
  readonly box: readonly [string, boolean] | null;
  readonly title: string;
  readonly extra: readonly string[];
  readonly children: readonly Tree[];
}

const extra = fc.constantFrom(
  'check: npm test',
  '',
  'more words of the title',
  'blocked: a key',
  '- check: unit',
);

/**
 * Bounded by hand: a list of lists grows faster than the bounds of fast-check hold it.
 */
function treeOf(levels: number): fc.Arbitrary<Tree> {
  return fc.record({
    marker,
    gap,
    box: fc.option(box, { freq: 5 }),
    title,
    extra: fc.array(extra, { maxLength: 2 }),
    children:
      levels === 0 ? fc.constant([]) : fc.array(treeOf(levels - 1), { maxLength: 2 }),
  });
}

/**
 * Every line below an item is indented by more than its mark is wide and by less than
 * code would be.
 */
function listBlock({
  marker: mark,
  gap: space,
  box: tick,
  title: words,
  extra: below,
  children,
}: Tree): Block {
  const isWrapped = below[0] === 'more words of the title';
  const head = `${mark}${space === '\t' ? ' ' : space}${tick === null ? '' : `${tick[0]}${space}`}${words}`;
  const nested = children.map(listBlock);
  const inner = [...below.map((line) => line), ...nested.flatMap(({ lines }) => lines)];
  const indent = ' '.repeat(mark.length + (space === '  ' ? 2 : 1));
  const said = isWrapped ? `${words} more words of the title` : words;
  const own =
    tick === null ? [] : [{ title: oneSpace(wrapped(said, below)), checked: tick[1] }];
  return {
    lines: [head, ...inner.map((line) => (line === '' ? '' : `${indent}${line}`))],
    todos: [...own, ...nested.flatMap(({ todos }) => todos)],
  };
}

function wrapped(said: string, below: readonly string[]): string {
  const isTwice = below[0] === 'more words of the title' && below[1] === below[0];
  return isTwice ? `${said} more words of the title` : said;
}

function oneSpace(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

const decoy: fc.Arbitrary<Block> = fc
  .constantFrom(
    ['```', '- [ ] in a fence', '```'],
    ['~~~md', '- [x] in tildes', '', '* [ ] again', '~~~'],
    ['', '    - [ ] indented code', ''],
    ['> - [ ] quoted', '> - [x] quoted too'],
    ['<!--', '- [ ] in a comment', '-->'],
    ['<div>', '- [ ] in html', '</div>'],
    ['| todo |', '|---|', '| - [ ] in a table |'],
    ['[ ] no list', '[x] no list either'],
    [
      '- [ ](link) is a link',
      '- [x]: http://definition',
      '- [ ]',
      '- []',
      '- [y] letter',
      '- [ ]glued',
    ],
    ['- > - [ ] quoted in a list'],
    ['- text', '', '  [ ] second paragraph'],
    ['1986\\. [ ] no list', '\\- [ ] escaped'],
    ['text', '===', 'more - [ ] text'],
  )
  .map((lines) => ({ lines, todos: [] }));

const frontMatter = fc.constantFrom<readonly string[]>(
  [],
  ['---', 'title: A plan', 'checks:', '  - npm test', '---'],
  ['---', 'tags: [a, b]', '---'],
);

/** Line ends, byte order mark and end of file as people have them. */
export const knownDocument: fc.Arbitrary<KnownDocument> = fc
  .record({
    front: frontMatter,
    blocks: fc.array(fc.oneof(treeOf(3).map(listBlock), decoy), { maxLength: 8 }),
    end: fc.constantFrom('\n', '\r\n', '\r'),
    bom: fc.boolean(),
    closed: fc.boolean(),
  })
  .map(({ front, blocks, end, bom, closed }) => {
    const lines = [
      ...front,
      ...blocks.flatMap(({ lines: own }, index) => [`## Part ${index}`, '', ...own, '']),
    ];
    const text = `${bom ? '\ufeff' : ''}${lines.join(end)}${closed ? end : ''}`;
    return { text, todos: blocks.flatMap(({ todos }) => todos) };
  });

const fragment = fc.constantFrom(
  ...[
    '- [ ] a',
    '* [x] b',
    '1. [ ] c',
    '2) [X] d',
    '+ [ ] e',
    '- plain',
    '  ',
    '    ',
    '\t',
    '\n',
    '\n\n',
    '\r\n',
    '\r',
  ],
  ...[
    '> ',
    '```',
    '~~~',
    '`',
    '<!-- ',
    '-->',
    '<div>',
    '</div>',
    '# h',
    '---',
    '===',
    '[x]: /u',
    '[ ]',
    '[\t] t',
    '- ',
  ],
  ...[
    'check: npm test',
    'text',
    'é🎉',
    '| a | b |',
    '\\',
    '  - [ ] n',
    '    - [x] o',
    '\u0000',
    '\ufeff',
    '\u2028',
    '- [ ](x)',
  ],
);

/** Anything at all. */
export const soup: fc.Arbitrary<string> = fc
  .array(fragment, { maxLength: 40 })
  .map((parts) => parts.join(''));
