// `untildone attach`: the live view of a session that runs elsewhere, in a host or in
// another terminal (C3). It reads the store and nothing else; only the keys for pause,
// resume, stop and answers write. Leaving it leaves the session as it is.
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../core/error.ts';
import type { Store } from '../../engine/store.ts';
import { type Arguments, type Command, eventsOption, plainOption } from '../command.ts';
import { shortId } from '../describe-session.ts';
import { findSession, withSessions } from '../find-session.ts';
import { createHumanActs } from '../human-event.ts';
import type { Io } from '../io.ts';
import { noOutcomeExitCode } from '../last-outcome.ts';
import { complain } from '../print.ts';
import { createRunningSessionFinder, whyNothingRuns } from '../running-session.ts';
import type { SessionEvent } from '../show/events.ts';
import type { ViewAct } from '../show/keys.ts';
import { createPrinter, drawsView } from '../show/output.ts';
import { createSessionWatch, isOver } from '../show/watch-session.ts';

/**
 * Between two looks at the store: quick enough for a countdown of two seconds, and a
 * small part of a core.
 */
const lookMs = 400;
/**
 * A store that is busy is looked at again; one that cannot be read for this many looks
 * has failed.
 */
const patience = 25;

export const attach: Command = {
  takes: '[session]',
  about: [
    'Shows a session while it runs elsewhere: in a host such as Claude Code, or in another terminal. Without a session:\nthe one that runs in this directory; if several run, it asks at a terminal and lists them elsewhere; if none runs,\nthe most recent one.',
    'On a terminal: p pauses, r resumes, x stops, q leaves; the session goes on as it is. While a countdown runs, any\nother key stops it. `resume` and answers are for a human at a terminal only.',
    'Without a terminal, or with --plain or --json, it prints what changes and ends when the turn has settled. If the\nprocess of the session is gone, it says so and ends with exit code 8, on a terminal too.',
  ],
  options: {
    ...plainOption,
    ...eventsOption,
  },
  run: (given, io) =>
    withSessions(io, async (store) => {
      const word = given.positional(0);
      const session = await findSessionToWatch(store, word, io);
      const remark = word === null ? await whyNothingRuns({ store, session, io }) : null;
      return follow(given, io, store, session.id, remark);
    }),
};

const findSessionToWatch = createRunningSessionFinder((id) => `untildone attach ${id}`);

/** `remark`: a sentence that is shown first. */
async function follow(
  given: Arguments,
  io: Io,
  store: Store,
  sessionId: string,
  remark: string | null,
): Promise<number> {
  const json = given.has('json');
  const draws = drawsView(io, { json, plain: given.has('plain') });
  let waiting = new AbortController();
  const lookSoon = (): void => waiting.abort();
  let isEnding = false;
  const onSignal = (): void => {
    isEnding = true;
    lookSoon();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  const watch = createSessionWatch(store, sessionId, io.clock);
  const view = draws
    ? await openAttachView(io, store, sessionId, lookSoon, onSignal)
    : null;
  const print = await createPrinter(io, json);
  // NDJSON is what the run wrote, word for word.
  const lines = json
    ? print
    : (event: SessionEvent) => print(seenFromHere(event, new Set()));
  const show = view?.show ?? lines;
  const newer =
    given.positional(0) === null ? createNewerSessionLook(io, store, sessionId) : null;
  let over = false;
  const notice = (sentence: string) =>
    show({ type: 'notice', at: io.clock.now(), sessionId, sentence });
  if (remark !== null) notice(remark);
  try {
    for (let failures = 0; !isEnding; ) {
      try {
        const events = await watch.look();
        failures = 0;
        if (events === null) return 0;
        events.forEach(show);
        const state = events.findLast((event) => event.type === 'session-state');
        if (state !== undefined) over = isOver(state);
        if (state?.state === 'gone') {
          // Closing the view leaves only its notices on the screen.
          if (view !== null) notice(`Session ${shortId(sessionId)}: ${state.words}`);
          return noOutcomeExitCode;
        }
        // A script wants to know when the turn is over; a human sees it and leaves.
        if (over && view === null) return 0;
        if (over && newer !== null) (await newer()).forEach(show);
      } catch (error) {
        // Safe for a while: another process may hold the store; what was missed is read
        // at the next look.
        failures += 1;
        if (failures >= patience) throw error;
      }
      waiting = new AbortController();
      // Safe: it was woken early.
      await sleep(lookMs, null, { signal: waiting.signal }).catch(() => {});
    }
    return 0;
  } finally {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
    await view?.close();
  }
}

/**
 * The run says where an answer was given as it sees it; from here it is the other way
 * round.
 */
export function seenFromHere<Event extends SessionEvent>(
  event: Event,
  answered: ReadonlySet<string>,
): Event {
  if (event.type !== 'permission-answered') return event;
  return { ...event, by: answered.has(event.requestId) ? 'terminal' : 'elsewhere' };
}

async function openAttachView(
  io: Io,
  store: Store,
  sessionId: string,
  lookSoon: () => void,
  leave: () => void,
): Promise<{ show(event: SessionEvent): void; close(): Promise<void> }> {
  const { openLiveView } = await import('../show/live-view.ts');
  // What is complained about must not be written into the middle of a drawn screen.
  const acts = createHumanActs(
    { ...io, stderr: { write: (text) => view.notice(text) } },
    store,
    sessionId,
  );
  /** What a key here answered: told as the human's own. */
  const answered = new Set<string>();
  /** What came of it is seen at once. */
  const seen = (work: Promise<unknown>): Promise<unknown> => work.finally(lookSoon);

  async function answer({ requestId, remembered }: Extract<ViewAct, { act: 'answer' }>) {
    answered.add(requestId);
    const refusal = await acts.answer(requestId, remembered);
    if (refusal !== null) answered.delete(requestId);
    return refusal;
  }

  const view = openLiveView({
    kind: 'attach',
    io,
    hand: {
      pause: () => seen(acts.pause()),
      resume: () => seen(acts.resume()),
      stop: () => seen(acts.stop('a key in untildone attach')),
      answer: (act) => seen(answer(act)),
      interrupt: leave,
    },
    onFailure: (error) => {
      const instead = '`untildone attach --plain` shows it.';
      complain(
        io,
        `The live view broke (${messageOf(error)}). The session goes on; ${instead}`,
      );
      leave();
    },
  });
  return {
    show: (event) => view.emit(seenFromHere(event, answered)),
    close: () => view.close(),
  };
}

/**
 * Whether a newer session has begun where this one is over: whoever attached a moment too
 * early would look at the old one for ever. It tells of each once, and leaves it to the
 * human to go there.
 */
export function createNewerSessionLook(io: Io, store: Store, sessionId: string) {
  let told = sessionId;
  return async (): Promise<SessionEvent[]> => {
    const watched = await store.state(sessionId);
    const newest = await findSession(store, null, io);
    if (watched === null || newest.id === told || newest.createdAt <= watched.createdAt)
      return [];
    told = newest.id;
    const sentence = `A newer session has begun here: q leaves, \`untildone attach ${shortId(newest.id)}\` shows it.`;
    return [{ type: 'notice', at: io.clock.now(), sessionId, sentence }];
  };
}
