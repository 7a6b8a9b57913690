// A temporary folder for one run of the tests, in which all their temporary folders lie
// and with which they go: a test that is killed in the middle, or a process that outlives
// its test, leaves nothing behind either.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Vitest calls it before it starts the processes of the tests, which inherit the
 * environment.
 */
export function setup(): () => void {
  const before = process.env['TMPDIR'];
  const root = mkdtempSync(join(tmpdir(), 'ud-'));
  // As open as the system's own: some tests act as another user.
  chmodSync(root, 0o1777);
  process.env['TMPDIR'] = root;
  return () => {
    // The tests of hosts can be told to keep their projects for a look.
    if (process.env['UNTILDONE_KEEP_PROJECTS'] === undefined)
      rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  };
}
