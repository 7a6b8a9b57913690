// Renews what `init` copied for hosts, for all of them at once. What sets hosts up is
// much code and this is seldom needed: the build leaves it out of the file with the quick
// commands, which starts it from the file with all of them (warm-start.ts).
import { hosts } from '../hosts/hosts.ts';
import { renewInstalledPrograms } from '../hosts/install/changes.ts';
import { shippedFolder } from '../hosts/install/files.ts';
import { installBasis } from '../hosts/install/installer.ts';
import { type Io, programVersion } from './io.ts';
import { complain } from './print.ts';

export async function renewPrograms(io: Io): Promise<void> {
  const installers = await Promise.all(hosts.map((host) => host.installer()));
  const basis = installBasis(io, programVersion);
  for (const sentence of renewInstalledPrograms(installers, basis, shippedFolder()))
    complain(io, sentence);
}
