// Lists a workspace by git, which knows most contents already and every rule about what is ignored.
// Null wherever git cannot answer: there is a walk for that.
import { lstat } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import {
  contentValue,
  type IdAlgorithm,
  idWithoutReading,
  modeOf,
  rememberedId,
  rememberId,
} from './content-id.ts';
import {
  addChanged,
  addUntracked,
  changedArguments,
  readTracked,
  trackedArguments,
  untrackedArguments,
} from './git-files.ts';
import { type GitSettings, readGitSettings } from './git-settings.ts';
import { inBatches } from './in-batches.ts';
import { keyOfPath, type Listing, pathOfKey } from './listing.ts';
import { findRepository, type Repository, runGit } from './run-git.ts';

export interface ListingSources {
  readonly signal: AbortSignal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Lists a folder that git takes for a repository inside this one; null: it cannot. */
  listInner(realDirectory: string): Promise<Listing | null>;
}

/** `directory` has no symbolic link in it. */
export async function listByGit(directory: string, sources: ListingSources): Promise<Listing | null> {
  const { signal, environment } = sources;
  const repository = findRepository(directory, environment);
  if (repository === null) return null;
  const settings = await readGitSettings(repository, signal);
  if (settings === null) return null;
  const call = { directory, signal, settings: settings.withoutFilters };
  const ask = (words: readonly string[]) => runGit(repository, { ...call, arguments: words });
  const [files, changed, untracked] = await Promise.all([
    ask(trackedArguments).then((listed) => (listed === null ? null : readTracked(listed))),
    ask(changedArguments),
    ask(untrackedArguments),
  ]);
  if (files === null || changed === null || untracked === null) return null;
  addChanged(changed, files);
  addUntracked(untracked, files);
  const { settled, unsettled, skipped, repositories } = files;
  // Nothing at all: the folder is empty, or a repository further up ignores it, and then it is not git's to judge.
  if (settled.size + unsettled.size + repositories.size === 0) return null;
  const values = await lookAt(unsettled, directory, repository, settings, signal);
  if (values === null) return null;
  for (const path of unsettled.keys()) {
    const value = values.get(path);
    if (value !== undefined) settled.set(path, value);
    else if (!skipped.has(path)) settled.delete(path);
  }
  for (const path of repositories) {
    const real = `${keyOfPath(directory)}/${path}`;
    const stats = await lookAtOne(real);
    if (stats === null) {
      settled.delete(path);
      continue;
    }
    if (!stats.isDirectory()) {
      settled.set(path, (await contentValue(pathOfKey(real), settings.algorithm)) ?? 'changing');
      continue;
    }
    const inner = await sources.listInner(pathOfKey(real));
    if (inner === null) settled.set(path, 'unknown');
    if (inner === null || inner.size === 0) continue;
    settled.delete(path);
    for (const [innerPath, value] of inner) settled.set(`${path}/${innerPath}`, value);
  }
  return settled;
}

interface Unread {
  readonly path: string;
  readonly mode: string;
  /** One character a byte, as `path`: names need not be UTF-8. */
  readonly real: string;
  readonly stats: Awaited<ReturnType<typeof lookAtOne>>;
}

/** What really stands where git has nothing, or something else: with the ids that git would give it. */
async function lookAt(
  unsettled: ReadonlyMap<string, string | null>,
  directory: string,
  repository: Repository,
  settings: GitSettings,
  signal: AbortSignal,
): Promise<Map<string, string> | null> {
  const values = new Map<string, string>();
  const unread: Unread[] = [];
  const since = Date.now();
  await inBatches([...unsettled], signal, async ([path, knownMode]) => {
    const real = `${keyOfPath(directory)}/${path}`;
    const stats = await lookAtOne(real);
    if (stats === null || stats.isDirectory()) return;
    const mode =
      settings.trustsMode || stats.isSymbolicLink() ? modeOf(stats) : keptMode(knownMode, stats.isFile());
    const quick = (await quickId(real, stats, settings.algorithm)) ?? rememberedId(real, stats);
    if (quick === null) unread.push({ path, mode, real, stats });
    else values.set(path, `${mode} ${quick}`);
  });
  if (signal.aborted) return null;
  const ids = await hashByGit(unread, directory, repository, settings, signal);
  if (signal.aborted) return null;
  for (const [index, { path, mode, real, stats }] of unread.entries()) {
    const id = ids?.[index];
    if (id !== undefined) {
      values.set(path, `${mode} ${id}`);
      if (stats !== null) rememberId(real, stats, id, since);
    } else {
      // git gave up on one of them, perhaps because it vanished; read by ourselves they cannot stop each other.
      const value = await contentValue(pathOfKey(real), settings.algorithm);
      if (value !== null) values.set(path, value);
    }
  }
  return values;
}

function keptMode(known: string | null, isFile: boolean): string {
  return isFile && known === '100755' ? known : '100644';
}

async function lookAtOne(real: string) {
  try {
    return await lstat(Buffer.from(real, 'latin1'), { bigint: true });
  } catch {
    // It is gone: then it is not part of the workspace.
    return null;
  }
}

async function quickId(real: string, stats: Parameters<typeof idWithoutReading>[1], algorithm: IdAlgorithm) {
  try {
    return await idWithoutReading(Buffer.from(real, 'latin1'), stats, algorithm);
  } catch {
    // A link that vanished or was replaced between two looks: another value than any content has.
    return 'changing';
  }
}

/** By git and not by ourselves, since line ends and encodings may have to be converted first. Writes nothing. */
async function hashByGit(
  unread: readonly Unread[],
  directory: string,
  repository: Repository,
  settings: GitSettings,
  signal: AbortSignal,
): Promise<readonly string[] | null> {
  if (unread.length === 0) return [];
  const prefix = keyOfPath(relative(repository.top, directory).split(sep).join('/'));
  const input = unread.map(({ path }) => quotedLine(prefix === '' ? path : `${prefix}/${path}`)).join('');
  const output = await runGit(repository, {
    directory: repository.top,
    arguments: ['hash-object', '--stdin-paths'],
    signal,
    settings: settings.withoutFilters,
    input,
  });
  const ids = output?.split('\n').filter((line) => line !== '') ?? [];
  return ids.length === unread.length ? ids : null;
}

/** One path a line; what would not survive that is quoted as git does it. */
function quotedLine(path: string): string {
  if (!/[\n\r"\\]/u.test(path)) return `${path}\n`;
  const escaped = path.replace(
    /[\n\r"\\]/gu,
    (character) => ({ '\n': '\\n', '\r': '\\r' })[character] ?? `\\${character}`,
  );
  return `"${escaped}"\n`;
}
