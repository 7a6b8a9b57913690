// Puts ticks into the boxes of a plan file and takes them out: one character between two brackets, and never
// another one. Statuses that a box cannot say (in progress, blocked) leave it empty; cancelled leaves it as it is.
import type { TodoStatus } from '../core/todo.ts';
import type { PlanFile } from './plan-file.ts';

/** @param statuses by index in `plan.items`; what is missing stays as it is. `plan` must be the parse of `text`. */
export function writeBoxes(text: string, plan: PlanFile, statuses: ReadonlyMap<number, TodoStatus>): string {
  const parts: string[] = [];
  let at = 0;
  plan.items.forEach(({ boxOffset, checked }, index) => {
    const wanted = boxFor(statuses.get(index));
    if (wanted === null || wanted === checked || !isBox(text, boxOffset)) return;
    parts.push(text.slice(at, boxOffset), wanted ? 'x' : ' ');
    at = boxOffset + 1;
  });
  return at === 0 ? text : parts.join('') + text.slice(at);
}

/** null: a box cannot say this. */
export function boxFor(status: TodoStatus | undefined): boolean | null {
  return status === undefined || status === 'cancelled' ? null : status === 'completed';
}

/** A last look before a byte changes: a wrong offset must cost a tick, not someone's text. */
function isBox(text: string, offset: number): boolean {
  return /^\[[ \txX]\]$/.test(text.slice(offset - 1, offset + 2));
}
