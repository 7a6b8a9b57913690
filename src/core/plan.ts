// How todos change: one todo from one status to another, and the draft that collects what one event changes in the
// plan. Every change goes through put(), so that order, progress and ledger cannot disagree (T2, V1, V4).

import { type PlanReply, type Refusal, type Step, step } from './decision.ts';
import { type LedgerChange, type LedgerDraft, todoState } from './ledger.ts';
import { oneLine } from './safe-text.ts';
import type { Settings } from './settings.ts';
import type { State } from './state.ts';
import {
  type Actor,
  isFinal,
  isOpen,
  normaliseTitle,
  plainTodo,
  priorities,
  statusFromWord,
  type Todo,
  type TodoStatus,
  todoStatuses,
} from './todo.ts';
import { countProgress } from './work.ts';

/** Distance between neighbouring ranks: ten inserts at the same place halve it to one before fractions begin. */
export const orderGap = 1024;

/** For so few it is cheaper to look for each todo than to note where all of them stand. */
const fewChanges = 8;

type Detail = LedgerDraft['detail'];

export interface StatusRequest {
  readonly status: TodoStatus;
  readonly outcome?: string | null;
  readonly reason?: string | null;
}

interface StatusChange {
  readonly todo: Todo;
  readonly change: LedgerChange;
}

export class PlanDraft {
  /** The session as it is by now; its plan is the one that the event found, until finish(). */
  state: State;
  readonly actor: Actor;
  readonly at: number;
  readonly #ledger: LedgerDraft[] = [];
  readonly #refused: Refusal[] = [];
  readonly #notices: string[] = [];
  readonly #created = new Map<string, Todo>();
  readonly #updated = new Map<string, Todo>();
  #plan: Todo[] | null = null;
  /** Where each todo stands, once many are changed. */
  #places: Map<string, number> | null = null;
  #isOrdered = true;

  constructor(state: State, actor: Actor, at: number) {
    this.state = state;
    this.actor = actor;
    this.at = at;
  }

  /** A new todo: by its rank, or at a 1-based position of the plan as it is by now, else at the end. */
  add(seed: TodoSeed, position?: number): Todo {
    this.#plan ??= [...this.state.plan];
    const next = position === undefined ? undefined : this.#plan[position - 1];
    const index = next === undefined || position === undefined ? this.#plan.length : position - 1;
    const low = this.#plan[index - 1]?.order ?? 0;
    const order = seed.order ?? (next === undefined ? low + orderGap : low + (next.order - low) / 2);
    const todo = newTodo(seed, order, this.state, this.at);
    if (next === undefined) this.#places?.set(todo.id, index);
    else this.#places = null;
    this.#plan.splice(index, 0, todo);
    if (order <= low || (next !== undefined && order >= next.order)) this.#isOrdered = false;
    this.#created.set(todo.id, todo);
    return this.put(todo, todo, 'created', { title: todo.title });
  }

  /** Records the change of a todo and returns it as it is kept. */
  put(before: Todo, after: Todo, change: LedgerChange, detail: Detail = {}): Todo {
    const isNew = change === 'created';
    const todo = markFirstFinal(this.state, before, after, this.at);
    this.state = countTodoProgress(this.state, isNew ? null : before, todo);
    if (todo !== before) this.#replace(before, todo);
    if (this.#created.has(todo.id)) this.#created.set(todo.id, todo);
    else this.#updated.set(todo.id, todo);
    if (todo.order !== before.order) this.#isOrdered = false;
    const was = isNew ? {} : { was: todoState(before) };
    this.log(change, todo.id, { ...detail, ...was, state: todoState(todo) });
    return todo;
  }

  /** Null: nothing would change. */
  setStatus(todo: Todo, request: StatusRequest, detail: Detail = {}): Todo | null {
    const change = setStatus(todo, request, this.state, this.actor, this.at);
    return change === null ? null : this.put(todo, change.todo, change.change, detail);
  }

  /** Left out of a list: see drop() below. */
  drop(todo: Todo): Todo | null {
    const change = drop(todo, this.at);
    return change === null ? null : this.put(todo, change.todo, change.change, { title: todo.title });
  }

  log(change: LedgerChange, todoId: string | null, detail: Detail = {}): void {
    const { planId, id, descriptor } = this.state;
    const { actor, at } = this;
    this.#ledger.push({ planId, sessionId: id, host: descriptor.host, actor, at, change, todoId, detail });
  }

  refuse(code: string, sentence: string, index: number | null = null): void {
    this.refuseAs({ index, code, sentence });
  }

  refuseAs(refusal: Refusal): void {
    this.#refused.push(refusal);
  }

  notice(sentence: string): void {
    this.#notices.push(sentence);
  }

  finish(): { readonly edited: Step; readonly reply: PlanReply } {
    const plan =
      this.#plan === null ? this.state.plan : this.#isOrdered ? this.#plan : this.#inOrder(this.#plan);
    const reply: PlanReply = {
      applied: this.#created.size + this.#updated.size > 0,
      duplicate: this.#ledger.some(({ change }) => change === 'duplicate-write'),
      created: [...this.#created.values()],
      changed: [...this.#updated.values()],
      refused: this.#refused,
      notices: this.#notices,
    };
    return { edited: step({ ...this.state, plan }, [], this.#ledger), reply };
  }

  #replace(before: Todo, after: Todo): void {
    this.#plan ??= [...this.state.plan];
    if (this.#ledger.length > fewChanges)
      this.#places ??= new Map(this.#plan.map(({ id }, index) => [id, index]));
    const place = this.#places?.get(before.id) ?? this.#plan.indexOf(before);
    this.#plan[place] = after;
  }

  #inOrder(plan: readonly Todo[]): readonly Todo[] {
    const ordered = inOrder(plan);
    if (ordered === plan) return plan;
    for (const todo of ordered) {
      if (this.#created.has(todo.id)) this.#created.set(todo.id, todo);
      else if (this.#updated.has(todo.id)) this.#updated.set(todo.id, todo);
    }
    return ordered;
  }
}

/** By rank, equal ranks as they stand. If there are equal ones, all are ranked anew: a reload must find the same order. */
function inOrder(plan: readonly Todo[]): readonly Todo[] {
  if (isRising(plan)) return plan;
  const sorted = plan.toSorted((one, other) => one.order - other.order);
  if (isRising(sorted)) return sorted;
  return sorted.map((todo, index) => ({ ...todo, order: (index + 1) * orderGap }));
}

function isRising(plan: readonly Todo[]): boolean {
  return plan.every((todo, index) => index === 0 || todo.order > (plan[index - 1]?.order ?? 0));
}

/** By our id, else by the host's own. */
export function findTodo(plan: readonly Todo[], key: string): Todo | null {
  return plan.find(({ id }) => id === key) ?? plan.find(({ hostKey }) => hostKey === key) ?? null;
}

/** A completion counts once in a todo's life; one that was added late counts only with work before it (G7, P6). */
function markFirstFinal(state: State, before: Todo, todo: Todo, at: number): Todo {
  // It was completed already and did not count then: work that came after it does not make it count now.
  if (before.status === 'completed' && isFinal(before)) return todo;
  if (todo.finalAt !== null || todo.status !== 'completed' || !isFinal(todo)) return todo;
  if (todo.late && state.work.calls <= todo.createdWork) return todo;
  return { ...todo, finalAt: at };
}

function countTodoProgress(state: State, before: Todo | null, after: Todo): State {
  const moved: State = { ...state, progress: { ...state.progress, planMoved: true } };
  if (before === null) return countProgress(moved, 'weak');
  if (after.passedAt !== null && before.passedAt === null) return countProgress(moved, 'first-pass');
  if (after.finalAt !== null && before.finalAt === null) return countProgress(moved, 'first-final');
  const firstStart = before.startedAt === null && after.status === 'in_progress';
  const firstClaim = before.completedAt === null && after.status === 'completed' && before.finalAt === null;
  const claimOfChecked = firstClaim && after.checks.length > 0 && before.verification === 'none';
  return firstStart || claimOfChecked ? countProgress(moved, 'weak') : moved;
}

/** Without a rank: where it is added says it. */
type TodoSeed = Pick<Todo, 'id' | 'title'> & Partial<Todo>;

/** With the defaults of T6: pending, medium priority, nothing verified. */
function newTodo(seed: TodoSeed, order: number, state: State, at: number): Todo {
  return {
    ...plainTodo,
    planId: state.planId,
    sessionId: state.id,
    turnId: state.turn?.id ?? state.id,
    titleKey: normaliseTitle(seed.title),
    createdAt: at,
    late: state.turn?.stopSeen ?? false,
    createdWork: state.work.calls,
    createdTrees: state.work.trees,
    ...seed,
    order,
  };
}

/** Completing is a claim, reopening clears completedAt, cancelling without a reason is dropping. Null: no change. */
export function setStatus(
  todo: Todo,
  { status, outcome = null, reason = null }: StatusRequest,
  state: State,
  actor: Actor,
  at: number,
): StatusChange | null {
  switch (status) {
    case 'completed':
      return complete(todo, outcome, isIdle(todo, state, actor), at);
    case 'cancelled': {
      const given = reason ?? (actor === 'human' ? 'cancelled by the human' : null);
      return cancel(todo, given, isIdle(todo, state, actor), at);
    }
    case 'blocked':
      return block(todo, reason, isIdle(todo, state, actor));
    case 'in_progress':
    case 'pending':
      return reopenOrMove(todo, status, at);
  }
}

/** No work at all since the todo was created: no other tool call, no workspace change, no passed check (V4). */
function isIdle(todo: Todo, { descriptor, work }: State, actor: Actor): boolean {
  if (actor !== 'agent' || !descriptor.seesTools || todo.verification === 'passed') return false;
  return work.calls <= todo.createdWork && work.trees <= todo.createdTrees;
}

const notDropped = { droppedAt: null, droppedNamedAt: null } as const;

function complete(todo: Todo, outcome: string | null, idleEnd: boolean, at: number): StatusChange | null {
  if (todo.status === 'completed') return null;
  return {
    change: idleEnd ? 'claim-idle' : 'completed',
    todo: {
      ...todo,
      ...notDropped,
      status: 'completed',
      outcome,
      reason: null,
      verification: 'claimed',
      evidence: [],
      failureTail: null,
      startedAt: todo.startedAt ?? at,
      completedAt: at,
      idleEnd,
    },
  };
}

function cancel(todo: Todo, reason: string | null, idleEnd: boolean, at: number): StatusChange | null {
  if (todo.status === 'cancelled') {
    const explains = reason !== null && todo.reason === null;
    return explains ? { change: 'cancelled', todo: { ...todo, reason } } : null;
  }
  if (reason !== null)
    return { change: idleEnd ? 'end-idle' : 'cancelled', todo: { ...ended(todo, reason, at), idleEnd } };
  if (todo.status === 'completed') return null;
  if (isOpen(todo)) return drop(todo, at);
  return { change: 'cancelled-unexplained', todo: ended(todo, null, at) };
}

/** First time: dropped, still open. Once a continuation has named it, leaving it out again settles it (V4, P3). */
function drop(todo: Todo, at: number): StatusChange | null {
  if (!isOpen(todo)) return null;
  if (todo.droppedAt === null) return { change: 'dropped', todo: { ...todo, droppedAt: at } };
  if (todo.droppedNamedAt === null) return null;
  return { change: 'cancelled-unexplained', todo: ended(todo, null, at) };
}

function ended(todo: Todo, reason: string | null, at: number): Todo {
  return {
    ...todo,
    ...notDropped,
    status: 'cancelled',
    reason,
    completedAt: at,
    verification: 'none',
    failureTail: null,
    idleEnd: false,
  };
}

function block(todo: Todo, reason: string | null, idleEnd: boolean): StatusChange | null {
  if (todo.status === 'blocked' && (reason === null || reason === todo.reason)) return null;
  return {
    change: idleEnd ? 'end-idle' : 'blocked',
    todo: {
      ...todo,
      ...notDropped,
      status: 'blocked',
      reason: reason ?? 'no reason given',
      completedAt: null,
      verification: 'none',
      idleEnd,
    },
  };
}

function reopenOrMove(todo: Todo, status: 'pending' | 'in_progress', at: number): StatusChange | null {
  if (todo.status === status)
    return todo.droppedAt === null ? null : { change: 'restored', todo: { ...todo, ...notDropped } };
  const wasOpen = isOpen(todo);
  const isFirstStart = wasOpen && status === 'in_progress' && todo.startedAt === null;
  return {
    change: isFirstStart ? 'started' : wasOpen || todo.finalAt !== null ? 'toggled' : 'reopened',
    todo: {
      ...todo,
      ...notDropped,
      status,
      startedAt: status === 'in_progress' ? (todo.startedAt ?? at) : todo.startedAt,
      completedAt: null,
      reason: null,
      idleEnd: false,
      verification: wasOpen ? todo.verification : 'none',
    },
  };
}

interface Item {
  readonly title: string;
  readonly status?: string | undefined;
  readonly priority?: string | undefined;
  readonly agentType?: string | undefined;
}

/** Why an item is refused, in a sentence that the model can act on (T6); the good items apply all the same. */
export function refuseItem(item: Item, index: number | null, settings: Settings): Refusal | null {
  const { title, status, priority, agentType } = item;
  const { maxTitleBytes, agentTypes } = settings;
  const where = index === null ? 'the todo' : `item ${index + 1}`;
  const refusal = (code: string, what: string): Refusal => ({ index, code, sentence: `${where} ${what}` });
  if (title.trim() === '')
    return refusal('no-title', 'has no title; give each todo a short, concrete title.');
  const bytes = utf8Length(title);
  if (bytes > maxTitleBytes) {
    const limit = `at most ${maxTitleBytes} are allowed. Move detail into its context.`;
    return refusal('title-too-long', `has a title of ${bytes} bytes; ${limit}`);
  }
  if (status !== undefined && statusFromWord(status) === null) {
    const known = `use one of ${todoStatuses.join(', ')}.`;
    return refusal('unknown-status', `has the unknown status "${oneLine(status, 40)}"; ${known}`);
  }
  if (priority !== undefined && !(priorities as readonly string[]).includes(priority)) {
    const known = `use one of ${priorities.join(', ')}.`;
    return refusal('unknown-priority', `has the unknown priority "${oneLine(priority, 40)}"; ${known}`);
  }
  if (agentType === undefined || agentTypes.includes(agentType)) return null;
  const known = agentTypes.length === 0 ? 'none is configured' : `known are ${agentTypes.join(', ')}`;
  return refusal('unknown-agent-type', `names the unknown agentType "${oneLine(agentType, 40)}"; ${known}.`);
}

function utf8Length(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit >= 0xd800 && unit < 0xdc00) {
      bytes += 4;
      i += 1;
    } else bytes += 3;
  }
  return bytes;
}

/** Each id names one todo; the first that is given twice, else null. */
export function firstRepeatedId(ids: readonly (string | undefined)[]): string | null {
  const seen = new Set<string>();
  return ids.find((id) => id !== undefined && (seen.has(id) || !seen.add(id))) ?? null;
}
