// Files on this machine: settings of hosts, read whole and replaced in one step, and our own programs, found in the package,
// copied into the state directory (an npx cache is pruned) and named in the command of a hook. A link stays a link, mode and
// owner stay, and a file that somebody changed since it was read is left alone. It knows nothing of what is in a file.
import { randomUUID } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorCode, makeFolder } from '../../engine/system.ts';

/** Why a file is left as it is; the message goes on after the name of the file: "is not …". */
export class Refusal extends Error {}

export interface SettingsFile {
  /** Where it really is, behind links. */
  readonly path: string;
  /** Null: there is no such file. */
  readonly text: string | null;
  /** Folders that would have to be made, outermost first. */
  readonly missingFolders: readonly string[];
}

/** A settings file is small; the largest known, with histories of projects in it, has some megabytes. */
const mostBytes = 64 * 1024 * 1024;

/** Throws a Refusal. */
export function readSettingsFile(shown: string): SettingsFile {
  try {
    if (lstatSync(shown, { throwIfNoEntry: false }) === undefined) return describeMissing(shown);
    if (!existsSync(shown)) throw new Refusal('is a link to nothing');
    const path = realpathSync(shown);
    const stats = statSync(path);
    if (!stats.isFile()) throw new Refusal('is not a regular file');
    if (stats.size > mostBytes) throw new Refusal(`is larger than ${mostBytes} bytes`);
    // Fatal, and with the byte order mark kept: the text must encode to the very bytes it came from.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path));
    return { path, text, missingFolders: [] };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const code = errorCode(error);
    const known: Readonly<Record<string, string>> = {
      ENOTDIR: 'lies in something that is not a folder',
      ERR_ENCODING_INVALID_ENCODED_DATA: 'is not text in UTF-8',
    };
    throw new Refusal(known[code] ?? `cannot be read (${code})`, { cause: error });
  }
}

function describeMissing(path: string): SettingsFile {
  const missing: string[] = [];
  let folder = dirname(path);
  for (; lstatSync(folder, { throwIfNoEntry: false }) === undefined; folder = dirname(folder))
    missing.unshift(basename(folder));
  const real = realpathSync(folder);
  const missingFolders = missing.map((_name, index) => join(real, ...missing.slice(0, index + 1)));
  return { path: join(real, ...missing, basename(path)), text: null, missingFolders };
}

/** As far as that can be known before. Throws a Refusal. */
export function assertWritable(path: string): void {
  if (existsSync(path) && (statSync(path).mode & 0o222) === 0) throw new Refusal('is marked read-only');
  let folder = dirname(path);
  while (!existsSync(folder)) folder = dirname(folder);
  try {
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new Refusal(`lies in a folder that cannot be written (${errorCode(error)})`, { cause: error });
  }
}

interface Replacement {
  readonly path: string;
  readonly before: string | null;
  /** Null: the file is taken away. */
  readonly after: string | null;
  /** For a new file: only its owner may read it. */
  readonly isPrivate: boolean;
}

/** In one step. Null: done. Else a sentence that goes on after the name of the file, and nothing was changed. */
export function replaceFile({ path, before, after, isPrivate }: Replacement): string | null {
  const changedMeanwhile = 'was changed by another program in this moment; try again';
  const temporary = join(dirname(path), `.untildone-${randomUUID()}.tmp`);
  try {
    if (after !== null) {
      makeFolder(dirname(path), 0o777);
      writeBeside(temporary, after, before === null ? null : statSync(path), isPrivate);
    }
    // Between this look and the next line lies the one moment in which another program's write would be lost.
    if (textNow(path) !== before) return changedMeanwhile;
    if (after === null) rmSync(path, { force: true });
    else renameSync(temporary, path);
    return null;
  } catch (error) {
    // Safe: the old file is still complete, and whoever asked is told why.
    return `cannot be written (${errorCode(error)})`;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** What is there now; null: nothing that can be read. */
export function textNow(path: string): string | null {
  try {
    return readSettingsFile(path).text;
  } catch {
    // Safe: this is the question that was asked.
    return null;
  }
}

function writeBeside(path: string, text: string, like: Stats | null, isPrivate: boolean): void {
  const descriptor = openSync(path, 'wx', like !== null || isPrivate ? 0o600 : 0o666);
  try {
    writeFileSync(descriptor, text, 'utf8');
    if (like === null) return;
    const now = fstatSync(descriptor);
    if (now.uid !== like.uid || now.gid !== like.gid) keepOwner(descriptor, like);
    fchmodSync(descriptor, like.mode & 0o7777);
  } finally {
    closeSync(descriptor);
  }
}

function keepOwner(descriptor: number, { uid, gid }: Stats): void {
  try {
    fchownSync(descriptor, uid, gid);
  } catch (error) {
    // Only root may give files away; for others the file becomes theirs, as with any editor that renames.
    if (errorCode(error) !== 'EPERM') throw error;
  }
}

/** The hook, the commands that hosts start (the MCP server), the plugin that hosts load. */
export type ProgramName = 'hook.js' | 'host-commands.js' | 'server.js';

/** The folder of the package that this code belongs to, whether it was bundled or runs from source. */
function packageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  const isRoot = (): boolean => existsSync(join(folder, 'package.json')) && existsSync(join(folder, 'docs'));
  while (!isRoot() && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

export function shippedFolder(): string {
  return join(packageFolder(), 'dist', 'plugin', 'programs');
}

/** The pages that help texts name; they come along in the package. */
export function docsFolder(): string {
  return join(packageFolder(), 'docs');
}

export function programsFolder(stateDirectory: string, version: string): string {
  return join(stateDirectory, 'bin', version);
}

export function programPath(stateDirectory: string, version: string, name: ProgramName): string {
  return join(programsFolder(stateDirectory, version), name);
}

/** Null: every one of these programs is there. */
export function whyNotShipped(folder: string, names: readonly ProgramName[]): string | null {
  const missing = names.find((name) => !existsSync(join(folder, name)));
  return missing === undefined
    ? null
    : `${join(folder, missing)} is missing: this copy of untildone is not complete. Install it again, or run npm run build.`;
}

/** The files that a program needs: those beside it that it names, and itself, last. */
function filesOf(folder: string, name: string, known: readonly string[] = []): string[] {
  const text = readFileSync(join(folder, name), 'utf8');
  const named = [...text.matchAll(/["']\.\/([\w-]+\.c?js)["']/g)].map(([, file = '']) => file);
  const files = named.reduce(
    (found, file) =>
      found.includes(file) || !existsSync(join(folder, file)) ? found : filesOf(folder, file, found),
    [...known, name],
  );
  return [...files.filter((file) => file !== name), name];
}

/** Is the copy, with all that it needs, the program that this package ships? */
export function isCopied(folder: string, copy: string, name: ProgramName): boolean {
  try {
    return filesOf(folder, name).every((file) =>
      readFileSync(join(folder, file)).equals(readFileSync(file === name ? copy : join(dirname(copy), file))),
    );
  } catch {
    // Safe: what cannot be read is not there.
    return false;
  }
}

/** In one step each: a hook that starts in this moment reads the old file or the new one, with what that one needs. */
export function copyPrograms(folder: string, names: readonly ProgramName[], target: string): void {
  for (const file of new Set(names.flatMap((name) => filesOf(folder, name)))) {
    const [bytes, copy] = [readFileSync(join(folder, file)), join(target, file)];
    if (existsSync(copy) && readFileSync(copy).equals(bytes)) continue;
    writeOwn(copy, bytes);
  }
}

/** A file of ours, in one step. It may hold what a person's file holds, keys and tokens: nobody else reads it. */
export function writeOwn(path: string, content: string | Uint8Array): void {
  makeFolder(dirname(path), 0o700);
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, content, { mode: 0o600 });
  renameSync(temporary, path);
}

/** When nothing is installed any more. The store stays: what happened is the person's. */
export function removePrograms(stateDirectory: string): void {
  rmSync(join(stateDirectory, 'bin'), { recursive: true, force: true });
  for (const folder of [join(stateDirectory, 'installs'), stateDirectory]) {
    try {
      rmdirSync(folder);
    } catch {
      // Safe: it holds the store, or is gone.
      return;
    }
  }
}

export type HookCommand =
  /** Absolute paths of this machine. */
  | { readonly kind: 'copied'; readonly node: string; readonly file: string; readonly version: string }
  /** For a file that is committed: `npx` finds or fetches the package. */
  | { readonly kind: 'portable'; readonly version: string };

/** A line for `sh`. @param words what follows the host's name; plain words only */
export function writeHookCommand(command: HookCommand, host: string, words: readonly string[] = []): string {
  // In single quotes nothing has a meaning to sh but the quote itself.
  const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
  const program =
    command.kind === 'portable'
      ? // Without retries: a registry that cannot be reached must not hold up a host for a minute.
        `npx -y --fetch-retries=0 untildone@${command.version} hook`
      : `${quote(command.node)} ${quote(command.file)}`;
  return [program, host, ...words].join(' ');
}

const quoted = String.raw`'((?:[^']|'\\'')*)'`;
const copiedPattern = new RegExp(`^${quoted} ${quoted} (\\S+)(?: [\\w=-]+)*$`, 's');
const portablePattern = /^npx -y (?:--fetch-retries=0 )?untildone@(\S+) hook (\S+)(?: [\w=-]+)*$/;

/** Of this version or an older one. Null: it is not a command of ours for this host. */
export function readHookCommand(text: string, host: string): HookCommand | null {
  const portable = portablePattern.exec(text);
  if (portable?.[2] === host) return { kind: 'portable', version: portable[1] ?? '' };
  const copied = copiedPattern.exec(text);
  if (copied?.[3] !== host) return null;
  const [node = '', file = ''] = copied.slice(1, 3).map((word) => word.replaceAll("'\\''", "'"));
  const version = /[\\/]bin[\\/]([^\\/]+)[\\/]hook\.js$/.exec(file)?.[1];
  return version === undefined ? null : { kind: 'copied', node, file, version };
}
