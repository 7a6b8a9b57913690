// One event and all that is known around it, as the invariants see it.
import type { Policy } from '../../src/core/config/policy.ts';
import type { Event } from '../../src/core/events.ts';
import type { Session } from '../../src/core/session.ts';
import type { Step } from '../../src/core/step.ts';
import type { Todo } from '../../src/core/todo.ts';
import type { Seen } from './observe-event.ts';
import type { Reference } from './reference.ts';

export interface Moment {
  readonly reference: Reference;
  readonly seen: Seen;
  readonly before: Session;
  readonly event: Event;
  readonly step: Step;
  readonly policy: Policy;
  /** The rows of the session's plan after the event. */
  readonly todos: readonly Todo[];
}

/** Each invariant has a name; a broken one says what was seen. */
export function must(holds: boolean, invariant: string, detail: unknown): asserts holds {
  if (!holds)
    throw new Error(`${invariant} (${typeof detail === 'string' ? detail : JSON.stringify(detail)})`);
}
