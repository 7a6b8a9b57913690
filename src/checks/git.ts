// Runs git on a repository that an agent can write to: no lock is taken, nothing is written, and no program that the
// repository names is run (hooks, fsmonitor, filters). A failure is null: the caller has another way.
import { spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import type { Environment } from '../engine/policy.ts';
import { isInside, readFileAtMost } from './files.ts';

export type Repository = NonNullable<Awaited<ReturnType<typeof openRepository>>>;

/** null: no repository here, one of another user, whose configuration git itself would not obey, or git fails. */
export async function openRepository(directory: string, environment: Environment, signal: AbortSignal) {
  const top = findTop(directory);
  if (top === null) return null;
  const place = { top, environment: gitEnvironment(top, environment), signal };
  const settings = (await hasPlainSettings(top))
    ? plainSettings
    : readSettings(await runGit(place, ['config', '--list', '--show-scope', '--null'], top));
  if (settings === null) return null;
  const { algorithm, trustsMode, withoutFilters } = settings;
  const filtered = { ...place, environment: { ...place.environment, ...withoutFilters } };
  return {
    /** The root of the work tree, without symbolic links. */
    top,
    algorithm,
    /** False on file systems that know no executable files: git then keeps the mode that it has. */
    trustsMode,
    isSmall: hasSmallIndex(top),
    /** What git printed; it and `input` have one character a byte. */
    ask: (words: readonly string[], directory: string, input?: string) =>
      runGit(filtered, words, directory, input),
  };
}

function findTop(realDirectory: string): string | null {
  for (let top = realDirectory; ; top = dirname(top)) {
    const owner = statSync(join(top, '.git'), { throwIfNoEntry: false })?.uid;
    const user = process.geteuid?.();
    if (owner !== undefined) return user === undefined || [user, 0].includes(owner) ? top : null;
    if (dirname(top) === top) return null;
  }
}

/** Nothing named GIT_… comes from outside, and `git` itself never from a folder that the agent writes to. */
function gitEnvironment(top: string, source: Environment): Record<string, string | undefined> {
  const path = (source['PATH'] ?? '/usr/local/bin:/usr/bin:/bin')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !isInside(top, folder));
  return {
    ...Object.fromEntries(['HOME', 'XDG_CONFIG_HOME', 'TMPDIR'].map((name) => [name, source[name]])),
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

/** A listing of a million files is about this large; more is no answer for a stop attempt. */
const mostOutputBytes = 256 * 1024 * 1024;

/** null if it failed, was interrupted or printed too much. */
async function runGit(
  { top, environment, signal }: { top: string; environment: Environment; signal: AbortSignal },
  words: readonly string[],
  directory: string,
  input?: string,
): Promise<string | null> {
  if (signal.aborted) return null;
  const switches = ['--no-optional-locks', '--no-pager', '--literal-pathspecs'];
  const place = [`--git-dir=${join(top, '.git')}`, `--work-tree=${top}`];
  const child = spawn('git', [...switches, ...place, ...safeSettings, ...words], {
    cwd: directory,
    env: environment,
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'ignore'],
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
  signal.addEventListener('abort', kill);
  child.stdout?.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > mostOutputBytes) kill();
    else chunks.push(chunk);
  });
  // git may end before it has read everything; its exit status tells.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(input ?? '', 'latin1');
  const exitCode = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
  signal.removeEventListener('abort', kill);
  return exitCode === 0 && !isKilled ? Buffer.concat(chunks).toString('latin1') : null;
}

interface GitSettings {
  readonly algorithm: 'sha1' | 'sha256';
  readonly trustsMode: boolean;
  /** Variables that switch off every filter which the repository itself names; those of the user and the machine stay. */
  readonly withoutFilters: Readonly<Record<string, string>>;
}

const plainSettings: GitSettings = { algorithm: 'sha1', trustsMode: true, withoutFilters: {} };

function readSettings(output: string | null): GitSettings | null {
  if (output === null) return null;
  let { algorithm, trustsMode } = plainSettings;
  const filters = new Set<string>();
  // `scope<nul>key<line end>value<nul>`
  for (const [, scope, key = '', value] of output.matchAll(/([^\0]*)\0([^\n\0]*)\n?([^\0]*)\0/gu)) {
    if (key === 'extensions.objectformat' && value === 'sha256') algorithm = 'sha256';
    if (key === 'core.filemode') trustsMode = value !== 'false';
    if (key.startsWith('filter.') && (scope === 'local' || scope === 'worktree'))
      filters.add(key.slice(0, key.lastIndexOf('.')));
  }
  // In the environment and not as `-c`, because the names of filters may hold any character.
  const off = { clean: '', smudge: '', process: '', required: 'false' };
  const variables = [...filters]
    .flatMap((filter) => Object.entries(off).map(([key, value]) => [`${filter}.${key}`, value]))
    .flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]);
  const count = { GIT_CONFIG_COUNT: String(variables.length / 2) };
  return { algorithm, trustsMode, withoutFilters: { ...count, ...Object.fromEntries(variables) } };
}

const mostPlainBytes = 100_000;

/**
 * Most repositories name no filter at all, and their file says so without a process of git. False as soon as there could
 * be one: where the word stands anywhere, other files are included, or the file is not where it usually is.
 */
async function hasPlainSettings(top: string): Promise<boolean> {
  try {
    const read = await readFileAtMost(join(top, '.git', 'config'), mostPlainBytes);
    const mayNameOne = /filter|include|extensions|worktree|filemode\s*=\s*(?!\s|true\s)/iu;
    return read !== null && !mayNameOne.test(read.toString('latin1'));
  } catch {
    // A work tree of another repository, or something odd: git knows where to look.
    return false;
  }
}

/** About five thousand files: git looks at them in the time that one more process takes to start. */
const smallIndexBytes = 524_288;

/** By the file in which git keeps what it tracks. A work tree has it elsewhere: then nobody knows. */
function hasSmallIndex(top: string): boolean {
  const folder = join(top, '.git');
  if (!existsSync(join(folder, 'HEAD'))) return false;
  return (statSync(join(folder, 'index'), { throwIfNoEntry: false })?.size ?? 0) < smallIndexBytes;
}
