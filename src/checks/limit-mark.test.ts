import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { hasLimitMark, markedCommand } from './process.ts';

const place = { directory: tmpdir(), environment: { PATH: process.env['PATH'] ?? '' } };

function limitsBeneath(...command: string[]): string {
  const [program = '', ...rest] = markedCommand(command, place);
  return spawnSync(program, rest, {
    encoding: 'utf8',
    env: place.environment,
    cwd: place.directory,
  }).stdout;
}

describe('C3: the mark of what an agent starts', () => {
  it('is on every descendant, through a new session, a second fork and an empty environment', () => {
    expect(hasLimitMark(limitsBeneath('cat', '/proc/self/limits'))).toBe(true);
    const away =
      'env -i /usr/bin/setsid /bin/sh -c "(/bin/cat /proc/self/limits) & wait"';
    expect(hasLimitMark(limitsBeneath('sh', '-c', away))).toBe(true);
  });

  // dash says -w, bash -x.
  const lower = (limits: string) =>
    `for i in ${limits}; do ulimit -$i 7 2>/dev/null; done; cat /proc/self/limits`;

  it.each(['w x', 'm', 'w x m'])('is still seen when it was lowered: %s', (limits) => {
    expect(hasLimitMark(limitsBeneath('sh', '-c', lower(limits)))).toBe(true);
  });

  it('cannot be taken off by an ordinary user', () => {
    const raise =
      'for i in w x m; do ulimit -$i unlimited 2>/dev/null; done; cat /proc/self/limits; exit 0';
    const asUser =
      process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--clear-groups'] : [];
    expect(hasLimitMark(limitsBeneath(...asUser, 'sh', '-c', raise))).toBe(true);
  });

  it('is not on those that nobody of ours started', () => {
    expect(hasLimitMark()).toBe(false);
    expect(
      hasLimitMark(
        'Max file locks            unlimited            unlimited            locks',
      ),
    ).toBe(false);
    expect(hasLimitMark('')).toBe(false);
  });

  it.each(['w x', 'm'])('G4: is not what a container or systemd limits: %s', (limits) => {
    const beneath = (script: string) =>
      spawnSync('sh', ['-c', `${lower(limits)} >/dev/null; ${script}`], {
        encoding: 'utf8',
      }).stdout;
    expect(hasLimitMark(beneath('cat /proc/self/limits'))).toBe(false);
    // There what an agent starts is marked all the same, by the other limit.
    const [program = '', ...words] = markedCommand(['cat', '/proc/self/limits'], place);
    const asUser =
      process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--clear-groups'] : [];
    const quoted = [...asUser, program, ...words].map((word) => `'${word}'`).join(' ');
    expect(hasLimitMark(beneath(quoted))).toBe(true);
  });

  it('keeps the words of a command as they are', () => {
    expect(limitsBeneath('printf', '%s|', 'a b', '$HOME', '; id', "it's")).toBe(
      "a b|$HOME|; id|it's|",
    );
  });

  it('leaves what cannot be started to the system', () => {
    for (const program of ['no-such-program-here', './no-such-file', '/etc'])
      expect(markedCommand([program, 'x'], place)).toEqual([program, 'x']);
  });
});
