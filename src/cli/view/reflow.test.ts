import { describe, expect, it } from 'vitest';
import { breaksLines, surplusRows } from './reflow.ts';

describe('a frame in a terminal that gets narrower', () => {
  it('C3: takes as many rows more as its lines are broken into, colours and wide letters counted right', () => {
    const frame = ['─'.repeat(79), '\u001b[1mshort\u001b[22m', '修'.repeat(30), ''];
    expect(surplusRows(frame, 80, 40)).toBe(1 + 0 + 1 + 0);
    expect(surplusRows(frame, 80, 20)).toBe(3 + 0 + 2 + 0);
    expect(surplusRows(frame, 80, 100)).toBe(0);
  });

  it('was never wider than the terminal that it was drawn on', () => {
    expect(surplusRows(['x'.repeat(500)], 80, 40)).toBe(1);
  });

  it('is only cut off in xterm and screen', () => {
    expect(breaksLines({ TERM: 'xterm-256color' })).toBe(true);
    expect(breaksLines({ TERM: 'xterm', XTERM_VERSION: 'XTerm(390)' })).toBe(false);
    expect(breaksLines({ TERM: 'screen' })).toBe(false);
    expect(breaksLines({ TERM: 'screen-256color', TMUX: '/tmp/x' })).toBe(true);
  });
});
