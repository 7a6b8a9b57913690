import displayWidth from 'fast-string-width';
import { describe, expect, it } from 'vitest';
import { renderMarkdown } from './markdown.ts';
import { createPage } from './page.ts';

const plain = createPage({ columns: 80, color: false, unicode: true });
const coloured = createPage({ columns: 80, color: true, unicode: true });
const rendered = (text: string, width: number | null = 40): string[] =>
  renderMarkdown(text, plain, width);

describe('first-use 22: what the agent says, laid out', () => {
  it('headings and weight have a look of their own; without colours the marks of headings and code stay', () => {
    const text = '## Summary\nI wrote the **parser** in `parse.js`, ~~not~~ _here_.';
    expect(renderMarkdown(text, coloured, 60)).toEqual([
      '\u001b[1mSummary\u001b[22m',
      'I wrote the \u001b[1mparser\u001b[22m in \u001b[1mparse.js\u001b[22m, \u001b[2mnot\u001b[22m here.',
    ]);
    expect(rendered(text, 60)).toEqual([
      '## Summary',
      'I wrote the parser in `parse.js`, not here.',
    ]);
  });

  it('lists hang behind their marks, nested ones further in, and go on counting', () => {
    expect(
      rendered(
        '- one that is longer than the width of this page\n  1. inner\n  2. second\n- two',
      ),
    ).toEqual([
      '• one that is longer than the width of',
      '  this page',
      '  1. inner',
      '  2. second',
      '• two',
    ]);
    expect(rendered('3. three\n4. four')).toEqual(['3. three', '4. four']);
    expect(rendered('- [x] done')).toEqual(['• [x] done']);
  });

  it('code keeps its spaces and its blank lines, quotes their mark, rules their length', () => {
    expect(rendered('```js\nif (a) {\n  b();\n\n}\n```')).toEqual([
      '  if (a) {',
      '    b();',
      '  ',
      '  }',
    ]);
    expect(rendered('> said\n> twice')).toEqual(['> said', '> twice']);
    expect(rendered('---', 10)).toEqual(['──────────']);
  });

  it('tables stand in columns, and are wrapped where they are too wide', () => {
    expect(rendered('| a | bb |\n|---|---|\n| 1 | two |')).toEqual([
      'a │ bb',
      '───────',
      '1 │ two',
    ]);
    const wide = rendered(
      `| name | what it does |\n|---|---|\n| parse | ${'reads every word of it '.repeat(4)}|`,
    );
    expect(Math.max(...wide.map((line) => displayWidth(line)))).toBeLessThanOrEqual(40);
    expect(wide.join(' ').match(/reads/gu)).toHaveLength(4);
  });

  it('what cannot be laid out is shown as it was said', () => {
    expect(
      rendered(`| a${' | b'.repeat(30)} |\n|${'---|'.repeat(31)}\n| 1 |`).join(' '),
    ).toContain('a | b | b');
    expect(rendered('> '.repeat(1500)).join('').length).toBeGreaterThan(1000);
  });

  it('a link is its words and its target', () => {
    expect(rendered('see [the docs](https://example.org/a)')).toEqual([
      'see the docs (https://example.org/a)',
    ]);
  });

  it('nothing that is said is lost, whatever the width', () => {
    const text =
      '# One\ntwo *three* `four`\n- five\n  - six\n\n> seven\n\n| eight | nine |\n|---|---|\n| ten | eleven |';
    for (const width of [8, 20, 60, null])
      for (const word of 'One two three four five six seven eight nine ten eleven'.split(
        ' ',
      ))
        expect(rendered(text, width).join('').replace(/[\s│]/gu, '')).toContain(
          word.slice(0, 4),
        );
  });

  it('Must hold 6: an entity or an address does not bring back what was taken out', () => {
    const hostile =
      'a&#27;[2Jb &#x202e;c &#155;31m [x](https://e/%1b) <https://e/> &NewLine; ![i\u0007](u)';
    const out = rendered(hostile, null).join('\n');
    expect(
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the claim is that none of these is left
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/u.exec(out),
    ).toBeNull();
    const ascii = createPage({ columns: 80, color: false, unicode: false });
    expect(renderMarkdown('&hearts; &mdash; • ü', ascii, 40).join('')).toMatch(
      /^[\x20-\x7e]*$/u,
    );
  });
});
