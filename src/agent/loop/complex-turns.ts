// How many complex requests came before this one without a plan: what makes the hint to plan firmer (I6). Read off
// the record, so that it holds across the runs of one session.
import type { Event } from '../../core/events.ts';
import type { Store } from '../../engine/store.ts';
import { countComplexTurn } from '../guard/planning-hint.ts';

/** Events that are read at once; a session of days has many. */
const pageSize = 1000;

/** `turnId`: the turn that begins now, which is not counted. */
export async function complexTurnsBefore(
  store: Store,
  sessionId: string,
  turnId: string | null,
): Promise<number> {
  return store.read(async (reader) => {
    let turns = 0;
    for (let after = 0; ; ) {
      const page = await reader.appliedEvents(sessionId, after, pageSize);
      for (const { event } of page) {
        if (!isHumanWord(event) || event.turnId === turnId) continue;
        const planned = await reader.findTodosByTurn(event.turnId);
        turns = countComplexTurn(turns, event.text ?? '', planned.length > 0);
      }
      if (page.length < pageSize) return turns;
      after = page.at(-1)?.applied ?? after;
    }
  });
}

function isHumanWord(event: Event): event is Extract<Event, { type: 'human-spoke' }> {
  return event.type === 'human-spoke';
}
