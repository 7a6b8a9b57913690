// All todo tools, for every host and our own agent. A model's mistakes are values; only a
// broken store throws. The session comes from the caller, never from the model, and
// workers get no tools (M7).
import { setTimeout as sleep } from 'node:timers/promises';
import type { Refusal } from '../core/decision.ts';
import { UntildoneError } from '../core/error.ts';
import type { NewTodo, PlanChange } from '../core/events.ts';
import { refusedStatus } from '../core/plan.ts';
import { excerpt } from '../core/problem.ts';
import { oneLine, quoteForModel, stripTerminalControls } from '../core/safe-text.ts';
import type { Fields, Values } from '../core/schema.ts';
import {
  choice,
  described,
  integer,
  type JsonSchema,
  jsonSchema,
  object,
  optional,
  text,
  unreadList,
} from '../core/schema.ts';
import {
  countPlan,
  createState,
  openCount,
  planSize,
  type Session,
  type State,
} from '../core/state.ts';
import { describeFailedBefore, namedTodos } from '../core/texts.ts';
import {
  type Actor,
  isDropped,
  isOpen,
  priorities,
  type Todo,
  todoStatuses,
} from '../core/todo.ts';
import type { Engine, Handled } from '../engine/engine.ts';
import type { Clock, Identifiers } from '../engine/host.ts';
import type { Store } from '../engine/store.ts';
import { readInput, readItems, words } from './tool-input.ts';
import { viewFailures } from './view-failures.ts';

/** What a tool call gets from its caller. */
export type ToolCallContext = Readonly<{
  engine: Pick<Engine, 'handle'>;
  store: Pick<Store, 'state'>;
  sessionId: string;
  actor: Actor;
  clock: Pick<Clock, 'now'>;
  identifiers: Identifiers;
  /**
   * Returns the id of the check that a human allowed for this proposal (V3), or null.
   * Absent: none is allowed.
   */
  resolveCheck?: (proposal: string) => string | null;
  /** How long a call waits for checks; by default 45 s. */
  checkPatienceMs?: number;
}>;

/** What the model gets back. `duplicate`: a whole-list write changed nothing (I5). */
export type ToolResult =
  | Readonly<{ ok: true; output: Readonly<Record<string, unknown>>; duplicate?: boolean }>
  | Readonly<{ ok: false; error: Readonly<Record<'code' | 'message', string>> }>;

/** The names of the todo tools. */
export type TodoToolName =
  | 'create_todo'
  | 'list_todo'
  | 'complete_todo'
  | 'update_todo'
  | 'todo_write'
  | 'todo_read'
  | 'todo_pause'
  | 'todo_verify';

/** A todo tool, as a host offers it to its model. */
export type TodoTool = Readonly<{
  name: TodoToolName;
  description: string;
  inputSchema: JsonSchema;
  call(input: unknown, context: ToolCallContext): Promise<ToolResult>;
}>;

interface Definition<F extends Fields> extends Pick<TodoTool, 'name' | 'description'> {
  readonly input: F;
  readonly run: (input: Values<F>, context: ToolCallContext) => Promise<ToolResult>;
}

const forWorkers =
  'Workers do not change the plan; report back to the agent that sent you.';

function defineTodoTool<const F extends Fields>({
  input,
  run,
  ...tool
}: Definition<F>): TodoTool {
  return {
    ...tool,
    inputSchema: jsonSchema(object(input)),
    async call(value, context) {
      if (context.actor === 'worker') return failed('not-for-workers', forWorkers);
      const read = readInput(input, value);
      return read.ok ? run(read.input, context) : failed('invalid-input', read.error);
    },
  };
}

const failed = (code: string, message: string): ToolResult => ({
  ok: false,
  error: { code, message },
});

function succeeded(output: object, notices: readonly string[] = []): ToolResult {
  return { ok: true, output: { ...output, ...(notices.length > 0 && { notices }) } };
}

const noteField = (summary: string) => described(optional(text()), summary);
const priority = (summary: string) => described(optional(choice(...priorities)), summary);
const todoId = described(
  words,
  'The id of the todo, as create_todo or list_todo gave it.',
);
const context = noteField('What one has to know to do it.');
const completionCriteria = noteField('How anyone can see that it is done.');
const agentType = noteField('The type of worker it is for, if workers are configured.');

/** Some models fill every field, so a blank text counts as left out. */
const unlessBlank = (given?: string) => (given?.trim() === '' ? undefined : given);

const newItem = {
  title: described(text(), 'What is to be done, short and concrete.'),
  context,
  completionCriteria,
  agentType,
  priority: priority('Default: medium.'),
  order: described(
    optional(integer(1)),
    'Position in the plan, from 1. Default: at the end.',
  ),
  check: noteField('Name of a check, allowed by the human, that proves it.'),
};

/** M1: bad items are refused, good ones are added. */
const createTodo = defineTodoTool({
  name: 'create_todo',
  description:
    'Add todos to the plan. Use it before you start work that takes three or more steps, and whenever you find further work; send all new todos in one call. Do not use it for a single quick answer, nor to repeat todos that are already in the plan.',
  input: { items: described(unreadList(object(newItem)), 'The todos to add, in order.') },
  async run(input, call) {
    if (input.items.length === 0)
      return failed('invalid-input', '"items" is empty: send at least one todo.');
    const { items, bad, unknown } = readItems(newItem, input.items);
    const refusals = new Map(bad);
    const wanted = items.map(({ check, ...item }, index): NewTodo => {
      const proposed = unlessBlank(check) ?? null;
      const allowed = proposed && (call.resolveCheck?.(proposed) ?? null);
      if (proposed !== null && allowed === null && !refusals.has(index))
        refusals.set(
          index,
          `item ${index + 1} names the check ${excerpt(proposed)}, which no human allowed.`,
        );
      return {
        ...item,
        id: call.identifiers.next(),
        title: item.title ?? '',
        agentType: unlessBlank(item.agentType),
        priority: unlessBlank(item.priority),
        status: refusals.has(index) ? refusedStatus : undefined,
        checks: allowed === null ? undefined : [allowed],
      };
    });
    const { reply, state, refusal } = await changePlan(call, {
      type: 'todos-created',
      items: wanted,
    });
    if (refusal !== null) return refusal;
    const { refused, more } = refusedItems(reply.refused, refusals);
    if (reply.created.length === 0) {
      const messages = refused.map(({ message }) => message);
      return failed(
        refused[0]?.code ?? 'invalid-input',
        [...messages, ...more, 'Nothing was added.'].join(' '),
      );
    }
    const orders = new Map(state.plan.map(({ id }, index) => [id, index + 1]));
    const viewNew = (todo: Todo) => ({
      id: todo.id,
      title: shownTitle(todo),
      order: orders.get(todo.id),
    });
    const totalPending = countPlan(state.plan).pending;
    const output = {
      created: reply.created.map(viewNew),
      totalPending,
      ...(refused.length > 0 && { refused }),
    };
    return succeeded(output, [...reply.notices, ...ignoredFields(unknown), ...more]);
  },
});

function ignoredFields(names: readonly string[]) {
  const more = names.length > 5 ? ` and ${names.length - 5} more` : '';
  const named = `${names.slice(0, 5).map(excerpt).join(', ')}${more}`;
  return names.length === 0
    ? []
    : [`These fields of items are not known and were ignored: ${named}.`];
}

const shownStatus = 'Show only todos with this status, or all. Default: the open ones.';

/** M2. */
const listTodo = defineTodoTool({
  name: 'list_todo',
  description:
    'Show the plan with ids, notes and a summary. Use it to find ids, after the conversation was shortened, or to see what is left. Without a status it shows the open todos.',
  input: { status: described(optional(choice(...todoStatuses, 'all')), shownStatus) },
  async run({ status }, call) {
    const state = await stateNow(call);
    const wanted = state.plan.filter((todo) =>
      status === undefined ? isOpen(todo) : status === 'all' || todo.status === status,
    );
    const { shown, more, notices } = limitTodos(wanted, (todo) => viewTodo(todo, state));
    return succeeded({ items: shown, summary: summarise(state.plan), ...more }, notices);
  },
});

/** M3: completing a todo is a claim until its checks pass (V1). */
const completeTodo = defineTodoTool({
  name: 'complete_todo',
  description:
    'End one todo: completed with what was done, or cancelled with the reason why it will not be done. Call it right after the work of that todo is finished, once per todo. Do not use it for work that is not finished or that waits for someone; use update_todo with blocked for that.',
  input: {
    todoId,
    outcome: described(
      words,
      'What was done and how it was checked, or why it is cancelled.',
    ),
    status: described(optional(choice('completed', 'cancelled')), 'Default: completed.'),
  },
  async run({ todoId, outcome, status = 'completed' }, call) {
    const change = { type: 'todo-completed', todoId, status, outcome } as const;
    const { reply, state, checks, refusal } = await changePlan(call, change);
    if (refusal !== null) return refusal;
    const [todo] = reply.changed;
    if (todo === undefined)
      return failed('unchanged', 'The todo was in this state already. Nothing changed.');
    await waitForChecks(checks, call);
    // The checks passed, still run, or reopened the todo.
    const now = checks === null ? state : await stateNow(call);
    const checked = now.plan.find(({ id }) => id === todo.id) ?? todo;
    const { outcome: endOutcome, reason, completedAt } = checked;
    const settled = {
      outcome: shownNote(endOutcome ?? reason),
      completedAt,
      remaining: remaining(now),
    };
    const isReopened = checked.verification === 'failed';
    const reopenNotices = isReopened
      ? ['Its check failed, so the todo is open again.']
      : [];
    const failedBefore = Object.values(viewFailedBefore(now, checked));
    const [failure] = viewFailures([{ name: checked.title, tail: checked.failureTail }]);
    return succeeded({ ...viewChecked(checked), ...failure, ...settled }, [
      ...reply.notices,
      ...reopenNotices,
      ...failedBefore,
    ]);
  },
});

const newStatus = 'The new status; completed and cancelled are set by complete_todo.';

/** M4: this tool never ends a todo. */
const updateTodo = defineTodoTool({
  name: 'update_todo',
  description:
    'Change one todo: set it in_progress when you start it, blocked with a reason when only someone else can help, back to pending, or correct its words. Keep one todo in_progress at a time. To finish or cancel a todo use complete_todo.',
  input: {
    todoId,
    status: described(optional(choice('in_progress', 'pending', 'blocked')), newStatus),
    reason: noteField('Why it is blocked: what is missing, and from whom.'),
    title: noteField('A new title for the same work.'),
    context,
    completionCriteria,
    priority: priority('How urgent it is.'),
    agentType,
  },
  async run({ todoId, ...fields }, call) {
    if (Object.keys(fields).length === 0)
      return failed(
        'invalid-input',
        'Nothing to change: send at least one field besides "todoId".',
      );
    const changes = { ...fields, agentType: unlessBlank(fields.agentType) };
    const { reply, state, refusal } = await changePlan(call, {
      type: 'todo-updated',
      todoId,
      changes,
    });
    if (refusal !== null) return refusal;
    const todo = reply.changed.at(-1) ?? state.plan.find((one) => isMeant(one, todoId));
    if (todo === undefined) return failed('unchanged', 'Nothing changed.');
    const { id, title, status, priority, reason, verification } = viewTodo(todo, state);
    const shown = {
      id,
      title,
      status,
      priority,
      reason,
      verification,
      remaining: remaining(state),
    };
    const unchanged = reply.applied
      ? []
      : ['The todo was like this already; nothing changed.'];
    return succeeded(shown, [...reply.notices, ...unchanged]);
  },
});

/** By our id or the host's. */
const isMeant = ({ id, hostKey }: Todo, todoId: string) =>
  id === todoId || hostKey === todoId;

const listedItem = {
  id: noteField('The id from todo_read; leave it out for a new todo.'),
  content: described(text(), 'What is to be done, short and concrete.'),
  status: described(choice(...todoStatuses), 'Default: pending.'),
  priority: priority('Default: medium for a new todo.'),
  reason: noteField('Why it is cancelled or blocked; required for both.'),
};

/** Models send back the fields that todo_read shows. */
const echoedFields = ['verification', 'dropped'];

/** M5: a todo that is left out is dropped, not deleted, and the result says so. */
const todoWrite = defineTodoTool({
  name: 'todo_write',
  description:
    'Write the whole todo list: every todo with its present status, those that are completed included. Use it to plan work of three or more steps and after each finished todo. Keep one in_progress. Leaving a todo out does not end it: cancel it with a reason instead. Do not call it when nothing changed.',
  input: {
    todos: described(unreadList(object(listedItem)), 'The complete list, in order.'),
  },
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
    const { reply, state, at, refusal } = await changePlan(call, {
      type: 'plan-written',
      items: written,
    });
    if (refusal !== null) return refusal;
    const { refused, more } = refusedItems(reply.refused, bad);
    const {
      shown: todos,
      more: leftOut,
      notices: unlisted,
    } = limitTodos(state.plan, viewListed(state));
    const ignored = ignoredFields(unknown.filter((name) => !echoedFields.includes(name)));
    const notices = [
      ...reply.notices,
      ...dropNotices(reply.changed, at),
      ...ignored,
      ...more,
      ...unlisted,
    ];
    const output = { todos, remaining: remaining(state), refused, notices, ...leftOut };
    if (reply.duplicate) duplicates.add(output);
    return { ok: true, output, duplicate: reply.duplicate };
  },
});

const duplicates = new WeakSet<object>();

/**
 * Tells whether this is the output of a todo_write that changed nothing, as a framework
 * shows it in its stream (I5).
 */
export const isDuplicateResult = (output: unknown) =>
  typeof output === 'object' && output !== null && duplicates.has(output);

function dropNotices(changed: readonly Todo[], at: number) {
  const dropped = changed.filter((todo) => isOpen(todo) && todo.droppedAt === at);
  const unexplained = changed.filter(
    (todo) =>
      todo.status === 'cancelled' && todo.completedAt === at && todo.reason === null,
  );
  const leftOutNotice = `Left out or cancelled without a reason, and therefore still open: ${namedTodos(dropped)}. Put each one back, or cancel it with a reason.`;
  const cancelledNotice = `Left out again, and now recorded as cancelled without a reason: ${namedTodos(unexplained)}.`;
  return [
    ...(dropped.length === 0 ? [] : [leftOutNotice]),
    ...(unexplained.length === 0 ? [] : [cancelledNotice]),
  ];
}

/** M5. */
const todoRead = defineTodoTool({
  name: 'todo_read',
  description:
    'Read the whole todo list with ids, in the shape that todo_write takes. Use it before todo_write when you are not sure of the present list.',
  input: {},
  async run(_input, call) {
    const state = await stateNow(call);
    const { shown, more, notices } = limitTodos(state.plan, viewListed(state));
    return succeeded({ todos: shown, remaining: remaining(state), ...more }, notices);
  },
});

/** M6: obeyed at once and without questions; the human sees the reason. */
const todoPause = defineTodoTool({
  name: 'todo_pause',
  description:
    'Stop the reminders and hand over to the human, who sees your reason. Use it when you need something that only a human can give, when you were asked for a part of the work only, or when it is impossible. Do not use it because the work is long, or to ask whether to go on.',
  input: {
    reason: described(words, 'What you need, from whom, or why it cannot be done.'),
  },
  async run({ reason }, call) {
    const { state } = await call.engine.handle({
      type: 'model-paused',
      ...eventBase(call),
      reason,
    });
    return succeeded({
      paused: state.pause !== null,
      reason: shownNote(reason),
      remaining: remaining(state),
      liftedBy: 'the next message of the human, or resume',
    });
  },
});

const mostResults = 50;

/** M8: this call counts neither as work nor as standing still. */
const todoVerify = defineTodoTool({
  name: 'todo_verify',
  description:
    'Wait for the checks of completed todos and get their results, at most 45 seconds a call. Call it when you are told that checks are still running. Not needed after complete_todo has already said passed or failed.',
  input: {
    todoId: noteField('Only the checks of this todo; default: all that are due.'),
  },
  async run({ todoId }, call) {
    const isWanted = (todo: Todo) => todoId === undefined || isMeant(todo, todoId);
    if (todoId !== undefined && !(await stateNow(call)).plan.some(isWanted))
      return failed(
        'unknown-todo',
        `There is no todo with the id ${quoteForModel(todoId, 80)}.`,
      );
    const request = {
      type: 'verification-asked',
      ...eventBase(call),
      todoId: todoId ?? null,
    } as const;
    const { checks } = await call.engine.handle(request);
    const finished = await waitForChecks(checks, call);
    const state = await stateNow(call);
    const checked = state.plan.filter(
      (todo) => isWanted(todo) && todo.checks.length > 0 && todo.verification !== 'none',
    );
    const goals = Object.entries(state.goal).filter(
      ([, found]) => found.state !== 'none',
    );
    const listed = checked.slice(0, mostResults);
    // In one call, so that an output that a todo and the goal share is shown once.
    const failures = viewFailures([
      ...listed.map(({ title, failureTail }) => ({ name: title, tail: failureTail })),
      ...goals.map(([check, { tail }]) => ({ name: check, tail })),
    ]);
    const todos = listed.map((todo, index) => ({
      ...viewChecked(todo),
      ...failures[index],
      ...viewFailedBefore(state, todo),
    }));
    const goal = goals.map(([check, found], index) => ({
      check,
      state: found.state,
      ...failures[todos.length + index],
      ...viewFailedBefore(state, { checks: [check], verification: found.state }),
    }));
    const next =
      'The checks still run: call todo_verify again, or stop and they are waited for.';
    return succeeded({
      finished,
      todos,
      goal,
      remaining: remaining(state),
      ...(finished ? {} : { next }),
    });
  },
});

function eventBase({ identifiers, sessionId, clock }: ToolCallContext) {
  return { id: identifiers.next(), sessionId, at: clock.now() };
}

const stateNow = async ({ store, sessionId, clock }: ToolCallContext) =>
  (await store.state(sessionId)) ?? createState(sessionId, clock.now());

/**
 * Sends a change to the engine. `refusal`: nothing was applied, and the plan stays as it
 * was (T6).
 */
async function changePlan(context: ToolCallContext, change: PlanChange) {
  const base = { ...eventBase(context), actor: context.actor };
  const { reply, state, checks } = await context.engine.handle({ ...change, ...base });
  if (reply === null)
    throw new UntildoneError(
      'invalid-event',
      'The engine gave no reply to a change of the plan.',
    );
  const wholeRefusal = reply.refused.find(({ index }) => index === null);
  const refusal = wholeRefusal
    ? failed(wholeRefusal.code, capitalised(wholeRefusal.sentence))
    : null;
  return { reply, state, at: base.at, checks, refusal };
}

const mostRefusals = 20;

/**
 * The refused items, counted from 1. What the tool itself found (`ownRefusals`) says more
 * than the plan's refusal.
 */
function refusedItems(
  refused: readonly Refusal[],
  ownRefusals: ReadonlyMap<number, string>,
) {
  const items = refused.flatMap(({ index, code, sentence }) => {
    if (index === null) return [];
    const message = capitalised(ownRefusals.get(index) ?? sentence);
    return [
      { item: index + 1, code: ownRefusals.has(index) ? 'invalid-item' : code, message },
    ];
  });
  const overLimit = items.length - mostRefusals;
  const more = overLimit > 0 ? [`${overLimit} more items were refused.`] : [];
  return { refused: items.slice(0, mostRefusals), more };
}

const capitalised = (sentence: string) =>
  `${sentence.slice(0, 1).toUpperCase()}${sentence.slice(1)}`;

/**
 * Waits for checks, 45 s by default (M8), since hosts and models lose patience soon
 * after. False: the checks still run.
 */
async function waitForChecks(
  checks: Handled['checks'],
  { checkPatienceMs = 45_000 }: ToolCallContext,
) {
  if (checks === null) return true;
  const abortSleep = new AbortController();
  // Safe: the wait was aborted, since the checks have ended.
  const patienceOver = sleep(checkPatienceMs, false, { signal: abortSleep.signal }).catch(
    () => true,
  );
  // Safe: a check that was not reported runs again at the next stop.
  const ended = checks.catch(() => null).then(() => true);
  return Promise.race([ended, patienceOver]).finally(() => abortSleep.abort());
}

/** The tools of a role: all for an agent, none for a worker. */
export function todoToolsFor(role: 'agent' | 'worker'): readonly TodoTool[] {
  if (role === 'worker') return [];
  return [
    createTodo,
    listTodo,
    completeTodo,
    updateTodo,
    todoWrite,
    todoRead,
    todoPause,
    todoVerify,
  ];
}

/** The tools for one session, which bring its context along. */
export function createTodoTools(context: ToolCallContext) {
  return todoToolsFor(context.actor === 'worker' ? 'worker' : 'agent').map((tool) => ({
    ...tool,
    call: (input: unknown) => tool.call(input, context),
  }));
}

// How the model sees a todo: the fields of T1. Stored text is hostile, so terminal
// controls are removed.

/**
 * The longest title that a setting allows: a title that was cut could not be matched when
 * the model sends it back.
 */
const longestTitle = 65_536;
const longestNote = 2000;

const shownTitle = (todo: Todo) => oneLine(todo.title, longestTitle);

function shownNote(text: string | null) {
  const plain = text && stripTerminalControls(text);
  if (!plain || plain.length <= longestNote) return plain;
  return `${plain.slice(0, longestNote - 1).replace(/[\ud800-\udbff]$/u, '')}…`;
}

function viewTodo(todo: Todo, state: State) {
  const { id, status, priority, attempts, droppedAt, createdAt, startedAt, completedAt } =
    todo;
  return {
    id,
    title: shownTitle(todo),
    context: shownNote(todo.context),
    completionCriteria: shownNote(todo.completionCriteria),
    agentType: todo.agentType && oneLine(todo.agentType, longestNote),
    status,
    reason: shownNote(todo.reason),
    priority,
    order: state.plan.indexOf(todo) + 1,
    outcome: shownNote(todo.outcome),
    attempts,
    verification: shownVerification(todo, state),
    droppedAt,
    createdAt,
    startedAt,
    completedAt,
  };
}

/** Evidence from another state of the files is stale (T2, V2). */
function shownVerification(
  { verification, evidence }: Todo,
  { work: { fingerprint } }: Session,
) {
  // The check of some files may still hold after a change elsewhere; this is examined
  // when it matters.
  const isOutdated = (seen: string | null) =>
    fingerprint !== null &&
    seen !== null &&
    !seen.startsWith('files:') &&
    seen !== fingerprint;
  const isStale =
    verification === 'passed' && evidence.some((seen) => isOutdated(seen.fingerprint));
  return isStale ? 'stale' : verification;
}

/** The shape that todo_write takes, so that the model can send it back. */
const viewListed = (session: Session) => (todo: Todo) => {
  const { id, status, priority, reason } = todo;
  const verification = shownVerification(todo, session);
  return {
    id,
    content: shownTitle(todo),
    status,
    priority,
    ...(reason === null ? {} : { reason: shownNote(reason) }),
    ...(verification === 'none' ? {} : { verification }),
    ...(isDropped(todo) ? { dropped: true } : {}),
  };
};

/** P51: of a check that failed now; nothing if it did not fail before the work began. */
function viewFailedBefore(
  state: State,
  { checks, verification }: Readonly<{ checks: Todo['checks']; verification: string }>,
): Readonly<{ failedBefore?: string }> {
  const failedBefore =
    verification === 'failed' ? describeFailedBefore(state, checks) : '';
  return failedBefore === '' ? {} : { failedBefore };
}

function viewChecked(todo: Todo) {
  const { id, status, verification } = todo;
  return { id, title: shownTitle(todo), status, verification };
}

function summarise(plan: readonly Todo[]) {
  const counts = countPlan(plan);
  const { pending, inProgress, completed, cancelled, blocked } = counts;
  return { total: planSize(counts), pending, inProgress, completed, cancelled, blocked };
}

const remaining = ({ plan }: State) => openCount(countPlan(plan));

const mostListed = 200;

/** At most 200 todos in plan order; open todos are the last to be left out. */
function limitTodos(todos: readonly Todo[], view: (todo: Todo) => object) {
  const openFirst = todos.toSorted((a, b) => Number(isOpen(b)) - Number(isOpen(a)));
  const chosen = new Set(openFirst.slice(0, mostListed));
  const shown = todos.filter((todo) => chosen.has(todo)).map(view);
  const leftOut = todos.length - shown.length;
  if (leftOut === 0) return { shown, more: {}, notices: [] };
  const notice = `${leftOut} more todos are not shown here; they are still part of the plan.`;
  return { shown, more: { leftOut }, notices: [notice] };
}
