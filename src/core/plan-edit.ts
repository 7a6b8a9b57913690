// Adds todos, changes one by its id, hands one to a worker (M1, M3, M4, S4, S6). Each bad
// item is refused by itself; the good ones apply.
import { byEvent, type Command, type Step, step } from './decision.ts';
import type { EventBase, EventOf, NewTodo, TodoChanges } from './events.ts';
import { findTodo, firstRepeatedId, PlanDraft, setStatus, wantedStatus } from './plan.ts';
import type { Policy } from './policy.ts';
import { writeList } from './reconcile.ts';
import { oneLine } from './safe-text.ts';
import type { Settings } from './settings.ts';
import { cancelParked, endTurn, isTurnOver, newTurn, type State } from './state.ts';
import { checksOf, isEnded, isFinal, isOpen, normaliseTitle, type Todo } from './todo.ts';

type PlanEvent = EventOf<
  'todos-created' | 'plan-written' | 'todo-updated' | 'todo-completed'
>;

/**
 * How often workers may fail at a todo before it is blocked and the others go on (S6).
 */
const mostFailures = 2;

/** What changes of the plan and workers do to a session. */
export const planReducers = byEvent({
  'todos-created': editPlan,
  'plan-written': editPlan,
  'todo-updated': editPlan,
  'todo-completed': editPlan,
  /**
   * A plan has one owner (V7): the next stop in this host is no stop of the plan, and
   * nobody is sent on.
   */
  'plan-moved'(state, { id, at, to }) {
    const draft = new PlanDraft(state, 'human', at);
    draft.log('moved', null, { to });
    const { ledger } = draft.finish().edited;
    const latch = { how: `its plan was moved to ${to}`, at, movedTo: to };
    const aborted = { outcome: 'aborted', reason: 'aborted', at } as const;
    const settled = isTurnOver(state) ? state.settled : aborted;
    const empty = { planId: id, plan: [], leftOver: null, goal: {}, finalRun: null };
    return step(
      { ...cancelParked(endTurn(state)), ...empty, latch, settled },
      [],
      ledger,
    );
  },
  'plan-taken'(state, event, { settings, checks }) {
    const { at, from, todos } = event;
    // If nobody has spoken here yet, the first message takes the plan up.
    const turn = state.turn ?? { ...newTurn(event.id, at), ended: true };
    const draft = new PlanDraft(
      { ...state, turn: { ...turn, touchedPlan: true } },
      'human',
      at,
      checks,
    );
    const isKnown = (type: string | null) =>
      type !== null && settings.agentTypes.includes(type);
    for (const todo of todos)
      draft.take(isKnown(todo.agentType) ? todo : { ...todo, agentType: null }, {
        movedFrom: from,
      });
    const { edited } = draft.finish();
    const carriedOver = {
      carried: withCarried(state.carried, event),
      policyHash: event.policyHash ?? state.policyHash,
      title: state.title ?? event.title,
    };
    return { ...edited, state: { ...edited.state, ...carriedOver } };
  },
  'delegation-started'(state, event, policy) {
    const { workerId, agentType, callId, at } = event;
    const draft = new PlanDraft(touchPlan(state, event), 'agent', at);
    const todo = findOrRefuse(draft, event.todoId);
    if (todo !== null && acceptDelegation(draft, todo)) {
      const started =
        setStatus(todo, { status: 'in_progress' }, draft.state, 'agent', at)?.todo ??
        todo;
      draft.put(todo, started, 'delegated', { worker: workerId, agentType });
      const delegation = {
        workerId,
        todoId: todo.id,
        agentType,
        callId,
        startedAt: at,
        ended: null,
      };
      draft.state = { ...draft.state, delegation };
      if (policy.settings.singleInProgress) noticeActive(draft, todo);
    }
    const { edited, reply } = draft.finish();
    return {
      ...(reply.applied ? edited : step(state)),
      commands: [{ type: 'reply', reply }],
    };
  },
  /**
   * The end of the same worker may be reported twice, as after a crash: nothing changes
   * then.
   */
  'delegation-ended'(state, event, policy) {
    const { workerId, result, at } = event;
    const { delegation } = state;
    if (delegation?.workerId !== workerId || delegation.ended !== null) return state;
    const sentence = oneLine(event.sentence, 300);
    const ended = { ...delegation, ended: { result, sentence, at } };
    const draft = new PlanDraft({ ...state, delegation: ended }, 'system', at);
    const detail = {
      worker: workerId,
      agentType: delegation.agentType,
      result,
      sentence,
    };
    const todo = state.plan.find(({ id }) => id === delegation.todoId);
    if (
      todo === undefined ||
      !isOpen(todo) ||
      result === 'done' ||
      result === 'interrupted'
    )
      draft.log('worker-ended', delegation.todoId, detail);
    else countFailure(draft, todo, detail, policy.settings);
    return draft.finish().edited;
  },
});

/** Adds the checks that come with a plan to those that came before. */
export function withCarried(
  known: State['carried'],
  { checks, goalChecks }: Pick<EventOf<'plan-taken'>, 'checks' | 'goalChecks'>,
): NonNullable<State['carried']> {
  return {
    checks: {
      ...known?.checks,
      ...Object.fromEntries(checks.map((spec) => [spec.id, spec])),
    },
    goalChecks: [...new Set([...(known?.goalChecks ?? []), ...goalChecks])],
  };
}

/**
 * Applies a change of the plan. The model always gets a reply, and its claims are checked
 * at once.
 */
export function editPlan(state: State, event: PlanEvent, policy: Policy): Step {
  const { settings } = policy;
  const draft = new PlanDraft(
    touchPlan(state, event),
    event.actor,
    event.at,
    policy.checks,
  );
  if (event.type === 'todos-created') createTodos(draft, event.items, settings);
  else if (event.type === 'plan-written') writeList(draft, event.items, settings);
  else if (event.type === 'todo-updated')
    updateTodo(draft, event.todoId, event.changes, settings);
  else completeTodo(draft, event);
  const { edited, reply } = draft.finish();
  const commands: Command[] = [{ type: 'reply', reply }];
  // If everything was refused, the turn has not touched the plan.
  if (reply.refused.length > 0 && !reply.applied) return step(state, commands);
  const checks = [...reply.changed, ...reply.created]
    .filter(
      ({ status, verification }) => status === 'completed' && verification === 'claimed',
    )
    .flatMap(checksOf);
  if (checks.length > 0 && settings.mode === 'enforce')
    commands.push({ type: 'run-checks', checks, stop: null });
  return { ...edited, commands };
}

/** A turn that changes the plan takes it up (T3), even if no human was ever heard. */
function touchPlan(state: State, { id, at }: EventBase): State {
  return { ...state, turn: { ...(state.turn ?? newTurn(id, at)), touchedPlan: true } };
}

function createTodos(draft: PlanDraft, items: readonly NewTodo[], settings: Settings) {
  const { plan } = draft.state;
  const { maxTodos } = settings;
  if (plan.length + items.length > maxTodos) {
    const sentence = `The plan has ${plan.length} todos and may have at most ${maxTodos}; nothing was added.`;
    return draft.refuse('too-many-todos', sentence);
  }
  const repeated = firstRepeatedId(items.map(({ id }) => id));
  if (repeated !== null)
    return draft.refuse(
      'duplicate-id',
      `The id "${oneLine(repeated, 60)}" occurs twice; nothing was added.`,
    );
  const { knownIds, openTitles } = findNamesakes(plan, items);
  const twins = new Map(openTitles);
  for (const [index, item] of items.entries()) {
    if (draft.refuseItem(item, index, settings)) continue;
    const key = normaliseTitle(item.title);
    const twin = twins.get(key);
    if (knownIds.has(item.id))
      draft.refuse(
        'known-id',
        `item ${index + 1} has the id of a todo that exists already.`,
        index,
      );
    // A host's own list has keys and ours has none: the same title in both is one todo
    // (M5, V7).
    else if (
      twin !== undefined &&
      (item.hostKey === undefined) !== (twin.hostKey === null)
    ) {
      twins.delete(key);
      joinTwin(draft, item, twin);
    } else {
      const title = oneLine(item.title, 80);
      if (openTitles.has(key))
        draft.notice(
          `A todo with the title "${title}" is already open; it is now there twice.`,
        );
      openTitles.set(key, draft.add(item, settings));
    }
  }
  const [first, second] = items.filter(
    (item) => wantedStatus(item).status === 'in_progress',
  );
  if (settings.singleInProgress && first) noticeActive(draft, undefined, second && first);
}

function findNamesakes(plan: readonly Todo[], items: readonly NewTodo[]) {
  const ids = new Set(items.map(({ id }) => id));
  const titles = new Set(items.map(({ title }) => normaliseTitle(title)));
  const knownIds = new Set<string>();
  const openTitles = new Map<string, Todo>();
  for (const todo of plan) {
    if (ids.has(todo.id)) knownIds.add(todo.id);
    if (!isEnded(todo) && titles.has(todo.titleKey)) openTitles.set(todo.titleKey, todo);
  }
  return { knownIds, openTitles };
}

function joinTwin(draft: PlanDraft, item: NewTodo, twin: Todo) {
  const { hostKey } = item;
  const title = oneLine(item.title, 80);
  if (hostKey === undefined)
    return draft.notice(
      `"${title}" is in the plan already, as ${twin.id}; it was not added again.`,
    );
  const joined = draft.put(twin, { ...twin, hostKey }, 'edited', { hostKey });
  const wanted = wantedStatus(item);
  if (wanted.status !== 'pending') draft.setStatus(joined, wanted);
}

/** Notes that another todo is in progress too (T7). `added`: one of several new ones. */
function noticeActive(draft: PlanDraft, started?: Todo, added?: NewTodo): void {
  const isOther = ({ id, status }: Todo): boolean =>
    status === 'in_progress' && id !== started?.id;
  const other = draft.state.plan.find(isOther) ?? added;
  if (other === undefined) return;
  const named = oneLine(other.title, 80);
  draft.notice(
    `Todo "${named}" is in progress too; work on one at a time, highest priority first.`,
  );
}

function completeTodo(
  draft: PlanDraft,
  { todoId, status, outcome }: EventOf<'todo-completed'>,
) {
  const todo = findOrRefuse(draft, todoId);
  if (todo === null) return;
  const title = oneLine(todo.title, 80);
  if (outcome.trim() === '') {
    const wanted = status === 'completed' ? 'what was done' : 'why it is cancelled';
    return draft.refuse(
      'no-outcome',
      `Todo "${title}" needs an outcome: say ${wanted}. Nothing changed.`,
    );
  }
  // A todo that was cancelled without a reason is not final: it can still be explained
  // (T2).
  if (isFinal(todo) || (todo.status === status && status === 'completed'))
    return draft.refuse(
      'already-final',
      `Todo "${title}" is already ${todo.status}. Nothing changed.`,
    );
  const request = { status, outcome, ...(status === 'cancelled' && { reason: outcome }) };
  draft.setStatus(todo, request, { outcome: oneLine(outcome, 200) });
}

function updateTodo(
  draft: PlanDraft,
  todoId: string,
  changes: TodoChanges,
  settings: Settings,
) {
  const todo = findOrRefuse(draft, todoId);
  if (todo === null) return;
  const { status, reason, priority, agentType } = changes;
  if (status === 'blocked' && (reason ?? '').trim() === '') {
    const sentence = `Todo "${oneLine(todo.title, 80)}" needs a reason to be blocked: what is missing from outside? Nothing changed.`;
    return draft.refuse('no-reason', sentence);
  }
  const title = changes.title?.trim() ?? todo.title;
  if (draft.refuseItem({ title, priority, agentType }, null, settings)) return;
  const edited = editFields(draft, todo, changes, title, settings);
  if (status === undefined) return;
  const detail = reason ? { reason: oneLine(reason, 200) } : {};
  const changed = draft.setStatus(edited, { status, reason: reason ?? null }, detail);
  if (changed !== null && status === 'in_progress' && settings.singleInProgress)
    noticeActive(draft, todo);
}

function editFields(
  draft: PlanDraft,
  todo: Todo,
  changes: TodoChanges,
  title: string,
  settings: Settings,
): Todo {
  const checks = draft.actor === 'agent' ? undefined : changes.checks;
  const edited: Todo = {
    ...(checks === undefined
      ? todo
      : withChecks(todo, draft.resolveChecks(title, checks, settings))),
    title,
    titleKey: normaliseTitle(title),
    context: changes.context ?? todo.context,
    completionCriteria: changes.completionCriteria ?? todo.completionCriteria,
    priority: changes.priority ?? todo.priority,
    agentType: changes.agentType ?? todo.agentType,
  };
  const isSame = (Object.keys(edited) as (keyof Todo)[]).every(
    (key) => edited[key] === todo[key],
  );
  if (isSame) return todo;
  if (edited.titleKey === todo.titleKey) return draft.put(todo, edited, 'edited');
  return draft.put(todo, edited, 'reworded', { from: todo.title, to: title });
}

/**
 * Replaces the checks of a todo. Proofs stay; a claim that another check must prove is
 * unproved again.
 */
function withChecks(todo: Todo, checks: readonly string[]): Todo {
  if (
    checks.length === todo.checks.length &&
    checks.every((check) => todo.checks.includes(check))
  )
    return todo;
  const evidence = todo.evidence.filter(({ check }) => checks.includes(check));
  const isProved = checks.length > 0 && evidence.length === checks.length;
  const unproved = todo.status === 'completed' ? 'claimed' : 'none';
  const verification = isProved ? todo.verification : unproved;
  return { ...todo, checks, evidence, verification, failureTail: null };
}

function findOrRefuse(draft: PlanDraft, todoId: string): Todo | null {
  const todo = findTodo(draft.state.plan, todoId);
  if (todo === null) {
    const sentence = `There is no todo with the id "${oneLine(todoId, 60)}" in this plan; list_todo shows the ids. Nothing changed.`;
    draft.refuse('unknown-id', sentence);
  }
  return todo;
}

function acceptDelegation(draft: PlanDraft, todo: Todo): boolean {
  if (draft.state.delegation?.ended === null) {
    const sentence =
      'Another worker is still at work; wait for its result. Nothing was delegated.';
    draft.refuse('worker-busy', sentence);
    return false;
  }
  if (isOpen(todo)) return true;
  const why =
    todo.status === 'blocked'
      ? `blocked: ${oneLine(todo.reason ?? '', 200)}`
      : todo.status;
  const sentence = `Todo "${oneLine(todo.title, 80)}" is ${why}. Only an open todo can be delegated; set it to pending if there is something new to try.`;
  draft.refuse('not-open', sentence);
  return false;
}

function countFailure(
  draft: PlanDraft,
  todo: Todo,
  detail: { sentence: string },
  { mode }: Settings,
): void {
  const workerFailures = todo.workerFailures + 1;
  const counted = { ...todo, attempts: todo.attempts + 1, workerFailures };
  const failed = draft.put(todo, counted, 'worker-ended', detail);
  // Outside enforce mode nothing is blocked (C2).
  if (workerFailures < mostFailures || mode !== 'enforce') return;
  const reason = `its worker failed ${workerFailures} times, most recently: ${detail.sentence}`;
  draft.setStatus(
    failed,
    { status: 'blocked', reason },
    { reason: 'its worker failed twice' },
  );
}
