import { describe, expect, it } from 'vitest';
import {
  createTemporaryWorkspace,
  errorOf,
  outputOf,
} from '../../../test/support/temporary-workspace.ts';
import { described, flag, integer, optional, text } from '../../core/schema.ts';
import { defineTool } from './tool.ts';
import { workspaceTools } from './workspace-tools.ts';

const tool = defineTool({
  name: 'sample',
  description: 'Answers its input.',
  access: 'read',
  input: {
    path: described(text(10, 1), 'The file.'),
    count: optional(described(integer(1, 5), 'How many.')),
    all: optional(described(flag, 'All of them.')),
  },
  run: async (input) => JSON.stringify(input),
});

describe('the input of a tool', () => {
  it('takes what fits, and null for what is left out', async () => {
    const { context } = createTemporaryWorkspace();
    const taken = async (input: unknown) =>
      JSON.parse(outputOf(await tool.call(input, context)));
    expect(await taken({ path: 'a', count: 5, all: false })).toEqual({
      path: 'a',
      count: 5,
      all: false,
    });
    expect(await taken({ path: 'a', count: null, all: undefined })).toEqual({
      path: 'a',
    });
  });

  it.each([
    [null, /must be an object with path \(required\), count, all/u],
    ['a', /must be an object/u],
    [['a'], /must be an object/u],
    [{}, /"path" is missing: The file\./u],
    [{ path: null }, /"path" is missing/u],
    [{ path: 3 }, /"path" must be a text of 1 to 10 characters, got 3/u],
    [{ path: '' }, /"path" must be a text of 1 to 10 characters, got ""/u],
    [{ path: 'a'.repeat(11) }, /"path" must be a text of 1 to 10 characters/u],
    [{ path: 'a', count: '2' }, /"count" must be a whole number from 1 to 5/u],
    [{ path: 'a', count: 1.5 }, /whole number/u],
    [{ path: 'a', count: 6 }, /whole number/u],
    [{ path: 'a', all: 'yes' }, /"all" must be true or false/u],
    [
      { path: 'a', file: 'b' },
      /no field "file" here; send path \(required\), count, all/u,
    ],
    [JSON.parse('{"path":"a","__proto__":{"all":true}}'), /no field "__proto__" here/u],
  ])('answers %j with a sentence', async (input, sentence) => {
    const { context } = createTemporaryWorkspace();
    expect(errorOf(await tool.call(input, context))).toMatch(sentence);
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
