import { describe, expect, it } from 'vitest';
import { createPathSet, type PathSet } from './glob.ts';

function setOf(...patterns: string[]): PathSet {
  const created = createPathSet(patterns);
  if (!created.ok) throw new Error(created.error);
  return created.paths;
}

describe('V2: a set of paths by patterns', () => {
  it.each([
    ['test/**', 'test/a.ts', true],
    ['test/**', 'test/deep/a.ts', true],
    ['test/**', 'src/test/a.ts', false],
    ['test', 'test/a.ts', true],
    ['test/', 'packages/one/test/a.ts', true],
    ['docs/spec', 'docs/spec/a.md', true],
    ['docs/spec', 'other/docs/spec/a.md', false],
    ['package.json', 'package.json', true],
    ['src/*.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/deep/a.ts', false],
    ['{test,spec}/**', 'spec/a.ts', true],
  ])('%s and %s: %s', (pattern, path, isIn) => {
    expect(setOf(pattern).has(path.split('/'))).toBe(isIn);
  });

  it('is in the set as soon as one pattern fits', () => {
    expect(setOf('a', 'b').has(['b'])).toBe(true);
    expect(setOf().has(['b'])).toBe(false);
  });

  it.each([
    ['test/**', 'test', true],
    ['test/**', 'src', false],
    ['a/*/c.ts', 'a/b', true],
    ['a/*/c.ts', 'a/b/c', false],
    ['*.ts', 'any/where', true],
    ['a/{b,c}/d.ts', 'a/c', true],
  ])('%s can fit below %s: %s', (pattern, folder, can) => {
    expect(setOf(pattern).mayHold(folder.split('/'))).toBe(can);
  });

  it.each(['/etc/passwd', '../outside', 'a/../../b', '', '/', './'])(
    '%j is refused with a sentence',
    (pattern) => {
      expect(createPathSet([pattern])).toMatchObject({
        ok: false,
        error: expect.stringMatching(/\.$/),
      });
    },
  );
});
