import { describe, expect, it } from 'vitest';
import { createTemporaryWorkspace, errorOf } from '../../../test/support/temporary-workspace.ts';
import { parseInput } from './input-schema.ts';
import { workspaceTools } from './workspace-tools.ts';

const schema = {
  type: 'object',
  properties: {
    path: { type: 'string', minLength: 1, maxLength: 10, description: 'The file.' },
    count: { type: 'integer', minimum: 1, maximum: 5, description: 'How many.' },
    all: { type: 'boolean', description: 'All of them.' },
  },
  required: ['path'],
  additionalProperties: false,
} as const;

describe('parseInput', () => {
  it('takes what fits, and null for what is left out', () => {
    expect(parseInput(schema, { path: 'a', count: 5, all: false })).toEqual({
      ok: true,
      value: { path: 'a', count: 5, all: false },
    });
    expect(parseInput(schema, { path: 'a', count: null, all: undefined })).toEqual({
      ok: true,
      value: { path: 'a' },
    });
  });

  it.each([
    [null, /must be an object with path \(required\), count, all/u],
    ['a', /must be an object/u],
    [['a'], /must be an object/u],
    [{}, /"path" is missing: The file\./u],
    [{ path: null }, /"path" is missing/u],
    [{ path: 3 }, /"path" must be a string/u],
    [{ path: '' }, /"path" must not be empty/u],
    [{ path: 'a'.repeat(11) }, /not be longer than 10/u],
    [{ path: 'a', count: '2' }, /"count" must be a whole number from 1 to 5/u],
    [{ path: 'a', count: 1.5 }, /whole number/u],
    [{ path: 'a', count: 6 }, /whole number/u],
    [{ path: 'a', all: 'yes' }, /"all" must be true or false/u],
    [{ path: 'a', file: 'b' }, /Unknown field "file"\. Known fields: path \(required\), count, all/u],
    [JSON.parse('{"path":"a","__proto__":{"all":true}}'), /Unknown field "__proto__"/u],
  ])('answers %j with a sentence', (input, sentence) => {
    expect(errorOf(parseInput(schema, input) as never)).toMatch(sentence);
  });
});

describe('workspace tools', () => {
  it('have distinct names, a description, and refuse nonsense without throwing', async () => {
    const { context } = createTemporaryWorkspace();
    expect(new Set(workspaceTools.map((tool) => tool.name)).size).toBe(11);
    for (const tool of workspaceTools) {
      expect(tool.description).toMatch(/\.$/u);
      for (const nonsense of [null, 7, 'x', [], { nonsense: true }])
        errorOf(await tool.call(nonsense, context));
    }
  });
});
