// Runs git on a repository that an agent can write to: no lock is taken, nothing is written, and no program that the
// repository names is run (hooks, fsmonitor, filters). A failure is null: the caller has another way.
import { spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { isInside, readFileAtMost } from './files.ts';

export interface Repository {
  /** The root of the work tree, without symbolic links. */
  readonly top: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** A listing of a million files is about this large; more is no answer for a stop attempt. */
const mostOutputBytes = 256 * 1024 * 1024;

/** null: no repository here, or one of another user, whose configuration git itself would not obey. */
export function findRepository(
  realDirectory: string,
  environment: Readonly<Record<string, string | undefined>>,
): Repository | null {
  for (let top = realDirectory; ; top = dirname(top)) {
    const owner = statSync(join(top, '.git'), { throwIfNoEntry: false })?.uid;
    if (owner !== undefined) {
      const user = process.geteuid?.();
      const isTrusted = user === undefined || [user, 0].includes(owner);
      return isTrusted ? { top, environment: gitEnvironment(top, environment) } : null;
    }
    if (dirname(top) === top) return null;
  }
}

/** Nothing named GIT_… comes from outside, and `git` itself never from a folder that the agent writes to. */
function gitEnvironment(
  top: string,
  source: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const path = (source['PATH'] ?? '/usr/local/bin:/usr/bin:/bin')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !isInside(top, folder));
  const kept = ['HOME', 'XDG_CONFIG_HOME', 'TMPDIR'].flatMap((name) => {
    const value = source[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(kept),
    PATH: path.join(delimiter),
    LC_ALL: 'C',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    // A partial clone would fetch what it lacks, with programs that the repository names.
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'none',
  };
}

/** Programs that the repository could name, and settings by which it could hide a changed file. */
const safeSettings = [
  ...['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'core.pager=cat'],
  ...['core.trustctime=true', 'core.checkStat=default', 'core.ignoreStat=false', 'core.untrackedCache=false'],
].flatMap((setting) => ['-c', setting]);

type Setting = readonly [key: string, value: string];

export interface GitCall {
  readonly directory: string;
  readonly arguments: readonly string[];
  readonly signal: AbortSignal;
  /** Besides the fixed ones; keys may hold any character. */
  readonly settings?: readonly Setting[];
  /** One character a byte. */
  readonly input?: string;
}

/** What git printed, one character a byte; null if it failed, was interrupted or printed too much. */
export async function runGit({ top, environment }: Repository, call: GitCall): Promise<string | null> {
  if (call.signal.aborted) return null;
  const switches = ['--no-optional-locks', '--no-pager', '--literal-pathspecs'];
  const place = [`--git-dir=${join(top, '.git')}`, `--work-tree=${top}`];
  const child = spawn('git', [...switches, ...place, ...safeSettings, ...call.arguments], {
    cwd: call.directory,
    env: { ...environment, ...settingVariables(call.settings ?? []) },
    stdio: [call.input === undefined ? 'ignore' : 'pipe', 'pipe', 'ignore'],
    // A group of its own, so that a filter of the user's configuration ends with it.
    detached: true,
  });
  const chunks: Buffer[] = [];
  let size = 0;
  let isKilled = false;
  const kill = () => {
    isKilled = true;
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It ended by itself just now, which is what we want.
    }
  };
  call.signal.addEventListener('abort', kill);
  child.stdout?.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > mostOutputBytes) kill();
    else chunks.push(chunk);
  });
  // git may end before it has read everything; its exit status tells.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(call.input ?? '', 'latin1');
  const exitCode = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
  call.signal.removeEventListener('abort', kill);
  return exitCode === 0 && !isKilled ? Buffer.concat(chunks).toString('latin1') : null;
}

function settingVariables(settings: readonly Setting[]): Record<string, string> {
  const variables = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(variables) };
}

/** What must be known of the configuration of a repository before git may look at its files. */
export interface GitSettings {
  readonly algorithm: 'sha1' | 'sha256';
  /** False on file systems that know no executable files: git then keeps the mode that it has. */
  readonly trustsMode: boolean;
  /** Switch off every filter that the repository itself names; those of the user and the machine stay. */
  readonly withoutFilters: readonly Setting[];
}

export async function readGitSettings(
  repository: Repository,
  signal: AbortSignal,
): Promise<GitSettings | null> {
  if (await hasPlainSettings(repository)) return { algorithm: 'sha1', trustsMode: true, withoutFilters: [] };
  const listing = ['config', '--list', '--show-scope', '--null'];
  const output = await runGit(repository, { directory: repository.top, arguments: listing, signal });
  if (output === null) return null;
  let algorithm: GitSettings['algorithm'] = 'sha1';
  let trustsMode = true;
  const filters = new Set<string>();
  // `scope<nul>key<line end>value<nul>`
  for (const [, scope, key = '', value] of output.matchAll(/([^\0]*)\0([^\n\0]*)\n?([^\0]*)\0/gu)) {
    if (key === 'extensions.objectformat' && value === 'sha256') algorithm = 'sha256';
    if (key === 'core.filemode') trustsMode = value !== 'false';
    if (key.startsWith('filter.') && (scope === 'local' || scope === 'worktree'))
      filters.add(key.slice(0, key.lastIndexOf('.')));
  }
  const withoutFilters = [...filters].flatMap((filter): Setting[] => [
    ...['clean', 'smudge', 'process'].map((key): Setting => [`${filter}.${key}`, '']),
    [`${filter}.required`, 'false'],
  ]);
  return { algorithm, trustsMode, withoutFilters };
}

/** Larger than what anyone writes by hand. */
const mostPlainBytes = 100_000;

/**
 * Most repositories name no filter at all, and their file says so without a process of git. False as soon as there could
 * be one: where the word stands anywhere, other files are included, or the file is not where it usually is.
 */
async function hasPlainSettings({ top }: Repository): Promise<boolean> {
  try {
    const read = await readFileAtMost(join(top, '.git', 'config'), mostPlainBytes);
    const text = read?.toString('latin1').toLowerCase();
    return (
      text !== undefined && !/filter|include|extensions|worktree|filemode\s*=\s*(?!\s|true\s)/u.test(text)
    );
  } catch {
    // A work tree of another repository, or something odd: git knows where to look.
    return false;
  }
}

/** About five thousand files: git looks at them in the time that one more process takes to start. */
const smallIndexBytes = 524_288;

/** By the file in which git keeps what it tracks. A work tree has it elsewhere: then nobody knows. */
export function hasSmallIndex({ top }: Repository): boolean {
  const folder = join(top, '.git');
  if (!existsSync(join(folder, 'HEAD'))) return false;
  return (statSync(join(folder, 'index'), { throwIfNoEntry: false })?.size ?? 0) < smallIndexBytes;
}
