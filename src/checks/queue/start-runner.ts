// Starts the process that works through a queue of checks so that it survives the end of this one and of everything
// above it: hosts end a hook with all its descendants, so the runner must be nobody's child.
import { spawn } from 'node:child_process';

/** `program`: how this program is started again; it must know the command `check-runner`. */
export function startDetachedRunner(
  program: readonly string[],
  directory: string,
  holder: string,
  environment: Readonly<Record<string, string | undefined>>,
): void {
  const command = [...program, 'check-runner', directory, holder];
  const [first = process.execPath, ...rest] = command;
  const options = { detached: true, stdio: 'ignore', env: { ...environment }, cwd: '/' } as const;
  // The shell forks the runner and ends: a new session by `detached`, a new parent by the shell's end. The words are
  // arguments, never part of the script.
  const child =
    process.platform === 'win32'
      ? spawn(first, rest, { ...options, cwd: directory, windowsHide: true })
      : spawn('/bin/sh', ['-c', '"$@" </dev/null >/dev/null 2>&1 &', 'sh', first, ...rest], options);
  // Whoever waits for the results sees that nobody took the lease, and starts another.
  child.on('error', () => {});
  child.unref();
}
