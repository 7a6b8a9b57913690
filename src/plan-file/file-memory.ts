// Keeps what is known of a plan file as one small file in the state directory, by the plan file's real path and the
// session. It never throws: what cannot be kept or read is as if it were not there, which is safe.
import { readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../engine/make-folder.ts';
import { type PlanFileMemory, readKnownFiles } from './known-file.ts';
import { hashText } from './text-file.ts';

/** @param directory the state directory; @param path the real path of the plan file */
export function createFileMemory(directory: string, path: string, sessionId: string): PlanFileMemory {
  const folder = join(directory, 'plan-files');
  const file = join(folder, `${hashText(`${path}\0${sessionId}`).slice(0, 32)}.json`);
  return {
    async load() {
      try {
        return readKnownFiles(JSON.parse(await readFile(file, 'utf8')));
      } catch {
        // Safe: without it, boxes can only add ticks.
        return [];
      }
    },
    async save(known) {
      const temporary = `${file}.${process.pid}.tmp`;
      try {
        makeFolder(folder, 0o700);
        await writeFile(temporary, JSON.stringify(known), { mode: 0o600 });
        await rename(temporary, file);
      } catch {
        // Safe: the next reading finds an older state or none, and matches by title.
        await unlink(temporary).catch(() => {}); // It may not exist; a rest harms nobody.
      }
    },
  };
}
