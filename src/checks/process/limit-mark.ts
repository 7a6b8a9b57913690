// A mark that the processes of an agent cannot take off: a hard limit that every descendant inherits, through new
// sessions, second forks and emptied environments, and that only root can raise again. The limit itself (on file locks)
// means nothing to the kernel since 2004. Linux only; elsewhere the mark is not there, and nothing relies on it alone.
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';

/** Any number marks; this one is far from what anyone would set by hand. */
const mark = '4611686018427387903';

/** dash calls the limit -w, bash -x; where a shell knows neither, the command runs without the mark. */
const script = `ulimit -w ${mark} 2>/dev/null || ulimit -x ${mark} 2>/dev/null; exec "$@"`;

export interface StartPlace {
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** The same command beneath the mark. The words are arguments of the shell, never part of its script. */
export function markedCommand(command: readonly string[], place: StartPlace): readonly string[] {
  const [program = ''] = command;
  // What cannot be started is started as it is: then the system says why, and not the shell.
  if (process.platform !== 'linux' || !isStartable(program, place)) return command;
  return ['/bin/sh', '-c', script, 'sh', ...command];
}

function isStartable(program: string, { directory, environment }: StartPlace): boolean {
  const folders = program.includes('/') ? [''] : (environment['PATH'] ?? '').split(delimiter);
  return folders.some((folder) => {
    try {
      const path = resolve(directory, folder, program);
      accessSync(path, constants.X_OK);
      return statSync(path).isFile();
    } catch {
      // Safe: it is not there, so the next folder is looked at.
      return false;
    }
  });
}

/** True: this process descends from a command that we started, whatever happened on the way. */
export function hasLimitMark(limits: string = readLimits()): boolean {
  const hard = /^Max file locks\s+\S+\s+(\S+)/mu.exec(limits)?.[1];
  return hard !== undefined && hard !== 'unlimited';
}

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    // Not Linux: there is no such mark, and the other signs of an agent are looked at.
    return '';
  }
}
