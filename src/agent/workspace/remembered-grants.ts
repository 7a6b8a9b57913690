// Permissions given for good, by directory, in the user's state directory. One without
// its answer on record is void.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UntildoneError } from '../../core/error.ts';
import {
  type Infer,
  list,
  number,
  object,
  ownValue,
  read,
  text,
} from '../../core/schema.ts';
import type { Store } from '../../engine/store.ts';
import { errorCode, makeFolder } from '../../engine/system.ts';
import { replaceFile } from '../../engine/text-file.ts';

/** `answerId`: the event of the human's answer. */
const grants = list(
  object({ tool: text(), pattern: text(), answerId: text(), at: number(0) }),
);
export type RememberedGrant = Infer<typeof grants>[number];
export type GrantPlace = Readonly<Record<'stateDirectory' | 'directory', string>>;

export const readGrants = (place: GrantPlace): readonly RememberedGrant[] =>
  ownValue(readDirectories(place), place.directory) ?? [];

/** `unproven`: how many have no answer on record. */
export async function provenGrants(store: Store, place: GrantPlace) {
  const all = readGrants(place);
  const events = await store.events({ ids: all.map(({ answerId }) => answerId) });
  const answers = events.flatMap(({ event }) => {
    const wait = event.type === 'wait-ended' ? event.wait : null;
    return wait?.kind === 'permission' && wait.remembered === 'always' ? [event.id] : [];
  });
  const proven = all.filter(({ answerId }) => answers.includes(answerId));
  return { grants: proven, unproven: all.length - proven.length };
}

export function addGrant(place: GrantPlace, grant: RememberedGrant) {
  const isOther = ({ tool, pattern }: RememberedGrant) =>
    tool !== grant.tool || pattern !== grant.pattern;
  writeGrants(place, [...readGrants(place).filter(isOther), grant]);
}

export function removeGrants(
  place: GrantPlace,
  fits: (grant: RememberedGrant) => boolean,
): number {
  const all = readGrants(place);
  const kept = all.filter((grant) => !fits(grant));
  if (kept.length < all.length) writeGrants(place, kept);
  return all.length - kept.length;
}

const pathIn = ({ stateDirectory }: GrantPlace) => join(stateDirectory, 'grants.json');

function writeGrants(place: GrantPlace, kept: readonly RememberedGrant[]) {
  const { [place.directory]: _before, ...others } = readDirectories(place);
  const directories = kept.length === 0 ? others : { ...others, [place.directory]: kept };
  makeFolder(place.stateDirectory, 0o700);
  const text = `${JSON.stringify({ version: 1, directories }, null, 2)}\n`;
  replaceFile(pathIn(place), text, { like: null, mode: 0o600 });
}

function readDirectories(place: GrantPlace): Record<string, readonly RememberedGrant[]> {
  const path = pathIn(place);
  try {
    const { directories } = JSON.parse(readFileSync(path, 'utf8'));
    if (Object.values(directories).every((value) => read(grants, value, 1).ok))
      return directories;
  } catch (error) {
    // Not there: nothing was remembered. Else it is told: granting less is safe but
    // surprising.
    if (errorCode(error) === 'ENOENT') return {};
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
  }
  throw new UntildoneError(
    'invalid-config',
    `${path} is not a list of permissions; move it away.`,
  );
}
