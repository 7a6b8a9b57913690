// Moves a plan from one session to another (V7), with its checks and what they proved, in
// one transaction: the plan always has one owner, and repeating a move changes nothing.
// It asks nobody: the caller has made sure that a human wants the move.
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

/** What a move needs from its caller. */
export type HandOverPlace = Readonly<{
  store: Store;
  clock: Clock;
  identifiers: Identifiers;
  policy: CurrentPolicy;
  engine: Pick<Engine, 'handle'>;
}>;

/** The session that gets the plan. `opens`: the move creates this session. */
type Taker = Readonly<{ id: string; descriptor: SessionDescriptor; opens: boolean }>;

/** How many results of checks go along; a long session has thousands. */
const mostResults = 2000;

type Plan = Pick<State, 'id' | 'planId'>;
/**
 * The key of a plan's move. It does not depend on the taker, so that one plan cannot go
 * to two sessions.
 */
const moveKey = ({ id, planId }: Plan) => sha256(`${id}\0${planId}`).slice(0, 32);

const idOfKey = (key: string) => `moved-${key.slice(0, 10)}`;
/** The id of the session that a move of this plan creates. */
export const newSessionId = (from: Plan) => idOfKey(moveKey(from));
/** The id of the session that the last move out of this one created; null: none did. */
export const movedSessionId = ({ planId }: Plan) =>
  planId.startsWith('moved/') ? idOfKey(planId.slice('moved/'.length)) : null;

/** The event by which `from` gives its plan away; `to` names the taker for people. */
export function movedEvent(from: State, to: string, at: number): EventOf<'plan-moved'> {
  return { type: 'plan-moved', id: `moved/${moveKey(from)}`, sessionId: from.id, at, to };
}

/**
 * Moves the plan; returns the taker's state, or null if the plan had gone to another
 * session before. `to` names the taker in words for people.
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
  const takerState = {
    ...before,
    descriptor: taker.descriptor,
    carried: withCarried(before.carried, carried),
  };
  const policyHash = createPolicies(policy, sha256).snapshot(takerState, saved);
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
  // The recorded events count: an earlier move may have been interrupted behind the
  // transaction, or may have gone to another session.
  const recorded = await store.events({ ids: [taken.id, moved.id] });
  const applyRecorded = async <Own extends Event>(own: Own) =>
    (await engine.handle(recorded.find(({ event }) => event.id === own.id)?.event ?? own))
      .state;
  const state = await applyRecorded(taken);
  await applyRecorded(moved);
  return state.id === taker.id ? state : null;
}

type Carried = Pick<EventOf<'plan-taken'>, 'checks' | 'goalChecks'>;

/**
 * The checks that go along. The taker itself finds those that a file in its folder asks
 * for. If nothing was frozen, nothing is carried.
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

/** Goal checks that no file asks for: the human named them together with the goal. */
export function givenGoalChecks({
  goalChecks,
  checks,
  settings,
}: Policy): readonly string[] {
  const names = goalCheckIds(settings);
  // An id that begins with `$ ` is a line that the human typed, even if a file has the
  // same check under a name.
  const idsOfFiles = checkIds(checks, names).filter((id) => !id.startsWith('$ '));
  const known = [protectedPathsId, ...names, ...idsOfFiles];
  return goalChecks.filter((check) => !known.includes(check));
}

type MovedTodo = Readonly<{ todo: State['plan'][number]; id: string }>;
const idsOf = ({ todo, id }: MovedTodo) => [todo.id, id] as const;

function movedTodo(
  todo: MovedTodo['todo'],
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
 * Copies results that passed: for reports, and because a human's answers stay valid for
 * the files that they were given for.
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

/** More plans than anyone moves to one host before they open it. */
const mostWaiting = 50;

/**
 * The plans that a human moved to this host in this folder and that no session has taken
 * yet, oldest first. Only a main session in a known folder gets any.
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

/**
 * Takes all waiting plans right after a human's message. Returns the session with its
 * plans; null: no plan was waiting.
 */
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
