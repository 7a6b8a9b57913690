// `untildone attach`: the live view of a session that runs elsewhere, in a host or in
// another terminal (C3). It only reads the store; nothing but the keys for pause, resume,
// stop and answers writes. Leaving it leaves the session as it is.
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../core/error.ts';
import type { Store } from '../../engine/store.ts';
import { type Arguments, type Command, eventsOption, plainOption } from '../command.ts';
import { shortId } from '../describe-session.ts';
import { findSession, withSessions } from '../find-session.ts';
import { createHumanActs } from '../human-event.ts';
import type { Io } from '../io.ts';
import { noOutcomeExitCode } from '../last-outcome.ts';
import { printComplaint } from '../print.ts';
import { createRunningSessionFinder, whyNothingRuns } from '../running-session.ts';
import type { SessionEvent } from '../show/events.ts';
import type { ViewAct } from '../show/keys.ts';
import { createPrinter, drawsView } from '../show/output.ts';
import { createSessionWatch, isOver } from '../show/watch-session.ts';

/**
 * Time between two looks at the store: short enough for a countdown of two seconds, and
 * cheap.
 */
const lookMs = 400;
/**
 * A busy store is read again; after this many failed looks in a row the command fails.
 */
const mostFailures = 25;

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
      return watchUntilEnd(given, io, store, session.id, remark);
    }),
};

const findSessionToWatch = createRunningSessionFinder((id) => `untildone attach ${id}`);

/**
 * Watches until the human leaves or the turn is over. `remark`: a sentence that is shown
 * first.
 */
async function watchUntilEnd(
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
  // NDJSON prints the run's events exactly as the run wrote them.
  const lines = json
    ? print
    : (event: SessionEvent) => print(seenFromHere(event, new Set()));
  const show = view?.show ?? lines;
  const newer =
    given.positional(0) === null ? createNewerSessionLook(io, store, sessionId) : null;
  let isTurnOver = false;
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
        if (state !== undefined) isTurnOver = isOver(state);
        if (state?.state === 'gone') {
          // Once the view is closed, only its notices stay on the screen.
          if (view !== null) notice(`Session ${shortId(sessionId)}: ${state.words}`);
          return noOutcomeExitCode;
        }
        // A script waits for the end of the turn; a human sees it and leaves.
        if (isTurnOver && view === null) return 0;
        if (isTurnOver && newer !== null) (await newer()).forEach(show);
      } catch (error) {
        // Safe for a while: another process may hold the store, and the next look reads
        // what was missed.
        failures += 1;
        if (failures >= mostFailures) throw error;
      }
      waiting = new AbortController();
      // Safe: the wait was cut short on purpose.
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
 * Says where a permission was answered as seen from this terminal: the event says it as
 * seen from the run.
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
  // A complaint must not be written into the middle of a drawn screen.
  const acts = createHumanActs(
    { ...io, stderr: { write: (text) => view.notice(text) } },
    store,
    sessionId,
  );
  /** The requests that a key in this view answered; they are shown as the human's own. */
  const answered = new Set<string>();
  /** Looks again as soon as the work is done, so that its effect is seen at once. */
  const withLookSoon = (work: Promise<unknown>): Promise<unknown> =>
    work.finally(lookSoon);

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
      pause: () => withLookSoon(acts.pause()),
      resume: () => withLookSoon(acts.resume()),
      stop: () => withLookSoon(acts.stop('a key in untildone attach')),
      answer: (act) => withLookSoon(answer(act)),
      interrupt: leave,
    },
    onFailure: (error) => {
      const instead = '`untildone attach --plain` shows it.';
      printComplaint(
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
 * Reports a newer session once this one is over: somebody who attached too early would
 * otherwise watch the old one for ever. Each is reported once; the human decides whether
 * to go there.
 */
export function createNewerSessionLook(io: Io, store: Store, sessionId: string) {
  let reportedId = sessionId;
  return async (): Promise<SessionEvent[]> => {
    const watched = await store.state(sessionId);
    const newest = await findSession(store, null, io);
    if (
      watched === null ||
      newest.id === reportedId ||
      newest.createdAt <= watched.createdAt
    )
      return [];
    reportedId = newest.id;
    const sentence = `A newer session has begun here: q leaves, \`untildone attach ${shortId(newest.id)}\` shows it.`;
    return [{ type: 'notice', at: io.clock.now(), sessionId, sentence }];
  };
}
