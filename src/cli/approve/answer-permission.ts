// The human's answer to what our own agent asks to be allowed, given from anywhere but its own terminal: on the record
// first, and where it was given for good, remembered in the user's state.
import type { PermissionChoice } from '../../agent/agent-event.ts';
import { addGrant } from '../../agent/workspace/remembered-grants.ts';
import type { PermissionRequest, Session } from '../../core/state.ts';
import type { Store } from '../../engine/store.ts';
import { createIdentifiers } from '../../engine/system.ts';
import { stateDirectory } from '../../store/state-directory.ts';
import type { Io } from '../io.ts';
import { openRuntime } from '../open-runtime.ts';

export function waitingRequests({ permissions }: Session): readonly PermissionRequest[] {
  return permissions?.requests.filter(({ answer }) => answer === null) ?? [];
}

/** The session afterwards; null: the request was answered or withdrawn meanwhile. */
export async function answerPermission(
  io: Io,
  store: Store,
  { sessionId, requestId }: { readonly sessionId: string; readonly requestId: string },
  remembered: PermissionChoice,
): Promise<Session | null> {
  const session = await store.state(sessionId);
  const request = session === null ? undefined : waitingRequests(session).find(hasId(requestId));
  if (session === null || request === undefined) return null;
  const said = { id: createIdentifiers(io.clock).next(), sessionId, at: io.clock.now() };
  const handled = await openRuntime(io, store).handle({
    ...said,
    type: 'wait-ended',
    wait: { kind: 'permission', requestId, granted: remembered !== 'no', remembered },
  });
  await handled.checks;
  const { directory } = session.descriptor;
  if (remembered === 'always' && directory !== null) {
    const { tool, pattern } = request;
    const place = { stateDirectory: stateDirectory(io.env), directory };
    addGrant(place, { tool, pattern, answerId: said.id, at: said.at });
  }
  return handled.state;
}

function hasId(wanted: string): (request: PermissionRequest) => boolean {
  return ({ requestId }) => requestId === wanted;
}
