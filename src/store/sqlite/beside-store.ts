// Two small files per session beside the store (V5): the mark names the newest events, so
// that a lost or restored store is noticed; the spool holds what could not be written
// while the store was locked. Neither says anything about a plan.
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

/** @param path of the store; a store in memory has no files beside it */
function createFiles(path: string, suffix: string) {
  const folder = path + suffix;
  const fileOf = (sessionId: string) => {
    // Hashes only where a name could lead elsewhere: loading them costs a hook more than
    // the rest of this.
    const isPlain = /^\w[\w.-]{0,100}$/u.test(sessionId);
    return `${folder}/${isPlain ? sessionId : sha256(sessionId)}`;
  };

  /** Throws the file system's error. */
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
      // Safe: a file that cannot be read counts as missing.
      return null;
    }
  }

  function remove(sessionId: string): void {
    if (path !== ':memory:') rmSync(fileOf(sessionId), { force: true });
  }
  return { fileOf, append, read, remove };
}

/** A line that a crash cut short is left out. */
function readLines<T>(text: string): T[] {
  return text.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as T];
    } catch {
      // Safe: the line was cut short.
      return [];
    }
  });
}

/** The events of each session, in their order. */
export function bySession(events: readonly Event[]) {
  const sessions = [...new Set(events.map(({ sessionId }) => sessionId))];
  return sessions.map(
    (id) => [id, events.filter(({ sessionId }) => sessionId === id)] as const,
  );
}

/** The marks of all sessions of one store. */
export type Marks = ReturnType<typeof createMarks>;

/**
 * Writes and reads marks. If the store lacks an event that is marked, it was restored to
 * an earlier state, or lost. A mark that cannot be written is left out: all that depends
 * on it is the notice of the loss.
 */
export function createMarks(path: string) {
  const files = createFiles(path, '-marks');
  const linesOf = (ids: readonly string[]) =>
    ids.map((id) => `${JSON.stringify(id)}\n`).join('');
  function attempt(write: () => void): void {
    try {
      if (path !== ':memory:') write();
    } catch {
      // Safe: only a notice depends on the mark.
    }
  }

  return {
    /**
     * The events are committed to the inbox. One write only, since every hook pays for
     * it, so older marks stay.
     */
    add(events: readonly Event[]): void {
      for (const [session, sessionEvents] of bySession(events))
        attempt(() => files.append(session, linesOf(sessionEvents.map(({ id }) => id))));
    },
    /**
     * The event is committed, and all that was marked before is in the store too, or was
     * reported as lost.
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

/** A file is larger only after a turn of many calls. */
const mostMarkBytes = 4096;

/**
 * Overwrites the file in place, with empty lines over the rest: some file systems flush a
 * file to the disk when it is emptied first, which takes a hundred times as long. Marks
 * that others append between our commit and this write are lost, and with a long file
 * also those that they append during it. Then only a notice may be missed.
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

/** One line of the spool. */
export type Spooled =
  | { readonly event: Event }
  | { readonly policy: readonly [hash: string, body: string] };

/** The limit on what no step has taken in yet: more than the largest payload. */
const mostSpoolBytes = 67_108_864;

/**
 * Writes and reads spools. They are only ever appended to: the store remembers how far a
 * spool was taken in, in the transaction that took it in.
 */
export function createSpool(path: string, most = mostSpoolBytes) {
  const files = createFiles(path, '-spool');
  return {
    remove: files.remove,
    /**
     * Appends entries. `taken`: how many bytes of the spool are in the store. False:
     * there is no room left, or the file cannot be written.
     */
    add(sessionId: string, entries: readonly Spooled[], taken: () => number): boolean {
      // Each entry has a line of its own, also behind a line that a crash cut short.
      const text = entries.map((entry) => `\n${JSON.stringify(entry)}\n`).join('');
      try {
        const { size = 0 } =
          statSync(files.fileOf(sessionId), { throwIfNoEntry: false }) ?? {};
        const waiting = size === 0 ? 0 : Math.max(0, size - taken());
        if (path === ':memory:' || waiting + text.length > most) return false;
        if (text !== '') files.append(sessionId, text);
        return true;
      } catch {
        // Safe: the caller reports that the store was locked.
        return false;
      }
    },
    /** Removes the file, unless it holds more than was taken in. */
    removeTaken(sessionId: string, taken: number): void {
      const file = files.fileOf(sessionId);
      try {
        if (taken > 0 && statSync(file).size === taken) rmSync(file);
      } catch {
        // Safe: the file takes up room, and nothing else.
      }
    },
    /**
     * The whole lines behind the first `from` bytes, and up to which size they were read;
     * null: there are none.
     */
    read(
      sessionId: string,
      from: () => number,
    ): { entries: readonly Spooled[]; size: number } | null {
      const bytes = files.read(sessionId);
      const size = (bytes?.lastIndexOf(10) ?? -1) + 1;
      const taken = size === 0 ? 0 : from();
      if (bytes === null || size === taken) return null;
      // The file is shorter than it was, so it is another one.
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
