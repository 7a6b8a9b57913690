// The questions that only a human can answer, of one session: those of its policy snapshot, which of them wait, and
// what they are asked for. It only reads.

import { type Frozen, frozenBy } from '../../checks/git.ts';
import type { HumanCheck } from '../../core/check-specs.ts';
import { UntildoneError } from '../../core/error.ts';
import { type Session, type State, spokeAt } from '../../core/state.ts';
import type { Todo } from '../../core/todo.ts';
import { approvalRequest } from '../../core/work.ts';
import type { Store } from '../../engine/store.ts';
import { findSession, sessionsHere } from '../find-session.ts';
import type { Io } from '../io.ts';
import { nameSession } from '../session-name.ts';
import { snapshotOf } from '../verify/session-target.ts';
import { waitingRequests } from './answer-permission.ts';

export interface HumanQuestion {
  readonly check: string;
  /** null: the question waits, but the human's last message has taken the check away. */
  readonly spec: HumanCheck | null;
  readonly waits: boolean;
  readonly forGoal: boolean;
  /** Claimed todos that this check has not proved. */
  readonly todos: readonly Todo[];
}

export interface SessionQuestions {
  readonly session: State;
  /** What its files are looked at by. */
  readonly frozen: Partial<Frozen>;
  readonly questions: readonly HumanQuestion[];
}

const requestPrefix = approvalRequest('');

export async function readQuestions(store: Store, session: State): Promise<SessionQuestions> {
  const policy = await snapshotOf(store, session);
  const { checks = {}, goalChecks } = policy;
  const todos = session.plan;
  const known = Object.values(checks).filter((spec) => spec.kind === 'human');
  const waiting = waitingChecks(session);
  const gone = waiting.filter((check) => !known.some(({ id }) => id === check));
  const question = (check: string, spec: HumanCheck | null): HumanQuestion => ({
    check,
    spec,
    waits: waiting.includes(check),
    forGoal: goalChecks.includes(check),
    todos: todos.filter((todo) => isUnproved(todo, check)),
  });
  const questions = [
    ...known.map((spec) => question(spec.id, spec)),
    ...gone.map((id) => question(id, null)),
  ];
  return { session, frozen: frozenBy(policy, spokeAt(session)), questions };
}

function waitingChecks({ waits }: Session): string[] {
  return waits.questions
    .filter((request) => request.startsWith(requestPrefix))
    .map((request) => request.slice(requestPrefix.length));
}

function isUnproved({ status, checks, evidence }: Todo, check: string): boolean {
  return status === 'completed' && checks.includes(check) && !evidence.some((proof) => proof.check === check);
}

/** How many recent sessions are looked at for one in which a question waits. */
const recentSessions = 50;
const namedSessions = 5;

/** Without a word: the one session here in which a question waits, else the most recent one. */
export async function findAskingSession(store: Store, word: string | null, io: Io): Promise<State> {
  if (word !== null) return findSession(store, word, io);
  const here = await sessionsHere(store, io, recentSessions);
  const asking = here.filter(
    (session) =>
      !session.deleted && (waitingChecks(session).length > 0 || waitingRequests(session).length > 0),
  );
  const [only] = asking;
  if (only === undefined) return findSession(store, null, io);
  if (asking.length === 1) return findSession(store, only.id, io);
  const names = asking.slice(0, namedSessions).map(nameSession);
  throw new UntildoneError(
    'usage',
    `Questions wait in ${asking.length} sessions here; name one: ${names.join(', ')}${asking.length > namedSessions ? ' …' : ''}.`,
  );
}
