// What installing and examining need to know of this machine and this person, out of what a command may touch.
import { homedir } from 'node:os';
import { UntildoneError } from '../core/error.ts';
import type { InstallBasis } from '../hosts/install/installer.ts';
import { stateDirectory } from '../store/state-directory.ts';
import type { Io } from './io.ts';
import { programVersion } from './program-version.ts';

export function installBasis({ env, cwd }: Io): InstallBasis {
  const home = env['HOME'] || systemHome();
  return {
    ...{ env, cwd, home },
    stateDirectory: stateDirectory({ ...env, HOME: home }),
    version: programVersion,
    node: process.execPath,
  };
}

function systemHome(): string {
  try {
    const home = homedir();
    if (home !== '') return home;
  } catch {
    // Safe: the system knows no home of this user either, which is told below.
  }
  throw new UntildoneError(
    'usage',
    'HOME is not set, and the system knows no home directory of this user: set HOME.',
  );
}
