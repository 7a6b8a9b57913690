// All todo tools, once; every host, framework and our own agent get them from here. Workers get none (M7).
import { setTimeout as sleep } from 'node:timers/promises';
import type { Refusal } from '../core/decision.ts';
import { UntildoneError } from '../core/error.ts';
import type { NewTodo, PlanChange } from '../core/events.ts';
import { excerpt } from '../core/problem.ts';
import { quoteForModel } from '../core/safe-text.ts';
import { choice, described, integer, object, optional, text, unreadList } from '../core/schema.ts';
import { createState, type State } from '../core/state.ts';
import { isOpen, priorities, type Todo, todoStatuses } from '../core/todo.ts';
import { readItems, words } from '../core/tool-input.ts';
import type { Handled } from '../engine/engine.ts';
import { defineTodoTool, failed, succeeded, type TodoTool, type ToolCallContext } from './todo-tool.ts';
import {
  fitting,
  remaining,
  shownNote,
  shownTitle,
  summarise,
  viewChecked,
  viewFailure,
  viewFields,
  viewListed,
  viewTodo,
} from './todo-view.ts';

const todoId = described(words, 'The id of the todo, as create_todo or list_todo gave it.');
const context = described(optional(text()), 'What one has to know to do it.');
const completionCriteria = described(optional(text()), 'How anyone can see that it is done.');
const agentType = described(optional(text()), 'The type of worker it is for, if workers are configured.');

/** Ids and names that are blank are left out: some models fill every field with something. */
function unlessBlank(given: string | undefined): string | undefined {
  return given === undefined || given.trim() === '' ? undefined : given;
}

const newItem = {
  title: described(text(), 'What is to be done, short and concrete.'),
  context,
  completionCriteria,
  agentType,
  priority: described(optional(choice(...priorities)), 'Default: medium.'),
  order: described(optional(integer(1)), 'Position in the plan, from 1. Default: at the end.'),
  check: described(optional(text()), 'Name of a check, allowed by the human, that proves it.'),
};

/** M1: adds todos one by one, at the end or at a position; bad ones are refused, good ones apply. */
const createTodo = defineTodoTool({
  name: 'create_todo',
  description:
    'Add todos to the plan. Use it before you start work that takes three or more steps, and whenever you find further work; send all new todos in one call. Do not use it for a single quick answer, nor to repeat todos that are already in the plan.',
  input: { items: described(unreadList(object(newItem)), 'The todos to add, in order.') },
  async run(input, call) {
    if (input.items.length === 0) return failed('invalid-input', '"items" is empty: send at least one todo.');
    const { items, bad, unknown } = readItems(newItem, input.items);
    const own = new Map(bad);
    const wanted = items.map(({ check, ...item }, index): NewTodo => {
      const proposed = unlessBlank(check);
      const allowed = proposed === undefined ? null : allowedCheck(proposed, call);
      if (proposed !== undefined && allowed === null && !own.has(index))
        own.set(index, `item ${index + 1} ${notAllowed(proposed, call)}.`);
      return {
        ...item,
        id: call.identifiers.next(),
        title: item.title ?? '',
        agentType: unlessBlank(item.agentType),
        priority: unlessBlank(item.priority),
        ...(own.has(index) ? { status: refusedStatus } : allowed === null ? {} : { checks: [allowed] }),
      };
    });
    const { reply, state, refusal } = await changePlan(call, { type: 'todos-created', items: wanted });
    if (refusal !== null) return refusal;
    const { refused, notices: more } = refusedItems(reply.refused, own);
    if (reply.created.length === 0) {
      const said = refused.map(({ message }) => message);
      return failed(refused[0]?.code ?? 'invalid-input', [...said, ...more, 'Nothing was added.'].join(' '));
    }
    const positions = new Map(state.plan.map(({ id }, index) => [id, index + 1]));
    const created = reply.created.map((todo) => {
      return { id: todo.id, title: shownTitle(todo), order: positions.get(todo.id) };
    });
    const output = { created, totalPending: summarise(state.plan).pending };
    const notices = [...reply.notices, ...ignoredFields(unknown), ...more];
    return succeeded(refused.length === 0 ? output : { ...output, refused }, notices);
  },
});

function ignoredFields(names: readonly string[]): readonly string[] {
  const named = firstFew(5, names.map(excerpt));
  return names.length === 0 ? [] : [`These fields of items are not known and were ignored: ${named}.`];
}

function firstFew(most: number, words: readonly string[]): string {
  const more = words.length > most ? ` and ${words.length - most} more` : '';
  return `${words.slice(0, most).join(', ')}${more}`;
}

/** V3: a check that an agent names counts only if a human allowed it. */
function notAllowed(check: string, { allowedChecks = [] }: ToolCallContext): string {
  const known = allowedChecks.length === 0 ? 'none is' : `allowed are ${allowedChecks.join(', ')}`;
  return `names the check ${excerpt(check)}, which no human allowed; ${known}`;
}

function allowedCheck(check: string, { allowedChecks = [], resolveCheck }: ToolCallContext): string | null {
  if (resolveCheck !== undefined) return resolveCheck(check);
  return allowedChecks.includes(check) ? check : null;
}

/** M2: the plan as it stands, by status; by default what is open. */
const listTodo = defineTodoTool({
  name: 'list_todo',
  description:
    'Show the plan with ids, notes and a summary. Use it to find ids, after the conversation was shortened, or to see what is left. Without a status it shows the open todos.',
  input: {
    status: described(
      optional(choice(...todoStatuses, 'all')),
      'Show only todos with this status, or all. Default: the open ones.',
    ),
  },
  async run({ status }, call) {
    const state = await stateNow(call);
    const wanted = state.plan.filter((todo) =>
      status === undefined ? isOpen(todo) : status === 'all' || todo.status === status,
    );
    const { shown, more, notices } = fitting(wanted, (todo) => viewTodo(todo, state));
    return succeeded({ items: shown, summary: summarise(state.plan), ...more }, notices);
  },
});

/** M3: a todo ends, with the words that say how. Completing is a claim until its checks pass (V1). */
const completeTodo = defineTodoTool({
  name: 'complete_todo',
  description:
    'End one todo: completed with what was done, or cancelled with the reason why it will not be done. Call it right after the work of that todo is finished, once per todo. Do not use it for work that is not finished or that waits for someone; use update_todo with blocked for that.',
  input: {
    todoId,
    outcome: described(words, 'What was done and how it was checked, or why it is cancelled.'),
    status: described(optional(choice('completed', 'cancelled')), 'Default: completed.'),
  },
  async run({ todoId, outcome, status = 'completed' }, call) {
    const change = { type: 'todo-completed', todoId, status, outcome } as const;
    const { reply, state, checks, refusal } = await changePlan(call, change);
    if (refusal !== null) return refusal;
    const [todo] = reply.changed;
    if (todo === undefined)
      return failed('unchanged', 'The todo was in this state already. Nothing changed.');
    if (checks === null) {
      const shown = viewFields(todo, state, 'id', 'title', 'status', 'verification', 'completedAt');
      return succeeded({ ...shown, outcome: shownNote(todo.outcome ?? todo.reason) }, reply.notices);
    }
    // What the checks made of the claim: passed, still running, or open again with what failed.
    await waitForChecks(checks, call);
    const now = await stateNow(call);
    const checked = now.plan.find(({ id }) => id === todo.id) ?? todo;
    const { completedAt } = checked;
    const settled = { outcome: shownNote(checked.outcome), completedAt, remaining: remaining(now) };
    const open = checked.verification === 'failed' ? ['Its check failed, so the todo is open again.'] : [];
    return succeeded({ ...viewChecked(checked), ...settled }, [...reply.notices, ...open]);
  },
});

/** M4: a todo starts, goes back, is blocked with a reason, or its words change. It never ends here. */
const updateTodo = defineTodoTool({
  name: 'update_todo',
  description:
    'Change one todo: set it in_progress when you start it, blocked with a reason when only someone else can help, back to pending, or correct its words. Keep one todo in_progress at a time. To finish or cancel a todo use complete_todo.',
  input: {
    todoId,
    status: described(
      optional(choice('in_progress', 'pending', 'blocked')),
      'The new status; completed and cancelled are set by complete_todo.',
    ),
    reason: described(optional(text()), 'Why it is blocked: what is missing, and from whom.'),
    title: described(optional(text()), 'A new title for the same work.'),
    context,
    completionCriteria,
    priority: described(optional(choice(...priorities)), 'How urgent it is.'),
    agentType,
  },
  async run({ todoId, ...given }, call) {
    if (Object.keys(given).length === 0)
      return failed('invalid-input', 'Nothing to change: send at least one field besides "todoId".');
    const changes = { ...given, agentType: unlessBlank(given.agentType) };
    const { reply, state, refusal } = await changePlan(call, { type: 'todo-updated', todoId, changes });
    if (refusal !== null) return refusal;
    const todo = reply.changed.at(-1) ?? state.plan.find((one) => isMeant(one, todoId));
    if (todo === undefined) return failed('unchanged', 'Nothing changed.');
    const shown = viewFields(todo, state, 'id', 'title', 'status', 'priority', 'reason', 'verification');
    const unchanged = reply.applied ? [] : ['The todo was like this already; nothing changed.'];
    return succeeded(shown, [...reply.notices, ...unchanged]);
  },
});

/** By our id or by the host's. */
function isMeant({ id, hostKey }: Todo, todoId: string): boolean {
  return id === todoId || hostKey === todoId;
}

const listedItem = {
  id: described(optional(text()), 'The id from todo_read; leave it out for a new todo.'),
  content: described(text(), 'What is to be done, short and concrete.'),
  status: described(choice(...todoStatuses), 'Default: pending.'),
  priority: described(optional(choice(...priorities)), 'Default: medium for a new todo.'),
  reason: described(optional(text()), 'Why it is cancelled or blocked; required for both.'),
};

/** Fields that todo_read shows and models send back. */
const echoedFields = ['verification', 'dropped'];

/** M5: the whole list at once. What is left out is dropped, not deleted, and the result says so. */
const todoWrite = defineTodoTool({
  name: 'todo_write',
  description:
    'Write the whole todo list: every todo with its present status, those that are completed included. Use it to plan work of three or more steps and after each finished todo. Keep one in_progress. Leaving a todo out does not end it: cancel it with a reason instead. Do not call it when nothing changed.',
  input: { todos: described(unreadList(object(listedItem)), 'The complete list, in order.') },
  async run(input, call) {
    const { items, bad, unknown } = readItems(listedItem, input.todos);
    const written = items.map((item, index) => ({
      id: unlessBlank(item.id),
      content: item.content ?? '',
      status: bad.has(index) ? refusedStatus : unlessBlank(item.status),
      priority: unlessBlank(item.priority),
      reason: unlessBlank(item.reason),
      freshId: call.identifiers.next(),
    }));
    const change = { type: 'plan-written', items: written } as const;
    const { reply, state, at, refusal } = await changePlan(call, change);
    if (refusal !== null) return refusal;
    const { refused, notices: more } = refusedItems(reply.refused, bad);
    const { shown: todos, more: leftOut, notices: unlisted } = fitting(state.plan, viewListed(state));
    const ignored = ignoredFields(unknown.filter((name) => !echoedFields.includes(name)));
    const notices = [...reply.notices, ...dropNotices(reply.changed, at), ...ignored, ...more, ...unlisted];
    const output = { todos, remaining: remaining(state), refused, notices, ...leftOut };
    return { ok: true, output, notices, duplicate: reply.duplicate };
  },
});

function dropNotices(changed: readonly Todo[], at: number): readonly string[] {
  const titles = (todos: readonly Todo[]) =>
    firstFew(
      8,
      todos.map(({ title }) => quoteForModel(title, 120)),
    );
  const dropped = changed.filter((todo) => isOpen(todo) && todo.droppedAt === at);
  const unexplained = changed.filter(
    (todo) => todo.status === 'cancelled' && todo.reason === null && todo.completedAt === at,
  );
  const left = `Left out or cancelled without a reason, and therefore still open: ${titles(dropped)}. Put each one back, or cancel it with a reason.`;
  const again = `Left out again, and now recorded as cancelled without a reason: ${titles(unexplained)}.`;
  return [...(dropped.length === 0 ? [] : [left]), ...(unexplained.length === 0 ? [] : [again])];
}

/** M5: the whole list in the shape that todo_write takes. */
const todoRead = defineTodoTool({
  name: 'todo_read',
  description:
    'Read the whole todo list with ids, in the shape that todo_write takes. Use it before todo_write when you are not sure of the present list.',
  input: {},
  async run(_input, call) {
    const state = await stateNow(call);
    const { shown, more, notices } = fitting(state.plan, viewListed(state));
    return succeeded({ todos: shown, remaining: remaining(state), ...more }, notices);
  },
});

/** M6: the model's escape hatch. Honoured at once and without questions; the human sees the reason. */
const todoPause = defineTodoTool({
  name: 'todo_pause',
  description:
    'Stop the reminders and hand over to the human, who sees your reason. Use it when you need something that only a human can give, when you were asked for a part of the work only, or when it is impossible. Do not use it because the work is long, or to ask whether to go on.',
  input: { reason: described(words, 'What you need, from whom, or why it cannot be done.') },
  async run({ reason }, call) {
    const { state } = await call.engine.handle({ type: 'model-paused', ...eventBase(call), reason });
    return succeeded({
      paused: state.pause !== null,
      reason: shownNote(reason),
      remaining: remaining(state),
      liftedBy: 'the next message of the human, or resume',
    });
  },
});

/** Results that one answer lists. */
const mostResults = 50;

/** M8: waits for the checks of claimed todos and gives their results; counts neither as work nor as stagnation. */
const todoVerify = defineTodoTool({
  name: 'todo_verify',
  description:
    'Wait for the checks of completed todos and get their results, at most 45 seconds a call. Call it when you are told that checks are still running. Not needed after complete_todo has already said passed or failed.',
  input: { todoId: described(optional(text()), 'Only the checks of this todo; default: all that are due.') },
  async run({ todoId }, call) {
    const isWanted = (todo: Todo): boolean => todoId === undefined || isMeant(todo, todoId);
    if (todoId !== undefined && !(await stateNow(call)).plan.some(isWanted))
      return failed('unknown-todo', `There is no todo with the id ${quoteForModel(todoId, 80)}.`);
    const asked = { type: 'verification-asked', ...eventBase(call), todoId: todoId ?? null } as const;
    const { checks } = await call.engine.handle(asked);
    const finished = await waitForChecks(checks, call);
    const state = await stateNow(call);
    const checked = state.plan.filter(
      (todo) => isWanted(todo) && todo.checks.length > 0 && todo.verification !== 'none',
    );
    const goal = Object.entries(state.goal)
      .filter(([, found]) => found.state !== 'none')
      .map(([check, found]) => ({ check, state: found.state, ...viewFailure(found.tail) }));
    const todos = checked.slice(0, mostResults).map(viewChecked);
    const next = 'The checks still run: call todo_verify again, or stop and they are waited for.';
    return succeeded({ finished, todos, goal, remaining: remaining(state), ...(finished ? {} : { next }) });
  },
});

/** What every event of a tool call carries. */
function eventBase({ identifiers, sessionId, clock }: ToolCallContext) {
  return { id: identifiers.next(), sessionId, at: clock.now() };
}

/** The session with its plan; an empty one where nothing was ever said. */
async function stateNow({ store, sessionId, clock }: ToolCallContext): Promise<State> {
  return (await store.state(sessionId)) ?? createState(sessionId, clock.now());
}

/** `refusal`: the whole change was refused, nothing was applied and the last plan stays (T6). */
async function changePlan(context: ToolCallContext, change: PlanChange) {
  const base = { ...eventBase(context), actor: context.actor };
  const { reply, state, checks } = await context.engine.handle({ ...change, ...base });
  // Safe to go on without them: a check that was not reported is run again at the next stop attempt.
  checks?.catch(() => null);
  if (reply === null)
    throw new UntildoneError('invalid-event', 'The engine gave no reply to a change of the plan.');
  const whole = reply.refused.find(({ index }) => index === null);
  const refusal = whole === undefined ? null : failed(whole.code, capitalised(whole.sentence));
  return { reply, state, at: base.at, checks, refusal };
}

/** A status that no plan knows: the plan refuses the todo with it and keeps what it matched as it is. */
const refusedStatus = '';

/** Refusals that one result lists; a model that made more mistakes than these makes them all alike. */
const mostRefusals = 20;

/** One by one and counted from 1; what the tool saw itself (`own`) says more than what the plan made of it. */
function refusedItems(refused: readonly Refusal[], own: ReadonlyMap<number, string>) {
  const items = refused.flatMap(({ index, code, sentence }) => {
    if (index === null) return [];
    const message = capitalised(own.get(index) ?? sentence);
    return [{ item: index + 1, code: own.has(index) ? 'invalid-item' : code, message }];
  });
  const more = items.length - mostRefusals;
  const notices = more > 0 ? [`${more} more items were refused.`] : [];
  return { refused: items.slice(0, mostRefusals), notices };
}

function capitalised(sentence: string): string {
  return `${sentence.slice(0, 1).toUpperCase()}${sentence.slice(1)}`;
}

/** What one call may wait at most (M8): hosts and models lose patience soon after. */
const defaultPatienceMs = 45_000;

/** False: they still run. */
async function waitForChecks(checks: Handled['checks'], context: ToolCallContext): Promise<boolean> {
  if (checks === null) return true;
  const over = new AbortController();
  const { checkPatienceMs = defaultPatienceMs } = context;
  // Safe: it was broken off because the checks have ended.
  const late = sleep(checkPatienceMs, false, { signal: over.signal }).catch(() => true);
  // Safe: a check that was not reported is run again at the next stop attempt, and is shown here as it stands.
  const ended = checks.catch(() => null).then(() => true);
  return Promise.race([ended, late]).finally(() => over.abort());
}

export function todoToolsFor(role: 'agent' | 'worker'): readonly TodoTool[] {
  if (role === 'worker') return [];
  return [createTodo, listTodo, completeTodo, updateTodo, todoWrite, todoRead, todoPause, todoVerify];
}

/** A tool that knows its session already. */
export type SessionTodoTool = ReturnType<typeof createTodoTools>[number];

export function createTodoTools(context: ToolCallContext) {
  return todoToolsFor(context.actor === 'worker' ? 'worker' : 'agent').map((tool) => ({
    ...tool,
    call: (input: unknown) => tool.call(input, context),
  }));
}
