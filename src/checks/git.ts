// Runs git where an agent can write: no lock, no write, no program that the repository names (hooks, filters).
import { spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import type { Environment } from '../engine/policy.ts';
import { isInside, readFileAtMost } from './files.ts';

export type Repository = NonNullable<Awaited<ReturnType<typeof openRepository>>>;

/** null: none, one of another user (git would not obey its configuration either), or git fails. */
export async function openRepository(directory: string, environment: Environment, signal: AbortSignal) {
  const top = findTop(directory);
  if (top === null) return null;
  const place = { top, environment: gitEnvironment(top, environment), signal };
  const listSettings = ['config', '--list', '--show-scope', '--null'];
  const listed = (await hasPlainSettings(top)) ? '' : await runGit(place, listSettings, top);
  if (listed === null) return null;
  const { withoutFilters, ...settings } = readSettings(listed);
  const safe = { ...place, environment: { ...place.environment, ...withoutFilters } };
  return {
    ...{ directory, top, isSmall: hasSmallIndex(top), ...settings },
    /** One character a byte, `input` too. */
    ask: (words: readonly string[], input?: string) => runGit(safe, words, directory, input),
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

/** No GIT_… from outside, and no `git` from a folder that the agent writes to. */
function gitEnvironment(top: string, source: Environment): Environment {
  const path = (source['PATH'] ?? '/usr/local/bin:/usr/bin:/bin')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !isInside(top, folder));
  return {
    ...Object.fromEntries(['HOME', 'XDG_CONFIG_HOME', 'TMPDIR'].map((name) => [name, source[name]])),
    ...{ PATH: path.join(delimiter), LC_ALL: 'C' },
    ...{ GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', GIT_NO_REPLACE_OBJECTS: '1' },
    // A partial clone would fetch with programs that the repository names.
    ...{ GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: 'none' },
  };
}

type GitPlace = Readonly<{ top: string; environment: Environment; signal: AbortSignal }>;

/** Against the repository's programs and settings that hide a changed file. */
const safeSettings = [
  ...['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'core.pager=cat'],
  ...['core.trustctime=true', 'core.checkStat=default', 'core.ignoreStat=false', 'core.untrackedCache=false'],
].flatMap((setting) => ['-c', setting]);

const mostOutputBytes = 256 * 1024 * 1024;

async function runGit(place: GitPlace, words: readonly string[], cwd: string, input?: string) {
  const { top, environment: env, signal } = place;
  if (signal.aborted) return null;
  const switches = ['--no-optional-locks', '--no-pager', '--literal-pathspecs'];
  const folders = [`--git-dir=${join(top, '.git')}`, `--work-tree=${top}`];
  const child = spawn('git', [...switches, ...folders, ...safeSettings, ...words], {
    cwd,
    env,
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'ignore'],
    // So that a filter of the user's configuration ends with it.
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
      // Safe: it ended by itself.
    }
  };
  signal.addEventListener('abort', kill);
  child.stdout?.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > mostOutputBytes) kill();
    else chunks.push(chunk);
  });
  // Safe: git may end before it has read everything; its exit status tells.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(input ?? '', 'latin1');
  const exitCode = await new Promise((resolve) => child.once('error', resolve).once('close', resolve));
  signal.removeEventListener('abort', kill);
  return exitCode === 0 && !isKilled ? Buffer.concat(chunks).toString('latin1') : null;
}

function readSettings(listed: string) {
  let algorithm: 'sha1' | 'sha256' = 'sha1';
  /** False where the file system knows no executable files. */
  let trustsMode = true;
  const filters = new Set<string>();
  // `scope<nul>key<line end>value<nul>`
  for (const [, scope, key = '', value] of listed.matchAll(/([^\0]*)\0([^\n\0]*)\n?([^\0]*)\0/gu)) {
    if (key === 'extensions.objectformat' && value === 'sha256') algorithm = 'sha256';
    if (key === 'core.filemode') trustsMode = value !== 'false';
    if (key.startsWith('filter.') && (scope === 'local' || scope === 'worktree'))
      filters.add(key.slice(0, key.lastIndexOf('.')));
  }
  // The repository's own filters. Not as `-c`: their names may hold any character.
  const off = Object.entries({ clean: '', smudge: '', process: '', required: 'false' });
  const pairs = [...filters].flatMap((filter) => off.map(([key, value]) => [`${filter}.${key}`, value]));
  const variables = pairs.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  const withoutFilters = { ...Object.fromEntries(variables), GIT_CONFIG_COUNT: String(pairs.length) };
  return { algorithm, trustsMode, withoutFilters };
}

const mostPlainBytes = 100_000;

/** Most repositories name no filter: reading the file saves a process. */
async function hasPlainSettings(top: string): Promise<boolean> {
  try {
    const read = await readFileAtMost(join(top, '.git', 'config'), mostPlainBytes);
    const mayNameOne = /filter|include|extensions|worktree|filemode\s*=\s*(?!\s|true\s)/iu;
    return read !== null && !mayNameOne.test(read.toString('latin1'));
  } catch {
    // Safe: a linked work tree, or something odd; git is asked.
    return false;
  }
}

/** About five thousand files, which git looks at while one more process would start. */
const smallIndexBytes = 524_288;

/** False in a linked work tree, whose index is elsewhere. */
function hasSmallIndex(top: string): boolean {
  const folder = join(top, '.git');
  if (!existsSync(join(folder, 'HEAD'))) return false;
  return (statSync(join(folder, 'index'), { throwIfNoEntry: false })?.size ?? 0) < smallIndexBytes;
}
