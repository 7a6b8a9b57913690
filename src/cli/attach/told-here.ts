// An answer that a key of this view gave is told as the human's own, not as one from elsewhere.
import type { SessionEvent } from '../view/view-event.ts';

/** The store does not say where an answer was given; this view knows its own. */
export function toldHere(event: SessionEvent, answeredHere: ReadonlySet<string>): SessionEvent {
  const isOwn = event.type === 'permission-answered' && answeredHere.has(event.requestId);
  return isOwn ? { ...event, by: 'terminal' } : event;
}
