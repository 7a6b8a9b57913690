// The system that we run on: clock, ids, hashes, processes, folders and small files. The
// engine gets these handed in, so that tests can simulate them.
import fs from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { HashFunction } from '../core/ledger.ts';
import type { Session } from '../core/state.ts';
import type { Clock, Identifiers } from './host.ts';

/** Loaded when first needed: most hooks never hash anything. */
let loadedCrypto: typeof import('node:crypto') | null = null;
const crypto = () => (loadedCrypto ??= process.getBuiltinModule('node:crypto'));

/** setTimeout counts in 32 bits, so a later wake-up is made in stages. */
const longestTimeout = 2_147_483_647;

/** The real clock. Its wake-ups do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  wake(at, callback) {
    let timer: NodeJS.Timeout;
    const arm = (): void => {
      const delay = Math.max(0, at - Date.now());
      timer = setTimeout(
        () => (Date.now() < at ? arm() : callback()),
        Math.min(delay, longestTimeout),
      );
      timer.unref();
    };
    arm();
    return () => clearTimeout(timer);
  },
};

/**
 * Makes UUIDs of version 7. They begin with the time, so that new rows stand together in
 * an index.
 */
export function createIdentifiers(clock: Pick<Clock, 'now'> = systemClock): Identifiers {
  return {
    next() {
      const bytes = crypto().randomBytes(16);
      bytes.writeUIntBE(clock.now(), 0, 6);
      return formatUuid(bytes, 7);
    },
  };
}

/**
 * Calls back when the signal aborts, or at once if it has aborted already. Returns a
 * function that stops listening.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) callback();
  else signal.addEventListener('abort', callback, { once: true });
  return () => signal.removeEventListener('abort', callback);
}

/**
 * Returns a function that runs one piece of work after the other. A failed piece rejects
 * for its own caller and does not hold up the next.
 */
export function createQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    // Safe: the caller of this work gets the failure; the next work starts afresh.
    last = result.catch(() => null);
    return result;
  };
}

/** Writes version and variant into the 16 bytes, which it changes, and formats them. */
export function formatUuid(bytes: Uint8Array, version: 7 | 8): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | (version << 4);
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return Buffer.from(bytes)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/u, '$1-$2-$3-$4-');
}

/**
 * The hash as 64 hex digits. It uses the one-call form where the runtime has one, since
 * every event is hashed several times.
 */
export function sha256(content: string | Uint8Array): string {
  const { hash, createHash } = crypto();
  if (typeof hash === 'function') return hash('sha256', content);
  return createHash('sha256').update(content).digest('hex');
}

/**
 * A hash over the session, the number of its todos and the end of its ledger. It differs
 * from the stored seal if someone edited one of them in the store (V4).
 */
export function sealOf(
  session: Session,
  head: string | null,
  planLength: number,
  hash: HashFunction,
) {
  return hash(
    JSON.stringify({ ...session, plan: undefined, seal: undefined, head, planLength }),
  );
}

/** Said of a session whose seal differs; completes a sentence about its record. */
export const brokenSeal = 'its session is not as it was saved';

/**
 * Names this process as the holder of a lease; `unique` tells two holders in it apart.
 */
export function processHolder(unique: string): string {
  return `${hostname()}/${process.pid}/${unique}`;
}

/**
 * Tells whether the holder's process lives. A holder on another machine counts as alive,
 * and so does a process that got the same id: their leases run out by themselves.
 */
export function isHolderAlive(holder: string): boolean {
  const [machine, pid] = holder.split('/');
  if (machine !== hostname() || pid === undefined || !/^[1-9]\d*$/.test(pid)) return true;
  return isProcessAlive(Number(pid));
}

/** Tells whether a process of this machine has this id. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Safe: any other refusal means that the process is there.
    return errorCode(error) !== 'ESRCH';
  }
}

/**
 * Makes the folder and those above it; does nothing if the path exists. Throws the
 * system's error. Node's own `recursive` never ends in places such as /proc.
 */
export function makeFolder(path: string, mode: number): void {
  // A file in the way counts as existing: what comes next fails with the right error.
  if (fs.statSync(path, { throwIfNoEntry: false }) !== undefined) return;
  if (dirname(path) !== path) makeFolder(dirname(path), mode);
  try {
    fs.mkdirSync(path, mode);
  } catch (error) {
    // Safe: another process made the folder meanwhile.
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/** What we read of Node's `Stats`: a user of our types need not have Node's types. */
export type FileStats = Readonly<{ uid: number; mode: number; size: number }> & {
  isFile(): boolean;
  isDirectory(): boolean;
};

/**
 * Reads a regular file whole, or says why not: if it is larger than `most` bytes,
 * missing, no file, or if `refuse` returns a sentence. Sentences go on after the file's
 * name. Never throws.
 */
export function readBytes(
  path: string,
  most: number,
  refuse: (stats: FileStats) => string | null = () => null,
) {
  const fail = (sentence: string, isMissing = false) =>
    ({ ok: false, sentence, isMissing }) as const;
  let descriptor: number | null = null;
  try {
    // Opening a named pipe must not hold us until someone writes to it.
    descriptor = fs.openSync(
      path,
      fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0),
    );
    const stats = fs.fstatSync(descriptor);
    const reason = refuse(stats) ?? (stats.isFile() ? null : 'is not a regular file');
    if (reason !== null) return fail(reason);
    if (stats.size > most) return fail(`is larger than ${most} bytes`);
    const bytes: Uint8Array = fs.readFileSync(descriptor);
    return { ok: true, bytes } as const;
  } catch (error) {
    // Safe: nothing was read, and the caller learns why.
    const code = errorCode(error);
    return fail(`cannot be read (${code})`, code === 'ENOENT' || code === 'ENOTDIR');
  } finally {
    if (descriptor !== null) fs.closeSync(descriptor);
  }
}

/** The system's code, such as `ENOENT`; 'unknown error' if the error has none. */
export function errorCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'unknown error';
}

/**
 * The folders of a git repository. `shared`: the folder that all worktrees share; null if
 * a file or a link only claims it. `common`: the folder that git uses as the shared one.
 */
type FoundRepository = Readonly<{
  root: string;
  own: string;
  common: string;
  shared: string | null;
}>;

/**
 * Finds the repository that holds the directory; null: there is none. We look ourselves,
 * since git would also accept plain files that pose as a bare repository, and would obey
 * what they name. A worktree counts only if the repository itself names it: anyone can
 * write a file, or make a link, that points to a repository.
 */
export function findRepository(directory: string): FoundRepository | null {
  const dot = join(directory, '.git');
  const stats = statsOf(dot);
  if (stats !== null)
    return { root: directory, ...gitFolders(directory, dot, stats.isDirectory()) };
  const parent = dirname(directory);
  return parent === directory ? null : findRepository(parent);
}

function gitFolders(
  root: string,
  dot: string,
  isFolder: boolean,
): Omit<FoundRepository, 'root'> {
  const named = isFolder ? dot : (/^gitdir: (.+)$/m.exec(smallText(dot))?.[1] ?? '.git');
  const own = isFolder ? fs.realpathSync(dot) : resolve(root, named);
  const common = resolve(own, smallText(join(own, 'commondir')).trim() || '.');
  // A link to another repository's folder does not make a worktree either.
  if (fs.lstatSync(dot).isSymbolicLink()) return { own, common, shared: null };
  if (isFolder) return { own, common, shared: own };
  try {
    const shared = fs.realpathSync(common);
    const isInside = dirname(fs.realpathSync(own)) === join(shared, 'worktrees');
    const isNamed =
      fs.realpathSync(smallText(join(own, 'gitdir')).trim()) === fs.realpathSync(dot);
    return { own, common, shared: isInside && isNamed ? shared : null };
  } catch {
    // Safe: it is a submodule, or a file that points nowhere; nothing is shared.
    return { own, common, shared: null };
  }
}

/** Null: the path is missing, cannot be read, or is a link to itself. */
export function statsOf(path: string): FileStats | null {
  try {
    return fs.statSync(path);
  } catch {
    // Safe: opening the path fails too, and that failure is reported.
    return null;
  }
}

/** The text of a file of at most 64 KiB; '' if it cannot be read. */
export function smallText(path: string): string {
  const file = readBytes(path, 65_536);
  return file.ok ? Buffer.from(file.bytes).toString() : '';
}

/**
 * On Linux, a process's fields from its state and parent onwards. They are read behind
 * the name, which may hold spaces and brackets. Null: there is no such process.
 */
export function processFields(id: number): readonly string[] | null {
  try {
    const stat = fs.readFileSync(`/proc/${id}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    // Safe: the process has ended.
    return null;
  }
}

/**
 * Elsewhere, what `ps` prints about a process; null: there is no such process, or no ps
 * (Windows).
 */
export function askPs(id: number, ...words: readonly string[]): string | null {
  const { execFileSync } = process.getBuiltinModule('node:child_process');
  try {
    // The path is fixed: a program named `ps` that the agent made must not answer.
    const output = execFileSync('/bin/ps', [...words, '-p', String(id)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return output.trim();
  } catch {
    // Safe: the process has ended.
    return null;
  }
}
