// The fingerprint of a workspace (G7, V2): equal content, equal fingerprint, whether committed, staged or neither.
// It takes no lock, changes nothing and runs nothing that the workspace names. It cannot see what .gitignore hides, empty
// folders, file times and owners, and anything outside the folder. Who writes git's index by hand, or sets the time of a
// file back within the very second in which git looked at it, can hide a change until git next reads that file.
import { createHash } from 'node:crypto';
import { type BigIntStats, existsSync } from 'node:fs';
import { lstat, readlink, realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { CheckSpec } from '../core/check-specs.ts';
import { createPathSet, type PathSet } from '../core/glob.ts';
import type { Environment } from '../engine/policy.ts';
import { errorCode } from '../engine/system.ts';
import { explainFileError, isMissing, withRegularFile } from './files.ts';
import { openRepository, type Repository } from './git.ts';
import { type WalkWays, walk } from './walk.ts';

/**
 * What a workspace holds: each path with its mode and the id of its content (`100644 0123…`). The paths have one
 * character a byte (latin1), as git prints them, since names need not be UTF-8.
 */
export type Listing = ReadonlyMap<string, string>;

/** A path as people and patterns know it, one character a byte. */
export function keyOfPath(path: string): string {
  return isPlain.test(path) ? path : Buffer.from(path, 'utf8').toString('latin1');
}

export function pathOfKey(key: string): string {
  return isPlain.test(key) ? key : Buffer.from(key, 'latin1').toString('utf8');
}

const isPlain = /^\p{ASCII}*$/u;

export interface ListingOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /** Where to find git and its configuration; not given: that of this process. */
  readonly environment?: Environment;
}

export interface FingerprintChoice {
  /** Patterns; none: all. */
  readonly files?: readonly string[];
  /** Paths, relative to the folder, that do not count, with all below them: plan files, outputs of checks. */
  readonly exclude?: readonly string[];
}

export async function fingerprintWorkspace(
  directory: string,
  options: ListingOptions & FingerprintChoice = {},
) {
  const listed = await listWorkspace(directory, options);
  if (!listed.ok) return listed;
  const taken = fingerprintListing(listed.listing, options);
  return taken.ok ? { ...taken, source: listed.source } : taken;
}

export async function lookAtFiles(directory: string, exclude?: readonly string[]) {
  return fingerprintsIn(await listingOf(directory), exclude);
}

/** null: it could not be looked through. */
export async function listingOf(directory: string, options?: ListingOptions): Promise<Listing | null> {
  const listed = await listWorkspace(directory, options);
  return listed.ok ? listed.listing : null;
}

/** By check: the state of the files that it depends on, out of one listing for all (V2); null: it could not be taken. */
export function fingerprintsIn(listing: Listing | null, exclude: readonly string[] = []) {
  return ({ files }: Pick<CheckSpec, 'files'>): string | null => {
    const taken = listing && fingerprintListing(listing, { files, exclude });
    return taken?.ok ? (files.length === 0 ? '' : 'files:') + taken.fingerprint : null;
  };
}

export async function listWorkspace(directory: string, options: ListingOptions = {}) {
  const { environment = process.env } = options;
  const looked = await lookThrough('workspace', directory, options, (root, signal) =>
    listFolder(root, { signal, environment, depth: 0 }),
  );
  return looked.ok ? { ok: true as const, ...looked.found } : looked;
}

const defaultTimeoutMs = 30_000;

/** Given up in time, with the reason in words. `list` gets the folder without symbolic links in it. */
export async function lookThrough<Found>(
  what: 'workspace' | 'protected paths',
  directory: string,
  options: ListingOptions,
  list: (root: string, signal: AbortSignal) => Promise<Found | null>,
) {
  const refused = (sentence: string) => ({ ok: false as const, sentence });
  const { timeoutMs = defaultTimeoutMs } = options;
  const time = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([time, ...(options.signal === undefined ? [] : [options.signal])]);
  let root: string;
  try {
    root = await realpath(directory);
  } catch (error) {
    // Safe: there is no workspace to go on with, and the caller is told so.
    return refused(explainFileError(error, 'The workspace'));
  }
  const found = await list(root, signal);
  if (found !== null) return { ok: true as const, found };
  if (time.aborted) return refused(`The ${what} could not be looked through within ${timeoutMs / 1000} s.`);
  const reason = signal.aborted ? 'was interrupted' : 'found more files than it can handle';
  return refused(`The look through the ${what} ${reason}.`);
}

export function fingerprintListing(listing: Listing, { files = [], exclude = [] }: FingerprintChoice = {}) {
  const set = createPathSet(files);
  if (!set.ok) return { ok: false as const, sentence: set.error };
  const left = exclude.map((path) => keyOfPath(path.replace(/^\.\//u, '').replace(/\/+$/u, '')));
  const isChosen = (key: string): boolean =>
    !left.some((path) => key === path || key.startsWith(`${path}/`)) &&
    (files.length === 0 || set.paths.has(pathOfKey(key).split('/')));
  const chosen = [...listing.keys()].filter(isChosen).sort();
  const text = chosen.map((key) => `H ${listing.get(key)} 0\t${key}\0`).join('');
  const fingerprint = createHash('sha256').update(text, 'latin1').digest('hex');
  return { ok: true as const, fingerprint, files: chosen.length };
}

export function compareListings(before: Listing, after: Listing) {
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
  readonly environment: Environment;
  /** How many repositories lie around this one. */
  readonly depth: number;
}

async function listFolder(real: string, look: Look) {
  const byGit = await listByGit(real, look);
  if (byGit !== null) return { listing: byGit, source: 'git' as const };
  const walked = look.signal.aborted ? null : await listByWalk(real, look.signal);
  return walked && { listing: walked, source: 'walk' as const };
}

/** By git, which knows most contents already and every rule about what is ignored. Null: it cannot answer. */
async function listByGit(directory: string, look: Look): Promise<Listing | null> {
  const repository = await openRepository(directory, look.environment, look.signal);
  if (repository === null) return null;
  const { ask, isSmall } = repository;
  // Of a large repository two questions beside each other: git asks the file system with several threads only in the
  // second. Of a small one a single question: there the processes are what takes time.
  const [listed, changed] = await Promise.all([
    ask([...listArguments, ...(isSmall ? ['--modified'] : [])], directory),
    isSmall ? '' : ask(changedArguments, directory),
  ]);
  // Nothing at all: the folder is empty, or a repository further up ignores it, and then it is not git's to judge.
  if (listed === null || listed === '' || changed === null) return null;
  const { files, unsettled, repositories } = readGitFiles(listed, changed);
  const looked = await lookAtUnsettled(unsettled, directory, repository, look.signal);
  if (looked === null) return null;
  for (const [path, { skipped }] of unsettled) {
    files.delete(path);
    const value = looked.get(path) ?? skipped;
    if (value !== null) files.set(path, value);
  }
  for (const path of repositories) {
    const key = `${keyOfPath(directory)}/${path}`;
    const inner = await lookIntoRepository(key, repository.algorithm, look);
    if (inner !== null) files.delete(path);
    for (const [rest, value] of inner ?? []) files.set(path + rest, value);
  }
  return files;
}

const listArguments =
  'ls-files -z -v --stage --cached --others --exclude-standard --exclude=node_modules'.split(' ');
/** Tracked files that are not, or perhaps not, as git has them. */
const changedArguments =
  'diff-files -z --raw --relative --no-renames --no-ext-diff --ignore-submodules=all'.split(' ');
const gitlinkMode = '160000';

interface Unsettled {
  /** The mode that git has. */
  readonly mode: string | null;
  /** `mode id` of what was never checked out, so that its absence is no change; null for all else. */
  readonly skipped: string | null;
}

/** What git has the content of, and what must be looked at: changed, untracked, unmerged, or told not to be looked at. */
function readGitFiles(listed: string, changed: string) {
  const files = new Map<string, string>();
  const unsettled = new Map<string, Unsettled>();
  /** Submodules, and repositories inside this one. */
  const repositories = new Set<string>();
  const addUnsettled = (path: string, mode: string | null, skipped: string | null = null) =>
    unsettled.set(path, { mode, skipped: skipped ?? unsettled.get(path)?.skipped ?? null });
  for (let start = 0, end = 0; start < listed.length; start = end + 1) {
    end = listed.indexOf('\0', start);
    if (listed[start] === '?') {
      const path = listed.slice(start + 2, end);
      if (path.endsWith('/')) repositories.add(path.slice(0, -1));
      else addUnsettled(path, null);
      continue;
    }
    // `H 100644 0123…cdef 0<tab>path`. Lower case: assumed to be unchanged. `S`: not checked out. `C`: changed.
    const tab = listed.indexOf('\t', start);
    const path = listed.slice(tab + 1, end);
    const mode = listed.slice(start + 2, start + 8);
    const value = listed.slice(start + 2, tab - 2);
    files.set(path, value);
    if (mode === gitlinkMode) repositories.add(path);
    else if (listed[start] !== 'H') addUnsettled(path, mode, /s/iu.test(listed[start] ?? '') ? value : null);
  }
  // `:100644 100644 0123…cdef 0000…0000 M<nul>path<nul>`
  for (const [, mode = null, path = ''] of changed.matchAll(/:(\d{6}) [^\0]*\0([^\0]*)\0/gu))
    if (!repositories.has(path)) addUnsettled(path, mode);
  return { files, unsettled, repositories };
}

/** Repositories in repositories: nobody nests them deeper, but a hostile tree could. */
const deepestRepository = 5;

/** What stands for it in the outer listing, by the rest of the path. null: what git has for it. */
async function lookIntoRepository(
  key: string,
  algorithm: Repository['algorithm'],
  look: Look,
): Promise<Listing | null> {
  const stats = await lookAt(key);
  if (stats?.isDirectory() !== true) {
    const value = stats && (await contentValue(key, algorithm));
    return new Map(value === null ? [] : [['', value]]);
  }
  const inner = pathOfKey(key);
  let listing: Listing | null = null;
  if (look.depth < deepestRepository) {
    // A submodule without its own .git is, to git, the outer repository once more.
    listing = existsSync(join(inner, '.git'))
      ? ((await listFolder(inner, { ...look, depth: look.depth + 1 }))?.listing ?? null)
      : await listByWalk(inner, look.signal);
  }
  if (listing === null) return new Map([['', 'unknown']]);
  // An empty folder: a submodule that was not fetched is the commit that git has for it.
  return listing.size === 0 ? null : new Map([...listing].map(([path, value]) => [`/${path}`, value]));
}

/** Path → `mode id` of what is there, with the ids that git would give. null: interrupted. */
async function lookAtUnsettled(
  unsettled: ReadonlyMap<string, Unsettled>,
  directory: string,
  { top, algorithm, trustsMode, ask }: Repository,
  signal: AbortSignal,
): Promise<Listing | null> {
  const values = new Map<string, string>();
  const unread: { path: string; key: string; mode: string; stats: BigIntStats }[] = [];
  const since = Date.now();
  await inBatches([...unsettled], signal, async ([path, known]) => {
    const key = `${keyOfPath(directory)}/${path}`;
    const stats = await lookAt(key);
    if (stats === null || stats.isDirectory()) return;
    const keptMode = stats.isFile() && known.mode === '100755' ? known.mode : '100644';
    const mode = trustsMode || stats.isSymbolicLink() ? modeOf(stats) : keptMode;
    // A link that vanished or was replaced between two looks: another value than any content has.
    const id = await idWithoutReading(key, stats, algorithm).catch(() => 'changing');
    if (id === null) unread.push({ path, key, mode, stats });
    else values.set(path, `${mode} ${id}`);
  });
  if (signal.aborted) return null;
  const below = `${relative(top, directory).split(sep).join('/')}/`;
  const prefix = directory === top ? '' : keyOfPath(below);
  // By git and not by ourselves, since line ends and encodings may have to be converted first. Writes nothing.
  const input = unread.map(({ path }) => quotedLine(prefix + path)).join('');
  const output = input === '' ? '' : await ask(['hash-object', '--stdin-paths'], top, input);
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

/** What would not survive as a line is quoted as git does it. */
function quotedLine(path: string): string {
  if (!/[\n\r"\\]/u.test(path)) return `${path}\n`;
  const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r' };
  return `"${path.replace(/[\n\r"\\]/gu, (character) => escapes[character] ?? `\\${character}`)}"\n`;
}

/** A workspace with more names than this is not one that an agent works on. */
const mostEntries = 1_000_000;

/** Without git. null: interrupted, or too many names. A file whose name is not UTF-8 counts as one that cannot be read. */
export async function listByWalk(
  root: string,
  signal: AbortSignal,
  { paths, ignoreText }: { paths?: PathSet } & Pick<WalkWays, 'ignoreText'> = {},
): Promise<Listing | null> {
  const place = { root, existing: root, missing: [], shown: '.' };
  const { files: walked, left } = walk(place, mostEntries, signal, { ignoreText, enters: paths?.mayHold });
  const found: (readonly string[])[] = [];
  for await (const { names } of walked) if (paths?.has(names) !== false) found.push(names);
  const files = new Map<string, string>();
  await inBatches(found, signal, async (names) => {
    const value = await contentValue(keyOfPath(join(root, ...names)), 'sha256');
    if (value !== null) files.set(keyOfPath(names.join('/')), value);
  });
  if (left.isCut || signal.aborted) return null;
  // What is in a folder that nobody may look into is unknown, and that is a difference too.
  if (left.unreadableFolders > 0) files.set('/unreadable', String(left.unreadableFolders));
  return files;
}

/** Enough to keep the disk busy, few enough for every limit on open files. */
const atOnce = 32;

async function inBatches<Entry>(
  entries: readonly Entry[],
  signal: AbortSignal,
  work: (entry: Entry) => Promise<void>,
): Promise<void> {
  const left = entries.values();
  const worker = async () => {
    for (const entry of left) if (!signal.aborted) await work(entry);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
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
  return known?.stamp === stampOf(stats) ? known.id : null;
}

/** `since` is when the reading began. */
export function rememberId(key: string, stats: BigIntStats, id: string, since: number): void {
  if (Number(stats.ctimeMs) + settledMs > since || Number(stats.mtimeMs) + settledMs > since) return;
  if (remembered.size >= mostRemembered) remembered.clear();
  remembered.set(key, { stamp: stampOf(stats), id });
}

async function idWithoutReading(key: string, stats: BigIntStats, algorithm: Repository['algorithm']) {
  if (stats.isSymbolicLink()) {
    const target = await readlink(Buffer.from(key, 'latin1'), { encoding: 'buffer' });
    return createHash(algorithm).update(`blob ${target.byteLength}\0`).update(target).digest('hex');
  }
  if (!stats.isFile()) return 'special';
  return stats.size > hugeBytes ? `huge ${stampOf(stats)}` : rememberedId(key, stats);
}

/** `mode id`, the id as git would give it to a file that it converts nothing in. null: there is nothing. */
export async function contentValue(key: string, algorithm: Repository['algorithm']): Promise<string | null> {
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
    if (opened.kind === 'file') rememberId(key, stats, opened.result, since);
    return `${modeOf(stats)} ${opened.kind === 'file' ? opened.result : 'special'}`;
  } catch (error) {
    // What vanished meanwhile is not there; what cannot be read is there with content that nobody knows.
    return isMissing(error) ? null : `unreadable ${errorCode(error)}`;
  }
}
