// Which processes still run with a home that only a test uses: everything that it started
// inherits it. Linux only, as the host tests are; it ends nothing.
import { readdirSync, readFileSync } from 'node:fs';

/** Their command lines. */
export function processesOf(...homes: readonly string[]): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((id) => {
      try {
        const environment = readFileSync(`/proc/${id}/environ`, 'utf8').split('\0');
        if (!homes.some((home) => environment.includes(`HOME=${home}`))) return [];
        return [readFileSync(`/proc/${id}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()];
      } catch {
        // Safe: it has ended in this moment, or belongs to someone else.
        return [];
      }
    });
}
