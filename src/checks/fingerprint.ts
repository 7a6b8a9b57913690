// The fingerprint of a workspace (G7, V2): equal content, equal fingerprint, committed or
// not. It takes no lock, writes nothing and runs nothing that the workspace names. Files
// ignored at the human's message, empty folders, times and owners do not count.
import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { lstat, readlink, realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { CheckSpec } from '../core/check-specs.ts';
import { refuse } from '../core/error.ts';
import { createPathSet } from '../core/glob.ts';
import type { Environment } from '../engine/policy.ts';
import { errorCode } from '../engine/system.ts';
import { explainFileError, isMissing, withRegularFile } from './files.ts';
import {
  excludesThen,
  type FrozenIgnoreRules,
  findExcludesFile,
  hasRuleChanged,
  type IgnoreRules,
  openRepository,
  type Repository,
  textThen,
} from './git.ts';
import { type WalkWays, walkFolder } from './walk.ts';

type Algorithm = Repository['algorithm'];

/**
 * Path → mode and id (`100644 0123…`). A key has one character for each byte of the path,
 * since names need not be UTF-8.
 */
export type Listing = ReadonlyMap<string, string>;

/** The key of a path in a listing, and back. */
export const keyOfPath = (path: string) => Buffer.from(path, 'utf8').toString('latin1');
export const pathOfKey = (key: string) => Buffer.from(key, 'latin1').toString('utf8');

/** How a look is bounded, and by which ignore rules it goes. */
export type ListingOptions = Readonly<{
  signal?: AbortSignal;
  timeoutMs?: number;
  environment?: Environment;
  /** Absent: the ignore rules of this moment. */
  rules?: IgnoreRules | undefined;
}>;

export type ListedFile = Awaited<ReturnType<typeof listWorkspace>>;

/**
 * Lists the workspace, or says why it cannot be looked through. `hidden`: files that are
 * ignored now but were not at the human's message; they are listed all the same. A change
 * can be hidden only by writing git's index by hand, or by setting a file's time back at
 * once, and only until git next reads that file.
 */
export async function listWorkspace(directory: string, options: ListingOptions = {}) {
  const { environment = process.env, rules } = options;
  const hidden: string[] = [];
  let prefix = '';
  const listed = await lookThrough('workspace', directory, options, (root, signal) => {
    prefix = `${root}/`;
    return listFolder(root, { signal, environment, depth: 0, rules, hidden });
  });
  if (!listed.ok) return listed;
  return { ...listed, hidden: hidden.map((key) => pathOfKey(key).slice(prefix.length)) };
}

/**
 * Returns a function from a check to the fingerprint of its files; null: it is unknown
 * (V2).
 */
export function fingerprintsIn(
  listed: Awaited<ReturnType<typeof lookThrough>>,
  exclude: readonly string[] = [],
) {
  const known = new Map<string, string | null>();
  return ({ files }: Pick<CheckSpec, 'files'>) => {
    const key = JSON.stringify(files);
    // Hundreds of todos share a check, and each fingerprint sorts and hashes all names.
    if (!known.has(key)) {
      const taken = listed.ok
        ? fingerprintListing(listed.listing, { files, exclude })
        : listed;
      known.set(
        key,
        taken.ok ? (files.length === 0 ? '' : 'files:') + taken.fingerprint : null,
      );
    }
    return known.get(key) ?? null;
  };
}

/** Lists the workspace now, for `fingerprintsIn`. */
export async function lookAtFiles(
  directory: string,
  { exclude, rules }: Partial<FrozenIgnoreRules> = {},
) {
  return fingerprintsIn(await listWorkspace(directory, { rules }), exclude);
}

/**
 * `files`: patterns of the files that count; none: all files. `exclude`: paths that do
 * not count, with everything below them.
 */
export type FingerprintChoice = Partial<
  Readonly<Record<'files' | 'exclude', readonly string[]>>
>;

/** Hashes the chosen files of a listing, or says which pattern is wrong. */
export function fingerprintListing(
  listing: Listing,
  { files = [], exclude = [] }: FingerprintChoice = {},
) {
  const set = createPathSet(files);
  if (!set.ok) return set;
  const excludedKeys = exclude.map((path) => keyOfPath(path.replace(/^\.\/|\/+$/gu, '')));
  const isExcluded = (key: string) =>
    excludedKeys.some((path) => key === path || key.startsWith(`${path}/`));
  const isNamed = (key: string) =>
    files.length === 0 || set.paths.has(pathOfKey(key).split('/'));
  const chosen = [...listing.keys()]
    .filter((key) => !isExcluded(key) && isNamed(key))
    .sort();
  const text = chosen.map((key) => `H ${listing.get(key)} 0\t${key}\0`).join('');
  const fingerprint = createHash('sha256').update(text, 'latin1').digest('hex');
  return { ok: true as const, fingerprint, files: chosen.length };
}

/** The paths that differ between two listings. */
export function compareListings(before: Listing, after: Listing) {
  const paths = (from: Listing, differs: (key: string) => boolean) =>
    [...from.keys()].filter(differs).map(pathOfKey).sort();
  return {
    changed: paths(before, (key) => after.has(key) && after.get(key) !== before.get(key)),
    deleted: paths(before, (key) => !after.has(key)),
    added: paths(after, (key) => !before.has(key)),
  };
}

/**
 * Lists a folder within the time limit, or says why not. `list` gets the real path, and
 * returns null if it gives up.
 */
export async function lookThrough(
  what: 'workspace' | 'protected paths',
  directory: string,
  { signal, timeoutMs = 30_000 }: ListingOptions,
  list: (root: string, signal: AbortSignal) => Promise<Listing | null>,
) {
  const time = AbortSignal.timeout(timeoutMs);
  const over = AbortSignal.any(signal ? [time, signal] : [time]);
  // Safe: the sentence goes to the caller.
  const root = await realpath(directory).catch((error) =>
    refuse(explainFileError(error, 'The workspace')),
  );
  if (typeof root !== 'string') return root;
  const listing = await list(root, over);
  if (listing !== null) return { ok: true as const, listing };
  if (time.aborted)
    return refuse(
      `The ${what} could not be looked through within ${timeoutMs / 1000} s.`,
    );
  const reason = over.aborted ? 'was interrupted' : 'found more files than it can handle';
  return refuse(`The look through the ${what} ${reason}.`);
}

/**
 * What one look through the workspace carries along. `depth`: how many repositories lie
 * around this one. `hidden`: the look adds whole paths to it.
 */
type WorkspaceLook = Pick<ListingOptions, 'rules'> &
  Readonly<{
    signal: AbortSignal;
    environment: Environment;
    depth: number;
    hidden: string[];
  }>;

async function listFolder(real: string, look: WorkspaceLook): Promise<Listing | null> {
  const byGit = await listByGit(real, look);
  return byGit === null && !look.signal.aborted ? listByRules(real, look) : byGit;
}

// A .gitignore that ignores itself is listed too, so that each one in force is known.
const excludeArguments = ['--exclude=node_modules', '--exclude=!.gitignore'];
const listArguments = 'ls-files -z -v --stage --cached --others --exclude-standard'.split(
  ' ',
);
const changedArguments =
  'diff-files -z --name-only --relative --no-renames --no-ext-diff --ignore-submodules=all'.split(
    ' ',
  );

async function listByGit(directory: string, look: WorkspaceLook) {
  const { environment, signal, rules } = look;
  const repository = await openRepository(directory, environment, signal);
  // A submodule without its own .git belongs to the outer repository, as git sees it.
  if (repository === null || (look.depth > 0 && repository.top !== directory))
    return null;
  const { ask, isSmall } = repository;
  // In a large repository, git answers the second question with threads; in a small one,
  // a second process costs more.
  const [listed, changed, excludesFile] = await Promise.all([
    ask([...listArguments, ...excludeArguments, ...(isSmall ? ['--modified'] : [])]),
    isSmall ? '' : ask(changedArguments),
    rules && findExcludesFile(repository.top, environment),
  ]);
  if (listed === null || changed === null) return null;
  const known = readGitFiles(listed, changed);
  const formerRules =
    rules && excludesThen(repository, excludesFile, ruleFilesIn(known, directory), rules);
  if (formerRules && !(await addHidden(known, repository, formerRules, look.hidden)))
    return null;
  // The folder is empty, or a repository further up ignores it: git does not judge its
  // files.
  if (known.files.size + known.unsettled.size + known.repositories.size === 0)
    return null;
  if (!(await addUnsettled(known, repository, signal))) return null;
  const { files, repositories } = known;
  for (const path of repositories) {
    const key = `${keyOfPath(directory)}/${path}`;
    const inner = await lookIntoRepository(
      key,
      files.get(path),
      repository.algorithm,
      look,
    );
    if (inner === null) return null;
    files.delete(path);
    for (const [rest, value] of inner) files.set(path + rest, value);
  }
  return files;
}

const gitlinkMode = '160000';

type GitFiles = ReturnType<typeof readGitFiles>;

function readGitFiles(listed: string, changed: string) {
  const files = new Map<string, string>();
  /**
   * Files that are changed, untracked, unmerged or not examined by git: path → git's
   * mode.
   */
  const unsettled = new Map<string, string | null>();
  const repositories = new Set<string>();
  for (const line of listed.split('\0').slice(0, -1)) {
    if (line.startsWith('?')) {
      if (line.endsWith('/')) repositories.add(line.slice(2, -1));
      else unsettled.set(line.slice(2), null);
      continue;
    }
    // A line is `H 100644 0123…cdef 0<tab>path`. Letters: h is assumed unchanged, S is
    // not checked out, C is changed and was listed as H before.
    const tab = line.indexOf('\t');
    const path = line.slice(tab + 1);
    const mode = line.slice(2, 8);
    const isRepository = mode === gitlinkMode;
    if (isRepository) repositories.add(path);
    else if (!line.startsWith('H')) unsettled.set(path, mode);
    // A file that was never checked out counts as git has it, unless something else
    // stands there.
    if (isRepository || 'HSs'.includes(line.charAt(0)))
      files.set(path, line.slice(2, tab - 2));
    else files.delete(path);
  }
  for (const path of changed.split('\0')) {
    const mode = files.get(path)?.slice(0, 6) ?? gitlinkMode;
    if (mode === gitlinkMode || unsettled.has(path)) continue;
    unsettled.set(path, mode);
    files.delete(path);
  }
  return { files, unsettled, repositories, stamped: new Set<string>() };
}

/**
 * Agents ignore whole environments that they made. If more files than these are hidden,
 * their stat stands for their content.
 */
const mostHiddenRead = 1000;

function ruleFilesIn({ files, unsettled }: GitFiles, directory: string) {
  const keys = [...files.keys(), ...unsettled.keys()];
  const found = keys.filter((key) => key === '.gitignore' || key.endsWith('/.gitignore'));
  return found.map((key) => join(directory, pathOfKey(key)));
}

/** Adds files that only the former rules list. False: git failed. */
async function addHidden(
  known: GitFiles,
  repository: Repository,
  formerRules: readonly string[],
  hiddenPaths: string[],
) {
  const { unsettled, repositories, stamped } = known;
  const listed = await repository.ask([
    'ls-files',
    '-z',
    '--others',
    ...formerRules,
    ...excludeArguments,
  ]);
  const isNew = (key: string) =>
    key !== '' && !unsettled.has(key) && !repositories.has(key.replace(/\/$/u, ''));
  const hidden = listed?.split('\0').filter(isNew) ?? [];
  for (const key of hidden) {
    if (key.endsWith('/')) repositories.add(key.slice(0, -1));
    else unsettled.set(key, null);
    if (hidden.length > mostHiddenRead) stamped.add(key);
    hiddenPaths.push(`${keyOfPath(repository.directory)}/${key}`);
  }
  return listed !== null;
}

/**
 * Each repository costs processes, and an agent can make any number of them. Deeper ones
 * are walked like other folders.
 */
const deepestRepository = 5;

/**
 * The files of an inner repository, by the rest of their paths; null: the look gave up.
 * `known`: the entry that the outer repository has for it.
 */
async function lookIntoRepository(
  key: string,
  known: string | undefined,
  algorithm: Algorithm,
  look: WorkspaceLook,
) {
  const onlyItself = (value: string | null = null) =>
    new Map(value === null ? [] : [['', value]]);
  if (!(await lookAt(key))?.isDirectory())
    return onlyItself(await contentValue(key, algorithm));
  const list = look.depth < deepestRepository ? listFolder : listByRules;
  const inner = await list(pathOfKey(key), { ...look, depth: look.depth + 1 });
  // An empty folder is a submodule that was not fetched.
  if (inner?.size === 0) return onlyItself(known);
  return inner && new Map([...inner].map(([path, value]) => [`/${path}`, value]));
}

/**
 * Adds the unsettled files that exist, with the ids that git would give them. False: the
 * look was interrupted.
 */
async function addUnsettled(
  { files, unsettled, stamped }: GitFiles,
  repository: Repository,
  signal: AbortSignal,
) {
  const { directory, top, algorithm, trustsMode, ask } = repository;
  const unread: { path: string; key: string; mode: string; stats: BigIntStats }[] = [];
  const since = Date.now();
  await inBatches([...unsettled], signal, async ([path, known]) => {
    const key = `${keyOfPath(directory)}/${path}`;
    const stats = await lookAt(key);
    if (stats === null || stats.isDirectory()) return;
    const keptMode = stats.isFile() && known === '100755' ? known : '100644';
    const mode = trustsMode || stats.isSymbolicLink() ? modeOf(stats) : keptMode;
    // Safe: a link that vanished meanwhile gets a value that no content has.
    const quick = stamped.has(path)
      ? stampOf(stats)
      : await idWithoutReading(key, stats, algorithm).catch(() => 'changing');
    const id = quick ?? rememberedId(`git ${key}`, stats);
    if (id === null) unread.push({ path, key, mode, stats });
    else files.set(path, `${mode} ${id}`);
  });
  if (signal.aborted) return false;
  const prefix = directory === top ? '' : keyOfPath(`${relative(top, directory)}/`);
  // git computes the ids, since it converts line ends and encodings. It writes nothing.
  const input = unread.map(({ path }) => quotedLine(prefix + path)).join('');
  const output = input === '' ? '' : await ask(['hash-object', '--stdin-paths'], input);
  if (signal.aborted) return false;
  const ids = output?.split('\n') ?? [];
  for (const [index, { path, key, mode, stats }] of unread.entries()) {
    const id = ids[index];
    // git gave up at one of the files, so we read each one ourselves.
    const value = id ? `${mode} ${id}` : await contentValue(key, algorithm);
    if (value !== null) files.set(path, value);
    if (id) rememberId(`git ${key}`, stats, id, since);
  }
  return true;
}

function quotedLine(path: string) {
  const octal = (character: string) =>
    `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`;
  return /[\n\r"\\]/u.test(path)
    ? `"${path.replace(/[\n\r"\\]/gu, octal)}"\n`
    : `${path}\n`;
}

const mostEntries = 1_000_000;

/**
 * Walks by the former ignore rules. If the rules have changed, a second walk by those of
 * now tells which files are hidden now.
 */
async function listByRules(root: string, { signal, rules, hidden }: WorkspaceLook) {
  if (rules === undefined) return listByWalk(root, signal);
  let isChanged = false;
  const ignoreText = async (_: string, names: readonly string[]) => {
    const path = join(root, ...names, '.gitignore');
    isChanged ||= hasRuleChanged(path, rules);
    return textThen(path, rules);
  };
  const listing = await listByWalk(root, signal, { ignoreText });
  if (listing === null || !isChanged) return listing;
  const { found } = await walkNames(root, signal);
  const shown = new Set(found.map((names) => keyOfPath(names.join('/'))));
  const more = [...listing.keys()].filter(
    (key) => !shown.has(key) && !key.startsWith('/'),
  );
  hidden.push(...more.map((key) => `${keyOfPath(root)}/${key}`));
  return listing;
}

/**
 * Lists by walking; null: it was interrupted, or there are too many names. A file whose
 * name is not UTF-8 cannot be read.
 */
export async function listByWalk(root: string, signal: AbortSignal, ways?: WalkWays) {
  const { found, left: walkEnd } = await walkNames(root, signal, ways);
  const files = new Map<string, string>();
  await inBatches(found, signal, async (names) => {
    const value = await contentValue(keyOfPath(join(root, ...names)), 'sha256');
    if (value !== null) files.set(keyOfPath(names.join('/')), value);
  });
  if (walkEnd.isCut || signal.aborted) return null;
  // Nobody knows what is in those folders, and that is a difference too.
  if (walkEnd.unreadableFolders > 0)
    files.set('/unreadable', String(walkEnd.unreadableFolders));
  return files;
}

async function walkNames(root: string, signal: AbortSignal, ways?: WalkWays) {
  const start = { root, existing: root, missing: [], shown: '.' };
  const { files, left } = walkFolder(start, mostEntries, signal, ways);
  const found: (readonly string[])[] = [];
  for await (const { names } of files) found.push(names);
  return { found, left };
}

const atOnce = 32;

async function inBatches<T>(
  entries: readonly T[],
  signal: AbortSignal,
  work: (entry: T) => Promise<void>,
) {
  const remaining = entries.values();
  const worker = async () => {
    for (const entry of remaining) if (!signal.aborted) await work(entry);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/**
 * Reading a disk image at every stop would take minutes, so the stat of a larger file
 * stands for its content.
 */
const hugeBytes = 256n * 1024n * 1024n;
/** A file that changed so recently may change again within one tick of its clock. */
const settledMs = 2000;
const mostRemembered = 200_000;
/**
 * The key names the maker of the id (git converts line ends, and each algorithm has ids
 * of its own) and the path.
 */
const remembered = new Map<string, { readonly stamp: string; readonly id: string }>();

/** Nobody can set ctime back without setting the clock. */
const stampOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats) =>
  `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;

function modeOf(stats: BigIntStats) {
  if (stats.isSymbolicLink()) return '120000';
  return (stats.mode & 0o100n) === 0n ? '100644' : '100755';
}

const statsOf = (key: string) => lstat(Buffer.from(key, 'latin1'), { bigint: true });
// Safe: a file that is gone is not part of the workspace.
const lookAt = (key: string) => statsOf(key).catch(() => null);

/**
 * The id that was remembered for a file with exactly these times and this size; null:
 * none.
 */
export function rememberedId(memory: string, stats: BigIntStats) {
  const known = remembered.get(memory);
  return known?.stamp === stampOf(stats) ? known.id : null;
}

/**
 * Remembers an id, unless the file changed so recently that it may change again unseen.
 */
export function rememberId(
  memory: string,
  stats: BigIntStats,
  id: string,
  since: number,
) {
  if (
    Number(stats.ctimeMs) + settledMs > since ||
    Number(stats.mtimeMs) + settledMs > since
  )
    return;
  if (remembered.size >= mostRemembered) remembered.clear();
  remembered.set(memory, { stamp: stampOf(stats), id });
}

async function idWithoutReading(key: string, stats: BigIntStats, algorithm: Algorithm) {
  if (stats.isSymbolicLink()) {
    const target = await readlink(Buffer.from(key, 'latin1'), { encoding: 'buffer' });
    return createHash(algorithm)
      .update(`blob ${target.byteLength}\0`)
      .update(target)
      .digest('hex');
  }
  if (!stats.isFile()) return 'special';
  return stats.size > hugeBytes ? `huge ${stampOf(stats)}` : null;
}

/**
 * Mode and id of a file; the id is git's if git converts nothing in the file. Null: there
 * is no file.
 */
export async function contentValue(key: string, algorithm: Algorithm) {
  try {
    const since = Date.now();
    const stats = await statsOf(key);
    const memory = `${algorithm} ${key}`;
    const quick =
      (await idWithoutReading(key, stats, algorithm)) ?? rememberedId(memory, stats);
    if (quick !== null) return `${modeOf(stats)} ${quick}`;
    const opened = await withRegularFile(pathOfKey(key), async (handle, { size }) => {
      const hash = createHash(algorithm).update(`blob ${size}\0`);
      for await (const chunk of handle.createReadStream({ autoClose: false }))
        hash.update(chunk as Buffer);
      return hash.digest('hex');
    });
    if (opened.kind === 'file') rememberId(memory, stats, opened.result, since);
    return `${modeOf(stats)} ${opened.kind === 'file' ? opened.result : 'special'}`;
  } catch (error) {
    // A missing file is not there; an unreadable one is, with content that nobody knows.
    return isMissing(error) ? null : `unreadable ${errorCode(error)}`;
  }
}
