// Permissions that the human gave for good, by directory: one file in the user's state directory, never in a workspace.
// Each entry names the answer on record that gave it; one without such an answer grants nothing.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UntildoneError } from '../../core/untildone-error.ts';
import { makeFolder } from '../../engine/make-folder.ts';
import type { Store } from '../../engine/store.ts';

export interface RememberedGrant {
  readonly tool: string;
  readonly pattern: string;
  /** The event by which the human said it. */
  readonly answerId: string;
  readonly at: number;
}

type Directories = Record<string, readonly RememberedGrant[]>;

export interface GrantPlace {
  readonly stateDirectory: string;
  /** The workspace, absolute. */
  readonly directory: string;
}

export function readGrants({ stateDirectory, directory }: GrantPlace): readonly RememberedGrant[] {
  const all = readFile(pathIn(stateDirectory));
  return Object.hasOwn(all, directory) ? (all[directory] ?? []) : [];
}

/** Those that a human really gave, and how many entries say so without an answer on record. */
export async function provenGrants(
  store: Store,
  place: GrantPlace,
): Promise<{ readonly grants: readonly RememberedGrant[]; readonly unproven: number }> {
  const all = readGrants(place);
  const grants = await store.read(async (reader) => {
    const proven: RememberedGrant[] = [];
    for (const grant of all) if (await reader.hasEvent(grant.answerId)) proven.push(grant);
    return proven;
  });
  return { grants, unproven: all.length - grants.length };
}

export function addGrant(place: GrantPlace, grant: RememberedGrant): void {
  const others = readGrants(place).filter(
    ({ tool, pattern }) => tool !== grant.tool || pattern !== grant.pattern,
  );
  writeGrants(place, [...others, grant]);
}

/** How many there were. */
export function removeGrants(place: GrantPlace, fits: (grant: RememberedGrant) => boolean): number {
  const all = readGrants(place);
  const kept = all.filter((grant) => !fits(grant));
  if (kept.length < all.length) writeGrants(place, kept);
  return all.length - kept.length;
}

function pathIn(stateDirectory: string): string {
  return join(stateDirectory, 'grants.json');
}

function writeGrants({ stateDirectory, directory }: GrantPlace, grants: readonly RememberedGrant[]): void {
  const path = pathIn(stateDirectory);
  const { [directory]: _before, ...others } = readFile(path);
  const directories = grants.length === 0 ? others : { ...others, [directory]: grants };
  makeFolder(dirname(path), 0o700);
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify({ version: 1, directories }, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, path);
}

function readFile(path: string): Directories {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    // Not there: nothing was ever remembered. Anything else is told, since granting less is safe but surprising.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
  const read = parse(text);
  if (read === null)
    throw new UntildoneError('invalid-config', `${path} is not a list of permissions; move it away.`);
  return read;
}

function parse(text: string): Directories | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Safe: what cannot be read is refused as a whole by whoever asked.
    return null;
  }
  const directories = isRecord(value) ? value['directories'] : null;
  if (!isRecord(directories)) return null;
  const lists = Object.values(directories);
  return lists.every((list) => Array.isArray(list) && list.every(isGrant))
    ? (directories as Directories)
    : null;
}

function isGrant(value: unknown): value is RememberedGrant {
  if (!isRecord(value)) return false;
  const texts = [value['tool'], value['pattern'], value['answerId']];
  return texts.every((text) => typeof text === 'string') && typeof value['at'] === 'number';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
