// Looks at the files of which git does not know the content, or perhaps not, and gives them the ids that git would.
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
import type { GitSettings } from './git-settings.ts';
import { inBatches } from './in-batches.ts';
import { keyOfPath, pathOfKey } from './listing.ts';
import { type Repository, runGit } from './run-git.ts';

interface Unread {
  readonly path: string;
  readonly mode: string;
  /** One character a byte, as `path`: names need not be UTF-8. */
  readonly real: string;
  readonly stats: Awaited<ReturnType<typeof lookAtOne>>;
}

/** Path → `mode id` of what is there; `unsettled` holds the modes that git has. null: interrupted. */
export async function lookAtFiles(
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

export async function lookAtOne(real: string) {
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
