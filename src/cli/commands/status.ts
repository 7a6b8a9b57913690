// `untildone status`: the sessions of this directory, newest first, or one session in detail (C3, C4).
// It only reads, and creates nothing.
import { countPlan, nextTodos, type Session, type State } from '../../core/state.ts';
import type { Store } from '../../engine/store.ts';
import { isWorker, readWorkers, type WorkerView } from '../../engine/worker-sessions.ts';
import { type Arguments, type Command, jsonOption, numberOf } from '../command.ts';
import * as describe from '../describe-session.ts';
import { formatAge, formatTime } from '../describe-time.ts';
import { newest, sessionsHere, withSession } from '../find-session.ts';
import type { Io } from '../io.ts';
import { createSettingsReader, withStore } from '../open-runtime.ts';
import { count, createPaint, fields, shown, tell } from '../print.ts';

const defaultLimit = 20;
/** Open todos that the detailed view names. */
const namedTodos = 3;

export const status: Command = {
  takes: '[session]',
  about: [
    'Shows the sessions of this directory, newest first: the plan, what the session does or waits for, how often it was\nsent back to work against the limits, and the last decision. With a session: all of that in detail.',
  ],
  options: {
    all: { summary: 'Sessions of all directories.' },
    limit: { value: 'N', summary: `At most N sessions (${defaultLimit}).` },
    ...jsonOption,
  },
  async run(given, io) {
    const word = given.positional(0);
    const limit = numberOf(given, 'limit') ?? defaultLimit;
    const settingsOf = createSettingsReader(io);
    if (word !== null)
      return withSession(io, word, async (store, session) => {
        const workers = await readWorkers(store, session);
        return show(given, io, [await look(store, session, settingsOf, workers)], limit);
      });
    const views = await withStore(io, async (store) => {
      const isListed = (session: Session): boolean => !isWorker(session);
      const sessions = given.has('all')
        ? await newest((most) => store.sessions({ limit: most }), limit + 1, isListed)
        : await sessionsHere(store, io, limit + 1, isListed);
      const states = await Promise.all(sessions.map(({ id }) => store.state(id)));
      const known = states.filter((state) => state !== null);
      return Promise.all(known.map((state) => look(store, state, settingsOf)));
    });
    if (views !== null && views.length > 0) return show(given, io, views, limit);
    const elsewhere =
      views !== null && !given.has('all') ? ' here; --all shows those of other directories' : '';
    return tell(io, given.has('json'), { sessions: [], more: false }, () => [`no sessions yet${elsewhere}`]);
  },
};

type View = Awaited<ReturnType<typeof look>>;
type SettingsReader = ReturnType<typeof createSettingsReader>;

/** `workers`: of one session, which is shown in detail. */
async function look(
  store: Store,
  session: State,
  settingsOf: SettingsReader,
  workers?: readonly WorkerView[],
) {
  const [last = null] = await store.decisions(session.id, 1);
  const inbox = (await store.events({ sessionId: session.id, waiting: true })).length;
  return { session, settings: await settingsOf(store, session), last, inbox, workers };
}

function show(given: Arguments, io: Io, views: readonly View[], limit: number): number {
  const listed = views.slice(0, limit);
  const ids = listed.map(({ session }) => session.id);
  const more = views.length > limit;
  const json = { sessions: listed.map((view) => toJson(view, io.clock.now())), more };
  return tell(io, given.has('json'), json, () => [
    ...listed.flatMap((view, index) => [
      ...(index === 0 ? [] : ['']),
      ...block(view, describe.shortId(view.session.id, ids), io),
    ]),
    ...(more ? ['', `There are more: --limit ${limit * 2} shows them.`] : []),
  ]);
}

type Row = readonly [string, string] | null;

function block(view: View, short: string, io: Io): string[] {
  const { session, settings, last, inbox } = view;
  const paint = createPaint(io);
  const now = io.clock.now();
  const limits = describe
    .describeLimits(session, settings, now)
    .map(({ used, limit, words }) => `${used}/${limit} ${words}`);
  const rows: Row[] = [
    ['plan', describe.describePlan(session)],
    ['state', paint('yellow', shown(describe.describeState(session, now).words))],
    describe.isImported(session) ? null : ['limits', limits.join(', ')],
    last === null ? null : ['last', shown(describe.describeAnswer(last.decision))],
    last === null ? null : ['because', shown(last.decision.sentence, 200)],
    settings.mode === 'enforce' ? null : ['mode', settings.mode],
    inbox === 0
      ? null
      : ['inbox', `${count(inbox, 'event')} ${inbox === 1 ? 'waits' : 'wait'} for the next stop attempt`],
    ...(view.workers === undefined ? [] : detail(session, view.workers, now)),
  ];
  const title = session.title === undefined ? '' : `“${shown(session.title, 60)}” · `;
  const who = `${describe.describeAgent(session)} · ${formatAge(session.updatedAt, now)}`;
  return [`${paint('bold', short)}  ${title}${who}`, ...fields(rows)];
}

function detail(session: State, workers: readonly WorkerView[], now: number): Row[] {
  const { id, descriptor, turn, leftOver } = session;
  const open = leftOver?.open ?? 0;
  return [
    ['id', shown(id)],
    ['directory', shown(descriptor.directory ?? 'unknown', 200)],
    ['host', shown(describe.describeHost(session))],
    turn === null ? null : ['turn', `${turn.number}, since ${formatTime(turn.startedAt)}`],
    leftOver === null
      ? null
      : ['left over', `${count(open, 'todo')} of an earlier turn ${open === 1 ? 'is' : 'are'} open`],
    ...nextTodos(session.plan, namedTodos).map(({ title }): Row => ['next', shown(title)]),
    ...workers.map((worker): Row => ['worker', describe.describeWorker(worker)]),
    ...describe.describeWaits(session, now).map((wait): Row => ['waits for', shown(wait)]),
  ];
}

function toJson({ session, settings, last, inbox, workers }: View, now: number) {
  const { id, descriptor, agent, createdAt, updatedAt, turn, settled, latch, pause, leftOver } = session;
  const { host, mode: hostMode, kind, directory } = descriptor;
  const next = nextTodos(session.plan, namedTodos).map(({ title }) => title);
  return {
    ...{ id, title: session.title ?? null, host, hostMode, kind, directory, agent: agent.name },
    ...{ createdAt, updatedAt, mode: settings.mode, state: describe.describeState(session, now) },
    ...{ plan: countPlan(session.plan), next, turn: turn?.number ?? null, leftOver, latch, pause, settled },
    ...{ waits: describe.describeWaits(session, now), inbox },
    ...{ limits: describe.describeLimits(session, settings, now), lastDecision: last },
    ...(workers === undefined ? {} : { workers }),
  };
}
