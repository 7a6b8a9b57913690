// Finds the session that a command means: the one whose id ends or starts with the given
// word, or else the most recent one of this directory. It never guesses between two: if
// the word fits several, it lists them.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ancestorsOf } from '../checks/process-ancestors.ts';
import { UntildoneError } from '../core/error.ts';
import { createState, isTurnOver, type Session, type State } from '../core/state.ts';
import { readPresentState } from '../engine/present-state.ts';
import { findOwnerProcess } from '../engine/session-owner.ts';
import type { SessionFilter as SessionsAsked, Store } from '../engine/store.ts';
import { hostOfCommand } from '../hosts/host-processes.ts';
import { hostOf } from '../hosts/hosts.ts';
import { type Arguments, type Command, jsonOption } from './command.ts';
import {
  hostTitle,
  isImported,
  nameSession,
  sessionFields,
  shortId,
} from './describe-session.ts';
import { formatAge } from './describe-time.ts';
import type { Io } from './io.ts';
import { withStore } from './open-runtime.ts';
import { escapeForTerminal, printRefusal, printResult } from './print.ts';

/** How many recent sessions are searched for one that a human may mean. */
const recentSessions = 50;
const namedCandidates = 5;
/** A session at work is among the newest, so this many are searched. */
const mostRuns = 200;

export const noSessionsYet = 'There are no sessions yet.';

/**
 * Opens the store, runs `work` and closes the store. Without a store there is no session,
 * and the command fails; with `makes` it creates the store instead.
 */
export async function withSessions<T>(
  io: Io,
  work: (store: Store) => Promise<T>,
  makes = false,
): Promise<T> {
  const result = await withStore(io, async (store) => ({ of: await work(store) }), makes);
  if (result === null) throw new UntildoneError('unknown-session', noSessionsYet);
  return result.of;
}

export type Here = Readonly<{
  given: Arguments;
  io: Io;
  store: Store;
  session: State;
  /** The agent that called a command with `agentOwnOnly`; null: a human did. */
  agent: string | null;
}>;

/**
 * A document for programs, which begins with the session, and lines for people. A number
 * is an exit code: everything is printed already.
 */
export type Answer =
  | number
  | Readonly<{ json: object; lines: readonly string[]; code?: number }>;

interface SessionCommand
  extends Pick<Command, 'takes' | 'about'>,
    Partial<Pick<Command, 'options'>> {
  /** Refuses agents, and humans without a terminal. */
  readonly humanOnly?: true;
  /** An agent may call it, but only for its own session. */
  readonly agentOwnOnly?: true;
  /**
   * Finds the session. Default: the one that is named, or else the most recent one of
   * this directory.
   */
  readonly find?: typeof findSession;
  /** Throws if the arguments contradict each other, before anything is opened. */
  check?(given: Arguments): unknown;
  answer(here: Here): Promise<Answer>;
}

const forHumans =
  'Only a human may do this: it needs a terminal, not only piped input and output, and is refused when an agent or a session of untildone calls it. docs/permissions.md says what that cannot prevent.';

/**
 * Makes a command about one session. Its name is the first argument, or `--session` if
 * the command has that option.
 */
export function sessionCommand(command: SessionCommand): Command {
  const { humanOnly, agentOwnOnly, find = findSession, check, answer, ...rest } = command;
  const options = { ...command.options, ...jsonOption };
  return {
    takes: '[session]',
    ...rest,
    options,
    about: humanOnly ? [...command.about, forHumans] : command.about,
    async run(given, io) {
      check?.(given);
      const refusal = humanOnly ? await io.whyNoHuman() : null;
      if (refusal !== null) return printRefusal(io, refusal);
      const word = Object.hasOwn(options, 'session')
        ? given.text('session')
        : given.positional(0);
      return withSessions(io, async (store) => {
        const agent = agentOwnOnly ? await io.agentAbove() : null;
        const own =
          agent === null ? null : await findAgentSession(store, word, io, agent);
        if (typeof own === 'string') return printRefusal(io, own);
        const session = own ?? (await find(store, word, io));
        const answered = await answer({ given, io, store, session, agent });
        if (typeof answered === 'number') return answered;
        const { json, lines, code = 0 } = answered;
        printResult(
          io,
          given.has('json'),
          { ...sessionFields(session), ...json },
          () => lines,
        );
        return code;
      });
    },
  };
}

/** The named session, or else the most recent one of this directory, with its plan. */
export async function findSession(
  store: Store,
  word: string | null,
  io: Io,
): Promise<State> {
  const { id } =
    word === null ? await mostRecent(store, io) : await byWord(store, word, io);
  const state = await store.state(id);
  if (state === null)
    throw new UntildoneError('unknown-session', await unknown(store, id, io));
  return state;
}

/**
 * Finds a session for `run --resume`. A session of a host is refused: if we took it, the
 * host's hooks would no longer keep it at work (P41).
 */
export async function findOwnSession(
  store: Store,
  word: string | null,
  io: Io,
): Promise<State> {
  const own =
    word === null
      ? (await sessionsHere(store, io, recentSessions)).find(isOwnMain)
      : undefined;
  const found = await findSession(store, own?.id ?? word, io);
  const { host, kind, parentId } = found.descriptor;
  if (host === 'untildone' && kind !== 'subagent') return found;
  const name = nameSession(found);
  const parent = parentId === null ? '' : ` ${shortId(parentId)}`;
  const isWorker = `Session ${name} is a worker's; its run goes on by \`untildone run --resume${parent}\`.`;
  if (host === 'untildone') throw new UntildoneError('usage', isWorker);
  const owner = `belongs to ${hostTitle(host)}`;
  const helps = `\`untildone plan move ${shortId(found.id)} run\` moves its plan to \`run\`, with its checks.`;
  if (word !== null)
    throw new UntildoneError(
      'usage',
      `Session ${name} ${owner}; go on with it there. ${helps}`,
    );
  const none = 'There is no session of `untildone run` in this directory.';
  throw new UntildoneError('unknown-session', `${none} ${name} ${owner}: ${helps}`);
}

/** A human may have typed the command in a terminal that an agent opened. */
export const adviceForHuman =
  'If you typed this yourself: type it in another terminal, or type "stop" to the agent.';

/**
 * Finds the session of the agent that called this command. A string says why not: the
 * session is not known, or `word` names another one.
 */
export async function findAgentSession(
  store: Store,
  word: string | null,
  io: Io,
  agent: string,
): Promise<State | string> {
  const refused = (why: string) => `${why} ${adviceForHuman}`;
  const own = await findCallingSession(store, io, agent);
  if (typeof own === 'string')
    return refused(`${own} An agent that needs a human calls todo_pause.`);
  const meant = word === null ? own : await findSession(store, word, io);
  if (meant.id === own.id) return own;
  const only = `${agent} called this, and an agent may only pause its own session, ${nameSession(own)}.`;
  return refused(`${only} Session ${nameSession(meant)} stays as it is.`);
}

async function findCallingSession(
  store: Store,
  io: Io,
  agent: string,
): Promise<State | string> {
  const named = await io.agentSessions();
  const run = await findRunAbove(store);
  if (run?.isNearest === true) return run.session;
  const isForeign = ({ id, descriptor: { host, parentId } }: Session): boolean =>
    run !== null && host === 'untildone' && (parentId ?? id) !== run.session.id;
  for (const id of named) {
    const found = await store.state(id);
    const parent =
      found?.descriptor.kind === 'subagent' ? found.descriptor.parentId : null;
    const session = parent === null ? found : await store.state(parent);
    if (session !== null && isForeign(session)) continue;
    if (session !== null) return session;
    // While the store is busy, the first events of a host wait in the inbox, and there is
    // no record yet.
    if ((await store.events({ sessionId: id, waiting: true })).length > 0)
      return createState(id, io.clock.now());
  }
  const called = `${agent} called this, but`;
  if (named.length > 0) return `${called} there is no record of its session.`;
  const isOf = ({ descriptor: { host, kind } }: Session): boolean =>
    kind === 'main' &&
    (hostTitle(host) === agent || (host === 'untildone' && agent.includes('untildone')));
  const running = await sessionsHere(
    store,
    io,
    recentSessions,
    (session) =>
      isOf(session) &&
      !isForeign(session) &&
      session.turn !== null &&
      !isTurnOver(session),
  );
  const [only] = running;
  if (only === undefined)
    return `${called} none of its sessions is at work in this directory.`;
  if (running.length > 1)
    return `${called} does not say from which session: ${formatSessions(running, io)} are at work.`;
  return (await store.state(only.id)) ?? `${called} its session is gone.`;
}

/**
 * Finds the run whose own process is above this one, even if the caller's variables name
 * another. Null: there is none. `isNearest`: no host is in between, such as one that the
 * run drives or that its agent started.
 */
async function findRunAbove(store: Store) {
  const above = [...ancestorsOf(process.pid)];
  const owners = new Map<number | null, Session>();
  for (const session of await store.sessions({ limit: mostRuns }))
    if (isOwnMain(session))
      owners.set(await findOwnerProcess(store, session.id), session);
  const at = above.findIndex(({ id }) => owners.has(id));
  const session = await store.state(owners.get(above[at]?.id ?? null)?.id ?? '');
  if (at === -1 || session === null) return null;
  return {
    session,
    isNearest: above.slice(0, at).every(({ argv }) => hostOfCommand(argv) === null),
  };
}

function isOwnMain({ deleted, descriptor: { host, kind } }: Session): boolean {
  return host === 'untildone' && kind === 'main' && !deleted;
}

/**
 * Whether a human sees this session. Subagents and helpers of a host come and go beneath
 * it.
 */
export function isMainSession({ deleted, descriptor: { kind } }: Session): boolean {
  return !deleted && (kind === 'main' || kind === 'unknown');
}

/** A host with hooks was started, and nobody has said anything to its agent yet. */
export function isUnasked({ turn, descriptor: { host } }: Session): boolean {
  return turn === null && hostOf(host)?.asked !== undefined;
}

async function mostRecent(store: Store, io: Io): Promise<Session> {
  const found = await sessionsHere(store, io, recentSessions);
  const session =
    found.find((one) => isMainSession(one) && !isUnasked(one)) ??
    found.find(isMainSession) ??
    found[0];
  if (session !== undefined) return session;
  const [imported] = await sessionsHere(store, io, 1, () => true);
  const helps =
    imported === undefined
      ? '`untildone status --all` lists those of all directories.'
      : `There is an imported plan, which you can name: ${shortId(imported.id)}.`;
  throw new UntildoneError(
    'unknown-session',
    `There is no session of this directory. ${helps}`,
  );
}

async function byWord(store: Store, word: string, io: Io): Promise<Session> {
  const exact = await store.state(word);
  if (exact !== null) return exact;
  const limit = namedCandidates + 1;
  const ending = word === '' ? [] : await store.sessions({ idSuffix: word, limit });
  const starting = word === '' ? [] : await store.sessions({ idPrefix: word, limit });
  const known = new Set(ending.map(({ id }) => id));
  const candidates = [...ending, ...starting.filter(({ id }) => !known.has(id))];
  const [only] = candidates;
  if (only === undefined)
    throw new UntildoneError('unknown-session', await unknown(store, word, io));
  if (candidates.length === 1) return only;
  // The name that `status` prints in this directory must be enough here, whatever other
  // directories hold.
  const here = candidates.filter(({ descriptor }) =>
    projectDirectories(io.cwd).includes(descriptor.directory ?? ''),
  );
  if (here[0] !== undefined && here.length === 1) return here[0];
  const unclear = `"${escapeForTerminal(word, 60)}" is the start or the end of more than one session`;
  throw new UntildoneError(
    'unknown-session',
    `${unclear}: ${formatSessions(candidates, io)}. Write more letters.`,
  );
}

async function unknown(store: Store, word: string, io: Io): Promise<string> {
  const recent = await store.sessions({ limit: namedCandidates + 1 });
  const known =
    recent.length === 0
      ? noSessionsYet
      : `The most recent ones are ${formatSessions(recent, io)}.`;
  return `No session has an id that starts or ends with "${escapeForTerminal(word, 60)}". ${known}`;
}

export function formatSessions(sessions: readonly Session[], { clock }: Io): string {
  const ids = sessions.map(({ id }) => id);
  const named = sessions.slice(0, namedCandidates).map((session) => {
    const { id, title, descriptor, updatedAt } = session;
    const about = [
      title === null ? [] : `“${escapeForTerminal(title, 40)}”`,
      hostTitle(descriptor.host),
    ].flat();
    return `${shortId(id, ids)} (${[...about, formatAge(updatedAt, clock.now())].join(', ')})`;
  });
  return sessions.length > namedCandidates
    ? `${named.join(', ')} and others`
    : named.join(', ');
}

/** Asynchronous, because some filters ask the store. */
export type SessionFilter = (session: Session) => boolean | Promise<boolean>;

/**
 * The sessions of this directory, newest first; if there are none, those of the nearest
 * directory above it in the same repository. An imported plan is left out by default: a
 * human means it only by name.
 */
export async function sessionsHere(
  store: Store,
  { cwd }: Io,
  limit: number,
  isMeant: SessionFilter = (session) => !isImported(session),
): Promise<readonly Session[]> {
  for (const directory of projectDirectories(cwd)) {
    const found = await listNewestSessions(store, { directory, limit }, isMeant);
    if (found.length > 0) return found;
  }
  return [];
}

/**
 * The newest sessions that fit, as they stand now. It asks for more until there are
 * enough: one run may have more workers than a list has lines.
 */
export async function listNewestSessions(
  store: Store,
  { limit, ...where }: SessionsAsked,
  fits: SessionFilter,
): Promise<readonly Session[]> {
  // The newest session by its inbox may not be the newest one on record.
  for (let wanted = Math.max(limit, 50); ; wanted *= 4) {
    const found = await store.sessions({ ...where, limit: wanted });
    const present = await Promise.all(
      found.map((session) => readPresentState(store, session)),
    );
    present.sort((one, other) => other.updatedAt - one.updatedAt);
    const answers = await Promise.all(present.map(fits));
    const fitting = present.filter((_, index) => answers[index]);
    if (fitting.length >= limit || found.length < wanted) return fitting.slice(0, limit);
  }
}

/**
 * This directory and those above it up to the root of the repository. Without a
 * repository only this one: directories above belong to other work.
 */
function projectDirectories(cwd: string): string[] {
  const directories: string[] = [];
  for (let directory = cwd; ; directory = dirname(directory)) {
    directories.push(directory);
    if (existsSync(join(directory, '.git'))) return directories;
    if (dirname(directory) === directory) return [cwd];
  }
}
