// What is told of the permissions that a session asks for: the answer is read from the events, because a question is
// gone from the session as soon as its answer is used. That one is gone never counts as a no.
import type { Event, PermissionSubject } from '../../core/events.ts';
import type { Session } from '../../core/state.ts';
import type { SessionEvent } from '../view/view-event.ts';

export interface StoredPermissions {
  /** `events`: what is new; all of the past at the first look, of which only what is open now is told. */
  take(events: readonly Event[], session: Session, now: number): SessionEvent[];
}

export function createStoredPermissions(): StoredPermissions {
  /** Asked and told, and no answer told yet. */
  const open = new Set<string>();
  const settled = new Set<string>();
  let isFirst = true;

  function asked(sessionId: string, requestId: string, at: number, about: PermissionSubject): SessionEvent[] {
    if (open.has(requestId) || settled.has(requestId)) return [];
    open.add(requestId);
    const { tool, subject, pattern } = about;
    const choices = ['once', 'session', 'always', 'no'] as const;
    return [{ type: 'permission-asked', at, sessionId, requestId, tool, subject, pattern, choices }];
  }

  function answered(
    { sessionId, requestId, at }: { sessionId: string; requestId: string; at: number },
    granted: boolean,
    remembered: 'once' | 'session' | 'always' | 'no' | 'withdrawn',
  ): SessionEvent[] {
    settled.add(requestId);
    if (!open.delete(requestId)) return [];
    const base = { at, sessionId, requestId };
    if (remembered === 'withdrawn') return [{ type: 'permission-withdrawn', ...base }];
    return [{ type: 'permission-answered', ...base, granted, remembered, by: 'elsewhere' }];
  }

  function fromEvent(event: Event): SessionEvent[] {
    const { sessionId, at } = event;
    if (event.type === 'wait-started' && event.wait.kind === 'permission' && !isFirst) {
      const { requestId, about } = event.wait;
      return about === undefined ? [] : asked(sessionId, requestId, at, about);
    }
    if (event.type !== 'wait-ended' || event.wait.kind !== 'permission') return [];
    const { requestId, granted, remembered = granted ? 'once' : 'no' } = event.wait;
    return answered({ sessionId, at, requestId }, granted, remembered);
  }

  return {
    take(events, { id: sessionId, permissions }, now) {
      const told = events.flatMap(fromEvent);
      isFirst = false;
      const requests = permissions?.requests ?? [];
      const fromState = requests
        .filter(({ answer }) => answer === null)
        .flatMap((request) => asked(sessionId, request.requestId, request.askedAt, request));
      const gone = [...open]
        .filter((id) => !requests.some(({ requestId, answer }) => requestId === id && answer === null))
        .flatMap((requestId) => {
          const answer = requests.find((request) => request.requestId === requestId)?.answer ?? 'withdrawn';
          return answered({ sessionId, requestId, at: now }, answer !== 'no', answer);
        });
      return [...told, ...fromState, ...gone];
    },
  };
}
