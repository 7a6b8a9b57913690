// How todos change. Every change goes through PlanDraft.put(), so that the order, the
// progress and the ledger cannot disagree (T2, V1, V4). Bad items are refused one by one.
import { checksForTitle } from './check-specs.ts';
import { type PlanReply, type Refusal, step } from './decision.ts';
import type { MovedTodo, NewTodo } from './events.ts';
import { type LedgerChange, type LedgerDraft, todoState } from './ledger.ts';
import { oneLine } from './safe-text.ts';
import { type Checks, checkIds } from './same-checks.ts';
import type { Settings } from './settings.ts';
import type { State } from './state.ts';
import {
  type Actor,
  isFinal,
  isOpen,
  normaliseTitle,
  type Priority,
  plainTodo,
  priorities,
  priorityFromWord,
  statusFromWord,
  type Todo,
  type TodoStatus,
  todoStatuses,
} from './todo.ts';
import { countProgress } from './work.ts';

/**
 * The gap between neighbouring ranks: ten inserts fit into one place before fractions
 * begin.
 */
export const orderGap = 1024;

/**
 * Where each todo of a plan stands. A plan hands its map on to the next one, so that a
 * long plan is walked through once. Sharing is safe because an index is only a hint:
 * indexOfTodo() looks whether the todo is really there.
 */
const knownIndexes = new WeakMap<readonly Todo[], Map<string, number>>();

function indexesOf(plan: readonly Todo[]): Map<string, number> {
  const indexes =
    knownIndexes.get(plan) ?? new Map(plan.map(({ id }, index) => [id, index]));
  knownIndexes.set(plan, indexes);
  return indexes;
}

function indexOfTodo(plan: readonly Todo[], id: string): number {
  const index = indexesOf(plan).get(id) ?? -1;
  return plan[index]?.id === id ? index : plan.findIndex((todo) => todo.id === id);
}

type Detail = LedgerDraft['detail'];
/**
 * The status that someone wants for a todo, with the outcome or the reason given for it.
 */
export type StatusRequest = Readonly<{
  status: TodoStatus;
  outcome?: string | null;
  reason?: string | null;
}>;
type StatusChange = Readonly<{ todo: Todo; change: LedgerChange }>;

/** One change of a plan in the making: finish() gives the step and the reply. */
export class PlanDraft {
  /** Its plan stays the one that the event found, until finish(). */
  state: State;
  readonly actor: Actor;
  readonly at: number;
  readonly #ledger: LedgerDraft[] = [];
  readonly #refused: Refusal[] = [];
  readonly #notices: string[] = [];
  readonly #unknownWords: string[] = [];
  readonly #created = new Set<string>();
  readonly #touched = new Map<string, Todo>();
  readonly #checks: Checks | undefined;
  #plan: Todo[] | null = null;
  #isOrdered = true;

  /** @param checks those of the policy; needed wherever todos get checks */
  constructor(state: State, actor: Actor, at: number, checks?: Checks) {
    this.state = state;
    this.actor = actor;
    this.at = at;
    this.#checks = checks;
  }

  /**
   * Adds a todo at its rank, else at a 1-based position of the present plan, else at the
   * end.
   */
  add(item: SeedTodo, settings: Settings, rank?: number): Todo {
    const plan = this.#ownPlan();
    const wanted = (item.order ?? 0) - 1;
    const next = plan[wanted];
    const index = next === undefined ? plan.length : wanted;
    const low = plan[index - 1]?.order ?? 0;
    const order =
      rank ?? (next === undefined ? low + orderGap : low + (next.order - low) / 2);
    const checks = this.resolveChecks(item.title.trim(), item.checks ?? [], settings);
    const todo = newTodo(item, checks, order, this.state, this.at);
    if (order <= low || (next !== undefined && order >= next.order))
      this.#isOrdered = false;
    this.#insert(todo, index);
    return this.setStatus(todo, wantedStatus(item)) ?? todo;
  }

  /**
   * The ids of the named checks and of the checks that the human wants for this title,
   * each once, whichever name was given.
   */
  resolveChecks(
    title: string,
    named: readonly string[],
    settings: Settings,
  ): readonly string[] {
    return checkIds(this.#checks, [...named, ...checksForTitle(settings, title)]);
  }

  /** Gives the checks of every todo the ids that they have under a new policy. */
  renameChecks(): void {
    for (const todo of this.state.plan) {
      const renamed = this.#withCheckIds(todo);
      if (renamed !== todo)
        this.put(todo, renamed, 'edited', { checks: renamed.checks.join(', ') });
    }
  }

  /**
   * A proved todo stays proved. If only some of its checks proved it, all must prove it
   * again.
   */
  #withCheckIds<T extends Pick<Todo, 'checks' | 'evidence' | 'verification'>>(
    todo: T,
  ): T {
    const checks = checkIds(this.#checks, todo.checks);
    if (
      checks.length === todo.checks.length &&
      checks.every((check) => todo.checks.includes(check))
    )
      return todo;
    const proofs = todo.verification === 'passed' ? todo.evidence : [];
    const evidence = checks.flatMap((check) => {
      const proof = proofs.find((one) =>
        checkIds(this.#checks, [one.check]).includes(check),
      );
      return proof === undefined ? [] : [{ ...proof, check }];
    });
    return { ...todo, checks, evidence };
  }

  /**
   * Takes over a todo of another session as it stands there (V7). The agent's words there
   * are no claim of this message.
   */
  take(moved: MovedTodo, detail: Detail): void {
    const plan = this.#ownPlan();
    const { id: sessionId, planId, turn, work } = this.state;
    const isRunning = moved.verification === 'running';
    const todo: Todo = {
      ...plainTodo,
      ...this.#withCheckIds(moved),
      titleKey: normaliseTitle(moved.title),
      planId,
      sessionId,
      turnId: turn?.id ?? sessionId,
      createdAt: this.at,
      createdWork: work.calls,
      order: (plan.at(-1)?.order ?? 0) + orderGap,
      verification: isRunning ? 'claimed' : moved.verification,
    };
    this.#insert(todo, plan.length, detail);
  }

  #insert(todo: Todo, index: number, detail: Detail = {}): void {
    const plan = this.#ownPlan();
    if (index === plan.length) indexesOf(plan).set(todo.id, index);
    else knownIndexes.delete(plan);
    plan.splice(index, 0, todo);
    this.#created.add(todo.id);
    this.put(todo, todo, 'created', { title: todo.title, ...detail });
  }

  /** Puts a todo in the place of another; counts the progress and logs the change. */
  put(before: Todo, after: Todo, change: LedgerChange, detail: Detail = {}): Todo {
    const isNew = change === 'created';
    const todo = markFirstFinal(this.state, before, after, this.at);
    this.state = countTodoProgress(this.state, isNew ? null : before, todo);
    if (todo !== before) {
      const plan = this.#ownPlan();
      plan[indexOfTodo(plan, before.id)] = todo;
    }
    this.#touched.set(todo.id, todo);
    if (todo.order !== before.order) this.#isOrdered = false;
    const was = isNew ? {} : { was: todoState(before) };
    this.log(change, todo.id, { ...detail, ...was, state: todoState(todo) });
    return todo;
  }

  /** Null: the request changes nothing. */
  setStatus(todo: Todo, request: StatusRequest, detail: Detail = {}): Todo | null {
    const change = setStatus(todo, request, this.state, this.actor, this.at);
    return change === null ? null : this.put(todo, change.todo, change.change, detail);
  }

  log(change: LedgerChange, todoId: string | null, detail: Detail = {}): void {
    const { planId, id, descriptor } = this.state;
    const { actor, at } = this;
    this.#ledger.push({
      planId,
      sessionId: id,
      host: descriptor.host,
      actor,
      at,
      change,
      todoId,
      detail,
    });
  }

  refuse(code: string, sentence: string, index: number | null = null): void {
    this.#refused.push({ index, code, sentence });
  }

  refuseItem(item: Item, index: number | null, settings: Settings): boolean {
    const refusal = refuseItem(item, index, settings);
    if (refusal !== null) this.#refused.push(refusal);
    else this.#unknownWords.push(...unknownWords(item, index));
    return refusal !== null;
  }

  notice(sentence: string): void {
    this.#notices.push(sentence);
  }

  get isUntouched(): boolean {
    return this.#touched.size + this.#refused.length === 0;
  }

  /** The step with the changed plan, and the reply to the author of the change. */
  finish() {
    const plan = this.#isOrdered
      ? (this.#plan ?? this.state.plan)
      : this.#inOrder(this.#ownPlan());
    const touched = [...this.#touched.values()];
    const reply: PlanReply = {
      applied: touched.length > 0,
      duplicate: this.#ledger.some(({ change }) => change === 'duplicate-write'),
      created: touched.filter(({ id }) => this.#created.has(id)),
      changed: touched.filter(({ id }) => !this.#created.has(id)),
      refused: this.#refused,
      unknownWords: this.#unknownWords,
      notices: [...this.#unknownWords, ...this.#notices],
    };
    return { edited: step({ ...this.state, plan }, [], this.#ledger), reply };
  }

  #ownPlan(): Todo[] {
    if (this.#plan === null) {
      this.#plan = [...this.state.plan];
      knownIndexes.set(this.#plan, indexesOf(this.state.plan));
    }
    return this.#plan;
  }

  /**
   * Sorts by rank. If two ranks are equal, all todos are ranked anew, because a reload
   * must find the same order.
   */
  #inOrder(plan: readonly Todo[]): readonly Todo[] {
    if (isRising(plan)) return plan;
    const sorted = plan.toSorted((one, other) => one.order - other.order);
    const ranked = (todo: Todo, index: number): Todo => ({
      ...todo,
      order: (index + 1) * orderGap,
    });
    const ordered = isRising(sorted) ? sorted : sorted.map(ranked);
    for (const todo of ordered)
      if (this.#touched.has(todo.id)) this.#touched.set(todo.id, todo);
    return ordered;
  }
}

/** Whether the ranks rise along the plan. */
export function isRising(plan: readonly Todo[]): boolean {
  return plan.every(
    (todo, index) => index === 0 || todo.order > (plan[index - 1]?.order ?? 0),
  );
}

/** Finds a todo by our id, else by the host's key. */
export function findTodo(plan: readonly Todo[], key: string): Todo | null {
  return (
    plan[indexOfTodo(plan, key)] ?? plan.find(({ hostKey }) => hostKey === key) ?? null
  );
}

/**
 * A completion counts once in the life of a todo. A late todo counts only if there was
 * work before its completion (G7, P6).
 */
function markFirstFinal(state: State, before: Todo, todo: Todo, at: number): Todo {
  // The completion did not count when it was new, and later work does not make it count
  // now.
  if (before.status === 'completed' && isFinal(before)) return todo;
  if (todo.finalAt !== null || todo.status !== 'completed' || !isFinal(todo)) return todo;
  if (todo.late && state.work.calls <= todo.createdWork) return todo;
  return { ...todo, finalAt: at };
}

function countTodoProgress(state: State, before: Todo | null, after: Todo): State {
  // The session is copied only if something changes, because lists have thousands of
  // todos.
  const { progress } = state;
  const moved = progress.planMoved
    ? state
    : { ...state, progress: { ...progress, planMoved: true } };
  if (before === null) return countProgress(moved, 'weak');
  if (after.passedAt !== null && before.passedAt === null)
    return countProgress(moved, 'first-pass');
  if (after.finalAt !== null && before.finalAt === null)
    return countProgress(moved, 'first-final');
  const firstStart = before.startedAt === null && after.status === 'in_progress';
  const firstClaim =
    before.completedAt === null &&
    after.status === 'completed' &&
    before.finalAt === null;
  const claimOfChecked =
    firstClaim && after.checks.length > 0 && before.verification === 'none';
  return firstStart || claimOfChecked ? countProgress(moved, 'weak') : moved;
}

type SeedTodo = NewTodo & { readonly reason?: string | undefined };

/**
 * A new todo is pending, whatever its item says (T6); add() sets the status afterwards.
 */
function newTodo(
  item: SeedTodo,
  checks: readonly string[],
  order: number,
  state: State,
  at: number,
): Todo {
  const {
    id,
    hostKey = null,
    context = null,
    completionCriteria = null,
    agentType = null,
  } = item;
  const title = item.title.trim();
  return {
    ...plainTodo,
    id,
    hostKey,
    title,
    context,
    completionCriteria,
    agentType,
    order,
    titleKey: normaliseTitle(title),
    priority: wantedPriority(item.priority),
    checks,
    planId: state.planId,
    sessionId: state.id,
    turnId: state.turn?.id ?? state.id,
    createdAt: at,
    late: state.turn?.stopSeen ?? false,
    createdWork: state.work.calls,
  };
}

/** The status that an item asks for; an unknown word means pending. */
export function wantedStatus({ status, reason }: Pick<SeedTodo, 'status' | 'reason'>) {
  return {
    status: statusFromWord(status ?? 'pending') ?? 'pending',
    reason: reason ?? null,
  };
}

/** The priority that an item asks for; an unknown word means medium. */
export function wantedPriority(word: string | undefined): Priority {
  return priorityFromWord(word ?? 'medium') ?? 'medium';
}

/** The todo with its new status, and the change for the ledger; null: nothing changes. */
export function setStatus(
  todo: Todo,
  { status, outcome = null, reason = null }: StatusRequest,
  state: State,
  actor: Actor,
  at: number,
): StatusChange | null {
  const why =
    reason ??
    (status === 'cancelled' && actor === 'human' ? 'cancelled by the human' : null);
  const endedIn = actor === 'agent' ? state.epoch : null;
  return transitions[status](todo, { outcome, reason: why, endedIn, at });
}

type StatusDetail = Pick<Todo, 'outcome' | 'reason' | 'endedIn'>;
type Transition = (
  todo: Todo,
  wish: StatusDetail & { readonly at: number },
) => StatusChange | null;

/** A completion is a claim. A cancellation without a reason only drops the todo. */
const transitions: Readonly<Record<TodoStatus, Transition>> = {
  completed(todo, { outcome, endedIn, at }) {
    if (todo.status === 'completed') return null;
    return applyChange(todo, 'completed', {
      status: 'completed',
      outcome,
      reason: null,
      verification: 'claimed',
      evidence: [],
      failureTail: null,
      startedAt: todo.startedAt ?? at,
      completedAt: at,
      endedIn,
    });
  },
  cancelled(todo, { outcome, reason, endedIn, at }) {
    if (todo.status === 'cancelled')
      return reason !== null && todo.reason === null
        ? applyChange(todo, 'cancelled', { outcome, reason })
        : null;
    if (reason !== null)
      return cancelTodo(todo, 'cancelled', { outcome, reason, endedIn }, at);
    if (todo.status === 'completed') return null;
    return isOpen(todo)
      ? dropTodo(todo, at)
      : cancelTodo(todo, 'cancelled-unexplained', unexplained, at);
  },
  blocked(todo, { reason, endedIn }) {
    if (todo.status === 'blocked' && (reason === null || reason === todo.reason))
      return null;
    return applyChange(todo, 'blocked', {
      status: 'blocked',
      reason: reason ?? 'no reason given',
      completedAt: null,
      verification: 'none',
      endedIn,
    });
  },
  in_progress: (todo, { at }) => reopenOrMove(todo, 'in_progress', todo.startedAt ?? at),
  pending: (todo) => reopenOrMove(todo, 'pending', todo.startedAt),
};

function applyChange(
  todo: Todo,
  change: LedgerChange,
  news: Partial<Todo>,
): StatusChange {
  return { change, todo: { ...todo, droppedAt: null, droppedNamedAt: null, ...news } };
}

/**
 * The first time, the todo is dropped and stays open. If it is left out again after a
 * continuation named it, it is cancelled without an explanation (V4, P3).
 */
function dropTodo(todo: Todo, at: number): StatusChange | null {
  if (todo.droppedAt === null)
    return { change: 'dropped', todo: { ...todo, droppedAt: at } };
  if (todo.droppedNamedAt === null) return null;
  return cancelTodo(todo, 'cancelled-unexplained', unexplained, at);
}

const unexplained = { outcome: null, reason: null, endedIn: null };

function cancelTodo(
  todo: Todo,
  change: LedgerChange,
  detail: typeof unexplained | StatusDetail,
  at: number,
) {
  const news = {
    status: 'cancelled',
    completedAt: at,
    verification: 'none',
    failureTail: null,
  } as const;
  return applyChange(todo, change, { ...news, ...detail });
}

function reopenOrMove(
  todo: Todo,
  status: TodoStatus,
  startedAt: number | null,
): StatusChange | null {
  if (todo.status === status)
    return todo.droppedAt === null ? null : applyChange(todo, 'restored', {});
  const wasOpen = isOpen(todo);
  const isFirstStart = wasOpen && startedAt !== todo.startedAt;
  const moved = wasOpen || todo.finalAt !== null ? 'toggled' : 'reopened';
  return applyChange(todo, isFirstStart ? 'started' : moved, {
    status,
    startedAt,
    completedAt: null,
    reason: null,
    endedIn: null,
    verification: wasOpen ? todo.verification : 'none',
  });
}

/**
 * The status of an item that its reader found bad. Such an item is refused, and the todo
 * that it matched stays as it is.
 */
export const refusedStatus = '';

type Item = Pick<NewTodo, 'title' | 'status' | 'priority' | 'agentType'>;

/**
 * Refuses a bad item in a sentence that the model can act on (T6); null: it is good. The
 * good items of a list apply all the same.
 */
export function refuseItem(
  { title, status, agentType }: Item,
  index: number | null,
  { maxTitleBytes, agentTypes }: Settings,
): Refusal | null {
  const where = index === null ? 'the todo' : `item ${index + 1}`;
  const refusal = (code: string, what: string): Refusal => ({
    index,
    code,
    sentence: `${where} ${what}`,
  });
  if (title.trim() === '')
    return refusal('no-title', 'has no title; give each todo a short, concrete title.');
  // A code unit has at most three bytes, so most titles need no counting.
  const bytes =
    title.length * 3 > maxTitleBytes ? new TextEncoder().encode(title).length : 0;
  if (bytes > maxTitleBytes) {
    const limit = `at most ${maxTitleBytes} are allowed. Move detail into its context.`;
    return refusal('title-too-long', `has a title of ${bytes} bytes; ${limit}`);
  }
  if (status === refusedStatus) return refusal('invalid-item', 'is not valid.');
  if (agentType === undefined || agentTypes.includes(agentType)) return null;
  const known =
    agentTypes.length === 0 ? 'none is configured' : `known are ${agentTypes.join(', ')}`;
  return refusal(
    'unknown-agent-type',
    `names the unknown agentType "${oneLine(agentType, 40)}"; ${known}.`,
  );
}

/** Notices about unknown words. Such a word never makes an open todo vanish (T6, P45). */
function unknownWords({ status, priority }: Item, index: number | null): string[] {
  const where = index === null ? 'the todo' : `item ${index + 1}`;
  const describeUnknown = (
    what: string,
    word: string,
    taken: string,
    known: readonly string[],
  ): string =>
    `${where} has the unknown ${what} "${oneLine(word, 40)}", taken as ${taken}; use one of ${known.join(', ')}.`;
  const notices: string[] = [];
  if (status !== undefined && statusFromWord(status) === null)
    notices.push(describeUnknown('status', status, 'pending', todoStatuses));
  if (priority !== undefined && priorityFromWord(priority) === null)
    notices.push(describeUnknown('priority', priority, 'medium', priorities));
  return notices;
}

/** The first id that occurs twice; null: each occurs once. */
export function firstRepeatedId(ids: readonly (string | undefined)[]): string | null {
  const knownIds = new Set<string>();
  return (
    ids.find((id) => id !== undefined && (knownIds.has(id) || !knownIds.add(id))) ?? null
  );
}
