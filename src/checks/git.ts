// Runs git where an agent can write: with no lock, no write, and no program that the
// repository names (hooks, filters). It also remembers the ignore rules of the human's
// last message (V2), so that a file that is ignored later is still seen.
import { spawn } from 'node:child_process';
import { lstatSync, realpathSync } from 'node:fs';
import {
  basename,
  delimiter,
  dirname,
  isAbsolute,
  join,
  relative,
  resolve,
} from 'node:path';
import type { Policy } from '../core/policy.ts';
import type { Environment } from '../engine/policy.ts';
import { findRepository, readBytes, statsOf } from '../engine/system.ts';
import { isInside } from './files.ts';

export type Repository = NonNullable<Awaited<ReturnType<typeof openRepository>>>;

/**
 * Opens the repository around a folder. Null: there is none, it belongs to another user
 * (git would not obey its configuration either), or git fails.
 */
export async function openRepository(
  directory: string,
  environment: Environment,
  signal: AbortSignal,
) {
  const top = findTop(directory);
  if (top === null) return null;
  const context = { top, environment: gitEnvironment(top, environment), signal };
  const listSettings = ['config', '--list', '--show-scope', '--null'];
  const listed = hasPlainSettings(top) ? '' : await runGit(context, listSettings, top);
  if (listed === null) return null;
  const { withoutFilters, ...settings } = readSettings(listed);
  const safe = { ...context, environment: { ...context.environment, ...withoutFilters } };
  /**
   * Runs git and returns its output, with one character for each byte; `input` is written
   * the same way. Null: git failed.
   */
  const ask = (words: readonly string[], input?: string) =>
    runGit(safe, words, directory, input);
  return { directory, top, isSmall: hasSmallIndex(top), ...settings, ask };
}

/** Null also if the repository belongs to another user. */
function findTop(realDirectory: string) {
  const top = findRepository(realDirectory)?.root ?? null;
  const owner = top === null ? undefined : statsOf(join(top, '.git'))?.uid;
  const user = process.geteuid?.();
  return owner === undefined || user === undefined || [user, 0].includes(owner)
    ? top
    : null;
}

/**
 * The environment for git: no GIT_… variable from outside, and no `git` from a folder
 * that the agent writes to.
 */
export function gitEnvironment(top: string, source: Environment) {
  const path = (source['PATH'] ?? '/usr/local/bin:/usr/bin:/bin')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !isInside(top, folder));
  return {
    ...Object.fromEntries(
      ['HOME', 'XDG_CONFIG_HOME', 'TMPDIR'].map((name) => [name, source[name]]),
    ),
    PATH: path.join(delimiter),
    LC_ALL: 'C',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    // A partial clone would fetch with programs that the repository names.
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'none',
  };
}

/**
 * These settings switch off the repository's programs, and settings that would hide a
 * changed file.
 */
const safeSettings = [
  '-c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.pager=cat -c core.trustctime=true',
  '-c core.checkStat=default -c core.ignoreStat=false -c core.untrackedCache=false',
].flatMap((words) => words.split(' '));

/**
 * Names the repository explicitly: git would also find plain files that pose as a bare
 * one.
 */
export function gitWords(top: string, words: readonly string[]): string[] {
  const switches = ['--no-optional-locks', '--no-pager', '--literal-pathspecs'];
  return [
    ...switches,
    `--git-dir=${join(top, '.git')}`,
    `--work-tree=${top}`,
    ...safeSettings,
    ...words,
  ];
}

const mostOutputBytes = 256 * 1024 * 1024;

type GitContext = Readonly<{
  top: string;
  environment: Environment;
  signal: AbortSignal;
}>;

async function runGit(
  context: GitContext,
  words: readonly string[],
  cwd: string,
  input = '',
) {
  const { top, environment: env, signal } = context;
  if (signal.aborted) return null;
  const child = spawn('git', gitWords(top, words), {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'ignore'],
    // In a group of its own, so that a filter of the user's configuration ends with it.
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
      // Safe: git has ended by itself.
    }
  };
  signal.addEventListener('abort', kill);
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > mostOutputBytes) kill();
    else chunks.push(chunk);
  });
  // Safe: git may end before it has read everything; its exit code tells.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input, 'latin1');
  const exitCode = await new Promise((resolve) =>
    child.once('error', resolve).once('close', resolve),
  );
  signal.removeEventListener('abort', kill);
  return exitCode === 0 && !isKilled ? Buffer.concat(chunks).toString('latin1') : null;
}

function readSettings(listed: string) {
  let algorithm: 'sha1' | 'sha256' = 'sha1';
  /** False if the file system does not know executable files. */
  let trustsMode = true;
  const filters = new Set<string>();
  // An entry is `scope<nul>key<line end>value<nul>`.
  for (const [, scope, key = '', value] of listed.matchAll(
    /([^\0]*)\0([^\n\0]*)\n?([^\0]*)\0/gu,
  )) {
    if (key === 'extensions.objectformat' && value === 'sha256') algorithm = 'sha256';
    if (key === 'core.filemode') trustsMode = value !== 'false';
    if (key.startsWith('filter.') && (scope === 'local' || scope === 'worktree'))
      filters.add(key.slice(0, key.lastIndexOf('.')));
  }
  // Switches off the repository's own filters. Not with `-c`, since their names may hold
  // any character.
  const off = Object.entries({ clean: '', smudge: '', process: '', required: 'false' });
  const pairs = [...filters].flatMap((filter) =>
    off.map(([key, value]) => [`${filter}.${key}`, value]),
  );
  const variables = pairs.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  const withoutFilters = {
    ...Object.fromEntries(variables),
    GIT_CONFIG_COUNT: String(pairs.length),
  };
  return { algorithm, trustsMode, withoutFilters };
}

const mostTextBytes = 100_000;

/** The text of a file, '' if it is missing; null: it is too long, or cannot be read. */
function readText(path: string) {
  const file = readBytes(path, mostTextBytes);
  if (file.ok) return Buffer.from(file.bytes).toString('utf8');
  return file.isMissing ? '' : null;
}

/**
 * True if the repository's settings need no look by git: most name no filter, and reading
 * the file saves a process.
 */
function hasPlainSettings(top: string) {
  const mayNameOne = /filter|include|extensions|worktree|filemode\s*=\s*(?!\s|true\s)/iu;
  // In a linked work tree, or if something is odd, git is asked.
  return !mayNameOne.test(readText(join(top, '.git/config')) || 'worktree');
}

/**
 * The file with the user's own ignore rules. git is asked if the settings may name
 * another file than the usual one.
 */
export async function findExcludesFile(top: string | null, environment: Environment) {
  const { HOME: home = '/', XDG_CONFIG_HOME: xdg } = environment;
  const gitConfigFolder = join(xdg || join(home, '.config'), 'git');
  const usual = join(gitConfigFolder, 'ignore');
  if (top === null) return usual;
  const files = [
    join(findRepository(top)?.common ?? top, 'config'),
    join(gitConfigFolder, 'config'),
    join(home, '.gitconfig'),
    '/etc/gitconfig',
  ];
  if (
    !files.some((path) =>
      /excludesfile|include|worktree/iu.test(readText(path) ?? 'include'),
    )
  )
    return usual;
  const context = {
    top,
    environment: gitEnvironment(top, environment),
    signal: AbortSignal.timeout(2000),
  };
  const named = await runGit(
    context,
    ['config', '--null', '--type=path', '--get', 'core.excludesFile'],
    top,
  );
  return named
    ? resolve(top, Buffer.from(named.slice(0, -1), 'latin1').toString('utf8'))
    : usual;
}

/**
 * About five thousand files: git examines these in the time that one more process needs
 * to start.
 */
const smallIndexBytes = 524_288;

/** False in a linked work tree: its .git is a file, and its index lies elsewhere. */
function hasSmallIndex(top: string) {
  const { size = 0 } = statsOf(join(top, '.git/index')) ?? {};
  return statsOf(join(top, '.git'))?.isDirectory() === true && size < smallIndexBytes;
}

/**
 * The ignore rules of the human's last message. A file whose text was not remembered
 * counts as it is if it is older than the message, and not at all if it is newer.
 */
export type IgnoreRules = NonNullable<Policy['ignoreRules']> &
  Readonly<{ since: number }>;

/**
 * Adds the ignore rules of now to a policy, before it is frozen at a human's message.
 * Starts no process if git's settings are plain.
 */
export async function withIgnoreRules(
  policy: Policy,
  directory: string,
  environment: Environment,
) {
  try {
    const real = realpathSync(directory);
    const top = findTop(real);
    const excludesFile = await findExcludesFile(top, environment);
    const paths = ruleFiles(real, top, excludesFile);
    const texts = Object.fromEntries(paths.map((path) => [path, textNow(path)]));
    return { ...policy, ignoreRules: { excludesFile, texts } };
  } catch {
    // Safe: such a folder has no files to hide, and a look through it fails with a
    // reason.
    return policy;
  }
}

/** What a look at the files needs from the frozen policy. */
export type FrozenIgnoreRules = ReturnType<typeof freezeIgnoreRules>;

/** What a policy says about a look at the files; `since`: when the human last spoke. */
export function freezeIgnoreRules(
  { exclude = [], ignoreRules }: Partial<Policy>,
  since: number,
) {
  const rules: IgnoreRules | undefined = ignoreRules && { ...ignoreRules, since };
  return { exclude, rules };
}

/**
 * The rule files above the workspace or outside it, the weakest first. More of them lie
 * below it.
 */
function ruleFiles(directory: string, top: string | null, excludesFile: string) {
  const names = relative(top ?? directory, directory)
    .split('/')
    .filter(Boolean);
  const folders = [...names, ''].map((_, depth) =>
    join(top ?? directory, ...names.slice(0, depth)),
  );
  const ofGit =
    top === null
      ? []
      : [excludesFile, join(findRepository(top)?.common ?? top, 'info/exclude')];
  return [...ofGit, ...folders.map((folder) => join(folder, '.gitignore'))];
}

function textNow(path: string) {
  // git does not read a link of this name. /dev/null is how a user says that there is no
  // such file.
  const isUnread =
    basename(path) === '.gitignore' ? !linkStatsOf(path)?.isFile() : path === '/dev/null';
  return isUnread ? '' : readText(path);
}

function linkStatsOf(path: string) {
  try {
    return lstatSync(path);
  } catch {
    // Safe: the file is gone, or lies in a folder that nobody may enter. It holds no rule
    // then, and the look itself reports the folder.
    return;
  }
}

/**
 * Kernels stamp a file with the time of their last tick, which may lie this many
 * milliseconds back.
 */
const tickMs = 10;

/** Nobody can set this time back without setting the clock. */
function isNew(path: string, since: number) {
  const stats = linkStatsOf(path);
  return stats !== undefined && stats.ctimeMs > since - tickMs;
}

/**
 * The text of a rule file at the human's message. If it cannot be read, its rules are
 * left out: seeing too much is better than seeing too little.
 */
export function textThen(path: string, { texts, since }: IgnoreRules) {
  if (path in texts) return texts[path] ?? '';
  return isNew(path, since) ? '' : (textNow(path) ?? '');
}

/** Tells whether the rule file differs from its text at the human's message. */
export function hasRuleChanged(path: string, { texts, since }: IgnoreRules) {
  const known = texts[path];
  return known === undefined
    ? isNew(path, since)
    : known === null || known !== textNow(path);
}

/** What the operating system takes in one call, with room to spare. */
const mostPatternBytes = 1_000_000;

/**
 * The former ignore rules as `--exclude=…` arguments for git, the strongest last; null:
 * the rules have not changed.
 * @param excludesFile the file that the settings name now
 * @param below the rule files inside the workspace
 */
export function excludesThen(
  { directory, top }: Repository,
  excludesFile: string | undefined,
  below: readonly string[],
  rules: IgnoreRules,
) {
  const outside = ruleFiles(directory, top, rules.excludesFile);
  const deep = below.toSorted(
    (left, right) => left.split('/').length - right.split('/').length,
  );
  const paths = [...new Set([...outside, ...deep])];
  const isSame =
    excludesFile === rules.excludesFile &&
    !paths.some((path) => hasRuleChanged(path, rules));
  if (isSame) return null;
  const words = paths.flatMap((path) => {
    const folder = basename(path) === '.gitignore' ? relative(top, dirname(path)) : '';
    return linesOf(textThen(path, rules)).map(
      (line) => `--exclude=${rewriteRule(line, folder)}`,
    );
  });
  // With too many rules all of them are left out: seeing too much is better than seeing
  // too little.
  return Buffer.byteLength(words.join(' ')) > mostPatternBytes ? [] : words;
}

function linesOf(text: string) {
  const lines = text.replace(/^\uFEFF/u, '').split(/\r?\n/u);
  // A blank at the end of a line counts only behind a backslash.
  return lines
    .map((line) => line.replace(/(\\ )? *$/u, '$1'))
    .filter((line) => /^[^#]/u.test(line));
}

/** Rewrites a rule of a folder as it would be written at the top of the repository. */
function rewriteRule(line: string, folder: string) {
  if (folder === '') return line;
  const [sign, pattern] = line.startsWith('!') ? ['!', line.slice(1)] : ['', line];
  const isAnchored = pattern.slice(0, -1).includes('/');
  const plain = folder.replace(/[*?[\\]/gu, '\\$&');
  return `${sign}/${plain}/${isAnchored ? '' : '**/'}${pattern.replace(/^\//u, '')}`;
}
