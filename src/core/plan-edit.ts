// Changes of the plan from tools, hosts and files: adding todos, changing one by its id, handing one to a worker (M1,
// M3, M4, S4, S6). What is malformed or unknown is refused with a sentence, item by item. Nothing here answers a stop.
import { checksForTitle } from './check-specs.ts';
import { type Command, type Step, step } from './decision.ts';
import type { EventOf, NewTodo, TodoChanges, WorkerResult } from './events.ts';
import { findTodo, firstRepeatedId, PlanDraft, refuseItem, setStatus } from './plan.ts';
import type { Policy } from './policy.ts';
import { writeList } from './reconcile.ts';
import { oneLine } from './safe-text.ts';
import type { Settings } from './settings.ts';
import { settingsForAgent } from './settings.ts';
import { newTurn, type State } from './state.ts';
import {
  checksOf,
  isFinal,
  isOpen,
  normaliseTitle,
  type Priority,
  statusFromWord,
  type Todo,
} from './todo.ts';

type PlanEvent = EventOf<'todos-created' | 'plan-written' | 'todo-updated' | 'todo-completed'>;

/** Once more after the first failure; a third would only cost (S6). */
const mostFailures = 2;

/** The model gets a reply in every case; what it claims is checked at once. */
export function editPlan(state: State, event: PlanEvent, policy: Policy): Step {
  const settings = settingsForAgent(policy.settings, state.agent.name);
  const draft = new PlanDraft(touchPlan(state, event), event.actor, event.at);
  switch (event.type) {
    case 'todos-created':
      createTodos(draft, event.items, settings);
      break;
    case 'plan-written':
      writeList(draft, event.items, settings);
      break;
    case 'todo-updated':
      updateTodo(draft, event.todoId, event.changes, settings);
      break;
    case 'todo-completed':
      completeTodo(draft, event);
      break;
  }
  const { edited, reply } = draft.finish();
  const commands: Command[] = [{ type: 'reply', reply }];
  // Refused as a whole: not even the turn has touched the plan.
  if (reply.refused.length > 0 && !reply.applied) return step(state, commands);
  const checks = [...reply.changed, ...reply.created]
    .filter(({ status, verification }) => status === 'completed' && verification === 'claimed')
    .flatMap(checksOf);
  if (checks.length > 0 && settings.mode === 'enforce')
    commands.push({ type: 'run-checks', checks, stop: null });
  return { ...edited, commands };
}

/** A turn that changes the plan takes it up (T3). A session that was never told of a human still has a turn. */
function touchPlan(state: State, { id, at }: { readonly id: string; readonly at: number }): State {
  return { ...state, turn: { ...(state.turn ?? newTurn(id, at)), touchedPlan: true } };
}

/** Item by item, at the end or at a 1-based position; what is already there is reported (T6, T7). */
function createTodos(draft: PlanDraft, items: readonly NewTodo[], settings: Settings): void {
  const { plan } = draft.state;
  const { maxTodos } = settings;
  if (plan.length + items.length > maxTodos) {
    const sentence = `The plan holds ${plan.length} todos and may hold at most ${maxTodos}; nothing was added.`;
    draft.refuse('too-many-todos', sentence);
    return;
  }
  const repeated = firstRepeatedId(items.map(({ id }) => id));
  if (repeated !== null) {
    draft.refuse('duplicate-id', `The id "${oneLine(repeated, 60)}" occurs twice; nothing was added.`);
    return;
  }
  const { knownIds, openTitles } = lookUp(plan, items);
  const twins = new Map(openTitles);
  for (const [index, item] of items.entries()) {
    const refusal = refuseItem(item, index, settings);
    const key = normaliseTitle(item.title);
    const twin = twins.get(key);
    if (refusal !== null) draft.refuseAs(refusal);
    else if (knownIds.has(item.id))
      draft.refuse('known-id', `item ${index + 1} has the id of a todo that exists already.`, index);
    else if (twin !== undefined && isOtherFamily(item, twin)) {
      twins.delete(key);
      joinTwin(draft, item, twin);
    } else {
      const title = oneLine(item.title, 80);
      if (openTitles.has(key))
        draft.notice(`A todo with the title "${title}" is already open; it is now there twice.`);
      openTitles.set(key, createTodo(draft, item, settings));
    }
  }
  if (settings.singleInProgress) noticeActive(draft, items);
}

/** Which of the ids are taken, and which of the titles are open or blocked. */
function lookUp(plan: readonly Todo[], items: readonly NewTodo[]) {
  const ids = new Set(items.map(({ id }) => id));
  const titles = new Set(items.map(({ title }) => normaliseTitle(title)));
  const knownIds = new Set<string>();
  const openTitles = new Map<string, Todo>();
  for (const todo of plan) {
    if (ids.has(todo.id)) knownIds.add(todo.id);
    const isLive = todo.status !== 'completed' && todo.status !== 'cancelled';
    if (isLive && titles.has(todo.titleKey)) openTitles.set(todo.titleKey, todo);
  }
  return { knownIds, openTitles };
}

/** The host's own list has a key for each todo, ours has none: the same title in both is one todo (M5, V7). */
function isOtherFamily(item: NewTodo, twin: Todo): boolean {
  return (item.hostKey ?? null) === null ? twin.hostKey !== null : twin.hostKey === null;
}

function joinTwin(draft: PlanDraft, { title, hostKey, status: word }: NewTodo, twin: Todo): void {
  if (hostKey === undefined || hostKey === null) {
    draft.notice(`"${oneLine(title, 80)}" is in the plan already, as ${twin.id}; it was not added again.`);
    return;
  }
  const known = draft.put(twin, { ...twin, hostKey }, 'edited', { hostKey });
  const status = word === undefined ? null : statusFromWord(word);
  if (status !== null && status !== 'pending') draft.setStatus(known, { status });
}

function createTodo(draft: PlanDraft, item: NewTodo, settings: Settings): Todo {
  const seed = {
    id: item.id,
    title: item.title.trim(),
    hostKey: item.hostKey ?? null,
    context: item.context ?? null,
    completionCriteria: item.completionCriteria ?? null,
    agentType: item.agentType ?? null,
    priority: (item.priority ?? 'medium') as Priority,
    checks: [...new Set([...(item.checks ?? []), ...checksForTitle(settings, item.title)])],
  };
  const created = draft.add(seed, item.order);
  return (
    draft.setStatus(created, { status: statusFromWord(item.status ?? 'pending') ?? 'pending' }) ?? created
  );
}

/** T7: more than one todo in progress. */
function noticeActive(draft: PlanDraft, items: readonly NewTodo[]): void {
  const started = items.filter(({ status }) => statusFromWord(status ?? 'pending') === 'in_progress');
  if (started.length === 0) return;
  const before = draft.state.plan.find(({ status }) => status === 'in_progress');
  if (before === undefined && started.length < 2) return;
  noticeOther(draft, before?.title ?? started[0]?.title ?? '');
}

function noticeSecondActive(draft: PlanDraft, todo: Todo): void {
  const other = draft.state.plan.find(({ id, status }) => status === 'in_progress' && id !== todo.id);
  if (other !== undefined) noticeOther(draft, other.title);
}

function noticeOther(draft: PlanDraft, title: string): void {
  const named = oneLine(title, 80);
  draft.notice(`Todo "${named}" is in progress too; work on one at a time, highest priority first.`);
}

function completeTodo(draft: PlanDraft, { todoId, status, outcome }: EventOf<'todo-completed'>): void {
  const todo = lookFor(draft, todoId);
  if (todo === null) return;
  const title = oneLine(todo.title, 80);
  if (outcome.trim() === '') {
    const wanted = status === 'completed' ? 'what was done' : 'why it is cancelled';
    draft.refuse('no-outcome', `Todo "${title}" needs an outcome: say ${wanted}. Nothing changed.`);
    return;
  }
  // A cancellation without a reason is not final (T2): it can still be explained.
  if (isFinal(todo) || (todo.status === status && status === 'completed')) {
    draft.refuse('already-final', `Todo "${title}" is already ${todo.status}. Nothing changed.`);
    return;
  }
  const request = status === 'completed' ? { status, outcome } : { status, reason: outcome };
  draft.setStatus(todo, request, { outcome: oneLine(outcome, 200) });
}

function updateTodo(draft: PlanDraft, todoId: string, changes: TodoChanges, settings: Settings): void {
  const todo = lookFor(draft, todoId);
  if (todo === null) return;
  const { status, reason, priority } = changes;
  if (status === 'blocked' && (reason ?? '').trim() === '') {
    const sentence = `Todo "${oneLine(todo.title, 80)}" needs a reason to be blocked: what is missing from outside? Nothing changed.`;
    draft.refuse('no-reason', sentence);
    return;
  }
  const title = changes.title?.trim() ?? todo.title;
  const malformed = refuseItem({ title, priority, agentType: changes.agentType }, null, settings);
  if (malformed !== null) {
    draft.refuseAs(malformed);
    return;
  }
  const edited = editFields(draft, todo, changes, title);
  if (status === undefined) return;
  const detail = reason ? { reason: oneLine(reason, 200) } : {};
  const changed = draft.setStatus(edited, { status, reason: reason ?? null }, detail);
  if (changed !== null && status === 'in_progress' && settings.singleInProgress)
    noticeSecondActive(draft, todo);
}

function editFields(draft: PlanDraft, todo: Todo, changes: TodoChanges, title: string): Todo {
  const edited: Todo = {
    ...todo,
    title,
    titleKey: normaliseTitle(title),
    context: changes.context ?? todo.context,
    completionCriteria: changes.completionCriteria ?? todo.completionCriteria,
    priority: changes.priority ?? todo.priority,
    agentType: changes.agentType ?? todo.agentType,
  };
  const isSame = (Object.keys(edited) as (keyof Todo)[]).every((key) => edited[key] === todo[key]);
  if (isSame) return todo;
  if (edited.titleKey === todo.titleKey) return draft.put(todo, edited, 'edited');
  return draft.put(todo, edited, 'reworded', { from: todo.title, to: title });
}

function lookFor(draft: PlanDraft, todoId: string): Todo | null {
  const todo = findTodo(draft.state.plan, todoId);
  if (todo === null) {
    const sentence = `There is no todo with the id "${oneLine(todoId, 60)}" in this plan; list_todo shows the ids. Nothing changed.`;
    draft.refuse('unknown-id', sentence);
  }
  return todo;
}

/** A todo goes to a worker. Who does the work changes nothing about what proves it: whoever delegated marks it. */
export function delegationStarted(state: State, event: EventOf<'delegation-started'>, policy: Policy): Step {
  const { workerId, agentType, callId, at } = event;
  const draft = new PlanDraft(touchPlan(state, event), 'agent', at);
  const todo = lookFor(draft, event.todoId);
  if (todo !== null && isFree(draft, todo)) {
    const started = setStatus(todo, { status: 'in_progress' }, draft.state, 'agent', at)?.todo ?? todo;
    draft.put(todo, started, 'delegated', { worker: workerId, agentType });
    const delegation = { workerId, todoId: todo.id, agentType, callId, startedAt: at, ended: null };
    draft.state = { ...draft.state, delegation };
    if (settingsForAgent(policy.settings, state.agent.name).singleInProgress) noticeSecondActive(draft, todo);
  }
  const { edited, reply } = draft.finish();
  const commands: Command[] = [{ type: 'reply', reply }];
  return reply.applied ? { ...edited, commands } : step(state, commands);
}

function isFree(draft: PlanDraft, todo: Todo): boolean {
  if (draft.state.delegation?.ended === null) {
    const sentence = 'Another worker is still at work; wait for its result. Nothing was delegated.';
    draft.refuse('worker-busy', sentence);
    return false;
  }
  if (isOpen(todo)) return true;
  const why = todo.status === 'blocked' ? `blocked: ${oneLine(todo.reason ?? '', 200)}` : todo.status;
  const sentence = `Todo "${oneLine(todo.title, 80)}" is ${why}. Only an open todo can be delegated; set it to pending if there is something new to try.`;
  draft.refuse('not-open', sentence);
  return false;
}

/** A second word about the same worker, as after a crash, changes nothing. */
export function delegationEnded(state: State, event: EventOf<'delegation-ended'>, policy: Policy): Step {
  const { workerId, result, at } = event;
  const { delegation } = state;
  if (delegation?.workerId !== workerId || delegation.ended !== null) return step(state);
  const sentence = oneLine(event.sentence, 300);
  const ended = { ...delegation, ended: { result, sentence, at } };
  const draft = new PlanDraft({ ...state, delegation: ended }, 'system', at);
  const detail = { worker: workerId, agentType: delegation.agentType, result, sentence };
  const todo = state.plan.find(({ id }) => id === delegation.todoId);
  // Whoever settled it meanwhile knew better than the worker.
  if (todo === undefined || !isOpen(todo) || !isFailure(result))
    draft.log('worker-ended', delegation.todoId, detail);
  else countFailure(draft, todo, detail, policy);
  return draft.finish().edited;
}

function isFailure(result: WorkerResult): boolean {
  return result !== 'done' && result !== 'interrupted';
}

/** A worker that failed twice leaves its todo blocked, so that the others go on. */
function countFailure(
  draft: PlanDraft,
  todo: Todo,
  detail: { readonly sentence: string },
  policy: Policy,
): void {
  const workerFailures = (todo.workerFailures ?? 0) + 1;
  const counted = { ...todo, attempts: todo.attempts + 1, workerFailures };
  const failed = draft.put(todo, counted, 'worker-ended', detail);
  // C2: what is only observed is not set aside.
  const { mode } = settingsForAgent(policy.settings, draft.state.agent.name);
  if (workerFailures < mostFailures || mode !== 'enforce') return;
  const reason = `its worker failed ${workerFailures} times, at last so: ${detail.sentence}`;
  draft.setStatus(failed, { status: 'blocked', reason }, { reason: 'its worker failed twice' });
}
