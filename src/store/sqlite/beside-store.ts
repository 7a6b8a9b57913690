// What lies beside the store, a small file per session each (V5). The high-water mark:
// the newest events that the store held; if it lacks one of them later, it was put back
// to an earlier moment, or lost. The spool: what could not be written while another
// process held the store. Neither says anything about a plan.
import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import type { Event } from '../../core/events.ts';
import { errorCode, makeFolder, sha256 } from '../../engine/system.ts';

/** @param path of the store; one in memory has nothing beside it */
function createFiles(path: string, suffix: string) {
  const folder = path + suffix;
  const fileOf = (sessionId: string) => {
    // Hashes only where a name could lead elsewhere: to load them costs a hook more than
    // the rest of this.
    const isPlain = /^\w[\w.-]{0,100}$/u.test(sessionId);
    return `${folder}/${isPlain ? sessionId : sha256(sessionId)}`;
  };

  /** Throws what the file system says. */
  function append(sessionId: string, text: string): void {
    const attempt = () => appendFileSync(fileOf(sessionId), text, { mode: 0o600 });
    try {
      attempt();
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
      makeFolder(folder, 0o700);
      attempt();
    }
  }

  function read(sessionId: string): Buffer | null {
    if (path === ':memory:') return null;
    const file = fileOf(sessionId);
    try {
      // Most sessions have no spool, and an error costs more than this look.
      return existsSync(file) ? readFileSync(file) : null;
    } catch {
      // Safe: there is none.
      return null;
    }
  }

  function remove(sessionId: string): void {
    if (path !== ':memory:') rmSync(fileOf(sessionId), { force: true });
  }
  return { fileOf, append, read, remove };
}

/** What a crash cut short says nothing. */
function readLines<T>(text: string): T[] {
  return text.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as T];
    } catch {
      // Safe: see above.
      return [];
    }
  });
}

export function bySession(events: readonly Event[]) {
  const sessions = [...new Set(events.map(({ sessionId }) => sessionId))];
  return sessions.map(
    (id) => [id, events.filter(({ sessionId }) => sessionId === id)] as const,
  );
}

export type Marks = ReturnType<typeof createMarks>;

/**
 * What cannot be written is left out: nothing depends on a mark but the notice that the
 * store went back.
 */
export function createMarks(path: string) {
  const files = createFiles(path, '-marks');
  const linesOf = (ids: readonly string[]) =>
    ids.map((id) => `${JSON.stringify(id)}\n`).join('');
  function attempt(write: () => void): void {
    try {
      if (path !== ':memory:') write();
    } catch {
      // Safe: see above.
    }
  }

  return {
    /**
     * Committed to the inbox. One write, since every hook pays for it: older marks stay.
     */
    add(events: readonly Event[]): void {
      for (const [session, own] of bySession(events))
        attempt(() => files.append(session, linesOf(own.map(({ id }) => id))));
    },
    /**
     * Committed; all that was marked before is in the store too, or was told to be lost.
     */
    set(sessionId: string, eventId: string): void {
      const line = linesOf([eventId]);
      const file = files.fileOf(sessionId);
      attempt(() =>
        existsSync(file)
          ? overwrite(file, Buffer.from(line))
          : files.append(sessionId, line),
      );
    },
    read: (sessionId: string) =>
      readLines<string>(files.read(sessionId)?.toString() ?? ''),
    remove: files.remove,
  };
}

/** Larger after a turn of many calls. */
const mostMarkBytes = 4096;

/**
 * In place, with empty lines over the rest: a file that is emptied first is flushed to
 * the disk by some file systems, which takes a hundred times as long. Marks that others
 * append between our commit and this are lost, and with a long file those that they
 * append during it: then only a notice may be missed.
 */
function overwrite(file: string, line: Buffer): void {
  const descriptor = openSync(file, 'r+');
  try {
    const { size } = fstatSync(descriptor);
    const rest = Buffer.alloc(Math.max(0, size - line.length), '\n');
    writeSync(descriptor, Buffer.concat([line, rest]), 0, null, 0);
    if (size > mostMarkBytes) ftruncateSync(descriptor, line.length);
  } finally {
    closeSync(descriptor);
  }
}

export type Spooled =
  | { readonly event: Event }
  | { readonly policy: readonly [hash: string, body: string] };

/** Of what nobody has taken in yet: more than the largest payload. */
const mostSpoolBytes = 67_108_864;

/**
 * Only ever appended to: how far it was taken in is in the store, in the transaction that
 * took it in.
 */
export function createSpool(path: string, most = mostSpoolBytes) {
  const files = createFiles(path, '-spool');
  return {
    remove: files.remove,
    /**
     * `taken`: how many bytes of it are in the store. False: there is no room left, or
     * none at all.
     */
    add(sessionId: string, entries: readonly Spooled[], taken: () => number): boolean {
      // A line of its own, also behind one that a crash cut short.
      const text = entries.map((entry) => `\n${JSON.stringify(entry)}\n`).join('');
      try {
        const { size = 0 } =
          statSync(files.fileOf(sessionId), { throwIfNoEntry: false }) ?? {};
        const waiting = size === 0 ? 0 : Math.max(0, size - taken());
        if (path === ':memory:' || waiting + text.length > most) return false;
        if (text !== '') files.append(sessionId, text);
        return true;
      } catch {
        // Safe: the caller says that the store was locked.
        return false;
      }
    },
    /** Unless it holds more than was taken in. */
    removeTaken(sessionId: string, taken: number): void {
      const file = files.fileOf(sessionId);
      try {
        if (taken > 0 && statSync(file).size === taken) rmSync(file);
      } catch {
        // Safe: it takes up room, and nothing else.
      }
    },
    /** Whole lines behind the first `from` bytes; null: none. `size`: up to where. */
    read(
      sessionId: string,
      from: () => number,
    ): { entries: readonly Spooled[]; size: number } | null {
      const bytes = files.read(sessionId);
      const size = (bytes?.lastIndexOf(10) ?? -1) + 1;
      const taken = size === 0 ? 0 : from();
      if (bytes === null || size === taken) return null;
      // Shorter than it was: another file.
      const rest = bytes.subarray(taken > size ? 0 : taken, size);
      return {
        entries: readLines<Spooled>(rest.toString()).filter((entry) =>
          isWhole(entry, sessionId),
        ),
        size,
      };
    },
  };
}

function isWhole(
  entry: Partial<{ event: Event; policy: readonly string[] }> | null,
  sessionId: string,
) {
  const { event, policy } = entry ?? {};
  return event === undefined
    ? policy?.length === 2
    : typeof event?.id === 'string' && event.sessionId === sessionId;
}
