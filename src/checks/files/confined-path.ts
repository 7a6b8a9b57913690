// Turns a path that a model gave into a real place inside the workspace, or says why not.
// It opens and changes nothing. Between this answer and its use the tree can change: pinned-directory.ts
// closes that gap.
import { lstat, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { displayName } from '../../core/display-name.ts';
import { refuse } from '../../core/refusal.ts';
import { errorCode, explainFileError } from './file-error.ts';

export interface Place {
  /** The workspace root without symbolic links. */
  readonly root: string;
  /** The deepest part of the path that exists, without symbolic links; inside the root. */
  readonly existing: string;
  /** The names below `existing` that do not exist yet. Empty when the path exists. */
  readonly missing: readonly string[];
  /** How people and models see it: relative to the root, quoted if it is not plain. */
  readonly shown: string;
}

export type Resolved = { ok: true; place: Place } | { ok: false; error: string };

const hint = 'Give a path relative to the workspace root, such as "src/index.ts".';

export async function resolveInside(root: string, given: string): Promise<Resolved> {
  if (given.includes('\0')) return refuse(`A path must not contain NUL characters. ${hint}`);
  let realRoot: string;
  try {
    realRoot = await realpath(root);
  } catch (error) {
    // An agent can remove its own workspace: that is a sentence to it, not a crash of ours.
    return refuse(explainFileError(error, 'The workspace root'));
  }
  const inside = relativeToRoot(given, [root, realRoot]);
  if (inside === null) return refuse(`${displayName(given)} is outside the workspace. ${hint}`);
  const names = inside.split(sep).filter((name) => name !== '' && name !== '.');
  if (names.includes('..')) return refuse(`${displayName(given)} contains "..", which is refused. ${hint}`);
  return findDeepest(realRoot, names, displayName(names.join(sep) || '.'));
}

function relativeToRoot(given: string, roots: readonly string[]): string | null {
  if (!isAbsolute(given)) return given;
  const root = roots.find((candidate) => given === candidate || given.startsWith(withSeparator(candidate)));
  return root === undefined ? null : given.slice(root.length);
}

async function findDeepest(root: string, names: readonly string[], shown: string): Promise<Resolved> {
  for (let count = names.length; count >= 0; count -= 1) {
    const candidate = join(root, ...names.slice(0, count));
    try {
      const existing = await realpath(candidate);
      if (!isInside(root, existing)) {
        return refuse(`${shown} leads out of the workspace through a symbolic link, which is refused.`);
      }
      return { ok: true, place: { root, existing, missing: names.slice(count), shown } };
    } catch (error) {
      // Not there is an answer, not a failure: the parent is looked at next. All else is told to the model.
      if (!['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return refuse(explainFileError(error, shown));
    }
    if (await isThere(candidate))
      return refuse(`${shown} is a symbolic link to something that does not exist.`);
  }
  return refuse('The workspace root does not exist any more.');
}

/** Something that has no real path and yet is there is a link that leads nowhere. */
async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch {
    // Whatever cannot be looked at is treated as absent: creating it will then fail with the real reason.
    return false;
  }
}

export function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(withSeparator(root));
}

function withSeparator(path: string): string {
  return path.endsWith(sep) ? path : path + sep;
}

/** The place as the model would write it, after links: what the rules about protected files look at. */
export function realNames(place: Place): string[] {
  const existing = relative(place.root, place.existing);
  return [...existing.split(sep), ...place.missing].filter((name) => name !== '');
}
