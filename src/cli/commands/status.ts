// `untildone status`: lists the sessions of this directory, newest first, or shows one
// session in detail (C3, C4). It only reads and creates nothing.
import { exitCodes } from '../../core/decision.ts';
import { UntildoneError } from '../../core/error.ts';
import type { Settings } from '../../core/settings.ts';
import { countPlan, nextTodos, type Session, type State } from '../../core/state.ts';
import { readPresentState } from '../../engine/present-state.ts';
import type { Store } from '../../engine/store.ts';
import { isWorker, readWorkers, type WorkerView } from '../../engine/worker-sessions.ts';
import { type Arguments, type Command, jsonOption, numberOf } from '../command.ts';
import * as describe from '../describe-session.ts';
import { formatAge, formatTime } from '../describe-time.ts';
import {
  findSession,
  isUnasked,
  listNewestSessions,
  sessionsHere,
  withSessions,
} from '../find-session.ts';
import type { Io } from '../io.ts';
import { findLastOutcome, findTurnDecision, noOutcomeExitCode } from '../last-outcome.ts';
import { createSettingsReader, withStore } from '../open-runtime.ts';
import {
  createPaint,
  escapeForTerminal,
  formatCount,
  formatFields,
  printRefusal,
  printResult,
} from '../print.ts';
import { describeCurrentState } from '../session-process.ts';

const defaultLimit = 20;
/** Open todos that the detailed view names. */
const namedTodos = 3;

export const status: Command = {
  takes: '[session]',
  about: [
    'Shows the sessions of this directory, newest first: the plan, what the session does or waits for, how often it was\nsent back to work against the limits, and the last decision. With a session: all of that in detail.',
    'With --exit-code: one line about the last turn of the session, and the exit code of its outcome as `untildone run`\nhas it (0 done, 3 claimed, 4 blocked, 5 stagnant, 6 exhausted, 7 paused, 130 aborted, 1 failed); 8: no outcome yet,\nor the session still runs; 2: there is no such session.',
  ],
  options: {
    all: { summary: 'Sessions of all directories.' },
    limit: { value: 'N', summary: `At most N sessions (${defaultLimit}).` },
    'exit-code': {
      summary: 'Exit with the code of the last outcome, for scripts.',
      excludes: ['all', 'limit'],
    },
    ...jsonOption,
  },
  async run(given, io) {
    if (given.has('exit-code')) return printOutcome(given, io);
    const word = given.positional(0);
    const limit = numberOf(given, 'limit') ?? defaultLimit;
    const all = given.has('all');
    const settingsOf = createSettingsReader(io);
    const readViews = async (store: Store) => {
      const states =
        word === null
          ? await listSessions(store, io, limit + 1, all)
          : [await readPresentState(store, await findSession(store, word, io))];
      return Promise.all(
        states.map(async (session) => {
          const workers = word === null ? undefined : await readWorkers(store, session);
          return {
            session,
            json: await readStatus(
              store,
              session,
              await settingsOf(store, session),
              io,
              workers,
            ),
          };
        }),
      );
    };
    const views = await (word === null
      ? withStore(io, readViews)
      : withSessions(io, readViews));
    const shownViews = views?.slice(0, limit) ?? [];
    const more = (views?.length ?? 0) > limit;
    const ids = shownViews.map(({ session }) => session.id);
    const elsewhere =
      views !== null && !all ? ' here; --all shows those of other directories' : '';
    return printResult(
      io,
      given.has('json'),
      { sessions: shownViews.map(({ json }) => json), more },
      () => [
        ...(ids.length === 0 ? [`no sessions yet${elsewhere}`] : []),
        ...shownViews.flatMap(({ session, json }, index) => [
          ...(index === 0 ? [] : ['']),
          ...sessionBlock(session, json, describe.shortId(session.id, ids), io),
        ]),
        ...(more ? ['', `There are more: --limit ${limit * 2} shows them.`] : []),
      ],
    );
  },
};

async function printOutcome(given: Arguments, io: Io): Promise<number> {
  try {
    return await withSessions(io, async (store) => {
      const recorded = await findSession(store, given.positional(0), io);
      const session = await readPresentState(store, recorded);
      const settings = await createSettingsReader(io)(store, session);
      const json = await readStatus(
        store,
        session,
        settings,
        io,
        await readWorkers(store, session),
      );
      const ended = await findLastOutcome(store, session);
      // For a first turn, `words` says it all.
      const isNew =
        recorded.settled !== null && session.turn?.number !== recorded.turn?.number;
      const doing = isNew ? 'it works on your newest message' : json.state.words;
      const line = ended?.sentence ?? `no outcome yet: ${doing}`;
      printResult(io, given.has('json'), { sessions: [json], more: false }, () => [
        escapeForTerminal(line, 600),
      ]);
      return ended === null ? noOutcomeExitCode : exitCodes[ended.outcome];
    });
  } catch (error) {
    if (!(error instanceof UntildoneError) || error.code !== 'unknown-session')
      throw error;
    // Exit code 1 would mean that the session failed.
    printRefusal(io, error.message);
    return 2;
  }
}

async function listSessions(
  store: Store,
  io: Io,
  limit: number,
  all: boolean,
): Promise<State[]> {
  // A plan that waited for a host, and an MCP session that waited for its host's first
  // sign, are listed under the session that took them up.
  const isTakenUp = (session: Session): boolean =>
    (describe.isWaiting(session) && session.latch !== null) ||
    (session.descriptor.host === 'mcp' && session.deleted) ||
    (isUnasked(session) && session.closed);
  const isMain = (session: Session): boolean => !isWorker(session) && !isTakenUp(session);
  const sessions = all
    ? await listNewestSessions(store, { limit }, isMain)
    : await sessionsHere(store, io, limit, isMain);
  const states = await Promise.all(sessions.map(({ id }) => store.state(id)));
  return Promise.all(
    states
      .filter((state) => state !== null)
      .map((state) => readPresentState(store, state)),
  );
}

/** `workers`: only for a single session, which is shown in detail. */
async function readStatus(
  store: Store,
  session: State,
  settings: Settings,
  { clock }: Io,
  workers?: readonly WorkerView[],
) {
  const {
    id,
    descriptor,
    agent,
    createdAt,
    updatedAt,
    turn,
    settled,
    latch,
    pause,
    leftOver,
  } = session;
  const { host, mode: hostMode, kind, directory } = descriptor;
  const lastDecision = await findTurnDecision(store, session);
  const state = await describeCurrentState(store, session, clock.now());
  const next = nextTodos(session.plan, namedTodos).map(({ title }) => title);
  return {
    id,
    title: session.title,
    host,
    hostMode,
    kind,
    directory,
    agent: agent.name,
    createdAt,
    updatedAt,
    mode: settings.mode,
    state,
    plan: countPlan(session.plan),
    next,
    turn: turn?.number ?? null,
    leftOver,
    latch,
    pause,
    settled,
    waits: describe.describeWaits(session, clock.now()),
    inbox: (await store.events({ sessionId: id, waiting: true })).length,
    limits: describe.describeLimits(session, settings, clock.now()),
    lastDecision,
    ...(workers === undefined ? {} : { workers }),
  };
}

type StatusReport = Awaited<ReturnType<typeof readStatus>>;
type Row = readonly [string, string] | null;

function sessionBlock(
  session: State,
  report: StatusReport,
  short: string,
  io: Io,
): string[] {
  const { state, limits, lastDecision, mode, inbox, workers, updatedAt } = report;
  const paint = createPaint(io);
  const used = limits
    .map(({ used: amount, limit, words }) => `${amount}/${limit} ${words}`)
    .join(', ');
  const decision = lastDecision?.decision ?? null;
  const waiting = `${formatCount(inbox, 'event')} ${inbox === 1 ? 'waits' : 'wait'} for the next stop attempt`;
  const rows: Row[] = [
    ['plan', describe.describePlan(session)],
    ['state', paint('yellow', escapeForTerminal(state.words))],
    describe.isImported(session) || describe.isWaiting(session) ? null : ['limits', used],
    decision === null
      ? null
      : ['last', escapeForTerminal(describe.describeAnswer(decision))],
    decision === null ? null : ['because', escapeForTerminal(decision.sentence, 200)],
    mode === 'enforce' ? null : ['mode', mode],
    // A host may send events after the end, such as its own end. They are taken up only
    // at another stop.
    inbox === 0 || session.settled !== null ? null : ['inbox', waiting],
    ...(workers === undefined ? [] : detailRows(session, report, workers)),
  ];
  const title =
    session.title === null ? '' : `“${escapeForTerminal(session.title, 60)}” · `;
  const who = `${describe.describeAgent(session)} · ${formatAge(updatedAt, io.clock.now())}`;
  return [`${paint('bold', short)}  ${title}${who}`, ...formatFields(rows)];
}

function detailRows(
  session: State,
  { next, waits, state }: StatusReport,
  workers: readonly WorkerView[],
): Row[] {
  const { id, descriptor, turn, leftOver } = session;
  const open = leftOver?.open ?? 0;
  const leftOverWords = `${formatCount(open, 'todo')} of an earlier turn ${open === 1 ? 'is' : 'are'} open`;
  return [
    ['id', escapeForTerminal(id)],
    ['directory', escapeForTerminal(descriptor.directory ?? 'unknown', 200)],
    ['host', escapeForTerminal(describe.describeHost(session))],
    turn === null
      ? null
      : ['turn', `${turn.number}, since ${formatTime(turn.startedAt)}`],
    leftOver === null ? null : ['left over', leftOverWords],
    ...next.map((title): Row => ['next', escapeForTerminal(title)]),
    ...workers.map((worker): Row => ['worker', describe.describeWorker(worker, state)]),
    ...waits.map((wait): Row => ['waits for', escapeForTerminal(wait)]),
  ];
}
