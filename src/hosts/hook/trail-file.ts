// Remembers how far a session's trail was folded, in a small file of the state directory. It is a shortcut and
// never the truth: whatever is wrong with the file, the trail is folded again from the record.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../engine/make-folder.ts';
import type { StoreReader } from '../../engine/store.ts';
import { shortHash } from './event-key.ts';
import { emptyTrail, extendTrail, type Trail } from './trail.ts';

/** Changes when the meaning of the fields does: an old file is then left aside. */
const layout = 1;
const readAtOnce = 1000;

export interface TrailPlace {
  readonly directory: string;
  readonly host: string;
  readonly sessionId: string;
}

interface Folded {
  readonly applied: number;
  readonly trail: Trail;
}

/** The trail up to now, with what still waits in the inbox. */
export async function readTrail(reader: StoreReader, place: TrailPlace): Promise<Trail> {
  const { host, sessionId } = place;
  const before = readFolded(place);
  let { applied, trail } = before;
  for (;;) {
    const rows = await reader.appliedEvents(sessionId, applied, readAtOnce);
    const events = rows.map(({ event }) => event);
    trail = extendTrail(trail, events, host, sessionId);
    applied = rows.at(-1)?.applied ?? applied;
    if (rows.length < readAtOnce) break;
  }
  if (applied > before.applied) writeFolded(place, { applied, trail });
  return extendTrail(trail, await reader.pendingEvents(sessionId), host, sessionId);
}

function pathOf({ directory, host, sessionId }: TrailPlace): string {
  return join(directory, 'hosts', host, `${shortHash(sessionId)}.json`);
}

function readFolded(place: TrailPlace): Folded {
  try {
    const stored = JSON.parse(readFileSync(pathOf(place), 'utf8')) as Folded & {
      layout: number;
      sessionId: string;
    };
    const fits = stored.layout === layout && stored.sessionId === place.sessionId;
    if (fits && Number.isSafeInteger(stored.applied) && typeof stored.trail?.list === 'object') return stored;
  } catch {
    // Not there yet, or damaged: the record is folded from its beginning.
  }
  return { applied: 0, trail: emptyTrail };
}

function writeFolded(place: TrailPlace, folded: Folded): void {
  const path = pathOf(place);
  const temporary = `${path}.${process.pid}`;
  try {
    makeFolder(dirname(path), 0o700);
    writeFileSync(temporary, JSON.stringify({ layout, sessionId: place.sessionId, ...folded }), {
      mode: 0o600,
    });
    renameSync(temporary, path);
  } catch {
    // Without the file the next stop folds a little more; nothing else depends on it.
  }
}
