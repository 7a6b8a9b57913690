// What `doctor` can say of the store: is it there, can it be opened, is it whole, and when did each host last speak.
// It creates no store.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UntildoneError } from '../core/error.ts';
import { broken, type Finding, ok } from '../hosts/install/installer.ts';
import { damageOf } from '../store/sqlite/open-database.ts';
import { storePath, whyNotPrivate } from '../store/state-directory.ts';
import { noSessionsYet } from './find-session.ts';
import type { Io } from './io.ts';
import { withStore } from './open-runtime.ts';

export interface StoreReport {
  readonly path: string;
  readonly finding: Finding;
  /** When a session of each host last changed, in milliseconds; only of hosts that were ever seen. */
  readonly lastSeen: Readonly<Record<string, number>>;
}

export async function examineStore(io: Io, hosts: readonly string[]): Promise<StoreReport> {
  const path = storePath(io.env);
  const state = dirname(path);
  const open = whyNotPrivate(state) ?? whyNotPrivate(join(state, 'bin'));
  if (open !== null) return { path, finding: broken('store', open, 'see the sentence above'), lastSeen: {} };
  if (!existsSync(path)) {
    const sentence = `There is no store yet; the first event of a host makes ${path}. ${noSessionsYet}`;
    return { path, finding: ok('store', sentence), lastSeen: {} };
  }
  try {
    const lastSeen =
      (await withStore(io, async (store) => {
        const seen: Record<string, number> = {};
        for (const host of hosts) {
          const sessions = await store.sessions({ host, limit: lookedAt });
          const newest = sessions.find(({ descriptor }) => isHere(descriptor.directory, io.cwd));
          if (newest !== undefined) seen[host] = newest.updatedAt;
        }
        return seen;
      })) ?? {};
    const damage = await damageOf(path);
    const finding =
      damage === null
        ? ok('store', `The store at ${path} opens and is whole.`)
        : broken(
            'store',
            `The store at ${path} is damaged: ${damage}.`,
            `move ${path} (with its -wal and -shm files) away, or put a backup in its place`,
          );
    return { path, finding, lastSeen };
  } catch (error) {
    if (!(error instanceof UntildoneError)) throw error;
    return { path, finding: broken('store', error.message, 'see the sentence above'), lastSeen: {} };
  }
}

/** Sessions of a host that are looked through for one of this project. */
const lookedAt = 200;

/** In this directory, or in one above or below it. */
function isHere(directory: string | null, cwd: string): boolean {
  if (directory === null) return false;
  return directory === cwd || directory.startsWith(`${cwd}/`) || cwd.startsWith(`${directory}/`);
}
