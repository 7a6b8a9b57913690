// Which rows an event touches: pure, from the session's counts and the event alone. The engine loads exactly these.
import type { Event } from './events.ts';
import { positionsToLoad } from './plan/place-new.ts';
import { type Needs, noNeeds } from './rows.ts';
import type { Session } from './session.ts';
import { normaliseTitle } from './todo.ts';

/** Titles a text names at most, with room for those it only counts. */
const namedRows = 50;
/** Unverified rows that one final run checks; the rest follows at the next stop. */
const checkedRows = 500;

export function needs(session: Session, event: Event): Needs {
  switch (event.type) {
    case 'todos-created':
      return {
        ...noNeeds,
        ids: event.items.map(({ id }) => id),
        titleKeys: event.items.map(({ title }) => normaliseTitle(title)),
        positions: positionsToLoad(event.items.map(({ order }) => order)),
        inProgress: event.items.some(({ status }) => status !== undefined) ? 2 : 0,
      };
    case 'plan-written':
      return { ...noNeeds, plan: true };
    case 'todo-updated':
      return { ...noNeeds, ids: [event.todoId], inProgress: event.changes.status === 'in_progress' ? 2 : 0 };
    case 'delegation-started':
      return { ...noNeeds, ids: [event.todoId], inProgress: 2 };
    case 'delegation-ended':
      return session.delegation === undefined ? noNeeds : { ...noNeeds, ids: [session.delegation.todoId] };
    case 'todo-completed':
      return { ...noNeeds, ids: [event.todoId] };
    case 'check-started':
      return event.todoId === null ? noNeeds : { ...noNeeds, ids: [event.todoId] };
    case 'check-finished':
      return { ...parkedNeeds(session), ids: event.todoId === null ? [] : [event.todoId] };
    case 'verification-asked':
      return event.todoId === null
        ? { ...noNeeds, unverified: checkedRows }
        : { ...noNeeds, ids: [event.todoId] };
    case 'human-spoke':
    case 'workspace-seen':
      return { ...noNeeds, fingerprint: event.fingerprint };
    case 'stop-attempted':
      return { ...stopNeeds(session), fingerprint: event.fingerprint };
    case 'human-resumed':
    case 'injection-lost':
      return stopNeeds(session);
    case 'checks-overdue':
    case 'final-run-ended':
    case 'timer-fired':
    case 'recovery-ended':
    case 'compaction-ended':
    case 'permission-answered':
    case 'question-answered':
    case 'background-ended':
      return parkedNeeds(session);
    default:
      return noNeeds;
  }
}

/** These events can end a wait, so that a parked stop attempt is decided again. */
function parkedNeeds(session: Session): Needs {
  return session.parked === null ? noNeeds : stopNeeds(session);
}

function stopNeeds({ counts }: Session): Needs {
  return {
    ...noNeeds,
    next: 4,
    dropped: counts.unnamedDrops > 0 ? namedRows : 0,
    // One to quote, and one in its place should the first be set aside as blocked.
    failed: 2,
    unverified: counts.unverified > 0 ? checkedRows : 0,
  };
}
