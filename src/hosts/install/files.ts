// Reads and replaces settings files of hosts, refusing those that it cannot read or
// write. Copies our programs into the state directory (npx prunes its caches), and writes
// and reads the commands that call them.
import * as fs from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Environment } from '../../engine/policy.ts';
import { errorCode, makeFolder } from '../../engine/system.ts';
import { readTextFile, replaceFile } from '../../engine/text-file.ts';
import type { HookLanguage } from '../asked-translate.ts';
import { startVariables } from '../project-variables.ts';
import type { FileChange } from './changes.ts';
import type { InstallRequest } from './installer.ts';

/** Why a file is left alone, in words that follow its name: "is not …". */
export class Refusal extends Error {}

/** Runs `look`; a Refusal becomes the answer of `refused`. */
export function unlessRefused<T, R>(look: () => T, refused: (why: string) => R): T | R {
  try {
    return look();
  } catch (error) {
    // Safe: nothing was changed yet, and the caller gets the reason.
    if (error instanceof Refusal) return refused(error.message);
    throw error;
  }
}

/** Runs `ask`; gives `otherwise` if it throws. */
export function askOr<T>(otherwise: T, ask: () => T): T {
  try {
    return ask();
  } catch {
    // Safe: asking changes nothing. What cannot be read or started counts as not there.
    return otherwise;
  }
}

/**
 * The most that is read of a file. The largest known file, which keeps histories, has
 * some megabytes.
 */
const mostBytes = 64 * 1024 * 1024;

/**
 * Reads a settings file. `path`: with links resolved. `text`: null if there is no file.
 * `missingFolders`: outermost first. Throws a Refusal.
 */
export function readSettingsFile(shown: string) {
  const missing: string[] = [];
  let found = shown;
  let real: string;
  try {
    for (; !fs.lstatSync(found, { throwIfNoEntry: false }); found = dirname(found))
      missing.unshift(basename(found));
    real = fs.realpathSync(found);
  } catch (error) {
    const code = errorCode(error);
    const known = {
      ENOTDIR: 'is inside something that is not a folder',
      ENOENT: 'is a link to nothing',
    };
    throw new Refusal(known[code as keyof typeof known] ?? `cannot be read (${code})`, {
      cause: error,
    });
  }
  const missingFolders = missing.map((_name, index) =>
    join(real, ...missing.slice(0, index + 1)),
  );
  const path = missingFolders.pop() ?? real;
  if (found !== shown) return { path, text: null, missingFolders };
  const read = readTextFile(path, mostBytes);
  if (read.ok) return { path, text: read.text, missingFolders };
  throw new Refusal(read.sentence);
}

/** The text of a file; null: there is none, or it cannot be read. */
export const textNow = (path: string) => askOr(null, () => readSettingsFile(path).text);

/** Throws a Refusal if the file cannot be written. */
export function assertWritable({
  path,
  text,
  missingFolders,
}: ReturnType<typeof readSettingsFile>): void {
  if (text !== null && (fs.statSync(path).mode & 0o222) === 0)
    throw new Refusal('is marked read-only');
  try {
    fs.accessSync(dirname(missingFolders[0] ?? path), fs.constants.W_OK);
  } catch (error) {
    throw new Refusal(`is in a folder that cannot be written (${errorCode(error)})`, {
      cause: error,
    });
  }
}

type SettingsChange = Pick<FileChange, 'path' | 'before' | 'after'> &
  Partial<Pick<FileChange, 'isPrivate'>>;

/**
 * Replaces a file, or removes it if `after` is null. Null: done. Else gives the reason,
 * in words that follow the name of the file, and nothing was changed.
 */
export function replaceSettingsFile({
  path,
  before,
  after,
  isPrivate,
}: SettingsChange): string | null {
  const isWanted = () => textNow(path) === before;
  try {
    if (after !== null) {
      makeFolder(dirname(path), 0o777);
      const like = before === null ? null : fs.statSync(path);
      if (replaceFile(path, after, { like, mode: isPrivate ? 0o600 : 0o666, isWanted }))
        return null;
    } else if (isWanted()) {
      fs.rmSync(path, { force: true });
      return null;
    }
    return 'was changed by another program in this moment; try again';
  } catch (error) {
    // Safe: the old file is complete, and the caller gets the reason.
    return `cannot be written (${errorCode(error)})`;
  }
}

/** Writes a file that only the user can read: a backup may hold keys and tokens. */
export function writeOwn(path: string, text: string): void {
  makeFolder(dirname(path), 0o700);
  replaceFile(path, text, { like: null, mode: 0o600 });
}

/**
 * The programs that hosts start: the hook, the MCP server with its commands, the plugins.
 */
export type ProgramName =
  | 'hook.js'
  | 'host-commands.js'
  | 'server.js'
  | 'pi-extension.js';

/** A folder of the installed package. */
export function packageFolder(...names: readonly string[]): string {
  let folder = import.meta.dirname;
  const isRoot = () =>
    ['package.json', 'docs'].every((name) => fs.existsSync(join(folder, name)));
  while (!isRoot() && dirname(folder) !== folder) folder = dirname(folder);
  return join(folder, ...names);
}

/** Where the package has our programs. */
export const shippedFolder = () => packageFolder('dist', 'plugin', 'programs');
/** Where `init` puts the programs of a version. */
export const programsFolder = (stateDirectory: string, version: string) =>
  join(stateDirectory, 'bin', version);

/** Why programs cannot be copied from the package; null: all are there. */
export function whyNotShipped(
  folder: string,
  names: readonly ProgramName[],
): string | null {
  const missing = names
    .map((name) => join(folder, name))
    .find((path) => !fs.existsSync(path));
  const advice =
    'this copy of untildone is not complete. Install it again, or run npm run build.';
  return missing === undefined ? null : `${missing} is missing: ${advice}`;
}

/**
 * Programs and the files beside them that they name; the programs come last, so that a
 * program is never there without its files.
 */
function filesOf(folder: string, names: readonly string[]): string[] {
  const found = new Set(names);
  // The loop also visits files that are added on the way.
  for (const file of found) {
    const named = fs
      .readFileSync(join(folder, file), 'utf8')
      .matchAll(/["']\.\/([\w-]+\.c?js)["']/g);
    for (const [, beside = ''] of named)
      if (fs.existsSync(join(folder, beside))) found.add(beside);
  }
  // This file marks the programs as modules. Without it, pi takes more than a second to
  // translate each of them at its first start.
  if (fs.existsSync(join(folder, 'package.json'))) found.add('package.json');
  return [...found].reverse();
}

const isSame = (one: string, other: string) =>
  askOr(false, () => fs.readFileSync(one).equals(fs.readFileSync(other)));

/** Whether a copy of a program, with its files, equals the one in `folder`. */
export function isCopied(folder: string, copy: string): boolean {
  const isSameBeside = (file: string) =>
    isSame(join(folder, file), join(dirname(copy), file));
  return askOr(false, () => filesOf(folder, [basename(copy)]).every(isSameBeside));
}

/**
 * Copies programs; false: all were there. A hook that starts meanwhile finds the old file
 * or the new one, with what that one needs.
 */
export function copyPrograms(
  folder: string,
  names: readonly ProgramName[],
  target: string,
): boolean {
  makeFolder(target, 0o700);
  // An older version let the umask of the process decide.
  fs.chmodSync(dirname(target), 0o700);
  const changed = filesOf(folder, names).filter(
    (file) => !isSame(join(folder, file), join(target, file)),
  );
  for (const file of changed)
    writeOwn(join(target, file), fs.readFileSync(join(folder, file), 'utf8'));
  return changed.length > 0;
}

/** Removes our programs. The store stays, because it is the person's. */
export function removePrograms(
  stateDirectory: string,
  folder = join(stateDirectory, 'bin'),
): void {
  if (fs.existsSync(folder)) fs.rmSync(folder, { recursive: true, force: true });
  for (const name of ['bin', 'installs', ''])
    removeEmptyFolders([join(stateDirectory, name)]);
}

/**
 * Removes these folders as far as they are empty.
 * @param folders outermost first
 */
export function removeEmptyFolders(folders: readonly string[]): void {
  try {
    for (const folder of folders.toReversed()) fs.rmdirSync(folder);
  } catch {
    // Safe: a folder is in use or gone already; those above it stay too.
  }
}

/**
 * A program as a command names it. No `file`: npx fetches the package. No `node`: the
 * host runs the file itself.
 */
export type InstalledProgram = {
  readonly version: string;
  readonly file?: string;
  readonly node?: string;
};
type CallRequest = Pick<InstallRequest, 'scope' | 'node' | 'stateDirectory' | 'version'>;

/**
 * The call of a program. A committed file (`shared`) gets one that works on every
 * machine.
 */
export function programCall(
  { scope, node, stateDirectory, version }: CallRequest,
  name: ProgramName,
) {
  if (scope !== 'shared')
    return [node, join(programsFolder(stateDirectory, version), name)];
  // Without retries: an unreachable registry must not hold up a host for a minute.
  return ['npx', '-y', '--fetch-retries=0', `untildone@${version}`];
}

type Variables = Readonly<Record<string, string>>;

/**
 * The command of a hook, as a line for `sh`.
 * @param words plain ones, after the host's name
 * @param variables that the line sets; a committed line, which has to work everywhere,
 * sets none
 */
export function writeHookCommand(
  request: CallRequest,
  host: string,
  words: readonly string[] = [],
  variables: Variables = {},
): string {
  const call = programCall(request, 'hook.js');
  const called =
    request.scope === 'shared'
      ? [...call, 'hook']
      : [...assignments(variables), ...call.map(inQuotes)];
  return [...called, host, ...words].join(' ');
}

const assignments = (variables: Variables) =>
  Object.entries(variables).map(([name, value]) => `${name}=${inQuotes(value)}`);

/** Within single quotes only the quote itself means something to sh. */
const inQuotes = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;

/**
 * The call of a program from where untildone is installed, for one run: no file names it
 * afterwards.
 */
export const shippedCall = (name: ProgramName) =>
  [process.execPath, join(shippedFolder(), name)] as const;

/**
 * The command of a hook for one run. It names the state directory, so that the project's
 * settings cannot change it.
 */
export function shippedHook(
  language: HookLanguage,
  environment: Environment,
  ...words: readonly string[]
): string {
  const { UNTILDONE_HOME: home } = environment;
  const place = home ? [inQuotes(`--home=${resolve(home)}`)] : [];
  const call = shippedCall('hook.js').map(inQuotes);
  const variables = assignments(startVariables(language));
  return [...variables, ...call, language.host, ...words, ...place].join(' ');
}

const quoted = String.raw`'((?:[^']|'\\'')*)'`;
const copiedPattern = new RegExp(
  `^(?:\\w+='(?:[^']|'\\\\'')*' )*${quoted} ${quoted} (\\S+)(?: [\\w=-]+)*$`,
  's',
);
const portablePattern =
  /^npx -y (?:--fetch-retries=0 )?untildone@(\S+) hook (\S+)(?: [\w=-]+)*$/;

/** Reads a command of any version; null: it is not ours, or for another host. */
export function readHookCommand(text: string, host: string): InstalledProgram | null {
  const portable = portablePattern.exec(text);
  if (portable?.[2] === host) return { version: portable[1] ?? '' };
  const copied = copiedPattern.exec(text);
  const [node = '', file = ''] =
    copied?.slice(1, 3).map((word) => word.replaceAll("'\\''", "'")) ?? [];
  const version = versionOfCopy(file, 'hook.js');
  return copied?.[3] !== host || version === null ? null : { node, file, version };
}

/** All commands of ours for this host in its settings. */
export function hookCommandsIn(settings: unknown, host: string): InstalledProgram[] {
  const textsIn = (value: unknown): string[] =>
    typeof value === 'string' ? [value] : Object.values(value ?? {}).flatMap(textsIn);
  return [...new Set(textsIn(settings))].flatMap(
    (line) => readHookCommand(line, host) ?? [],
  );
}

/** The version of a copied program by its path; null: it is no copy of this program. */
export function versionOfCopy(file: string, name: ProgramName): string | null {
  const [bin, version, program] = file.split(/[\\/]/).slice(-3);
  return bin === 'bin' && program === name && version ? version : null;
}
