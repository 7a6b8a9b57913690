// Renews the programs that `init` copied for hosts, all at once. This code is large and
// seldom needed, so the build leaves it out of the file with the quick commands, which
// then loads it from the file with all commands (warm-start.ts).
import { hosts } from '../hosts/hosts.ts';
import { renewInstalledPrograms } from '../hosts/install/changes.ts';
import { shippedFolder } from '../hosts/install/files.ts';
import { installBasis } from '../hosts/install/installer.ts';
import { type Io, programVersion } from './io.ts';
import { printComplaint } from './print.ts';

export async function renewPrograms(io: Io): Promise<void> {
  const installers = await Promise.all(hosts.map((host) => host.installer()));
  const basis = installBasis(io, programVersion);
  for (const sentence of renewInstalledPrograms(installers, basis, shippedFolder()))
    printComplaint(io, sentence);
}
