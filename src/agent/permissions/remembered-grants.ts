// Permissions that the human gave for good, by directory: one file in the user's state directory, never in a workspace.
// Each entry names the answer on record that gave it; one without such an answer grants nothing.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UntildoneError } from '../../core/error.ts';
import { type Infer, list, number, object, read, text } from '../../core/schema.ts';
import type { Store } from '../../engine/store.ts';
import { errorCode, makeFolder } from '../../engine/system.ts';

/** `answerId`: the event by which the human said it. */
const grants = list(object({ tool: text(), pattern: text(), answerId: text(), at: number(0) }));
export type RememberedGrant = Infer<typeof grants>[number];

export interface GrantPlace {
  readonly stateDirectory: string;
  readonly directory: string;
}

export function readGrants(place: GrantPlace): readonly RememberedGrant[] {
  const all = readDirectories(place);
  return Object.hasOwn(all, place.directory) ? (all[place.directory] ?? []) : [];
}

/** Those that a human really gave, and how many entries say so without an answer on record. */
export async function provenGrants(
  store: Store,
  place: GrantPlace,
): Promise<{ readonly grants: readonly RememberedGrant[]; readonly unproven: number }> {
  const all = readGrants(place);
  const events = await store.events({ ids: all.map(({ answerId }) => answerId) });
  const answers = new Set(events.map(({ event }) => event.id));
  const proven = all.filter(({ answerId }) => answers.has(answerId));
  return { grants: proven, unproven: all.length - proven.length };
}

export function addGrant(place: GrantPlace, grant: RememberedGrant): void {
  const isOther = ({ tool, pattern }: RememberedGrant) => tool !== grant.tool || pattern !== grant.pattern;
  writeGrants(place, [...readGrants(place).filter(isOther), grant]);
}

export function removeGrants(place: GrantPlace, fits: (grant: RememberedGrant) => boolean): number {
  const all = readGrants(place);
  const kept = all.filter((grant) => !fits(grant));
  if (kept.length < all.length) writeGrants(place, kept);
  return all.length - kept.length;
}

function pathIn({ stateDirectory }: GrantPlace): string {
  return join(stateDirectory, 'grants.json');
}

function writeGrants(place: GrantPlace, kept: readonly RememberedGrant[]): void {
  const { [place.directory]: _before, ...others } = readDirectories(place);
  const directories = kept.length === 0 ? others : { ...others, [place.directory]: kept };
  makeFolder(place.stateDirectory, 0o700);
  const draft = `${pathIn(place)}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify({ version: 1, directories }, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, pathIn(place));
}

function readDirectories(place: GrantPlace): Record<string, readonly RememberedGrant[]> {
  const path = pathIn(place);
  try {
    const { directories } = JSON.parse(readFileSync(path, 'utf8'));
    if (Object.values(directories).every((value) => read(grants, value, 1).ok)) return directories;
  } catch (error) {
    // Not there: nothing was ever remembered. Anything else is told, since granting less is safe but surprising.
    if (errorCode(error) === 'ENOENT') return {};
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
  }
  throw new UntildoneError('invalid-config', `${path} is not a list of permissions; move it away.`);
}
