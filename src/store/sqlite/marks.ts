// The high-water mark: the newest events of each session that the store held, in a small file beside it. If the store lacks
// one of them later, it was put back to an earlier moment, or lost (V5). It says nothing about a plan, and nothing depends
// on it but that notice: what cannot be written or read is left out.
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Event } from '../../core/events.ts';
import { errorCode, makeFolder, sha256 } from '../../engine/system.ts';

export type Marks = ReturnType<typeof createMarks>;

/** @param path of the store; one in memory has no marks */
export function createMarks(path: string) {
  const folder = `${path}-marks`;
  const fileOf = (sessionId: string) => {
    // Hashes only where a name could lead elsewhere: to load them costs a hook more than the rest of this.
    const isPlain = /^\w[\w.-]{0,100}$/u.test(sessionId);
    return join(folder, isPlain ? sessionId : sha256(sessionId));
  };
  const lineOf = (eventId: string) => `${JSON.stringify(eventId)}\n`;

  function write(to: typeof appendFileSync, sessionId: string, lines: string): void {
    if (path === ':memory:' || lines === '') return;
    const attempt = () => to(fileOf(sessionId), lines, { mode: 0o600 });
    try {
      attempt();
    } catch (error) {
      // Safe: without a mark nothing else is lost than the notice that the store went back.
      if (errorCode(error) !== 'ENOENT') return;
      try {
        makeFolder(folder, 0o700);
        attempt();
      } catch {
        // Safe, as above.
      }
    }
  }

  return {
    /** Committed to the inbox. One write, since every hook pays for it: older marks stay. */
    add(events: readonly Event[]): void {
      for (const sessionId of new Set(events.map((event) => event.sessionId))) {
        const own = events.filter((event) => event.sessionId === sessionId);
        write(appendFileSync, sessionId, own.map(({ id }) => lineOf(id)).join(''));
      }
    },
    /** Committed; all that was marked before is in the store too, or was told to be lost. */
    set: (sessionId: string, eventId: string): void => write(writeFileSync, sessionId, lineOf(eventId)),
    read(sessionId: string): string[] {
      if (path === ':memory:') return [];
      try {
        return readFileSync(fileOf(sessionId), 'utf8').split('\n').flatMap(readLine);
      } catch {
        // Safe: none yet.
        return [];
      }
    },
    remove(sessionId: string): void {
      if (path !== ':memory:') rmSync(fileOf(sessionId), { force: true });
    },
  };
}

/** A line that a crash cut short names nothing. */
function readLine(line: string): string[] {
  try {
    return [JSON.parse(line) as string];
  } catch {
    // Safe: see above.
    return [];
  }
}
