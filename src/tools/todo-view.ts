// How a todo looks to the model: the fields of T1, 1-based positions instead of ranks, and none of the marks by
// which the system watches the agent. Stored text is hostile: controls are taken out here, the row keeps them.
import { oneLine, stripTerminalControls } from '../core/safe-text.ts';
import { countPlan, openCount, planSize, type Session, type State } from '../core/state.ts';
import { isDropped, isOpen, type Todo, type Verification } from '../core/todo.ts';

/** The setting allows titles of up to 64 kB; none is cut on the way out, or it could not be matched on the way in. */
const longestTitle = 65_536;
/** Notes are shown by their beginning: a plan is read often and paid for each time. */
const longestNote = 2000;

export function shownTitle(todo: Todo): string {
  return oneLine(todo.title, longestTitle);
}

export function shownNote(text: string | null): string | null {
  if (text === null) return null;
  const plain = stripTerminalControls(text);
  return plain.length <= longestNote
    ? plain
    : `${plain.slice(0, longestNote - 1).replace(/[\ud800-\udbff]$/u, '')}…`;
}

export function viewTodo(todo: Todo, state: State) {
  return {
    id: todo.id,
    title: shownTitle(todo),
    context: shownNote(todo.context),
    completionCriteria: shownNote(todo.completionCriteria),
    agentType: todo.agentType === null ? null : oneLine(todo.agentType, longestNote),
    status: todo.status,
    reason: shownNote(todo.reason),
    priority: todo.priority,
    order: state.plan.indexOf(todo) + 1,
    outcome: shownNote(todo.outcome),
    attempts: todo.attempts,
    verification: shownVerification(todo, state),
    droppedAt: todo.droppedAt,
    createdAt: todo.createdAt,
    startedAt: todo.startedAt,
    completedAt: todo.completedAt,
  };
}

type View = ReturnType<typeof viewTodo>;

/** Some of these fields only, and how many todos remain. */
export function viewFields(todo: Todo, state: State, ...names: readonly (keyof View)[]) {
  const view = viewTodo(todo, state);
  return { ...Object.fromEntries(names.map((name) => [name, view[name]])), remaining: remaining(state) };
}

/** Evidence from another state of the workspace is stale (T2, V2). */
function shownVerification(todo: Todo, { work: { fingerprint } }: Session): Verification | 'stale' {
  // A check of some files only may have outlived a change of others; that is looked at when it matters.
  const isOutdated = (seen: string | null): boolean =>
    fingerprint !== null && seen !== null && !seen.startsWith('files:') && seen !== fingerprint;
  const isStale =
    todo.verification === 'passed' && todo.evidence.some((seen) => isOutdated(seen.fingerprint));
  return isStale ? 'stale' : todo.verification;
}

/** What whole-list tools show: the shape that todo_write takes, so that it can be sent back as it is. */
export function viewListed(session: Session) {
  return (todo: Todo) => {
    const { id, status, priority, reason } = todo;
    const verification = shownVerification(todo, session);
    return {
      ...{ id, content: shownTitle(todo), status, priority },
      ...(reason === null ? {} : { reason: shownNote(reason) }),
      ...(verification === 'none' ? {} : { verification }),
      ...(isDropped(todo) ? { dropped: true } : {}),
    };
  };
}

/** A todo and what its checks said. */
export function viewChecked(todo: Todo) {
  const { id, status, verification } = todo;
  return { id, title: shownTitle(todo), status, verification, ...viewFailure(todo.failureTail) };
}

export function viewFailure(tail: string | null) {
  return tail === null ? {} : { failure: shownNote(tail) };
}

export function summarise(plan: readonly Todo[]) {
  const counts = countPlan(plan);
  const { pending, inProgress, completed, cancelled, blocked } = counts;
  return { total: planSize(counts), pending, inProgress, completed, cancelled, blocked };
}

export function remaining(state: State | null): number {
  return state === null ? 0 : openCount(countPlan(state.plan));
}

/** Todos that one result lists: more would fill the model's context without helping it choose. */
const mostListed = 200;

/** What fits into one result, in plan order; where not all fit, open todos are the last to be left out. */
export function fitting(todos: readonly Todo[], view: (todo: Todo) => object) {
  const openFirst = todos.toSorted((a, b) => Number(isOpen(b)) - Number(isOpen(a)));
  const chosen = new Set(openFirst.slice(0, mostListed));
  const shown = todos.filter((todo) => chosen.has(todo)).map(view);
  const leftOut = todos.length - shown.length;
  if (leftOut === 0) return { shown, more: {}, notices: [] };
  const notice = `${leftOut} more todos are not shown here; they are part of the plan all the same.`;
  return { shown, more: { leftOut }, notices: [notice] };
}
