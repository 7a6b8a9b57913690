// `untildone attach`: the live view of a session that runs elsewhere, in a host or in another terminal (C3). It reads
// the store and nothing else; only the keys for pause, resume, stop and answers write.
import { UntildoneError } from '../../core/error.ts';
import type { Store } from '../../engine/store.ts';
import { createAttachPrinter } from '../attach/attach-printer.ts';
import { createNewerSessionLook } from '../attach/newer-session.ts';
import { createSessionWatch } from '../attach/watch-session.ts';
import { type Arguments, type Command, jsonOption, plainOption } from '../command.ts';
import { findSession, noSessionsYet } from '../find-session.ts';
import type { Io } from '../io.ts';
import { drawsView } from '../open-run-output.ts';
import { openStoreIfAny } from '../open-runtime.ts';
import type { SessionEvent } from '../view/view-event.ts';

/** Between two looks at the store: quick enough for a countdown of two seconds, and a small part of a core. */
const lookMs = 400;
/** A store that is busy is looked at again; one that cannot be read for this many looks has failed. */
const patience = 25;

export const attach: Command = {
  usage: 'attach [session] [--plain] [--json]',
  about: [
    'Shows a session while it runs elsewhere: in a host such as Claude Code, or in another terminal. Without a session:\nthe most recent one of this directory.',
    'On a terminal: p pauses, r resumes, x stops, q leaves; the session goes on as it is. While a countdown runs, any\nother key stops it. `resume` and answers are for a human at a terminal only.',
    'Without a terminal, or with --plain or --json, it prints what changes and ends when the turn has settled.',
  ],
  options: {
    ...plainOption,
    ...jsonOption,
    json: { summary: 'Print one JSON event a line (NDJSON); see docs/live-view.md.' },
  },
  positionals: [0, 1],
  async run(given, io) {
    const store = await openStoreIfAny(io);
    if (store === null) throw new UntildoneError('unknown-session', noSessionsYet);
    try {
      const session = await findSession(store, given.positional(0), io);
      return await follow(given, io, store, session.id);
    } finally {
      await store.close();
    }
  },
};

async function follow(given: Arguments, io: Io, store: Store, sessionId: string): Promise<number> {
  const json = given.has('json');
  const draws = drawsView(io, { json, plain: given.has('plain') });
  const ending = new AbortController();
  const bell = createBell();
  const onSignal = (): void => {
    ending.abort();
    bell.ring();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  const watch = createSessionWatch(store, sessionId, io.clock);
  const view = draws
    ? (await import('../attach/attach-view.ts')).openAttachView(io, store, sessionId, bell.ring)
    : null;
  const print = view === null ? createAttachPrinter(io, json) : null;
  const newer = given.positional(0) === null ? createNewerSessionLook(io, store, sessionId) : null;
  let over = false;
  view?.left.then(onSignal);
  try {
    for (let failures = 0; !ending.signal.aborted; ) {
      try {
        const events = await watch.look();
        failures = 0;
        if (events === null) return 0;
        over = isOver(events) ?? over;
        if (print === null) {
          view?.show(events);
          if (over && newer !== null) view?.show(await newer());
        } else for (const event of events) print(event);
        if (print !== null && over) return 0;
      } catch (error) {
        // Safe for a while: another process may hold the store; what was missed is read at the next look.
        failures += 1;
        if (failures >= patience) throw error;
      }
      await bell.wait(lookMs);
    }
    return 0;
  } finally {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
    await view?.close();
  }
}

/** A script wants to know when the turn is over; a human sees it and leaves. Null: nothing is new. */
function isOver(events: readonly SessionEvent[]): boolean | null {
  const last = events.findLast((event) => event.type === 'session-state');
  if (last === undefined) return null;
  return last.state === 'settled' || last.state === 'deleted' || last.state === 'latched';
}

/** A pause that can be ended early. */
function createBell(): { readonly ring: () => void; wait(milliseconds: number): Promise<void> } {
  let wake: (() => void) | null = null;
  return {
    ring: () => wake?.(),
    wait: (milliseconds) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => wake?.(), milliseconds);
        wake = () => {
          clearTimeout(timer);
          wake = null;
          resolve();
        };
      }),
  };
}
