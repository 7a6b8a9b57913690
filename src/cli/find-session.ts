// Which session a command means: the one whose id ends or starts like the word given,
// else the most recent one of this directory. It never guesses between two: an unclear
// word gets a sentence with the candidates.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ancestorsOf } from '../checks/process-ancestors.ts';
import { UntildoneError } from '../core/error.ts';
import { createState, isTurnOver, type Session, type State } from '../core/state.ts';
import { findOwnerProcess } from '../engine/session-owner.ts';
import type { Store } from '../engine/store.ts';
import { hostOfCommand } from '../hosts/host-processes.ts';
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
import { refuse, shown, tell } from './print.ts';

/** How many recent sessions are looked at for one that a human would mean. */
const recentSessions = 50;
const namedCandidates = 5;
/** One that is at work is among the newest. */
const mostRuns = 200;

export const noSessionsYet = 'There are no sessions yet.';

/**
 * Opens the store and closes it behind `work`. Without one there is no session, and it
 * creates none unless it `makes` one.
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
 * A document for programs, which begins with the session, and lines for people; a number:
 * it was told, and this is the exit code.
 */
export type Answer =
  | number
  | Readonly<{ json: object; lines: readonly string[]; code?: number }>;

interface SessionCommand
  extends Pick<Command, 'takes' | 'about'>,
    Partial<Pick<Command, 'options'>> {
  /** An agent is refused, and whoever sits at no terminal. */
  readonly humanOnly?: true;
  /** An agent may call it, but only for its own session. */
  readonly agentOwnOnly?: true;
  /**
   * Finds the session; default: the one that is named, else the most recent one of this
   * directory.
   */
  readonly find?: typeof findSession;
  /** Throws where the arguments are wrong together, before anything is opened. */
  check?(given: Arguments): unknown;
  answer(here: Here): Promise<Answer>;
}

const forHumans =
  'Only a human may do this: it needs a terminal, not only piped input and output, and is refused when an agent or a session of untildone calls it. docs/permissions.md says what that cannot prevent.';

/**
 * Every command about one session, which is named by `--session` where the command has
 * that option.
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
      if (refusal !== null) return refuse(io, refusal);
      const word = Object.hasOwn(options, 'session')
        ? given.text('session')
        : given.positional(0);
      return withSessions(io, async (store) => {
        const agent = agentOwnOnly ? await io.agentAbove() : null;
        const own =
          agent === null ? null : await findAgentSession(store, word, io, agent);
        if (typeof own === 'string') return refuse(io, own);
        const session = own ?? (await find(store, word, io));
        const answered = await answer({ given, io, store, session, agent });
        if (typeof answered === 'number') return answered;
        const { json, lines, code = 0 } = answered;
        tell(io, given.has('json'), { ...sessionFields(session), ...json }, () => lines);
        return code;
      });
    },
  };
}

/** With its plan. */
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
 * For `run --resume`: a session of a host is that host's, and its hooks would fall silent
 * if we took it (P41).
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
 * The session of the agent that called this; a sentence: that session is not known, or
 * `word` names another one.
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
    // A host that asks before it stops gets its record at its first stop; until then its
    // events wait in the inbox.
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
    async (session) =>
      isOf(session) && !isForeign(session) && (await hasUnfinishedTurn(store, session)),
  );
  const [only] = running;
  if (only === undefined)
    return `${called} none of its sessions is at work in this directory.`;
  if (running.length > 1)
    return `${called} does not say from which session: ${formatSessions(running, io)} are at work.`;
  return (await store.state(only.id)) ?? `${called} its session is gone.`;
}

/**
 * The run whose own process stands above, whatever the caller's variables say; null: none
 * does. `isNearest`: no host stands between, as one does that a run drives or its agent
 * started.
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

/**
 * Counts a message of the human that still waits in the inbox: events of a host are taken
 * in at its next stop.
 */
async function hasUnfinishedTurn(store: Store, session: Session): Promise<boolean> {
  if (session.turn !== null && !isTurnOver(session)) return true;
  const waiting = await store.events({ sessionId: session.id, waiting: true });
  return waiting.some(({ event }) => event.type === 'human-spoke');
}

function isOwnMain({ deleted, descriptor: { host, kind } }: Session): boolean {
  return host === 'untildone' && kind === 'main' && !deleted;
}

/**
 * Not a subagent or a helper of the host: those come and go beneath the session that the
 * human sees.
 */
export function isMainSession({ deleted, descriptor: { kind } }: Session): boolean {
  return !deleted && (kind === 'main' || kind === 'unknown');
}

async function mostRecent(store: Store, io: Io): Promise<Session> {
  const found = await sessionsHere(store, io, recentSessions);
  const session = found.find(isMainSession) ?? found[0];
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
  // What `status` prints here must be enough here, whatever other directories hold.
  const here = candidates.filter(({ descriptor }) =>
    projectDirectories(io.cwd).includes(descriptor.directory ?? ''),
  );
  if (here[0] !== undefined && here.length === 1) return here[0];
  const unclear = `"${shown(word, 60)}" is the start or the end of more than one session`;
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
  return `No session has an id that starts or ends with "${shown(word, 60)}". ${known}`;
}

export function formatSessions(sessions: readonly Session[], { clock }: Io): string {
  const ids = sessions.map(({ id }) => id);
  const named = sessions.slice(0, namedCandidates).map((session) => {
    const { id, title, descriptor, updatedAt } = session;
    const about = [
      title === undefined ? [] : `“${shown(title, 40)}”`,
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
 * Newest first: those of this directory, else of the nearest one above it in the same
 * repository. An imported plan is nobody's work, so that it is meant only where it is
 * named.
 */
export async function sessionsHere(
  store: Store,
  { cwd }: Io,
  limit: number,
  isMeant: SessionFilter = (session) => !isImported(session),
): Promise<readonly Session[]> {
  for (const directory of projectDirectories(cwd)) {
    const found = await newest(
      (most) => store.sessions({ directory, limit: most }),
      limit,
      isMeant,
    );
    if (found.length > 0) return found;
  }
  return [];
}

/** The newest ones that fit: one run may have more workers than a list has lines. */
export async function newest(
  fetch: (limit: number) => Promise<readonly Session[]>,
  limit: number,
  fits: SessionFilter,
): Promise<readonly Session[]> {
  for (let wanted = limit; ; wanted *= 4) {
    const found = await fetch(wanted);
    const answers = await Promise.all(found.map(fits));
    const fitting = found.filter((_, index) => answers[index]);
    if (fitting.length >= limit || found.length < wanted) return fitting.slice(0, limit);
  }
}

/**
 * Above the root of the repository, or where there is none, lies what belongs to other
 * work.
 */
function projectDirectories(cwd: string): string[] {
  const directories: string[] = [];
  for (let directory = cwd; ; directory = dirname(directory)) {
    directories.push(directory);
    if (existsSync(join(directory, '.git'))) return directories;
    if (dirname(directory) === directory) return [cwd];
  }
}
