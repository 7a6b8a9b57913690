// What must be known of the configuration of a repository before git may look at its files: which filters it names
// (programs, to be switched off), and what decides about modes and ids.
import { join } from 'node:path';
import { readAtMost, withRegularFile } from '../files/regular-file.ts';
import type { IdAlgorithm } from './content-id.ts';
import { type Repository, runGit } from './run-git.ts';

export interface GitSettings {
  readonly algorithm: IdAlgorithm;
  /** False on file systems that know no executable files: git then keeps the mode that it has. */
  readonly trustsMode: boolean;
  /** Switch off every filter that the repository itself names; those of the user and the machine stay. */
  readonly withoutFilters: readonly (readonly [key: string, value: string])[];
}

export async function readGitSettings(
  repository: Repository,
  signal: AbortSignal,
): Promise<GitSettings | null> {
  const plain = await readPlainSettings(repository);
  if (plain !== null) return plain;
  const output = await runGit(repository, {
    directory: repository.top,
    arguments: ['config', '--list', '--show-scope', '--null'],
    signal,
  });
  if (output === null) return null;
  const parts = output.split('\0');
  let algorithm: IdAlgorithm = 'sha1';
  let trustsMode = true;
  const filters = new Set<string>();
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const scope = parts[at];
    const [key = '', value = ''] = splitOnce(parts[at + 1] ?? '', '\n');
    if (key === 'extensions.objectformat' && value === 'sha256') algorithm = 'sha256';
    if (key === 'core.filemode') trustsMode = value !== 'false';
    if (key.startsWith('filter.') && (scope === 'local' || scope === 'worktree'))
      filters.add(key.slice(0, key.lastIndexOf('.')));
  }
  const withoutFilters = [...filters].flatMap((filter): [string, string][] => [
    [`${filter}.clean`, ''],
    [`${filter}.smudge`, ''],
    [`${filter}.process`, ''],
    [`${filter}.required`, 'false'],
  ]);
  return { algorithm, trustsMode, withoutFilters };
}

/** Larger than what anyone writes by hand. */
const mostPlainBytes = 100_000;

/**
 * Most repositories name no filter at all, and their file says so without a process of git. Null as soon as there could
 * be one: where the word stands anywhere, other files are included, or the file is not where it usually is.
 */
async function readPlainSettings({ top }: Repository): Promise<GitSettings | null> {
  let text: string;
  try {
    const opened = await withRegularFile(join(top, '.git', 'config'), (handle) =>
      readAtMost(handle, mostPlainBytes),
    );
    if (opened.kind === 'other' || opened.result === null) return null;
    text = opened.result.toString('latin1').toLowerCase();
  } catch {
    // A work tree of another repository, or something odd: git knows where to look.
    return null;
  }
  if (/filter|include|extensions|worktree|filemode\s*=\s*(?!\s|true\s)/u.test(text)) return null;
  return { algorithm: 'sha1', trustsMode: true, withoutFilters: [] };
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}
