// One event and all that is known around it, as the invariants see it.

import type { Step } from '../../src/core/decision.ts';
import type { Event } from '../../src/core/events.ts';
import type { Policy } from '../../src/core/policy.ts';
import type { State } from '../../src/core/state.ts';
import type { Seen } from './observe-event.ts';
import type { Reference } from './reference.ts';

export interface Moment {
  readonly reference: Reference;
  readonly seen: Seen;
  readonly before: State;
  readonly event: Event;
  readonly step: Step;
  readonly policy: Policy;
}

/** Each invariant has a name; a broken one says what was seen. */
export function must(holds: boolean, invariant: string, detail: unknown): asserts holds {
  if (!holds)
    throw new Error(
      `${invariant} (${typeof detail === 'string' ? detail : JSON.stringify(detail)})`,
    );
}
