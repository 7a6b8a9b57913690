// How programs are started by their names: what a wrong name, or none, is answered.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { namedPrograms } from '../scripts/named-programs.ts';

const dispatcher = fileURLToPath(new URL('../scripts/run-named.ts', import.meta.url));

function run(...given: string[]) {
  const command = ['--no-warnings', dispatcher, ...given];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, {
    encoding: 'utf8',
    cwd: '/',
  });
  return { status, stdout, stderr };
}

describe('a script of named programs', () => {
  it.each(Object.entries(namedPrograms))(
    '%s without a name lists what there is, one line each',
    (script, programs) => {
      const { status, stdout, stderr } = run(script);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      const names = stdout
        .split('\n')
        .flatMap((line) => /^ {2}(\S+)/.exec(line)?.[1] ?? []);
      expect(names).toEqual(Object.keys(programs));
      expect(stdout.split('\n').filter((line) => line.length > 110)).toEqual([]);
    },
  );

  it('answers an unknown name with the closest one and the list, and exits with 2', () => {
    const { status, stdout, stderr } = run('bench', 'hok');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(
      /^There is no "hok"\. Did you mean hook\?\n\nnpm run bench -- NAME/,
    );
  });

  it('takes no name that only every object has', () => {
    expect(run('docs', 'constructor').status).toBe(2);
  });

  it('hands on what stands behind the name, and the exit code', () => {
    const { status, stderr } = run('test:extra', 'mutations', 'no-such-mutation');
    expect(status).not.toBe(0);
    expect(stderr).toContain('no-such-mutation');
  });
});
