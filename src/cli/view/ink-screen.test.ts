import type { Key } from 'ink';
import { describe, expect, it } from 'vitest';
import { keyPresses } from './ink-screen.ts';

const key = (changes: Partial<Key> = {}): Key => changes as Key;

describe('keys as a terminal sends them', () => {
  it('C3: letters that arrive at once are one text, and an Enter among them is an Enter', () => {
    expect(keyPresses('go on\rnow', key()).map(({ name, text }) => [name, text])).toEqual([
      ['text', 'go on'],
      ['enter', ''],
      ['text', 'now'],
    ]);
  });

  it('knows the named keys, and letters with Ctrl or Alt are no text', () => {
    expect(keyPresses('', key({ pageDown: true }))).toEqual([
      { name: 'page-down', text: '', isControl: false },
    ]);
    expect(keyPresses('\r', key({ return: true }))).toMatchObject([{ name: 'enter' }]);
    expect(keyPresses('c', key({ ctrl: true }))).toEqual([{ name: 'text', text: 'c', isControl: true }]);
    expect(keyPresses('y', key({ meta: true }))).toMatchObject([{ isControl: true }]);
    expect(keyPresses('y', key({ eventType: 'release' }))).toEqual([]);
  });
});
