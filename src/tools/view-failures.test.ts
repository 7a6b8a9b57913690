import { describe, expect, it } from 'vitest';
import { viewFailures } from './view-failures.ts';

describe('failures in the result of a tool', () => {
  it('V1: are how the check ended and the lines that say what failed', () => {
    const tail = `npm test exited with 1.\n✖ adds\n  Error: 0 == 4\n${'generatedMessage: true\n'.repeat(300)}`;
    expect(viewFailures([{ name: 'Fix sum', tail }])).toEqual([
      { failure: 'npm test exited with 1.\n✖ adds\n  Error: 0 == 4' },
    ]);
  });

  it('first-use 4: show the same output once', () => {
    const failures = viewFailures([
      { name: 'Fix sum', tail: 'npm test exited with 1.\nnot ok 1' },
      { name: 'Write docs', tail: null },
      { name: 'Fix "more"', tail: 'npm test exited with 1.\nnot ok 1' },
    ]);
    expect(failures).toEqual([
      { failure: 'npm test exited with 1.\nnot ok 1' },
      {},
      { failure: 'npm test exited with 1.\nIt printed the same as “Fix sum”.' },
    ]);
  });

  it('V9: are bounded and draw nothing on a terminal', () => {
    const [{ failure = '' } = {}] = viewFailures([
      { name: 'a', tail: `\u001b[2Jx\nError: ${'y'.repeat(9000)}` },
    ]);
    expect(failure).toMatch(/^x\nError: y+…$/u);
    expect(failure.length).toBeLessThan(400);
  });
});
