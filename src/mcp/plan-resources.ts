// What a client can read without calling a tool: the plan as Markdown and as JSON, and the outcome. It only reads, and
// it shows the session that the server works in at that moment.
import { oneLine } from '../core/safe-text.ts';
import { noCounts, openCount, planSize, type Session } from '../core/session.ts';
import type { Store, StoreReader } from '../engine/store.ts';
import { formatPlan } from '../plan-file/format-plan.ts';
import { remaining, shownNote, summarise, viewTodo } from '../tools/todo-view.ts';
import type { ServerSession } from './server-session.ts';

export interface PlanResource {
  readonly name: string;
  readonly uri: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
  /** The text as it is now; session null: no call was made yet. */
  read(reader: StoreReader, session: Session | null): Promise<string>;
  /** Another value means that the text may have changed. */
  version(reader: StoreReader, session: Session | null): Promise<string>;
}

export const planResources: readonly PlanResource[] = [
  {
    name: 'plan',
    uri: 'untildone://plan',
    title: 'The plan',
    description: 'The todos of this session as a Markdown task list. Cancelled todos are left out.',
    mimeType: 'text/markdown',
    read: async (reader, session) => {
      const todos = session === null ? [] : await reader.todosOfPlan(session.planId);
      return `# Plan\n\n${progressLine(session)}\n\n${formatPlan(todos)}`.trimEnd();
    },
    version: planVersion,
  },
  {
    name: 'plan-json',
    uri: 'untildone://plan.json',
    title: 'The plan as JSON',
    description: 'Every todo of this session with all its fields, and how many are in which state.',
    mimeType: 'application/json',
    read: async (reader, session) => {
      const rows = session === null ? [] : await reader.todosOfPlan(session.planId);
      const todos =
        session === null ? [] : rows.map((todo, index) => viewTodo({ todo, position: index + 1 }, session));
      return json({ ...head(session), summary: summarise(session ?? { counts: noCounts }), todos });
    },
    version: planVersion,
  },
  {
    name: 'outcome',
    uri: 'untildone://outcome',
    title: 'The outcome',
    description:
      'How the turn settled (done, claimed, blocked, stagnant, exhausted, paused, aborted, failed); null while it has not.',
    mimeType: 'application/json',
    read: async (_reader, session) => json(outcome(session)),
    version: async (_reader, session) => JSON.stringify(outcome(session)),
  },
];

/** Runs `work` over the session that the server works in. */
export async function withSession<T>(
  store: Store,
  serverSession: ServerSession,
  work: (reader: StoreReader, session: Session | null) => Promise<T>,
): Promise<T> {
  const place = await serverSession.find();
  return store.read(async (reader) => work(reader, place && (await reader.session(place.sessionId))));
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

function progressLine(session: Session | null): string {
  if (session === null || planSize(session.counts) === 0) return 'There are no todos yet.';
  const { completed, blocked } = session.counts;
  const stuck = blocked === 0 ? '' : `, ${blocked} blocked`;
  return `${completed} of ${planSize(session.counts)} completed, ${openCount(session.counts)} open${stuck}.`;
}

function head(session: Session | null) {
  return {
    session: session?.id ?? null,
    host: session === null ? null : oneLine(session.descriptor.host, 60),
  };
}

function outcome(session: Session | null) {
  const { settled = null, pause = null } = session ?? {};
  return {
    ...head(session),
    outcome: settled?.outcome ?? null,
    reason: settled?.reason ?? null,
    settledAt: settled?.at ?? null,
    paused: pause === null ? null : { by: pause.by, reason: shownNote(pause.reason) },
    remaining: session === null ? 0 : remaining(session),
    summary: summarise(session ?? { counts: noCounts }),
  };
}

/** Every change of a plan is in its ledger, so that the last entry stands for the whole list. */
async function planVersion(reader: StoreReader, session: Session | null): Promise<string> {
  if (session === null) return '';
  const last = await reader.lastLedgerEntry(session.planId);
  return `${session.planId} ${last?.hash ?? ''}`;
}
