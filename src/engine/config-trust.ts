// Whether a configuration file may be obeyed: it names commands that run as the user, so that a file which others
// could have written is refused. It looks at owner and mode only; what stands in the file others judge.

import { existsSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';

/** What anyone may write is let pass inside a repository, since some file systems show every file so. */
export function reasonForDistrust(
  stat: Stats,
  path: string,
  owners: readonly number[] | null,
): string | null {
  if (owners === null) return null;
  if (!owners.includes(stat.uid))
    return 'belongs to another user, so it is not read: make it your own (chown)';
  const anyoneMayWrite = (stat.mode & 0o002) !== 0;
  if (!anyoneMayWrite || isInRepository(dirname(path))) return null;
  return 'may be written by anyone on this machine, so it is not read: take that right away (chmod o-w)';
}

function isInRepository(directory: string): boolean {
  if (existsSync(join(directory, '.git'))) return true;
  const parent = dirname(directory);
  return parent !== directory && isInRepository(parent);
}

/** Whose files are trusted: the user's, root's, and beneath sudo those of whoever called it; null: no such thing here. */
export function trustedOwners(
  environment: Readonly<Record<string, string | undefined>>,
): readonly number[] | null {
  const user = process.geteuid?.();
  if (user === undefined) return null;
  const caller = environment['SUDO_UID'];
  return user === 0 && caller !== undefined && /^\d{1,10}$/u.test(caller) ? [0, Number(caller)] : [user, 0];
}
