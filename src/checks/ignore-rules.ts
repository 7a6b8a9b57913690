// The ignore rules of the human's last message (V2): whoever ignores a file later does not hide it. Files whose text was
// not remembered count as they stand if they are older than the message, and not at all if they are newer.
import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { Policy } from '../core/policy.ts';
import type { Environment } from '../engine/policy.ts';
import { readBytes } from '../engine/system.ts';
import { commonFolder, findExcludesFile, findTop, type Repository } from './git.ts';

export type IgnoreRules = NonNullable<Policy['ignoreRules']> & Readonly<{ since: number }>;

/** For the policy, before it is snapshotted at a human's message. Starts no process where git's settings are plain. */
export async function withIgnoreRules(policy: Policy, directory: string, environment: Environment) {
  try {
    const real = realpathSync(directory);
    const top = findTop(real);
    const excludesFile = await findExcludesFile(top, environment);
    const paths = ruleFiles(real, top, excludesFile);
    const texts = Object.fromEntries(paths.map((path) => [path, textNow(path)]));
    return { ...policy, ignoreRules: { excludesFile, texts } };
  } catch {
    // Safe: such a folder has no files to hide; whoever looks through it is told.
    return policy;
  }
}

export type Frozen = ReturnType<typeof frozenBy>;

export function frozenBy({ exclude = [], ignoreRules }: Partial<Policy>, since: number) {
  const rules: IgnoreRules | undefined = ignoreRules && { ...ignoreRules, since };
  return { exclude, rules };
}

/** Those that lie above the workspace or outside it, the weakest first. Below it are more. */
function ruleFiles(directory: string, top: string | null, excludesFile: string) {
  const names = relative(top ?? directory, directory)
    .split('/')
    .filter(Boolean);
  const folders = [...names, ''].map((_, depth) => join(top ?? directory, ...names.slice(0, depth)));
  const ofGit = top === null ? [] : [excludesFile, join(commonFolder(top), 'info/exclude')];
  return [...ofGit, ...folders.map((folder) => join(folder, '.gitignore'))];
}

const mostBytes = 100_000;

function textNow(path: string) {
  // git reads no link of this name.
  if (basename(path) === '.gitignore' && !statsOf(path)?.isFile()) return '';
  const read = readBytes(path, mostBytes);
  // None that can be read: too much is seen rather than too little.
  return read.ok ? Buffer.from(read.bytes).toString('utf8') : '';
}

const statsOf = (path: string) => lstatSync(path, { throwIfNoEntry: false });

/** Kernels stamp files with the time of their last tick, which may lie so many milliseconds back. */
const tickMs = 10;

/** Nobody can set this time back without setting the clock. */
function isNew(path: string, since: number) {
  const stats = statsOf(path);
  return stats !== undefined && stats.ctimeMs > since - tickMs;
}

export function textThen(path: string, { texts, since }: IgnoreRules) {
  return texts[path] ?? (isNew(path, since) ? '' : textNow(path));
}

export function hasChanged(path: string, { texts, since }: IgnoreRules) {
  const known = texts[path];
  return known === undefined ? isNew(path, since) : known !== textNow(path);
}

/** What the operating system takes in one call, with room to spare. */
const mostPatternBytes = 1_000_000;

/**
 * `--exclude=…` for git, the strongest last; null: the rules are those of then.
 * @param excludesFile what the settings name by now
 * @param below the rule files of the workspace
 */
export function excludesThen(
  { directory, top }: Repository,
  excludesFile: string | undefined,
  below: readonly string[],
  rules: IgnoreRules,
) {
  const outside = ruleFiles(directory, top, rules.excludesFile);
  const deep = below.toSorted((left, right) => left.split('/').length - right.split('/').length);
  const paths = [...new Set([...outside, ...deep])];
  const isSame = excludesFile === rules.excludesFile && !paths.some((path) => hasChanged(path, rules));
  if (isSame) return null;
  const words = paths.flatMap((path) => {
    const folder = basename(path) === '.gitignore' ? relative(top, dirname(path)) : '';
    return linesOf(textThen(path, rules)).map((line) => `--exclude=${placed(line, folder)}`);
  });
  // Without any of them too much is seen rather than too little.
  return Buffer.byteLength(words.join(' ')) > mostPatternBytes ? [] : words;
}

function linesOf(text: string) {
  const lines = text.replace(/^\uFEFF/u, '').split(/\r?\n/u);
  // A blank at the end counts only behind a backslash.
  return lines.map((line) => line.replace(/(\\ )? *$/u, '$1')).filter((line) => /^[^#]/u.test(line));
}

/** As the line would be written at the top of the repository. */
function placed(line: string, folder: string) {
  if (folder === '') return line;
  const [sign, pattern] = line.startsWith('!') ? ['!', line.slice(1)] : ['', line];
  const isAnchored = pattern.slice(0, -1).includes('/');
  const plain = folder.replace(/[*?[\\]/gu, '\\$&');
  return `${sign}/${plain}/${isAnchored ? '' : '**/'}${pattern.replace(/^\//u, '')}`;
}
