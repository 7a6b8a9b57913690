import { describe, expect, it } from 'vitest';
import { systemClock } from '../engine/system.ts';
import { BoundedOutput, evidenceOf } from './output.ts';
import { runCheck } from './run-check.ts';

const fine = 'ok, a line that says nothing\n';
const failure = 'in sum.js, line 3\nnot ok 1 - adds\n';

function printed(pieces: readonly string[], secrets: readonly string[] = []): string {
  const output = new BoundedOutput(262_144, secrets);
  for (const piece of pieces) output.append(piece);
  return output.end();
}

describe('V1: what is kept of a long output', () => {
  it.each([
    ['at its beginning', [failure, fine.repeat(30_000)]],
    ['in its middle', [fine.repeat(40_000), failure, fine.repeat(40_000)]],
    ['at its end', [fine.repeat(30_000), failure]],
  ])(
    'first-use 13: has the failed lines that stand %s, and its end',
    (_where, pieces) => {
      const kept = printed(pieces);
      expect(kept.split('\n').filter((line) => failure.includes(line))).toEqual([
        'in sum.js, line 3',
        'not ok 1 - adds',
      ]);
      expect(kept.length).toBeLessThanOrEqual(8192);
      expect(kept.endsWith(pieces.join('').slice(-500).trimEnd())).toBe(true);
    },
  );

  it('stays small, however many lines failed', () => {
    const kept = printed(
      Array.from({ length: 400 }, (_, index) => `not ok ${index} - fails\n`.repeat(200)),
    );
    expect(kept.length).toBeLessThanOrEqual(8192);
    expect(kept).toContain('not ok 0 - fails');
    expect(kept).toContain('not ok 399 - fails');
  });

  it('shows no secret in a failed line of the dropped part', () => {
    const secret = 'sk-ant-123456';
    const kept = printed(
      [
        fine.repeat(40_000),
        `Error: ${secret} is `,
        `wrong\nsk-ant`,
        `-123456\n`,
        fine.repeat(40_000),
      ],
      [secret],
    );
    expect(kept).toContain('Error: [masked] is wrong');
    expect(kept).not.toContain('123456');
  });

  it.each(['\u2028', '\u2029'])(
    'takes no time for hostile lines with %j, which ends no line here',
    (end) => {
      const line = `✖${' '.repeat(900)}a${' '.repeat(900)}${end}b\n`;
      const began = performance.now();
      expect(printed([line.repeat(500)]).length).toBeLessThanOrEqual(8192);
      expect(performance.now() - began).toBeLessThan(2000);
    },
  );

  it('has the failed lines of a text that was not dropped too', () => {
    expect(evidenceOf(`${failure}${fine.repeat(1000)}`, [])).toMatch(
      /^in sum.js, line 3\nnot ok 1 - adds\n…\nok/u,
    );
    expect(evidenceOf('short\n', [])).toBe('short');
  });

  it('has the failed lines that a command prints long before its end', async () => {
    const shell = `echo "not ok 1 - adds"; i=0; while [ $i -lt 3000 ]; do echo "${fine.trim()}"; i=$((i+1)); done; exit 1`;
    const spec = {
      ...({
        kind: 'command',
        command: { shell },
        directory: null,
        environment: [],
        files: null,
      } as const),
      timeoutMs: 60_000,
      expectExit: 0,
      expectOutput: null,
    };
    const place = { directory: process.cwd(), environment: process.env, session: 'test' };
    const signal = new AbortController().signal;
    const result = await runCheck(spec as never, {
      ...place,
      now: systemClock.now,
      signal,
    });
    expect(result.tail).toMatch(/^not ok 1 - adds\n…\n/u);
  });
});
