// Continuations of our own agent, held until the answer that they reply to is written: the decision comes first, but
// whoever reads must see the answer that was held back, and then what was said to it.
import type { MessageRow } from '../../engine/host.ts';
import type { SessionEvent } from '../view/view-event.ts';

export interface HeldContinuations {
  /** What may be told now of these and of those held so far. */
  take(decisions: readonly SessionEvent[], rows: readonly MessageRow[], now: number): SessionEvent[];
}

/** A run that ended in between never writes the message; late is better than never. */
const patienceMs = 3000;

export function createHeldContinuations(): HeldContinuations {
  let held: SessionEvent[] = [];
  return {
    take(decisions, rows, now) {
      const told = decisions.filter(({ type }) => type !== 'continuation');
      const waiting = [...held, ...decisions.filter(({ type }) => type === 'continuation')];
      held = [];
      for (const event of waiting) {
        const row = rows.find(({ kind, at }) => kind === 'continuation' && at >= event.at);
        if (row !== undefined) told.push({ ...event, at: row.at });
        else if (now - event.at > patienceMs) told.push(event);
        else held.push(event);
      }
      return told;
    },
  };
}
