// What our own agent asked to be allowed, and what the human answered (S7). It keeps the record; whether a call fits
// what was granted is judged by whoever makes the call.
import type { PermissionAnswered, PermissionAsked, ToolStarted } from '../events.ts';
import type { PermissionRequest, Session, SessionPermissions } from '../session.ts';

const nothing: SessionPermissions = { requests: [], grants: [], refused: [] };

/** More than anyone answers in a session: beyond this the oldest are forgotten, and asked for again. */
const remembered = 500;

export function noteRequest(session: Session, { requestId, about, at }: PermissionAsked): Session {
  if (about === undefined) return session;
  const { requests, ...rest } = session.permissions ?? nothing;
  const request: PermissionRequest = { requestId, ...about, askedAt: at, answer: null };
  const others = requests.filter((known) => known.requestId !== requestId);
  return { ...session, permissions: { ...rest, requests: [...others, request].slice(-remembered) } };
}

/** The first answer counts: two terminals may be asked at once. */
export function noteAnswer(session: Session, event: PermissionAnswered): Session {
  const { permissions = nothing } = session;
  const { requestId, granted, remembered: answer = granted ? 'once' : 'no' } = event;
  const request = permissions.requests.find((known) => known.requestId === requestId);
  if (request === undefined) return session;
  const others = permissions.requests.filter((known) => known !== request);
  if (answer === 'withdrawn') return { ...session, permissions: { ...permissions, requests: others } };
  if (request.answer !== null) return session;
  const { tool, pattern } = request;
  const same = (known: { readonly tool: string; readonly pattern: string }): boolean =>
    known.tool === tool && known.pattern === pattern;
  const lasting = granted && (answer === 'session' || answer === 'always');
  return {
    ...session,
    permissions: {
      requests: [...others, { ...request, answer: granted ? answer : 'no' }],
      grants: lasting
        ? [
            ...permissions.grants.filter((known) => !same(known)),
            { tool, pattern, remembered: answer, at: event.at },
          ].slice(-remembered)
        : permissions.grants,
      refused: granted ? permissions.refused : [...permissions.refused, { tool, pattern }].slice(-remembered),
    },
  };
}

/** The call begins: its request has done its work, and an answer for once is used up. */
export function consumeRequest(session: Session, { requestId }: ToolStarted): Session {
  const { permissions } = session;
  if (requestId === undefined || permissions === undefined) return session;
  const requests = permissions.requests.filter((known) => known.requestId !== requestId);
  return { ...session, permissions: { ...permissions, requests } };
}

/** Whoever speaks may have changed their mind about what they said no to. */
export function forgetRefusals(session: Session): Session {
  if (session.permissions === undefined) return session;
  return { ...session, permissions: { ...session.permissions, refused: [] } };
}

/** A new turn: nobody waits for what an earlier one asked. */
export function dropUnanswered(session: Session): Session {
  if (session.permissions === undefined) return session;
  const requests = session.permissions.requests.filter(({ answer }) => answer !== null);
  return { ...session, permissions: { ...session.permissions, requests } };
}
