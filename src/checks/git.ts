// Runs git where an agent can write: no lock, no write, no program that the repository names (hooks, filters).
import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import type { Environment } from '../engine/policy.ts';
import { readBytes } from '../engine/system.ts';
import { isInside } from './files.ts';

export type Repository = NonNullable<Awaited<ReturnType<typeof openRepository>>>;

/** null: none, one of another user (git would not obey its configuration either), or git fails. */
export async function openRepository(directory: string, environment: Environment, signal: AbortSignal) {
  const top = findTop(directory);
  if (top === null) return null;
  const place = { top, environment: gitEnvironment(top, environment), signal };
  const listSettings = ['config', '--list', '--show-scope', '--null'];
  const listed = hasPlainSettings(top) ? '' : await runGit(place, listSettings, top);
  if (listed === null) return null;
  const { withoutFilters, ...settings } = readSettings(listed);
  const safe = { ...place, environment: { ...place.environment, ...withoutFilters } };
  /** One character a byte, `input` too. */
  const ask = (words: readonly string[], input?: string) => runGit(safe, words, directory, input);
  return { directory, top, isSmall: hasSmallIndex(top), ...settings, ask };
}

export function findTop(realDirectory: string) {
  for (let top = realDirectory; ; top = dirname(top)) {
    const owner = statsOf(join(top, '.git'))?.uid;
    const user = process.geteuid?.();
    if (owner !== undefined) return user === undefined || [user, 0].includes(owner) ? top : null;
    if (dirname(top) === top) return null;
  }
}

function statsOf(path: string) {
  try {
    return statSync(path);
  } catch {
    // Safe: missing, or a link that an agent made to itself; there is no repository.
    return null;
  }
}

/** No GIT_… from outside, and no `git` from a folder that the agent writes to. */
export function gitEnvironment(top: string, source: Environment) {
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

/** Against the repository's programs and settings that hide a changed file. */
const safeSettings = [
  '-c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.pager=cat -c core.trustctime=true',
  '-c core.checkStat=default -c core.ignoreStat=false -c core.untrackedCache=false',
].flatMap((words) => words.split(' '));

/** The repository is named: git would also find plain files that pose as a bare one. */
export function gitWords(top: string, words: readonly string[]): string[] {
  const switches = ['--no-optional-locks', '--no-pager', '--literal-pathspecs'];
  return [...switches, `--git-dir=${join(top, '.git')}`, `--work-tree=${top}`, ...safeSettings, ...words];
}

const mostOutputBytes = 256 * 1024 * 1024;

type Place = Readonly<{ top: string; environment: Environment; signal: AbortSignal }>;

async function runGit(place: Place, words: readonly string[], cwd: string, input = '') {
  const { top, environment: env, signal } = place;
  if (signal.aborted) return null;
  const child = spawn('git', gitWords(top, words), {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'ignore'],
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
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > mostOutputBytes) kill();
    else chunks.push(chunk);
  });
  // Safe: git may end before it has read everything; its exit status tells.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input, 'latin1');
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

function readText(path: string) {
  const read = readBytes(path, mostPlainBytes);
  if (read.ok) return Buffer.from(read.bytes).toString('latin1');
  return read.isMissing ? '' : null;
}

/** Most repositories name no filter: reading the file saves a process. */
function hasPlainSettings(top: string) {
  const mayNameOne = /filter|include|extensions|worktree|filemode\s*=\s*(?!\s|true\s)/iu;
  // In a linked work tree, or where something is odd, git is asked.
  return !mayNameOne.test(readText(join(top, '.git/config')) || 'worktree');
}

/** The user's own ignore rules: git is asked where its settings may name another file. */
export async function findExcludesFile(top: string | null, environment: Environment) {
  const { HOME: home = '/', XDG_CONFIG_HOME: xdg } = environment;
  const own = join(xdg || join(home, '.config'), 'git');
  const usual = join(own, 'ignore');
  if (top === null) return usual;
  const files = [
    join(commonFolder(top), 'config'),
    join(own, 'config'),
    join(home, '.gitconfig'),
    '/etc/gitconfig',
  ];
  if (!files.some((path) => /excludesfile|include|worktree/iu.test(readText(path) ?? 'include')))
    return usual;
  const place = { top, environment: gitEnvironment(top, environment), signal: AbortSignal.timeout(2000) };
  const named = await runGit(place, ['config', '--null', '--type=path', '--get', 'core.excludesFile'], top);
  return named ? resolve(top, Buffer.from(named.slice(0, -1), 'latin1').toString('utf8')) : usual;
}

/** Where hooks and `info/exclude` are, also of a linked work tree or a submodule. */
export function commonFolder(top: string) {
  const [, named] = /^gitdir: (.*)$/mu.exec(readText(join(top, '.git')) ?? '') ?? [];
  const own = resolve(top, named ?? '.git');
  return resolve(own, readText(join(own, 'commondir'))?.trim() || '.');
}

/** About five thousand files, which git looks at while one more process would start. */
const smallIndexBytes = 524_288;

/** False in a linked work tree, whose .git is a file and whose index is elsewhere. */
function hasSmallIndex(top: string) {
  const { size = 0 } = statsOf(join(top, '.git/index')) ?? {};
  return statsOf(join(top, '.git'))?.isDirectory() === true && size < smallIndexBytes;
}
