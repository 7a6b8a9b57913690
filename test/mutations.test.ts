// Keeps the list of mutations honest: an entry that no longer applies would prove
// nothing.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { applyMutation } from '../scripts/quality/mutation-plugin.ts';
import { mutations } from './mutations.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

describe('mutations', () => {
  it('have ids of their own', () => {
    const ids = mutations.map((mutation) => mutation.id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it('still apply to the source they name, and change it', () => {
    for (const mutation of mutations) {
      const source = readFileSync(join(root, mutation.file), 'utf8');
      expect(applyMutation(source, mutation), mutation.id).not.toBe(source);
    }
  });

  it('are refused when their text is missing or not the only one', () => {
    const mutation = {
      id: 'planted',
      file: 'src/x.ts',
      find: 'a + b',
      replace: 'a - b',
      why: 'sums',
    };
    expect(applyMutation('return a + b;', mutation)).toBe('return a - b;');
    expect(() => applyMutation('return a;', mutation)).toThrow('occurs 0 times');
    expect(() => applyMutation('a + b; a + b;', mutation)).toThrow('occurs 2 times');
  });

  it('put their replacement in literally, dollar signs included', () => {
    const mutation = {
      id: 'planted',
      file: 'src/x.ts',
      find: 'old',
      replace: '$& $1',
      why: 'texts',
    };
    expect(applyMutation('old;', mutation)).toBe('$& $1;');
  });
});
