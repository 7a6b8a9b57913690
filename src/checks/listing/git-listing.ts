// Lists a workspace by git, which knows most contents already and every rule about what is ignored.
// Null wherever git cannot answer: there is a walk for that.
import { type AskGit, askAboutFiles } from './ask-git.ts';
import { contentValue } from './content-id.ts';
import { readGitFiles } from './git-files.ts';
import { type GitSettings, readGitSettings } from './git-settings.ts';
import { changeListing, keyOfPath, type Listing, pathOfKey, readListing } from './listing.ts';
import { lookAtFiles, lookAtOne } from './look-at-files.ts';
import { findRepository, runGit } from './run-git.ts';

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
  const ask: AskGit = (words) =>
    runGit(repository, { directory, signal, settings: settings.withoutFilters, arguments: words });
  const answers = await askAboutFiles(repository, ask);
  if (answers === null) return null;
  const { tracked, untracked } = answers;
  // Nothing at all: the folder is empty, or a repository further up ignores it, and then it is not git's to judge.
  if (tracked === '' && untracked === '') return null;
  const { unsettled, skipped, repositories } = readGitFiles(answers);
  const values = await lookAtFiles(unsettled, directory, repository, settings, signal);
  if (values === null) return null;
  const changes = new Map<string, string | null>();
  for (const path of unsettled.keys()) changes.set(path, values.get(path) ?? skipped.get(path) ?? null);
  for (const path of repositories) await lookIntoRepository(path, directory, settings, sources, changes);
  return changeListing(tracked, changes);
}

async function lookIntoRepository(
  path: string,
  directory: string,
  { algorithm }: GitSettings,
  { listInner }: ListingSources,
  changes: Map<string, string | null>,
): Promise<void> {
  const real = `${keyOfPath(directory)}/${path}`;
  const stats = await lookAtOne(real);
  if (stats === null || !stats.isDirectory()) {
    changes.set(path, stats === null ? null : await contentValue(pathOfKey(real), algorithm));
    return;
  }
  const inner = await listInner(pathOfKey(real));
  if (inner === null) changes.set(path, 'unknown');
  // An empty folder: a submodule that was not fetched is the commit that git has for it.
  if (inner === null || inner === '') return;
  changes.set(path, null);
  for (const [innerPath, value] of readListing(inner)) changes.set(`${path}/${innerPath}`, value);
}
