// Runs git on a repository that an agent can write to: no lock is taken, nothing is written, and no program that the
// repository names is run (hooks, fsmonitor, filters). A failure is null: the caller has another way.
import { spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { isInside } from '../files/confined-path.ts';

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
    if (existsSync(join(top, '.git'))) {
      return isTrusted(join(top, '.git')) ? { top, environment: gitEnvironment(top, environment) } : null;
    }
    if (dirname(top) === top) return null;
  }
}

function isTrusted(path: string): boolean {
  try {
    const user = process.geteuid?.();
    return user === undefined || [user, 0].includes(statSync(path).uid);
  } catch {
    // It vanished while we looked: then there is no repository.
    return false;
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

export interface GitCall {
  readonly directory: string;
  readonly arguments: readonly string[];
  readonly signal: AbortSignal;
  /** Besides the fixed ones; keys may hold any character. */
  readonly settings?: readonly (readonly [key: string, value: string])[];
  /** One character a byte. */
  readonly input?: string;
}

/** What git printed, one character a byte; null if it failed, was interrupted or printed too much. */
export async function runGit(repository: Repository, call: GitCall): Promise<string | null> {
  if (call.signal.aborted) return null;
  const { top } = repository;
  const place = [`--git-dir=${join(top, '.git')}`, `--work-tree=${top}`];
  const child = spawn(
    'git',
    [
      '--no-optional-locks',
      '--no-pager',
      '--literal-pathspecs',
      ...place,
      ...safeSettings,
      ...call.arguments,
    ],
    {
      cwd: call.directory,
      env: { ...repository.environment, ...settingVariables(call.settings ?? []) },
      stdio: [call.input === undefined ? 'ignore' : 'pipe', 'pipe', 'ignore'],
      // A group of its own, so that a filter of the user's configuration ends with it.
      detached: true,
    },
  );
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

function settingVariables(
  settings: readonly (readonly [key: string, value: string])[],
): Record<string, string> {
  const variables = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(variables) };
}
