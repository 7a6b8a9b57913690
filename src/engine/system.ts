// The system that we run on: clock, identifiers, hash, processes and folders. Everything else in the engine gets the
// first three handed in, so that tests can simulate them.
import { mkdirSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import type { HashFunction } from '../core/ledger.ts';
import type { Session, State } from '../core/state.ts';
import type { Clock, Identifiers } from './host.ts';

/** Loaded when it is first needed: a hook that only puts an event into the inbox does without. */
let loadedCrypto: typeof import('node:crypto') | null = null;
function crypto(): typeof import('node:crypto') {
  loadedCrypto ??= process.getBuiltinModule('node:crypto');
  return loadedCrypto;
}

/** setTimeout counts in 32 bits; a later wake-up is made in stages. */
const longestTimeout = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  wake(at, callback) {
    let timer: NodeJS.Timeout;
    const arm = (): void => {
      const delay = Math.max(0, at - Date.now());
      timer = setTimeout(() => (Date.now() < at ? arm() : callback()), Math.min(delay, longestTimeout));
      timer.unref();
    };
    arm();
    return () => clearTimeout(timer);
  },
};

/** UUID version 7: the first 48 bits are the time, so that new rows land beside each other in an index. */
export function createIdentifiers(clock: Pick<Clock, 'now'> = systemClock): Identifiers {
  return {
    next() {
      const bytes = crypto().randomBytes(16);
      bytes.writeUIntBE(clock.now(), 0, 6);
      return formatUuid(bytes, 7);
    },
  };
}

/** @param bytes 16 of them; version and variant are written into them. */
export function formatUuid(bytes: Uint8Array, version: 7 | 8): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | (version << 4);
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Buffer.from(bytes).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** In one call where the runtime has it: an event is hashed several times, and making an object for each costs more. */
export const sha256: HashFunction = (text) => {
  const { hash, createHash } = crypto();
  return typeof hash === 'function' ? hash('sha256', text) : createHash('sha256').update(text).digest('hex');
};

/**
 * The seal of a session: a hash of its state, of the end of its ledger and of the length of its plan, kept with it.
 * Finds a session that was edited in the store, and an entry or a todo that was added or taken away (V4). It cannot
 * find an edit by someone who computes the seal anew.
 */
export function sealOf(
  session: Session | State,
  head: string | null,
  planLength: number,
  hash: HashFunction,
): string {
  return hash(JSON.stringify({ ...session, plan: undefined, seal: undefined, head, planLength }));
}

/** What is said of a session that does not fit its seal. */
export const brokenSeal = 'its session is not as it was saved';

/** Names the process that holds a lease, so that another one on the same machine can see whether it still lives. */
export function processHolder(unique: string): string {
  return `${hostname()}/${process.pid}/${unique}`;
}

/**
 * Holders on other machines, or in a form we do not know, count as alive: their lease expires by time. A process id
 * can be used again: then the lease simply runs out on its own.
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
    // Any refusal but "no such process" means that the process is there.
    return errorCode(error) !== 'ESRCH';
  }
}

/**
 * Makes a folder and those above it that are missing; throws what the file system said where one cannot be made.
 * Node's own way never ends where a file system says that the folder above does not exist although it does (/proc):
 * here every folder is tried once.
 */
export function makeFolder(path: string, mode: number): void {
  const missing: string[] = [];
  // A file in the way counts as there: what comes next fails with the right word for it.
  for (
    let folder = path;
    statSync(folder, { throwIfNoEntry: false }) === undefined;
    folder = dirname(folder)
  ) {
    missing.unshift(folder);
    if (dirname(folder) === folder) break;
  }
  for (const folder of missing) {
    try {
      mkdirSync(folder, mode);
    } catch (error) {
      // Safe: another process made it in the meantime, and that is all we wanted.
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }
}

/** What the system calls an error: `ENOENT`. */
export function errorCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'unknown error';
}
