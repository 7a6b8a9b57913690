// The state of the files that one check depends on, out of one look at the workspace (V2).
import type { CheckSpec } from '../../core/check-spec.ts';
import { fingerprintListing, listWorkspace } from '../fingerprint.ts';

/** By check: its fingerprint; null where none could be taken. */
export type FingerprintOf = (spec: Pick<CheckSpec, 'files'>) => string | null;

/** `exclude`: paths that do not count for any check, such as plan files. */
export async function lookAtFiles(
  directory: string,
  exclude: readonly string[] = [],
): Promise<FingerprintOf> {
  const listed = await listWorkspace(directory);
  const known = new Map<string, string | null>();
  return ({ files }) => {
    const key = JSON.stringify(files);
    const cached = known.get(key);
    if (cached !== undefined) return cached;
    const taken = listed.ok ? fingerprintListing(listed.listing, { files, exclude }) : null;
    const scope = files.length === 0 ? '' : 'files:';
    const fingerprint = taken?.ok ? scope + taken.fingerprint : null;
    known.set(key, fingerprint);
    return fingerprint;
  };
}
