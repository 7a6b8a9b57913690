// A host must not outlive the test that started it, however that one ends: a shell waits
// for the end of a pipe that this process holds, and then kills the host's group. It does
// nothing while the test lives.
import { type ChildProcess, spawn } from 'node:child_process';

/** @param child started with `detached`, so that it leads a group of its own */
export function endWithTest(child: ChildProcess): { killGroup(): void; release(): void } {
  const { pid } = child;
  if (pid === undefined) return { killGroup: () => {}, release: () => {} };
  const watcher = spawn(
    '/bin/sh',
    ['-c', 'read _; kill -KILL -"$0" 2>/dev/null', String(pid)],
    {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    },
  );
  watcher.unref();
  return {
    killGroup() {
      try {
        process.kill(-pid, 'SIGKILL');
      } catch {
        // Safe: the group is gone already, which is what was wanted.
      }
    },
    /** The host is gone; so is the need to watch. */
    release: () => watcher.stdin.end(),
  };
}
