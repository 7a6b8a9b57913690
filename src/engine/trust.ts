// What a project's file asks for is a stranger's wish (V10): it counts once a human
// accepted it, and then stays as it was accepted, whatever becomes of the file, until a
// human accepts something else. Nothing here runs a program.
import fs from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { joinPath, type Problem, printable, problemSentence } from '../core/problem.ts';
import { type PartialSettings, settingTable } from '../core/settings.ts';
import {
  type FileStats,
  findRepository,
  makeFolder,
  readBytes,
  smallText,
} from './system.ts';
import { replaceFile } from './text-file.ts';

/**
 * Changes nothing but what is drawn. Whatever else a setting does may run something or
 * weaken us.
 */
const harmless: readonly string[] = ['liveView'];
/** Hundreds of projects; more is no file of ours. */
const mostTrustBytes = 33_554_432;

/** One thing that a project asks for: a whole check, one entry of a list, a setting. */
export type Entry = Readonly<{ path: string; value: unknown }>;

/** `problems`: the file cannot be read, so it asks for nothing new. */
export interface Pending {
  readonly file: string;
  readonly added: readonly Entry[];
  readonly removed: readonly Entry[];
  readonly problems: readonly Problem[];
}

export interface Accepted {
  readonly key: string;
  /** Where it was accepted: its real path. */
  readonly folder: string;
  readonly at: number;
  readonly config: PartialSettings;
}

const trustPath = (stateDirectory: string) => join(stateDirectory, 'trust.json');

/**
 * Empty too where the file is not ours alone: then nothing is trusted, and every
 * difference is told.
 */
export function readTrust(stateDirectory: string): readonly Accepted[] {
  const file = readBytes(trustPath(stateDirectory), mostTrustBytes, whyNotOurs);
  if (!file.ok) return [];
  try {
    const read: unknown = JSON.parse(Buffer.from(file.bytes).toString());
    return Array.isArray(read) ? (read as Accepted[]) : [];
  } catch {
    // Safe: what cannot be read accepts nothing.
    return [];
  }
}

function whyNotOurs({ uid, mode }: FileStats): string | null {
  const user = process.geteuid?.();
  return user === undefined || (uid === user && (mode & 0o022) === 0)
    ? null
    : 'is not yours alone';
}

type At = Pick<Accepted, 'key' | 'folder'>;
/** By its path too: `.git` may have come or gone since. */
const isSame = (one: At) => (other: At) =>
  one.key === other.key || one.folder === other.folder;

/**
 * For good: a place has one accepted set. Every folder in which it was accepted is kept,
 * worktree by worktree.
 */
export function acceptWishes(stateDirectory: string, { config, ...at }: Accepted): void {
  const fresh = { ...at, config: wishesOf(config) };
  const others = readTrust(stateDirectory)
    .filter(({ key, folder }) => key !== at.key || folder !== at.folder)
    .map((one) =>
      isSame(at)(one) ? { ...fresh, key: one.key, folder: one.folder } : one,
    );
  writeTrust(stateDirectory, [...others, fresh]);
}

/** False: nothing was accepted there. */
export function revokeTrust(stateDirectory: string, place: At): boolean {
  const before = readTrust(stateDirectory);
  const others = before.filter((accepted) => !isSame(place)(accepted));
  if (others.length < before.length) writeTrust(stateDirectory, others);
  return others.length < before.length;
}

function writeTrust(stateDirectory: string, all: readonly Accepted[]): void {
  makeFolder(stateDirectory, 0o700);
  replaceFile(trustPath(stateDirectory), `${JSON.stringify(all, null, 1)}\n`, {
    like: null,
    mode: 0o600,
  });
}

/** The part of a project's file that has to be accepted. */
function wishesOf(config: PartialSettings): PartialSettings {
  return Object.fromEntries(
    Object.entries(config).filter(([name]) => !harmless.includes(name)),
  );
}

export function harmlessOf(config: PartialSettings): PartialSettings {
  return Object.fromEntries(
    Object.entries(config).filter(([name]) => harmless.includes(name)),
  );
}

/** Order and format do not matter: lists are taken apart, keys are sorted. */
export function entriesOf(config: PartialSettings): Entry[] {
  return Object.entries(wishesOf(config)).flatMap(([name, value]): Entry[] => {
    // Another version may have kept it, under a name that this one does not have.
    const kind =
      Object.hasOwn(settingTable, name) &&
      settingTable[name as keyof typeof settingTable].type;
    if (kind === 'named')
      return Object.entries(value as object).map(([key, inner]) => ({
        path: joinPath(name, key),
        value: sorted(inner),
      }));
    if (!Array.isArray(value) || value.length === 0)
      return [{ path: name, value: sorted(value) }];
    return value.map((one: unknown) => ({ path: name, value: sorted(one) }));
  });
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}

/** Null: the file asks for what was accepted. */
export function compareWishes(
  file: string,
  accepted: PartialSettings | null,
  asked: PartialSettings,
  problems: readonly Problem[] = [],
): Pending | null {
  const before = entriesOf(accepted ?? {});
  const now = problems.length > 0 ? before : entriesOf(asked);
  const lacks = (list: readonly Entry[]) => {
    const known = new Set(list.map((entry) => JSON.stringify(entry)));
    return (entry: Entry) => !known.has(JSON.stringify(entry));
  };
  const difference = {
    added: now.filter(lacks(before)),
    removed: before.filter(lacks(now)),
  };
  if (problems.length + difference.added.length + difference.removed.length === 0)
    return null;
  return { file, ...difference, problems };
}

/**
 * `key`: under which the folder is trusted. `isAbove`: outside the repository in which
 * the walk began.
 */
export type Place = Readonly<{
  folder: string;
  real: string;
  key: string;
  isAbove: boolean;
}>;

/** The folders from `directory` upwards. */
export function trustPlaces(directory: string): readonly Place[] {
  const places: Place[] = [];
  let repository = findRepository(directory);
  let isAbove = false;
  for (let folder = directory; ; folder = dirname(folder)) {
    const { root = null, shared = null } = repository ?? {};
    const real = realPath(folder);
    const key =
      root === null || shared === null
        ? real
        : JSON.stringify([shared, relative(root, folder)]);
    places.push({ folder, real, key, isAbove });
    if (dirname(folder) === folder) return places;
    if (folder !== root) continue;
    repository = findRepository(dirname(folder));
    isAbove = true;
  }
}

/**
 * A folder's own path comes first: the key changes when someone makes, links or removes
 * `.git`.
 */
export function nearestAccepted(places: readonly Place[], all: readonly Accepted[]) {
  return findNearest(places, all) ?? findNearest(places, all.flatMap(inWorktrees));
}

function findNearest(places: readonly Place[], all: readonly Accepted[]) {
  for (const place of places) {
    const known =
      all.find(({ folder }) => folder === place.real) ??
      all.find(({ key }) => key === place.key);
    if (known !== undefined) return { place, config: known.config };
  }
  return null;
}

/**
 * As if accepted in each worktree that the repository names, whatever became of the
 * `.git` there.
 */
function inWorktrees(accepted: Accepted): Accepted[] {
  try {
    const [shared, inside] = JSON.parse(accepted.key);
    const worktrees = join(shared, 'worktrees');
    return fs.readdirSync(worktrees).map((name) => {
      const dot = resolve(
        worktrees,
        name,
        smallText(join(worktrees, name, 'gitdir')).trim(),
      );
      return { ...accepted, folder: join(realPath(dirname(dot)), inside) };
    });
  } catch {
    // Safe: it was accepted without a repository, or there are no worktrees.
    return [];
  }
}

function realPath(folder: string): string {
  try {
    return fs.realpathSync(folder);
  } catch {
    // Safe: a folder that is gone is nobody's.
    return folder;
  }
}

const shownPaths = 4;

/**
 * For the human, at the stop and at the next prompt. Paths come from a checked
 * configuration: plain words or quoted.
 */
export function pendingSentence({ file, added, removed, problems }: Pending): string {
  const [problem] = problems;
  if (problem !== undefined)
    return `${printable(file)} cannot be used (${problemSentence(problem)}); what you accepted before stays in force.`;
  const paths = [
    ...new Set((added.length === 0 ? removed : added).map(({ path }) => path)),
  ];
  const more = paths.length > shownPaths ? ', …' : '';
  const named = paths.slice(0, shownPaths).join(', ') + more;
  if (added.length === 0)
    return `${printable(file)} no longer has what you accepted (${named}). It stays in force until you accept that too: run \`untildone trust\`.`;
  return `${printable(file)} asks for things that you have not accepted (${named}). They are ignored until you do: run \`untildone trust\`.`;
}
