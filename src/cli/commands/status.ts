// `untildone status`: the sessions of this directory, newest first, or one session in detail (C3, C4).
// It only reads, and creates nothing.

import { UntildoneError } from '../../core/error.ts';
import type { Settings } from '../../core/settings.ts';
import { countPlan, nextTodos, type State } from '../../core/state.ts';
import type { Store, StoredDecision } from '../../engine/store.ts';
import { readWorkers, type WorkerView, withoutWorkers } from '../../engine/worker-sessions.ts';
import { type Arguments, type Command, jsonOption } from '../command.ts';
import { describeAnswer } from '../describe-decision.ts';
import {
  describeHost,
  describeLimits,
  describePlan,
  describeState,
  describeWaits,
} from '../describe-session.ts';
import { formatAge, formatTime } from '../describe-time.ts';
import { findSession, noSessionsYet, sessionsHere } from '../find-session.ts';
import type { Io } from '../io.ts';
import { createSettingsReader, withStore } from '../open-runtime.ts';
import { count, createPaint, fields, printJson, printWrapped, shown } from '../print.ts';
import { shortId } from '../session-name.ts';

const defaultLimit = 20;
/** Open todos that the detailed view names. */
const namedTodos = 3;

export const status: Command = {
  usage: 'status [session] [--all] [--limit N] [--json]',
  about: [
    'Shows the sessions of this directory, newest first: the plan, what the session does or waits for, the\ncontinuations counted against their limits, and the last decision. With a session: all of that in detail.',
  ],
  options: {
    all: { summary: 'Sessions of all directories.' },
    limit: { value: 'N', summary: `At most N sessions (${defaultLimit}).` },
    ...jsonOption,
  },
  positionals: [0, 1],
  async run(given, io) {
    const word = given.positional(0);
    const limit = limitOf(given);
    const views = await withStore(io, async (store) => {
      if (word !== null) {
        const session = await findSession(store, word, io);
        return [{ ...(await look(store, session, io)), workers: await readWorkers(store, session) }];
      }
      const sessions = await withoutWorkers(
        async (most) => (given.has('all') ? store.sessions({ limit: most }) : sessionsHere(store, io, most)),
        limit + 1,
      );
      const states = await Promise.all(sessions.map(({ id }) => store.state(id)));
      const known = states.filter((state) => state !== null);
      return Promise.all(known.map((state) => look(store, state, io)));
    });
    if (word !== null && views === null) throw new UntildoneError('unknown-session', noSessionsYet);
    show(given, io, views ?? [], { detailed: word !== null, limit, storeExists: views !== null });
    return 0;
  },
};

function limitOf(given: Arguments): number {
  const text = given.text('limit');
  if (text === null) return defaultLimit;
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new UntildoneError('usage', '--limit must be a whole number of at least 1.');
}

interface View {
  readonly session: State;
  readonly settings: Settings;
  readonly last: StoredDecision | null;
  readonly inbox: number;
  readonly next: readonly string[];
  /** Read for one session only. */
  readonly workers?: readonly WorkerView[];
}

async function look(store: Store, session: State, io: Io): Promise<View> {
  const [last] = await store.decisions(session.id, 1);
  return {
    session,
    settings: await createSettingsReader(io)(store, session),
    last: last ?? null,
    inbox: (await store.events({ sessionId: session.id, waiting: true })).length,
    next: nextTodos(session.plan, namedTodos).map(({ title }) => title),
  };
}

interface Showing {
  readonly detailed: boolean;
  readonly limit: number;
  readonly storeExists: boolean;
}

function show(
  given: Arguments,
  io: Io,
  views: readonly View[],
  { detailed, limit, storeExists }: Showing,
): void {
  const listed = views.slice(0, limit);
  if (given.has('json')) {
    printJson(io, { sessions: listed.map((view) => toJson(view, io)), more: views.length > limit });
    return;
  }
  if (listed.length === 0) {
    const elsewhere = storeExists && !given.has('all') ? ' here; --all shows those of other directories' : '';
    printWrapped(io, [`no sessions yet${elsewhere}`]);
    return;
  }
  const ids = listed.map(({ session }) => session.id);
  const blocks = listed.map((view) => block(view, shortId(view.session.id, ids), detailed, io));
  const more = views.length > limit ? ['', `There are more: --limit ${limit * 2} shows them.`] : [];
  printWrapped(io, [...blocks.flatMap((lines, index) => (index === 0 ? lines : ['', ...lines])), ...more]);
}

function block(
  { session, settings, last, inbox, next, workers = [] }: View,
  short: string,
  detailed: boolean,
  io: Io,
): string[] {
  const paint = createPaint(io);
  const now = io.clock.now();
  const { descriptor, agent, leftOver, turn } = session;
  const who = [
    shown(descriptor.host, 30),
    shown(agent.name ?? 'unknown agent', 30),
    formatAge(session.updatedAt, now),
  ];
  const limits = describeLimits(session, settings, now).map(
    ({ used, limit, words }) => `${used}/${limit} ${words}`,
  );
  const decision = last?.decision ?? null;
  const detail: ([string, string] | null)[] = [
    ['id', shown(session.id)],
    ['directory', shown(descriptor.directory ?? 'unknown', 200)],
    ['host', shown(describeHost(session))],
    turn === null ? null : ['turn', `${turn.number}, since ${formatTime(turn.startedAt)}`],
    leftOver === null
      ? null
      : [
          'left over',
          `${count(leftOver.open, 'todo')} of an earlier turn ${leftOver.open === 1 ? 'is' : 'are'} open`,
        ],
    ...next.map((todo): [string, string] => ['next', shown(todo)]),
    ...workers.map((worker): [string, string] => ['worker', describeWorker(worker)]),
    ...describeWaits(session, now).map((wait): [string, string] => ['waits for', shown(wait)]),
  ];
  return [
    `${paint('bold', short)}  ${[session.title === undefined ? [] : `“${shown(session.title, 60)}”`, who].flat(2).join(' · ')}`,
    ...fields([
      ['plan', describePlan(countPlan(session.plan))],
      ['state', paint('yellow', shown(describeState(session, now).words))],
      ['limits', limits.join(', ')],
      ['last', decision === null ? 'no stop attempt yet' : shown(describeAnswer(decision))],
      decision === null ? null : ['because', shown(decision.sentence, 200)],
      settings.mode === 'enforce' ? null : ['mode', settings.mode],
      inbox === 0
        ? null
        : ['inbox', `${count(inbox, 'event')} ${inbox === 1 ? 'waits' : 'wait'} for the next stop attempt`],
      ...(detailed ? detail : []),
    ]),
  ];
}

function describeWorker({ id, agentType, title, result }: WorkerView): string {
  const todo = title === null ? '' : ` “${shown(title, 80)}”`;
  return `${shortId(id)} ${shown(agentType, 40)}: ${result ?? 'not ended'}${todo}`;
}

function toJson({ session, settings, last, inbox, next, workers }: View, io: Io) {
  const { id, descriptor, agent, createdAt, updatedAt, turn, settled, latch, pause, leftOver } = session;
  const now = io.clock.now();
  return {
    ...{
      id,
      title: session.title ?? null,
      host: descriptor.host,
      hostMode: descriptor.mode,
      kind: descriptor.kind,
      directory: descriptor.directory,
    },
    ...{ agent: agent.name, createdAt, updatedAt, mode: settings.mode, state: describeState(session, now) },
    ...{ plan: countPlan(session.plan), next, turn: turn?.number ?? null, leftOver, latch, pause, settled },
    ...{
      waits: describeWaits(session, now),
      inbox,
      limits: describeLimits(session, settings, now),
      lastDecision: last,
    },
    ...(workers === undefined ? {} : { workers }),
  };
}
