// `untildone gc`: moves sessions that nobody touched for a while into the archive. Nothing is deleted, and a host
// that comes back to an archived session finds it whole.
import { UntildoneError } from '../../core/error.ts';
import type { Store } from '../../engine/store.ts';
import { type Command, jsonOption } from '../command.ts';
import { formatTime, parseSpan } from '../describe-time.ts';
import { withStore } from '../open-runtime.ts';
import { count, printJson, printLines } from '../print.ts';

const defaultAge = '30d';
/** Sessions per transaction: hooks of running agents get the write lock in between. */
const batchSize = 20;

export const gc: Command = {
  usage: 'gc [--older-than 30d] [--dry-run] [--json]',
  about: [
    'Archives sessions that were untouched for longer than the age given (90m, 12h, 30d, 4w) and wait for no timer.\nThe archive stays in the same file; nothing is deleted.',
  ],
  options: {
    'older-than': { value: 'AGE', summary: `How long untouched (${defaultAge}).` },
    'dry-run': { summary: 'Say how many, and change nothing.' },
    ...jsonOption,
  },
  positionals: [0, 0],
  async run(given, io) {
    const age = parseSpan(given.text('older-than') ?? defaultAge);
    if (age === null)
      throw new UntildoneError('usage', '--older-than must be a number with m, h, d or w, such as 30d.');
    const before = io.clock.now() - age;
    const dryRun = given.has('dry-run');
    const sessions =
      (await withStore(io, (store) => (dryRun ? countOld(store, before) : archive(store, before)))) ?? 0;
    if (given.has('json')) printJson(io, { sessions, before, dryRun });
    else {
      const did = dryRun ? 'would be archived' : sessions === 1 ? 'was archived' : 'were archived';
      printLines(io, [`${count(sessions, 'session')} untouched since ${formatTime(before)} ${did}.`]);
    }
    return 0;
  },
};

async function archive(store: Store, before: number): Promise<number> {
  for (let archived = 0; ; ) {
    const moved = await store.archive(before, batchSize);
    archived += moved;
    if (moved < batchSize) return archived;
  }
}

/** Reads instead of archiving and rolling back: that would keep the hooks of running agents waiting. */
async function countOld(store: Store, before: number): Promise<number> {
  const sessions = await store.sessions({ limit: Number.MAX_SAFE_INTEGER });
  return sessions.filter(({ updatedAt, timer }) => updatedAt < before && timer === null).length;
}
