import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffTexts } from './text-diff.ts';

describe('the difference of two texts', () => {
  it('C3: shows what goes and what comes, with three lines around it', () => {
    const before = 'a\nb\nc\nd\ne\nf\n';
    expect(diffTexts('x', before, before.replace('e', 'E'))).toEqual([
      '--- x',
      '+++ x',
      '@@ -2,5 +2,5 @@',
      ' b',
      ' c',
      ' d',
      '-e',
      '+E',
      ' f',
    ]);
    expect(diffTexts('x', before, before)).toEqual([]);
    expect(diffTexts('x', null, 'a\n')).toEqual([
      '--- /dev/null',
      '+++ x',
      '@@ -0,0 +1,1 @@',
      '+a',
    ]);
    expect(diffTexts('x', 'a\n', null)).toEqual([
      '--- x',
      '+++ /dev/null',
      '@@ -1,1 +0,0 @@',
      '-a',
    ]);
  });

  it('C3: a missing final newline is a difference', () => {
    expect(diffTexts('x', 'a', 'a\n')).toContain('-a\\ No newline at end of file');
  });

  it('C3: git applies it and gets the second text', () => {
    const scratch = mkdtempSync(join(tmpdir(), 'untildone-diff-'));
    const file = join(scratch, 'x');
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', '{', '}'), { minLength: 1, maxLength: 30 })
      .map((lines) => `${lines.join('\n')}\n`);
    try {
      fc.assert(
        fc.property(text, text, (before, after) => {
          fc.pre(before !== after);
          writeFileSync(file, before);
          const patch = diffTexts('x', before, after)
            .join('\n')
            .replace('--- x\n+++ x', '--- a/x\n+++ b/x');
          execFileSync('git', ['apply', '--unidiff-zero', '-'], {
            cwd: scratch,
            input: `${patch}\n`,
            stdio: 'pipe',
          });
          expect(readFileSync(file, 'utf8')).toBe(after);
        }),
        { numRuns: 40 },
      );
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  });
});
