import { describe, expect, it } from 'vitest';
import { leavesOnIdle } from './run-mode.ts';

const started = (...words: string[]) => leavesOnIdle(['bun', '/$bunfs/src/index.js', ...words]);

describe('how the host was started', () => {
  it('design: `run` leaves on the first idle, wherever its flags stand', () => {
    expect(started('run', 'do it')).toBe(true);
    expect(started('--print-logs', '--log-level', 'DEBUG', 'run', 'serve the cake')).toBe(true);
    expect(started('github', 'run')).toBe(true);
  });

  it('design: everything else stays', () => {
    for (const words of [
      [],
      ['serve'],
      ['web'],
      ['acp'],
      ['/home/me/run'],
      ['run', '-i'],
      ['run', '--interactive'],
    ])
      expect(started(...words), words.join(' ')).toBe(false);
    expect(started('serve', '--hostname', 'run')).toBe(false);
  });
});
