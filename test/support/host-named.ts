// A row of the table of hosts, for tests that know that it is there, and the names of
// all.
import { type HostRow, hostOf, hosts } from '../../src/hosts/hosts.ts';

/** As sentences name them all. */
export const hostNames = hosts.map(({ name }) => name).join(', ');

export function hostNamed(name: string): HostRow {
  const host = hostOf(name);
  if (host === undefined) throw new Error(`There is no host ${name}.`);
  return host;
}
