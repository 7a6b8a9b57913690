import type { Key } from 'ink';
import { describe, expect, it } from 'vitest';
import { breaksLines, keyPresses, surplusRows } from './live-view.ts';

const key = (changes: Partial<Key> = {}): Key => changes as Key;

describe('keys as a terminal sends them', () => {
  it('C3: letters that arrive at once are one text, and an Enter among them is an Enter', () => {
    expect(keyPresses('go on\rnow', key()).map(({ name, text }) => [name, text])).toEqual(
      [
        ['text', 'go on'],
        ['return', ''],
        ['text', 'now'],
      ],
    );
  });

  it('knows the named keys, and letters with Ctrl or Alt are no text', () => {
    expect(keyPresses('', key({ pageDown: true }))).toEqual([
      { name: 'pageDown', text: '', isControl: false },
    ]);
    expect(keyPresses('\r', key({ return: true }))).toMatchObject([{ name: 'return' }]);
    expect(keyPresses('c', key({ ctrl: true }))).toEqual([
      { name: 'text', text: 'c', isControl: true },
    ]);
    expect(keyPresses('y', key({ meta: true }))).toMatchObject([{ isControl: true }]);
    expect(keyPresses('y', key({ eventType: 'release' }))).toEqual([]);
  });
});

describe('a terminal that gets narrower', () => {
  it('C3: breaks what was drawn into more rows, colours and wide letters counted as they are', () => {
    const lines = ['x'.repeat(80), '\u001b[1mshort\u001b[22m', '修'.repeat(30), ''];
    expect(surplusRows(lines, 40)).toBe(1 + 0 + 1 + 0);
    expect(surplusRows(lines, 20)).toBe(3 + 0 + 2 + 0);
    expect(surplusRows(lines, 80)).toBe(0);
  });

  it('C3: xterm and screen cut lines off instead, unless tmux stands between', () => {
    expect(breaksLines({ TERM: 'xterm-256color' })).toBe(true);
    expect(breaksLines({ TERM: 'xterm-256color', XTERM_VERSION: 'XTerm(390)' })).toBe(
      false,
    );
    expect(breaksLines({ TERM: 'screen' })).toBe(false);
    expect(breaksLines({ TERM: 'screen', TMUX: '/tmp/x' })).toBe(true);
  });
});
