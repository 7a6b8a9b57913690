// The system that we run on. The engine gets clock, identifiers and hash handed in, so
// that tests can simulate them.
import fs from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { HashFunction } from '../core/ledger.ts';
import type { Session } from '../core/state.ts';
import type { Clock, Identifiers } from './host.ts';

/** Loaded when first needed: most hooks do without. */
let loadedCrypto: typeof import('node:crypto') | null = null;
const crypto = () => (loadedCrypto ??= process.getBuiltinModule('node:crypto'));

/** setTimeout counts in 32 bits; a later wake-up is made in stages. */
const longestTimeout = 2_147_483_647;

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
 * UUID version 7: it begins with the time, so that new rows stand together in an index.
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

/** At once if it was aborted before. Returns how to stop listening. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) callback();
  else signal.addEventListener('abort', callback, { once: true });
  return () => signal.removeEventListener('abort', callback);
}

/** Does one thing after the other. */
export function createQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    // Safe: whoever asked gets the failure; the next one begins anew.
    last = result.catch(() => null);
    return result;
  };
}

/** Version and variant are written into the 16 bytes. */
export function formatUuid(bytes: Uint8Array, version: 7 | 8): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | (version << 4);
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return Buffer.from(bytes)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/u, '$1-$2-$3-$4-');
}

/** In one call where the runtime can: every event is hashed several times. */
export function sha256(content: string | Uint8Array): string {
  const { hash, createHash } = crypto();
  if (typeof hash === 'function') return hash('sha256', content);
  return createHash('sha256').update(content).digest('hex');
}

/**
 * Shows that a session, or the number of its todos or ledger entries, was edited in the
 * store (V4).
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

export const brokenSeal = 'its session is not as it was saved';

export function processHolder(unique: string): string {
  return `${hostname()}/${process.pid}/${unique}`;
}

/**
 * Other machines count as alive, and so does a reused process id: their lease runs out.
 */
export function isHolderAlive(holder: string): boolean {
  const [machine, pid] = holder.split('/');
  if (machine !== hostname() || pid === undefined || !/^[1-9]\d*$/.test(pid)) return true;
  return isProcessAlive(Number(pid));
}

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
 * With those above it; throws what the system says. Node's own `recursive` never ends in
 * places such as /proc.
 */
export function makeFolder(path: string, mode: number): void {
  // A file in the way counts as there: what comes next fails with the right word.
  if (fs.statSync(path, { throwIfNoEntry: false }) !== undefined) return;
  if (dirname(path) !== path) makeFolder(dirname(path), mode);
  try {
    fs.mkdirSync(path, mode);
  } catch (error) {
    // Safe: another process made it meanwhile.
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/** As far as it is looked at: whoever uses our types need not have Node's. */
export type FileStats = Readonly<{ uid: number; mode: number; size: number }> & {
  isFile(): boolean;
  isDirectory(): boolean;
};

/**
 * A regular file, whole. Sentences go on after its name; `refuse` says one of its own.
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
    // A named pipe must not hold us until someone writes to it.
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
    // Safe: nothing was read, and whoever asked is told why.
    const code = errorCode(error);
    return fail(`cannot be read (${code})`, code === 'ENOENT' || code === 'ENOTDIR');
  } finally {
    if (descriptor !== null) fs.closeSync(descriptor);
  }
}

/** Such as `ENOENT`. */
export function errorCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'unknown error';
}

/**
 * `shared`: the folder that all worktrees share; null where a file or a link only claims
 * it. `common`: what git takes for it.
 */
type FoundRepository = Readonly<{
  root: string;
  own: string;
  common: string;
  shared: string | null;
}>;

/**
 * By hand: git itself would also find plain files that pose as a bare one, and obey what
 * they name. A worktree counts where the repository itself names it, since anyone can
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
  // A link to another repository's folder shares nothing either.
  if (fs.lstatSync(dot).isSymbolicLink()) return { own, common, shared: null };
  if (isFolder) return { own, common, shared: own };
  try {
    const shared = fs.realpathSync(common);
    const isInside = dirname(fs.realpathSync(own)) === join(shared, 'worktrees');
    const isNamed =
      fs.realpathSync(smallText(join(own, 'gitdir')).trim()) === fs.realpathSync(dot);
    return { own, common, shared: isInside && isNamed ? shared : null };
  } catch {
    // Safe: a submodule, or a file that points nowhere; nothing is shared.
    return { own, common, shared: null };
  }
}

/** null: missing, or a link to itself. */
export function statsOf(path: string): FileStats | null {
  try {
    return fs.statSync(path);
  } catch {
    // Safe: whoever opens it is told.
    return null;
  }
}

/** Empty where there is none. */
export function smallText(path: string): string {
  const file = readBytes(path, 65_536);
  return file.ok ? Buffer.from(file.bytes).toString() : '';
}

/**
 * From Linux: state, parent and so on, behind the name, which may hold spaces and
 * brackets; null: there is none.
 */
export function processFields(id: number): readonly string[] | null {
  try {
    const stat = fs.readFileSync(`/proc/${id}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    // Safe: it has ended.
    return null;
  }
}

/** Elsewhere; null: there is no such process, or no ps (Windows). */
export function askPs(id: number, ...words: readonly string[]): string | null {
  const { execFileSync } = process.getBuiltinModule('node:child_process');
  try {
    // The path is fixed: a `ps` of the agent's own must not answer.
    const said = execFileSync('/bin/ps', [...words, '-p', String(id)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return said.trim();
  } catch {
    // Safe: it has ended.
    return null;
  }
}
