// Moves a store of an unpublished version, with all files beside it, to a free name. It
// deletes nothing, and it moves nothing without a human's yes at this terminal.
import { readdirSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../engine/system.ts';
import { whyOlder } from '../store/sqlite/migrate.ts';
import { storePath } from '../store/state-directory.ts';
import { canAnswerHere } from './ask-at-terminal.ts';
import type { Io } from './io.ts';
import { escapeForTerminal, printComplaint, printWrapped } from './print.ts';
import { saysYes } from './project-trust.ts';

/**
 * Offers to move such a store. `isDry`: it only says so, as it does if nobody can be
 * asked.
 */
export async function offerToMoveStore(io: Io, isDry: boolean): Promise<void> {
  const refusal = await whyOlder(storePath(io.env));
  if (refusal === null) return;
  printComplaint(io, escapeForTerminal(refusal, 500));
  if (isDry || !(await canAnswerHere(io))) return;
  if (!(await saysYes('Move it away, with the files beside it?'))) {
    const kept = 'The store was left where it is. Until it is moved, an agent may stop';
    printWrapped(io, [
      `${kept} whenever it likes, and \`untildone run\` does not start.`,
    ]);
    return;
  }
  const moved = moveStore(storePath(io.env), io.clock.now());
  if (!moved.ok) return printComplaint(io, escapeForTerminal(moved.sentence, 500));
  printWrapped(io, [`The store was moved to ${escapeForTerminal(moved.path, 300)}.`]);
  // Hosts may still start programs of that version, which would create such a store
  // again.
  await (await import('./renew-programs.ts')).renewPrograms(io);
}

/**
 * Moves all files or none. The store goes last: until then, a program that opens it finds
 * a store, and creates no new one beside the old files.
 */
function moveStore(path: string, now: number) {
  const folder = dirname(path);
  const moved: (readonly [from: string, to: string])[] = [];
  try {
    const names = readdirSync(folder);
    const storeName = basename(path);
    const fresh = freeName(storeName, now, names);
    for (const name of [
      ...names.filter((one) => one.startsWith(`${storeName}-`)),
      storeName,
    ]) {
      const move = [
        join(folder, name),
        join(folder, fresh + name.slice(storeName.length)),
      ] as const;
      renameSync(...move);
      moved.push(move);
    }
    return { ok: true, path: join(folder, fresh) } as const;
  } catch (error) {
    const why = `The store at ${path} cannot be moved (${errorCode(error)}).`;
    const help = 'End the agents that use it, and try again.';
    return { ok: false, sentence: `${why} ${moveBack(moved)}${help}` } as const;
  }
}

/** Undoes what was moved. Returns a sentence that names what could not be moved back. */
function moveBack(moved: readonly (readonly [from: string, to: string])[]): string {
  const stuck: string[] = [];
  for (const [from, to] of moved.toReversed()) {
    try {
      renameSync(to, from);
    } catch {
      // Safe: the file still exists under its new name, and the human is told which.
      stuck.push(to);
    }
  }
  return stuck.length === 0 ? '' : `Moved already: ${stuck.join(', ')}. `;
}

/** `untildone-2026-11-19.db`, or with a number behind the day if that name is taken. */
function freeName(name: string, now: number, taken: readonly string[]): string {
  const day = new Date(now).toISOString().slice(0, 10);
  for (let count = 1; ; count += 1) {
    const suffix = count === 1 ? day : `${day}-${count}`;
    const fresh = name.replace(/(?=\.\w+$)/u, `-${suffix}`);
    if (!taken.some((one) => one === fresh || one.startsWith(`${fresh}-`))) return fresh;
  }
}
