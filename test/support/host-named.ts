// A row of the table of hosts, for tests that know that it is there.
import { type HostRow, hostOf } from '../../src/hosts/hosts.ts';

export function hostNamed(name: string): HostRow {
  const host = hostOf(name);
  if (host === undefined) throw new Error(`There is no host ${name}.`);
  return host;
}
