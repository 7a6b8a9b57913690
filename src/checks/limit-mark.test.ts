import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { hasLimitMark, markedCommand } from './process.ts';

const place = { directory: tmpdir(), environment: { PATH: process.env['PATH'] ?? '' } };

function limitsBeneath(...command: string[]): string {
  const [program = '', ...rest] = markedCommand(command, place);
  return spawnSync(program, rest, { encoding: 'utf8', env: place.environment, cwd: place.directory }).stdout;
}

describe('C3: the mark of what an agent starts', () => {
  it('is on every descendant, through a new session, a second fork and an empty environment', () => {
    expect(hasLimitMark(limitsBeneath('cat', '/proc/self/limits'))).toBe(true);
    const away = 'env -i /usr/bin/setsid /bin/sh -c "(/bin/cat /proc/self/limits) & wait"';
    expect(hasLimitMark(limitsBeneath('sh', '-c', away))).toBe(true);
    const lowered = 'ulimit -S -w unlimited; ulimit -w 7; cat /proc/self/limits';
    expect(hasLimitMark(limitsBeneath('sh', '-c', lowered))).toBe(true);
  });

  it('cannot be taken off by an ordinary user', () => {
    const raise = 'ulimit -w unlimited 2>/dev/null || ulimit -x unlimited 2>/dev/null; cat /proc/self/limits';
    const asUser = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--clear-groups'] : [];
    expect(hasLimitMark(limitsBeneath(...asUser, 'sh', '-c', raise))).toBe(true);
  });

  it('is not on those that nobody of ours started', () => {
    expect(hasLimitMark()).toBe(false);
    expect(hasLimitMark('Max file locks            unlimited            unlimited            locks')).toBe(
      false,
    );
    expect(hasLimitMark('')).toBe(false);
  });

  it('keeps the words of a command as they are', () => {
    expect(limitsBeneath('printf', '%s|', 'a b', '$HOME', '; id', "it's")).toBe("a b|$HOME|; id|it's|");
  });

  it('leaves what cannot be started to the system', () => {
    for (const program of ['no-such-program-here', './no-such-file', '/etc'])
      expect(markedCommand([program, 'x'], place)).toEqual([program, 'x']);
  });
});
