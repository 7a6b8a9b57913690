// Which todos of the plan are shown: a window around the current one, or where the human scrolled to. Pure.
import type { ViewState } from './view-state.ts';

export interface PlanWindow {
  /** Index of the first todo shown. */
  readonly first: number;
  readonly shown: number;
  /** The furthest that the first one can be scrolled to. */
  readonly last: number;
}

/** A third of the terminal is for the plan; on a tall one that is more than anyone follows. */
const fewestRows = 2;
const mostRows = 16;

export function planWindow({ todos, scroll, rows }: ViewState): PlanWindow {
  const room = Math.min(mostRows, Math.max(fewestRows, Math.floor(rows / 3)));
  const shown = Math.min(room, todos.length);
  const last = todos.length - shown;
  const wanted = scroll ?? around(todos, shown);
  return { first: Math.min(last, Math.max(0, wanted)), shown, last };
}

/** The current todo with what was done before it: two thirds of the window are for what comes. */
function around(todos: ViewState['todos'], shown: number): number {
  const running = todos.findIndex(({ status }) => status === 'in_progress');
  const next = running === -1 ? todos.findIndex(({ status }) => status === 'pending') : running;
  return next === -1 ? todos.length - shown : next - Math.floor(shown / 3);
}
