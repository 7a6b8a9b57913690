// A plan goes from one session to another (V7), with its checks and what they proved:
// both sessions hear of it in one transaction, so that it has one owner at every moment,
// and a move that is repeated is the same move. It asks nobody: whoever calls it has made
// sure that a human wants it.
import { goalCheckIds, protectedPathsId } from '../core/check-specs.ts';
import type { Event, EventOf, SessionDescriptor } from '../core/events.ts';
import { withCarried } from '../core/plan-edit.ts';
import type { Policy } from '../core/policy.ts';
import { checkIds, distinctChecks } from '../core/same-checks.ts';
import { createState, type State, waitingHost } from '../core/state.ts';
import type { Engine } from './engine.ts';
import type { Clock, Identifiers } from './host.ts';
import { type CurrentPolicy, createPolicies, frozenPolicy } from './policy.ts';
import type { Store } from './store.ts';
import { sha256 } from './system.ts';

export type HandOverPlace = Readonly<{
  store: Store;
  clock: Clock;
  identifiers: Identifiers;
  policy: CurrentPolicy;
  engine: Pick<Engine, 'handle'>;
}>;

/** `opens`: the session is made by the move. */
type Taker = Readonly<{ id: string; descriptor: SessionDescriptor; opens: boolean }>;

/** Results of checks that go along; a long session has thousands. */
const mostResults = 2000;

type Plan = Pick<State, 'id' | 'planId'>;
/** The same for one plan in one session, whoever it is moved to: it cannot go to two. */
const moveKey = ({ id, planId }: Plan) => sha256(`${id}\0${planId}`).slice(0, 32);

const idOfKey = (key: string) => `moved-${key.slice(0, 10)}`;
/** Of the session that a move of this plan makes. */
export const newSessionId = (from: Plan) => idOfKey(moveKey(from));
/** Of the session that the last move of this one made; null: it gave no plan away. */
export const movedSessionId = ({ planId }: Plan) =>
  planId.startsWith('moved/') ? idOfKey(planId.slice('moved/'.length)) : null;

export function movedEvent(from: State, to: string, at: number): EventOf<'plan-moved'> {
  return { type: 'plan-moved', id: `moved/${moveKey(from)}`, sessionId: from.id, at, to };
}

/**
 * @param to in words for people. The taker as it stands then; null: the plan had gone to
 * somebody else.
 */
export async function handOver(
  place: HandOverPlace,
  from: State,
  taker: Taker,
  to: string,
) {
  const { store, clock, identifiers, policy, engine } = place;
  const key = moveKey(from);
  const base = { sessionId: taker.id, at: clock.now() };
  const before = (await store.state(taker.id)) ?? createState(taker.id, base.at);
  const carried = await carriedBy(store, from);
  const todos = from.plan.map((todo) => ({ todo, id: identifiers.next() }));
  const saved = new Map<string, string>();
  const there = {
    ...before,
    descriptor: taker.descriptor,
    carried: withCarried(before.carried, carried),
  };
  const policyHash = createPolicies(policy, sha256).snapshot(there, saved);
  await store.record({ policies: saved });
  const opened: Event = {
    ...base,
    id: `opened/${key}`,
    type: 'session-opened',
    descriptor: taker.descriptor,
    agent: null,
  };
  const taken: EventOf<'plan-taken'> = {
    ...base,
    id: `taken/${key}`,
    type: 'plan-taken',
    from: from.id,
    title: from.title,
    todos: todos.map(({ todo, id }) => movedTodo(todo, id)),
    ...carried,
    policyHash,
  };
  const moved = movedEvent(from, to, base.at);
  const added = await store.append([moved, ...(taker.opens ? [opened] : []), taken]);
  if (added.at(-1) === true)
    await copyResults(store, from, taker.id, new Map(todos.map(idsOf)));
  // As recorded: it may be an earlier move that was broken off behind the transaction, or
  // somebody else's.
  const recorded = await store.events({ ids: [taken.id, moved.id] });
  const first = async <Own extends Event>(own: Own) =>
    (await engine.handle(recorded.find(({ event }) => event.id === own.id)?.event ?? own))
      .state;
  const state = await first(taken);
  await first(moved);
  return state.id === taker.id ? state : null;
}

type Carried = Pick<EventOf<'plan-taken'>, 'checks' | 'goalChecks'>;

/**
 * What a file here asks for is found by the taker itself; where nothing was frozen,
 * nothing is carried.
 */
async function carriedBy(store: Store, from: State): Promise<Carried> {
  const frozen = await frozenPolicy(store, from);
  if (frozen === null) return { checks: [], goalChecks: [] };
  const goalChecks = givenGoalChecks(frozen);
  const wanted = new Set([...goalChecks, ...from.plan.flatMap(({ checks }) => checks)]);
  return {
    checks: distinctChecks(frozen.checks).filter(({ id }) => wanted.has(id)),
    goalChecks,
  };
}

/** Checks on the goal that no file asks for: the human gave them with the goal. */
export function givenGoalChecks({
  goalChecks,
  checks,
  settings,
}: Policy): readonly string[] {
  const names = goalCheckIds(settings);
  // An id with `$ ` is a line that the human typed, even if a file asks for the same
  // check by a name.
  const idsOfFiles = checkIds(checks, names).filter((id) => !id.startsWith('$ '));
  const known = [protectedPathsId, ...names, ...idsOfFiles];
  return goalChecks.filter((check) => !known.includes(check));
}

type Named = Readonly<{ todo: State['plan'][number]; id: string }>;
const idsOf = ({ todo, id }: Named) => [todo.id, id] as const;

function movedTodo(
  todo: Named['todo'],
  id: string,
): EventOf<'plan-taken'>['todos'][number] {
  const {
    title,
    context,
    completionCriteria,
    agentType,
    status,
    priority,
    outcome,
    reason,
    attempts,
  } = todo;
  const {
    verification,
    checks,
    failureTail,
    evidence,
    startedAt,
    completedAt,
    finalAt,
    passedAt,
  } = todo;
  return {
    id,
    title,
    context,
    completionCriteria,
    agentType,
    status,
    priority,
    outcome,
    reason,
    attempts,
    verification,
    checks,
    failureTail,
    evidence,
    startedAt,
    completedAt,
    finalAt,
    passedAt,
  };
}

/**
 * What passed, for reports, and a human's answers, which hold for the files that they
 * were given for.
 */
async function copyResults(
  store: Store,
  from: State,
  takerId: string,
  ids: ReadonlyMap<string, string>,
) {
  const rows = (await store.evidence(from.id, mostResults)).filter(
    ({ result }) => result === 'passed',
  );
  const evidence = rows.flatMap((row) => {
    const todoId = row.todoId === null ? null : ids.get(row.todoId);
    return todoId === undefined ? [] : [{ ...row, sessionId: takerId, todoId }];
  });
  await store.record({ evidence: evidence.reverse() });
}

/** More than anyone moves to one host before they open it. */
const mostWaiting = 50;

/**
 * The plans that a human moved to this host in this folder and that nobody has taken yet,
 * oldest first.
 */
export async function waitingPlans(
  store: Pick<Store, 'sessions'>,
  descriptor: SessionDescriptor,
) {
  const { host, directory, kind } = descriptor;
  if (kind !== 'main' || directory === null) return [];
  const waiting = await store.sessions({
    host: waitingHost,
    directory,
    limit: mostWaiting,
  });
  return waiting
    .filter((one) => one.descriptor.instance === host && one.latch === null)
    .reverse();
}

/** Right after a human's message. The session with the plans; null: none was waiting. */
export async function takeWaitingPlans(
  place: HandOverPlace,
  id: string,
  descriptor: SessionDescriptor,
) {
  let last: State | null = null;
  for (const waiting of await waitingPlans(place.store, descriptor)) {
    const from = await place.store.state(waiting.id);
    const taker = { id, descriptor, opens: false };
    const state = from && (await handOver(place, from, taker, `session ${id}`));
    last = state ?? last;
  }
  return last;
}
