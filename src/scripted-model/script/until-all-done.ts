// The honest worker: the same few steps for each open todo until none is left. It goes by the todos it knows, not by
// a count, so that todos added, reopened or imported on the way are worked on as well.
import { createHash } from 'node:crypto';
import { type KnownTodo, nextOpen } from '../todos/known-todos.ts';
import { inOrder } from './flow-steps.ts';
import type { Situation } from './situation.ts';
import { type Move, PASS, type Position, type Step } from './step.ts';
import { lookUp } from './todo-steps.ts';

/** Lower-case and short, since it travels in the position. */
function tokenOf(todo: KnownTodo): string {
  return `t${createHash('sha1').update(todo.title).digest('hex').slice(0, 8)}`;
}

const BETWEEN = 'next';

export function untilAllDone(perTodo: (title: string) => readonly Step[]): Step {
  function workOn(todo: KnownTodo, inner: Position, situation: Situation): Move {
    const move = inOrder(...perTodo(todo.title)).next(inner, situation);
    if (move.kind === 'pass') return PASS;
    return { ...move, position: move.position === 'over' ? [BETWEEN] : [tokenOf(todo), ...move.position] };
  }

  return {
    needsTools: true,
    next(position, situation) {
      const looking = situation.todos.length === 0 ? lookUp(position, situation) : undefined;
      if (looking) return looking;
      const current = situation.todos.find((todo) => tokenOf(todo) === position[0]);
      const begun = current ? workOn(current, position.slice(1), situation) : PASS;
      if (begun.kind === 'reply') return begun;
      const open = nextOpen(situation.todos);
      return open ? workOn(open, [], situation) : PASS;
    },
  };
}
