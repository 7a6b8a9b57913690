// The fingerprint of a workspace (G7, V2): equal content, equal fingerprint, whether committed, staged or neither.
// It takes no lock, changes nothing and runs nothing that the workspace names. Ignored files do not count.
//
// What it cannot see: what .gitignore hides, empty folders, file times and owners, and anything outside the folder.
// Someone who writes git's index by hand, or sets the time of a file back within the very second in which git looked
// at it, can make a changed file look unchanged until git next reads it.
import { createHash } from 'node:crypto';
import { type BigIntStats, existsSync } from 'node:fs';
import { lstat, readlink, realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { CheckSpec } from '../core/check-spec.ts';
import { createPathSet, type PathSet } from '../core/glob/path-set.ts';
import { errorCode, explainFileError, isMissing, type Place, withRegularFile } from './files.ts';
import { findRepository, type GitSettings, hasSmallIndex, readGitSettings, runGit } from './git.ts';
import { type IgnoreText, walk } from './walk.ts';

/**
 * What a workspace holds: each path with its mode and the id of its content (`100644 0123…`). The paths have one
 * character a byte (latin1), as git prints them, since names need not be UTF-8.
 */
export type Listing = ReadonlyMap<string, string>;

/** A path as people and patterns know it, one character a byte. */
export function keyOfPath(path: string): string {
  return isAscii(path) ? path : Buffer.from(path, 'utf8').toString('latin1');
}

export function pathOfKey(key: string): string {
  return isAscii(key) ? key : Buffer.from(key, 'latin1').toString('utf8');
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}

export interface ListingOptions {
  readonly signal?: AbortSignal;
  /** When to give up; a stop attempt waits for the answer. */
  readonly timeoutMs?: number;
  /** Where to find git and its configuration; not given: that of this process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

export interface FingerprintChoice {
  /** Patterns of the files that count; none: all. */
  readonly files?: readonly string[];
  /** Paths, relative to the folder, that do not count, with all below them: plan files, outputs of checks. */
  readonly exclude?: readonly string[];
}

interface Refused {
  readonly ok: false;
  readonly sentence: string;
}
interface Listed {
  readonly ok: true;
  readonly listing: Listing;
  readonly source: 'git' | 'walk';
}
interface Fingerprint {
  readonly ok: true;
  readonly fingerprint: string;
  /** How many files it stands for. */
  readonly files: number;
}

const defaultTimeoutMs = 30_000;

/** Repositories in repositories: nobody nests them deeper, but a hostile tree could. */
const deepestRepository = 5;

export async function fingerprintWorkspace(
  directory: string,
  options: ListingOptions & FingerprintChoice = {},
): Promise<(Fingerprint & Pick<Listed, 'source'>) | Refused> {
  const listed = await listWorkspace(directory, options);
  if (!listed.ok) return listed;
  const taken = fingerprintListing(listed.listing, options);
  return taken.ok ? { ...taken, source: listed.source } : taken;
}

/** By check: the state of the files that it depends on; null where none could be taken. */
export type FingerprintOf = (spec: Pick<CheckSpec, 'files'>) => string | null;

/** One look at the workspace serves every check (V2). `exclude`: paths that do not count for any, such as plan files. */
export async function lookAtFiles(
  directory: string,
  exclude: readonly string[] = [],
): Promise<FingerprintOf> {
  const listed = await listWorkspace(directory);
  return ({ files }) => {
    const taken = listed.ok ? fingerprintListing(listed.listing, { files, exclude }) : null;
    const scope = files.length === 0 ? '' : 'files:';
    return taken?.ok ? scope + taken.fingerprint : null;
  };
}

/** One listing serves any number of fingerprints: checks differ only in the files that they depend on. */
export async function listWorkspace(
  directory: string,
  options: ListingOptions = {},
): Promise<Listed | Refused> {
  const { environment = process.env, timeoutMs = defaultTimeoutMs } = options;
  const time = AbortSignal.timeout(timeoutMs);
  const signal = options.signal === undefined ? time : AbortSignal.any([options.signal, time]);
  let root: string;
  try {
    root = await realpath(directory);
  } catch (error) {
    // Safe: there is no workspace to go on with, and the caller is told so.
    return { ok: false, sentence: explainFileError(error, 'The workspace') };
  }
  const listed = await listFolder(root, { signal, environment, depth: 0 });
  if (listed !== null) return listed;
  if (time.aborted) {
    const seconds = timeoutMs / 1000;
    return { ok: false, sentence: `The workspace could not be looked through within ${seconds} s.` };
  }
  const reason = signal.aborted ? 'was interrupted' : 'found more files than it can handle';
  return { ok: false, sentence: `The look through the workspace ${reason}.` };
}

export function fingerprintListing(
  listing: Listing,
  { files = [], exclude = [] }: FingerprintChoice = {},
): Fingerprint | Refused {
  const set = createPathSet(files);
  if (!set.ok) return { ok: false, sentence: set.error };
  const left = exclude.map((path) => keyOfPath(path.replace(/^\.\//u, '').replace(/\/+$/u, '')));
  const isChosen = (key: string): boolean =>
    !left.some((path) => key === path || key.startsWith(`${path}/`)) &&
    (files.length === 0 || set.paths.has(pathOfKey(key).split('/')));
  const chosen = [...listing.keys()].filter(isChosen).sort();
  const text = chosen.map((key) => `H ${listing.get(key)} 0\t${key}\0`).join('');
  const hash = createHash('sha256').update(text, 'latin1');
  return { ok: true, fingerprint: hash.digest('hex'), files: chosen.length };
}

export interface ListingChanges {
  readonly changed: readonly string[];
  readonly deleted: readonly string[];
  readonly added: readonly string[];
}

export function compareListings(before: Listing, after: Listing): ListingChanges {
  const paths = (from: Listing, differs: (key: string, value: string) => boolean) =>
    [...from]
      .filter(([key, value]) => differs(key, value))
      .map(([key]) => pathOfKey(key))
      .sort();
  return {
    changed: paths(before, (key, value) => after.has(key) && after.get(key) !== value),
    deleted: paths(before, (key) => !after.has(key)),
    added: paths(after, (key) => !before.has(key)),
  };
}

interface Look {
  readonly signal: AbortSignal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** How many repositories lie around this one. */
  readonly depth: number;
}

/** `real` has no symbolic link in it. */
async function listFolder(real: string, look: Look): Promise<Listed | null> {
  const byGit = await listByGit(real, look);
  if (byGit !== null) return { ok: true, listing: byGit, source: 'git' };
  const walked = look.signal.aborted ? null : await listByWalk(real, look.signal);
  return walked === null ? null : { ok: true, listing: walked, source: 'walk' };
}

/** By git, which knows most contents already and every rule about what is ignored. Null: it cannot answer. */
async function listByGit(directory: string, look: Look): Promise<Listing | null> {
  const { signal } = look;
  const repository = findRepository(directory, look.environment);
  if (repository === null) return null;
  const settings = await readGitSettings(repository, signal);
  if (settings === null) return null;
  const ask = (words: readonly string[], place: { readonly directory: string; readonly input?: string }) =>
    runGit(repository, { ...place, signal, settings: settings.withoutFilters, arguments: words });
  // Of a large repository two questions beside each other: git asks the file system with several threads only in the
  // second. Of a small one a single question: there the processes are what takes time.
  const small = hasSmallIndex(repository);
  const [listed, changed] = await Promise.all([
    ask([...listArguments, ...(small ? ['--modified'] : [])], { directory }),
    small ? '' : ask(changedArguments, { directory }),
  ]);
  // Nothing at all: the folder is empty, or a repository further up ignores it, and then it is not git's to judge.
  if (listed === null || listed === '' || changed === null) return null;
  const { files, unsettled, repositories } = readGitFiles(listed, changed);
  const prefix = keyOfPath(relative(repository.top, directory).split(sep).join('/'));
  const hashed = await lookAtUnsettled(unsettled, directory, settings, signal, async (paths) => {
    const input = paths.map((path) => quotedLine(prefix === '' ? path : `${prefix}/${path}`)).join('');
    // By git and not by ourselves, since line ends and encodings may have to be converted first. Writes nothing.
    return ask(['hash-object', '--stdin-paths'], { directory: repository.top, input });
  });
  if (hashed === null) return null;
  for (const [path, { skipped }] of unsettled) setOrDelete(files, path, hashed.get(path) ?? skipped);
  for (const path of repositories) await lookIntoRepository(path, directory, settings.algorithm, look, files);
  return files;
}

const listArguments = [
  ...['ls-files', '-z', '-v', '--stage', '--cached'],
  ...['--others', '--exclude-standard', '--exclude=node_modules'],
];
/** Tracked files that are not, or perhaps not, as git has them. */
const changedArguments = [
  ...['diff-files', '-z', '--raw', '--relative', '--no-renames', '--no-ext-diff', '--ignore-submodules=all'],
];
const gitlinkMode = '160000';

interface Unsettled {
  /** The mode that git has, or null where it has none. */
  readonly mode: string | null;
  /** `mode id` of what was never checked out, so that its absence is no change; null for all else. */
  readonly skipped: string | null;
}

/** What git has the content of, and what must be looked at: changed, untracked, unmerged, or told not to be looked at. */
function readGitFiles(listed: string, changed: string) {
  const files = new Map<string, string>();
  const unsettled = new Map<string, Unsettled>();
  /** Submodules, and repositories inside this one, which git lists as one entry. */
  const repositories = new Set<string>();
  for (let start = 0, end = 0; start < listed.length; start = end + 1) {
    end = listed.indexOf('\0', start);
    if (listed[start] === '?') {
      const path = listed.slice(start + 2, end);
      if (path.endsWith('/')) repositories.add(path.slice(0, -1));
      else unsettled.set(path, { mode: null, skipped: null });
      continue;
    }
    // `H 100644 0123…cdef 0<tab>path`. Lower case: assumed to be unchanged. `S`: not checked out. `C`: changed.
    const tab = listed.indexOf('\t', start);
    const path = listed.slice(tab + 1, end);
    const mode = listed.slice(start + 2, start + 8);
    const value = listed.slice(start + 2, tab - 2);
    files.set(path, value);
    if (mode === gitlinkMode) repositories.add(path);
    else if (listed[start] !== 'H') {
      const isSkipped = /s/iu.test(listed[start] ?? '');
      unsettled.set(path, { mode, skipped: isSkipped ? value : (unsettled.get(path)?.skipped ?? null) });
    }
  }
  // `:100644 100644 0123…cdef 0000…0000 M<nul>path<nul>`
  for (const [, mode = null, path = ''] of changed.matchAll(/:(\d{6}) [^\0]*\0([^\0]*)\0/gu))
    if (!repositories.has(path)) unsettled.set(path, { mode, skipped: unsettled.get(path)?.skipped ?? null });
  return { files, unsettled, repositories };
}

function setOrDelete(files: Map<string, string>, path: string, value: string | null): void {
  if (value === null) files.delete(path);
  else files.set(path, value);
}

async function lookIntoRepository(
  path: string,
  directory: string,
  algorithm: GitSettings['algorithm'],
  look: Look,
  files: Map<string, string>,
): Promise<void> {
  const key = `${keyOfPath(directory)}/${path}`;
  const stats = await lookAt(key);
  if (stats === null || !stats.isDirectory()) {
    setOrDelete(files, path, stats === null ? null : await contentValue(key, algorithm));
    return;
  }
  const inner = pathOfKey(key);
  let listing: Listing | null = null;
  if (look.depth < deepestRepository) {
    // A submodule without its own .git is, to git, the outer repository once more.
    listing = existsSync(join(inner, '.git'))
      ? ((await listFolder(inner, { ...look, depth: look.depth + 1 }))?.listing ?? null)
      : await listByWalk(inner, look.signal);
  }
  if (listing === null) files.set(path, 'unknown');
  // An empty folder: a submodule that was not fetched is the commit that git has for it.
  if (listing === null || listing.size === 0) return;
  files.delete(path);
  for (const [innerPath, value] of listing) files.set(`${path}/${innerPath}`, value);
}

/** Path → `mode id` of what is there, with the ids that git would give. null: interrupted. */
async function lookAtUnsettled(
  unsettled: ReadonlyMap<string, Unsettled>,
  directory: string,
  { algorithm, trustsMode }: GitSettings,
  signal: AbortSignal,
  hashByGit: (paths: readonly string[]) => Promise<string | null>,
): Promise<Map<string, string> | null> {
  const values = new Map<string, string>();
  const unread: { path: string; key: string; mode: string; stats: BigIntStats }[] = [];
  const since = Date.now();
  await inBatches([...unsettled], signal, async ([path, known]) => {
    const key = `${keyOfPath(directory)}/${path}`;
    const stats = await lookAt(key);
    if (stats === null || stats.isDirectory()) return;
    const keepsMode = !trustsMode && !stats.isSymbolicLink();
    const mode = keepsMode
      ? stats.isFile() && known.mode === '100755'
        ? known.mode
        : '100644'
      : modeOf(stats);
    // A link that vanished or was replaced between two looks: another value than any content has.
    const id = await idWithoutReading(key, stats, algorithm).catch(() => 'changing');
    if (id === null) unread.push({ path, key, mode, stats });
    else values.set(path, `${mode} ${id}`);
  });
  if (signal.aborted) return null;
  const output = unread.length === 0 ? '' : await hashByGit(unread.map(({ path }) => path));
  if (signal.aborted) return null;
  const ids = output?.split('\n').filter((line) => line !== '') ?? [];
  for (const [index, { path, key, mode, stats }] of unread.entries()) {
    const id = ids.length === unread.length ? ids[index] : undefined;
    // git gave up on one of them, perhaps because it vanished; read by ourselves they cannot stop each other.
    const value = id === undefined ? await contentValue(key, algorithm) : `${mode} ${id}`;
    if (value !== null) values.set(path, value);
    if (id !== undefined) rememberId(key, stats, id, since);
  }
  return values;
}

/** One path a line; what would not survive that is quoted as git does it. */
function quotedLine(path: string): string {
  if (!/[\n\r"\\]/u.test(path)) return `${path}\n`;
  const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r' };
  return `"${path.replace(/[\n\r"\\]/gu, (character) => escapes[character] ?? `\\${character}`)}"\n`;
}

/** A workspace with more names than this is not one that an agent works on. */
const mostEntries = 1_000_000;

export interface WalkChoice {
  /** Only these; not given: all. */
  readonly paths?: PathSet;
  /** Which rules about ignored files hold; not given: those in the workspace now. */
  readonly ignoreText?: IgnoreText;
}

/**
 * Without git: a walk, and the content of every file it meets. `root` has no symbolic link in it. null: interrupted, or
 * more names than can be looked at. A file whose name is not UTF-8 counts as one that cannot be read.
 */
export async function listByWalk(
  root: string,
  signal: AbortSignal,
  { paths, ignoreText }: WalkChoice = {},
): Promise<Listing | null> {
  const place: Place = { root, existing: root, missing: [], shown: '.' };
  const enters = paths === undefined ? undefined : (folder: readonly string[]) => paths.mayHold(folder);
  const walked = walk(place, mostEntries, signal, { ignoreText, enters });
  const found: (readonly string[])[] = [];
  for await (const { names } of walked.files) if (paths?.has(names) !== false) found.push(names);
  const files = new Map<string, string>();
  await inBatches(found, signal, async (names) => {
    const value = await contentValue(keyOfPath(join(root, ...names)), 'sha256');
    if (value !== null) files.set(keyOfPath(names.join('/')), value);
  });
  if (walked.left.isCut || signal.aborted) return null;
  // What is in a folder that nobody may look into is unknown, and that is a difference too.
  if (walked.left.unreadableFolders > 0) files.set('/unreadable', String(walked.left.unreadableFolders));
  return files;
}

/** Enough to keep the disk busy, few enough for every limit on open files. */
const atOnce = 32;

async function inBatches<Item>(
  entries: readonly Item[],
  signal: AbortSignal,
  work: (entry: Item) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < entries.length && !signal.aborted; at = next++)
      await work(entries[at] as Item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, entries.length) }, worker));
}

/** Above this a file is told apart by its stat alone: reading a disk image at every stop would take minutes. */
const hugeBytes = 256n * 1024n * 1024n;

/** A file that changed so recently can change again within one tick of the clock of the file system. */
const settledMs = 2000;

const mostRemembered = 200_000;
const remembered = new Map<string, { readonly stamp: string; readonly id: string }>();

/** What changes with every change of a file: nobody can set ctime back without setting the clock. */
function stampOf(stats: BigIntStats): string {
  return `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
}

function modeOf(stats: BigIntStats): string {
  if (stats.isSymbolicLink()) return '120000';
  return (stats.mode & 0o100n) === 0n ? '100644' : '100755';
}

/** null: it is gone, and then it is not part of the workspace. */
async function lookAt(key: string): Promise<BigIntStats | null> {
  return lstat(Buffer.from(key, 'latin1'), { bigint: true }).catch(() => null); // safe: absent is an answer
}

export function rememberedId(key: string, stats: BigIntStats): string | null {
  const known = remembered.get(key);
  return known !== undefined && known.stamp === stampOf(stats) ? known.id : null;
}

/** `since` is when the reading began. */
export function rememberId(key: string, stats: BigIntStats, id: string, since: number): void {
  if (Number(stats.ctimeMs) + settledMs > since || Number(stats.mtimeMs) + settledMs > since) return;
  if (remembered.size >= mostRemembered) remembered.clear();
  remembered.set(key, { stamp: stampOf(stats), id });
}

/** Where that is possible: links, huge files, what is no file, and what was read before and has not changed. */
async function idWithoutReading(
  key: string,
  stats: BigIntStats,
  algorithm: GitSettings['algorithm'],
): Promise<string | null> {
  if (stats.isSymbolicLink()) {
    const target = await readlink(Buffer.from(key, 'latin1'), { encoding: 'buffer' });
    return createHash(algorithm).update(`blob ${target.byteLength}\0`).update(target).digest('hex');
  }
  if (!stats.isFile()) return 'special';
  return stats.size > hugeBytes ? `huge ${stampOf(stats)}` : rememberedId(key, stats);
}

/** `mode id`, the id as git would give it to a file that it converts nothing in. null: there is nothing. */
export async function contentValue(key: string, algorithm: GitSettings['algorithm']): Promise<string | null> {
  try {
    const since = Date.now();
    const stats = await lstat(Buffer.from(key, 'latin1'), { bigint: true });
    const quick = await idWithoutReading(key, stats, algorithm);
    if (quick !== null) return `${modeOf(stats)} ${quick}`;
    const opened = await withRegularFile(pathOfKey(key), async (handle, { size }) => {
      const hash = createHash(algorithm).update(`blob ${size}\0`);
      for await (const chunk of handle.createReadStream({ autoClose: false })) hash.update(chunk as Buffer);
      return hash.digest('hex');
    });
    if (opened.kind === 'other') return `${modeOf(stats)} special`;
    rememberId(key, stats, opened.result, since);
    return `${modeOf(stats)} ${opened.result}`;
  } catch (error) {
    // What vanished meanwhile is not there; what cannot be read is there with content that nobody knows.
    return isMissing(error) ? null : `unreadable ${errorCode(error)}`;
  }
}
