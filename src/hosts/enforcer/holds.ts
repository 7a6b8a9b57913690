// What was received and is not written down yet: between the last look at the record and the call that sends a text,
// the human may have acted. Nothing is sent in that gap; the engine tries again and finds what was written (G4, P19).
import type { EnforcerEvent } from './enforcer-event.ts';

export interface Holds {
  /** At once when the event arrives; the answer is to be called when it was dealt with. */
  receive(event: EnforcerEvent): () => void;
  isHeld(sessionId: string): boolean;
}

export function createHolds(): Holds {
  const counts = new Map<string, number>();
  const change = (sessionId: string, by: number): void => {
    const count = (counts.get(sessionId) ?? 0) + by;
    if (count === 0) counts.delete(sessionId);
    else counts.set(sessionId, count);
  };
  return {
    receive(event) {
      if (!holdsBack(event)) return () => {};
      change(event.sessionId, 1);
      return () => change(event.sessionId, -1);
    },
    isHeld: (sessionId) => counts.has(sessionId),
  };
}

function holdsBack(event: EnforcerEvent): boolean {
  switch (event.type) {
    case 'session.error':
    case 'session.deleted':
    case 'permission.asked':
    case 'question.asked':
      return true;
    case 'message.updated':
    case 'message.after':
      return event.message.role === 'user';
    default:
      return false;
  }
}
