// Steps and looks that the stories about workers share.

import {
  callTool,
  complete,
  firstOf,
  type KnownTodo,
  listTodos,
  react,
  type Situation,
  type Step,
  say,
  untilAllDone,
  whenToolFailed,
} from '../../src/scripted-model/index.ts';
import type { Stage } from './play.ts';

/** Hands the todo with this title to its worker. */
export function delegate(title: string, instructions?: string): Step {
  return react(({ todos }) => {
    const todo = todos.find((known: KnownTodo) => known.title === title);
    return callTool('delegate', {
      todoId: todo?.id ?? title,
      ...(instructions ? { instructions } : {}),
    });
  });
}

/**
 * What an honest supervisor does: each todo to its worker, marked if it was done, looked
 * up if it was not.
 */
export function delegateAll(): Step {
  return untilAllDone((title) => [
    delegate(title),
    firstOf(whenToolFailed(listTodos()), complete(title, 'its worker reported')),
  ]);
}

/** What the worker was sent for, as its model sees it. */
export function briefOf({ request }: Situation): string {
  return request.messages.find(({ role }) => role === 'user')?.text ?? '';
}

/** One step if the brief names this, else none. */
export function ifSentFor(title: string, step: Step): Step {
  return react((situation) => (briefOf(situation).includes(title) ? step : undefined));
}

export const report = (text = 'It is done.'): Step => say(text);

/** The sessions of the workers of a stage, oldest first. */
export async function workerSessions({ store, sessionId }: Stage) {
  const sessions = await store.sessions({ limit: 1000 });
  return sessions.filter(({ descriptor }) => descriptor.parentId === sessionId).reverse();
}
