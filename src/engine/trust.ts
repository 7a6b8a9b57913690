// Remembers which wishes of a project's file a human accepted (V10). A wish counts once
// it is accepted, and then stays as it was accepted, whatever happens to the file, until
// a human accepts something else. Nothing here runs a program.
import fs from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import {
  joinPath,
  makePrintable,
  type Problem,
  problemSentence,
} from '../core/problem.ts';
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
 * Settings that only change what is drawn. Any other setting may run something or make us
 * weaker, so it has to be accepted.
 */
const harmless: readonly string[] = ['liveView'];
/** Enough for hundreds of projects; a larger file is not ours. */
const mostTrustBytes = 33_554_432;

/** One wish of a project: a whole check, one entry of a list, or one setting. */
export type Entry = Readonly<{ path: string; value: unknown }>;

/**
 * How a project's file differs from what was accepted. `problems`: the file cannot be
 * read, so it asks for nothing new.
 */
export interface Pending {
  readonly file: string;
  readonly added: readonly Entry[];
  readonly removed: readonly Entry[];
  readonly problems: readonly Problem[];
}

/** What a human accepted, and where. */
export interface Accepted {
  readonly key: string;
  /** The real path of the folder where it was accepted. */
  readonly folder: string;
  readonly at: number;
  readonly config: PartialSettings;
}

const trustPath = (stateDirectory: string) => join(stateDirectory, 'trust.json');

/**
 * Reads everything that was accepted. Returns [] also if the file belongs to another user
 * or others may write it: then nothing is trusted, and every difference is reported.
 */
export function readTrust(stateDirectory: string): readonly Accepted[] {
  const file = readBytes(trustPath(stateDirectory), mostTrustBytes, whyNotOurs);
  if (!file.ok) return [];
  try {
    const read: unknown = JSON.parse(Buffer.from(file.bytes).toString());
    return Array.isArray(read) ? (read as Accepted[]) : [];
  } catch {
    // Safe: a file that cannot be read accepts nothing.
    return [];
  }
}

function whyNotOurs({ uid, mode }: FileStats): string | null {
  const user = process.geteuid?.();
  return user === undefined || (uid === user && (mode & 0o022) === 0)
    ? null
    : 'is not yours alone';
}

type TrustKey = Pick<Accepted, 'key' | 'folder'>;
/**
 * The folder's path counts too, since `.git` may have come or gone and changed the key.
 */
const isSame = (one: TrustKey) => (other: TrustKey) =>
  one.key === other.key || one.folder === other.folder;

/**
 * Accepts the wishes for good. A place has one accepted set. Every folder in which it was
 * accepted is kept, one for each worktree.
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

/** Takes back what was accepted there; false: nothing was. */
export function revokeTrust(stateDirectory: string, place: TrustKey): boolean {
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

/** The settings of a project's file that count without being accepted. */
export function harmlessOf(config: PartialSettings): PartialSettings {
  return Object.fromEntries(
    Object.entries(config).filter(([name]) => harmless.includes(name)),
  );
}

/**
 * Takes a configuration apart into single wishes. Their order and format do not matter:
 * lists become entries, and keys are sorted.
 */
export function entriesOf(config: PartialSettings): Entry[] {
  return Object.entries(wishesOf(config)).flatMap(([name, value]): Entry[] => {
    // Another version may have stored it, under a name that this one does not know.
    const kind =
      Object.hasOwn(settingTable, name) &&
      settingTable[name as keyof typeof settingTable].type;
    if (kind === 'named')
      return Object.entries(value as object).map(([key, inner]) => ({
        path: joinPath(name, key),
        value: sortKeys(inner),
      }));
    if (!Array.isArray(value) || value.length === 0)
      return [{ path: name, value: sortKeys(value) }];
    return value.map((one: unknown) => ({ path: name, value: sortKeys(one) }));
  });
}

function sortKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}

/** Compares what a file asks for with what was accepted; null: they are equal. */
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
 * A folder in which trust may be given. `key`: the name under which it is trusted.
 * `isAbove`: it lies outside the repository in which the search began.
 */
export type TrustFolder = Readonly<{
  folder: string;
  real: string;
  key: string;
  isAbove: boolean;
}>;

/** The folders from `directory` upwards, nearest first. */
export function listTrustFolders(directory: string): readonly TrustFolder[] {
  const places: TrustFolder[] = [];
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
 * Finds the nearest folder with something accepted; null: there is none. A folder's own
 * path comes first, since its key changes when someone makes, links or removes `.git`.
 */
export function nearestAccepted(
  places: readonly TrustFolder[],
  all: readonly Accepted[],
) {
  return findNearest(places, all) ?? findNearest(places, all.flatMap(inWorktrees));
}

function findNearest(places: readonly TrustFolder[], all: readonly Accepted[]) {
  for (const place of places) {
    const known =
      all.find(({ folder }) => folder === place.real) ??
      all.find(({ key }) => key === place.key);
    if (known !== undefined) return { place, config: known.config };
  }
  return null;
}

/**
 * The same acceptance for each worktree that the repository names, whatever became of the
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
    // Safe: it was accepted outside a repository, or there are no worktrees.
    return [];
  }
}

function realPath(folder: string): string {
  try {
    return fs.realpathSync(folder);
  } catch {
    // Safe: a folder that is gone belongs to nobody.
    return folder;
  }
}

const shownPaths = 4;

/**
 * The sentence for the human, at the stop and at the next prompt. Paths come from a
 * checked configuration, so they are plain or quoted words.
 */
export function pendingSentence({ file, added, removed, problems }: Pending): string {
  const [problem] = problems;
  if (problem !== undefined)
    return `${makePrintable(file)} cannot be used (${problemSentence(problem)}); what you accepted before stays in force.`;
  const paths = [
    ...new Set((added.length === 0 ? removed : added).map(({ path }) => path)),
  ];
  const more = paths.length > shownPaths ? ', …' : '';
  const named = paths.slice(0, shownPaths).join(', ') + more;
  if (added.length === 0)
    return `${makePrintable(file)} no longer has what you accepted (${named}). It stays in force until you accept that too: run \`untildone trust\`.`;
  return `${makePrintable(file)} asks for things that you have not accepted (${named}). They are ignored until you do: run \`untildone trust\`.`;
}
