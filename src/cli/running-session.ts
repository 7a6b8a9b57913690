// Finds the session that `stop`, `pause`, `say`, `attach` and `resume` mean if none is
// named: the one that runs here. It never guesses between two that run.

import { UntildoneError } from '../core/error.ts';
import type { Session } from '../core/state.ts';
import { readPresentState } from '../engine/present-state.ts';
import { askAtTerminal, canAnswerHere, notUnderstood } from './ask-at-terminal.ts';
import { describeAgent, nameSession, shortId } from './describe-session.ts';
import { formatAge } from './describe-time.ts';
import {
  findSession,
  formatSessions,
  type Here,
  isMainSession,
  type SessionFilter,
  sessionsHere,
} from './find-session.ts';
import type { Io } from './io.ts';
import {
  escapeForTerminal,
  formatFields,
  printComplaint,
  printWrapped,
} from './print.ts';
import { describeCurrentState, isRunning } from './session-process.ts';

/**
 * Makes a finder for the session that is named, or else the one that runs here; if none
 * runs, the most recent one.
 * @param command what to type for one of several sessions, such as `untildone stop
 * 8c3292`
 */
export function createRunningSessionFinder(
  command: (id: string) => string,
  fits: SessionFilter = () => true,
): typeof findSession {
  return async (store, word, io) => {
    if (word !== null) return findSession(store, word, io);
    const now = io.clock.now();
    const running = await sessionsHere(
      store,
      io,
      mostListed,
      async (session) =>
        isMainSession(session) &&
        (await fits(session)) &&
        (await isRunning(store, session, now)),
    );
    const [only] = running;
    const meant = running.length > 1 ? await chooseSession(running, io, command) : only;
    return findSession(store, meant?.id ?? null, io);
  };
}

/** `sessionsHere` wants a limit, and fewer sessions than this run in one directory. */
const mostListed = 50;

function isHeld({ latch, pause }: Session): boolean {
  return pause !== null || (latch !== null && latch.movedTo === undefined);
}

/** Finds a session that is paused or stopped, for `resume`. */
export const findHeldSession: typeof findSession = async (store, word, io) => {
  if (word !== null) return findSession(store, word, io);
  const running = await createRunningSessionFinder(
    (id) => `untildone resume ${id}`,
    isHeld,
  )(store, null, io);
  if (isHeld(running)) return running;
  const [held] = await sessionsHere(
    store,
    io,
    1,
    (session) => isMainSession(session) && isHeld(session),
  );
  return held === undefined ? running : findSession(store, held.id, io);
};

/**
 * Asks the human at a terminal which one they mean; elsewhere it refuses and lists the
 * sessions.
 */
async function chooseSession(
  sessions: readonly Session[],
  io: Io,
  command: (id: string) => string,
): Promise<Session> {
  const [first] = sessions;
  const ids = sessions.map(({ id }) => id);
  if (!(await canAnswerHere(io))) {
    const example = command(shortId(first?.id ?? '', ids));
    const sentence = `${sessions.length} sessions run here: ${formatSessions(sessions, io)}.`;
    throw new UntildoneError('usage', `${sentence} Name one of them: \`${example}\`.`);
  }
  const rows = sessions.map((session, index) => {
    const title =
      session.title === null ? [] : [`“${escapeForTerminal(session.title, 60)}”`];
    const age = formatAge(session.updatedAt, io.clock.now());
    const about = [...title, describeAgent(session), age].join(' · ');
    return [String(index + 1), `${shortId(session.id, ids)}  ${about}`] as const;
  });
  printWrapped({ ...io, stdout: io.stderr }, [
    `${sessions.length} sessions run here:`,
    ...formatFields(rows),
  ]);
  const answers = `a number from 1 to ${sessions.length}`;
  for (;;) {
    const said = await askAtTerminal(
      `Which one? [${answers}; Enter: none] `,
      'a session',
    );
    if (said === null || said.trim() === '')
      throw new UntildoneError('usage', 'No session was chosen; nothing was done.');
    const chosen = /^\d+$/u.test(said.trim()) ? sessions[Number(said) - 1] : undefined;
    if (chosen !== undefined) return chosen;
    printComplaint(io, notUnderstood(said, answers));
  }
}

/**
 * Says why the session that was found does not run, if the human named none. Null: it
 * runs.
 */
export async function whyNothingRuns({
  store,
  session,
  io,
}: Pick<Here, 'store' | 'session' | 'io'>) {
  const now = io.clock.now();
  if (await isRunning(store, session, now)) return null;
  const name = nameSession(session);
  const { settled } = await readPresentState(store, session);
  const state = await describeCurrentState(store, session, now);
  if (state.name === 'gone')
    return `Nothing runs here: no process is at work in ${name} (killed?).`;
  if (settled !== null)
    return `${name} has ended (${settled.outcome}); nothing runs here.`;
  return `Nothing runs here. The most recent session is ${name}: ${escapeForTerminal(state.words, 300)}.`;
}

/**
 * What `stop` and `pause` say first about a session that does not run. If the human named
 * the session, they only say whether its process was killed.
 */
export async function describeIdleSession(here: Here): Promise<string[]> {
  const { given, io, store, session } = here;
  const why = given.positional(0) === null ? await whyNothingRuns(here) : null;
  if (why !== null) return [why];
  const { name: state } = await describeCurrentState(store, session, io.clock.now());
  return state === 'gone'
    ? [`No process is at work in ${nameSession(session)} (killed?).`]
    : [];
}
