import { styleText } from 'node:util';
import { describe, expect, it } from 'vitest';
import { permissionPrompt } from './ask-at-terminal.ts';
import { wrapLine, wrapPrompt } from './print.ts';

describe('lines of commands on a narrow terminal', () => {
  it('C4: break between words, below their column', () => {
    expect(
      wrapLine('  limits  0/5 without progress, 0/50 since a todo was finished', 40),
    ).toEqual([
      '  limits  0/5 without progress, 0/50',
      '          since a todo was finished',
    ]);
  });

  it('C4: what stands behind a margin stays behind it, with its own blanks', () => {
    expect(wrapLine('  │   indented words that go on and on', 24)).toEqual([
      '  │   indented words',
      '  │ that go on and on',
    ]);
  });

  it('C4: without a terminal, or with room enough, a line stays as it is', () => {
    expect(wrapLine('a  line   as it is ', null)).toEqual(['a  line   as it is ']);
    expect(wrapLine('a  line   as it is ', 80)).toEqual(['a  line   as it is ']);
  });

  it('C4: colours take no room, and a word that is too long stays whole', () => {
    const bold = styleText('bold', 'words', { validateStream: false });
    expect(wrapLine(`${bold} and more`, 14)).toEqual([`${bold} and more`]);
    expect(wrapLine('see /a/very/long/path/to/copy now', 12)).toEqual([
      'see',
      '/a/very/long/path/to/copy',
      'now',
    ]);
  });

  it('C4: a prompt keeps the blank before the answer, and no line of it is wider than the terminal', () => {
    for (const width of [80, 60, 40]) {
      const lines = wrapPrompt(permissionPrompt, width).split('\n');
      expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(width);
      expect(lines.at(-1)).toMatch(/\] $/u);
    }
    expect(wrapPrompt(permissionPrompt, null)).toBe(permissionPrompt);
  });
});
