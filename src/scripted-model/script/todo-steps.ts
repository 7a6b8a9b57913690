// Steps that change the plan, honestly or not, in whichever todo tools the request offers. A todo is meant by its
// title, or as the next one, or as the one that was just named; its id is found in the results the model was sent.
import { callReply, type ModelReply, textReply } from '../model-reply.ts';
import { expressIntention } from '../todos/families.ts';
import {
  findTodo,
  firstNamed,
  isOpen,
  type KnownTodo,
  type KnownTodos,
  nextOpen,
} from '../todos/known-todos.ts';
import type { Intention, NewTodo } from '../todos/todo-family.ts';
import type { Situation } from './situation.ts';
import { lastMove, type Move, oneReply, PASS, type Position, type Step } from './step.ts';

/** The todo in progress, else the first pending one. */
export const theNext = { pick: 'next' } as const;
/** The open todo that was named first since the model last spoke, else the next one. */
export const theNamed = { pick: 'named' } as const;
export type TodoReference = string | typeof theNext | typeof theNamed;

const NO_TODO_TOOL = 'I have no todo tool.';

function express(situation: Situation, intention: Intention): ModelReply | undefined {
  if (!situation.family) return textReply(NO_TODO_TOOL);
  const calls = expressIntention(situation.family, intention, situation.todos, situation.request.tools);
  return calls && calls.length > 0 ? callReply(calls) : undefined;
}

function resolve(reference: TodoReference, situation: Situation): KnownTodo | undefined {
  const { todos, heard } = situation;
  if (typeof reference === 'string') return findTodo(todos, reference);
  return (reference.pick === 'named' ? firstNamed(todos, heard) : undefined) ?? nextOpen(todos);
}

const LOOKED_UP = 'looked';

/** Looks the list up when the model cannot know what it needs; a step that has just done so goes on without. */
export function lookUp(position: Position, situation: Situation): Move | undefined {
  if (position[0] === LOOKED_UP || !situation.family?.byId) return undefined;
  const reply = express(situation, { kind: 'list' });
  return reply && { kind: 'reply', reply, position: [LOOKED_UP] };
}

function onTodo(reference: TodoReference, intend: (todo: KnownTodo) => Intention): Step {
  return {
    needsTools: true,
    next(position, situation) {
      const known = resolve(reference, situation);
      const isUnknown = known
        ? known.id === undefined
        : typeof reference === 'string' || situation.todos.length === 0;
      const looking = isUnknown ? lookUp(position, situation) : undefined;
      if (looking) return looking;
      const todo: KnownTodo | undefined =
        known ?? (typeof reference === 'string' ? { title: reference, status: 'pending' } : undefined);
      if (!todo) return PASS;
      const reply = express(situation, intend(todo));
      return reply ? lastMove(reply) : PASS;
    },
  };
}

export function plan(...items: readonly (string | NewTodo)[]): Step {
  const todos = items.map((item) => (typeof item === 'string' ? { title: item } : item));
  return oneReply(true, (situation) => express(situation, { kind: 'create', items: todos }));
}

export function start(todo: TodoReference = theNext): Step {
  return onTodo(todo, (known) => ({ kind: 'set', todo: known, status: 'in_progress', note: '' }));
}

export function complete(todo: TodoReference = theNext, outcome?: string): Step {
  return onTodo(todo, (known) => ({
    kind: 'set',
    todo: known,
    status: 'completed',
    note: outcome ?? `Finished: ${known.title}`,
  }));
}

export function cancel(todo: TodoReference, reason: string): Step {
  return onTodo(todo, (known) => ({ kind: 'set', todo: known, status: 'cancelled', note: reason }));
}

export function blockTodo(todo: TodoReference, reason: string): Step {
  return onTodo(todo, (known) => ({ kind: 'set', todo: known, status: 'blocked', note: reason }));
}

/** Between pending and in progress, for ever back and forth; a settled todo is reopened. */
export function toggle(todo: TodoReference = theNext): Step {
  return onTodo(todo, (known) => ({
    kind: 'set',
    todo: known,
    status: known.status === 'in_progress' ? 'pending' : 'in_progress',
    note: 'toggled',
  }));
}

/** Any whole list, made from the known one. Single-call families say the differences. */
export function rewriteList(change: (todos: KnownTodos) => KnownTodos): Step {
  return {
    needsTools: true,
    next(position, situation) {
      const looking = situation.todos.length === 0 ? lookUp(position, situation) : undefined;
      if (looking) return looking;
      const reply = express(situation, { kind: 'write', todos: change(situation.todos) });
      return reply ? lastMove(reply) : PASS;
    },
  };
}

/** Writes the list without this todo. */
export function drop(title: string): Step {
  return rewriteList((todos) => {
    const dropped = findTodo(todos, title);
    return todos.filter((todo) => todo !== dropped);
  });
}

/** Writes the list with this todo in other words. */
export function reword(title: string, newTitle: string): Step {
  return rewriteList((todos) => {
    const reworded = findTodo(todos, title);
    return todos.map((todo) => (todo === reworded ? { ...todo, title: newTitle } : todo));
  });
}

/** Writes the list exactly as it is. */
export function duplicateWrite(): Step {
  return rewriteList((todos) => todos);
}

/** Claims several todos (default: all open ones) in one reply. */
export function bulkClaim(...titles: readonly string[]): Step {
  return {
    needsTools: true,
    next(position, situation) {
      const { todos, family } = situation;
      const looking = todos.some((todo) => todo.id !== undefined) ? undefined : lookUp(position, situation);
      if (looking) return looking;
      const named = titles.map((title) => findTodo(todos, title)).filter((todo) => todo !== undefined);
      const claimed = titles.length > 0 ? named : todos.filter(isOpen);
      if (!family?.byId) {
        const list = todos.map((todo) =>
          claimed.includes(todo) ? { ...todo, status: 'completed' as const } : todo,
        );
        const reply = express(situation, { kind: 'write', todos: list });
        return reply ? lastMove(reply) : PASS;
      }
      const calls = claimed.flatMap(
        (todo) =>
          express(situation, { kind: 'set', todo, status: 'completed', note: `Finished: ${todo.title}` })
            ?.calls ?? [],
      );
      return calls.length > 0 ? lastMove(callReply(calls)) : PASS;
    },
  };
}

export function listTodos(): Step {
  return oneReply(true, (situation) => express(situation, { kind: 'list' }));
}

/** The model's escape hatch; without such a tool the reason is said in plain text. */
export function pause(reason: string): Step {
  return oneReply(true, (situation) => express(situation, { kind: 'pause', reason }) ?? textReply(reason));
}

export function verify(todo?: string): Step {
  return oneReply(true, (situation) => {
    const known = todo === undefined ? undefined : findTodo(situation.todos, todo);
    return express(situation, { kind: 'verify', ...(known ? { todo: known } : {}) });
  });
}
