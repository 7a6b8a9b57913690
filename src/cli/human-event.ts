// What a human does to a session from outside its host goes through the engine, as what a
// host tells (C3). The session is found first, so that a wrong word changes nothing.
import type { PermissionChoice } from '../agent/agent-event.ts';
import { addGrant } from '../agent/workspace/remembered-grants.ts';
import type { Event } from '../core/events.ts';
import type { PermissionRequest, Session } from '../core/state.ts';
import type { Handled } from '../engine/engine.ts';
import type { Store } from '../engine/store.ts';
import { createIdentifiers } from '../engine/system.ts';
import { stateDirectory } from '../store/state-directory.ts';
import { findAgentSession, findSession, type Here } from './find-session.ts';
import type { Io } from './io.ts';
import { openRuntime } from './open-runtime.ts';

type HumanAct = Event extends infer E
  ? E extends Event
    ? Omit<E, 'id' | 'sessionId' | 'at'> & Partial<Pick<E, 'id' | 'at'>>
    : never
  : never;

type Place = Pick<Here, 'io' | 'store' | 'session'>;

/**
 * `session`: as it stands afterwards. `handled`: of the last act; null: there was none.
 */
export async function sendActs({ io, store, session }: Place, acts: readonly HumanAct[]) {
  const runtime = openRuntime(io, store);
  const identifiers = createIdentifiers(io.clock);
  let handled: Handled | null = null;
  for (const act of acts) {
    const made = {
      id: identifiers.next(),
      at: io.clock.now(),
      ...act,
      sessionId: session.id,
    };
    handled = await runtime.handle(made);
    // What the event set going must be on the record before the store is closed.
    await handled.checks;
  }
  return { session: handled?.state ?? session, handled };
}

export type Acted = Awaited<ReturnType<typeof sendActs>>;

export async function pauseSession(
  place: Place,
  reason: string | null = null,
): Promise<Acted> {
  // A pause keeps the reason that it has.
  const isPaused = place.session.pause?.by === 'human' && reason === null;
  return sendActs(place, isPaused ? [] : [{ type: 'human-paused', reason }]);
}

export async function stopSession(place: Place, how: string): Promise<Acted> {
  return sendActs(place, [{ type: 'human-aborted', how }]);
}

/**
 * An agent does not speak as the human: its `stop` or `pause` counts as `todo_pause` in
 * its own session (V12).
 */
export async function pauseAsAgent(place: Place, reason: string | null): Promise<Acted> {
  return sendActs(place, [
    { type: 'model-paused', reason: reason ?? '', byCommand: true },
  ]);
}

export function resumeSession(place: Place): Promise<Acted> {
  const { latch, pause } = place.session;
  return sendActs(
    place,
    latch === null && pause === null ? [] : [{ type: 'human-resumed' }],
  );
}

/**
 * The same acts, called by a view. Each first asks whether a human calls it, and returns
 * why it is refused; null: done.
 */
export function createHumanActs(io: Io, store: Store, sessionId: string) {
  const place = async (): Promise<Place> => ({
    io,
    store,
    session: await findSession(store, sessionId, io),
  });
  const asHuman = async (work: () => Promise<unknown>): Promise<string | null> => {
    const refusal = await io.whyNoHuman();
    if (refusal === null) await work();
    return refusal;
  };
  const hold = async (
    work: (place: Place) => Promise<unknown>,
  ): Promise<string | null> => {
    const agent = await io.agentAbove();
    const own =
      agent === null ? null : await findAgentSession(store, sessionId, io, agent);
    if (typeof own === 'string') return own;
    await (own === null
      ? work(await place())
      : pauseAsAgent({ io, store, session: own }, null));
    return null;
  };
  return {
    pause: () => hold(pauseSession),
    resume: () => asHuman(async () => resumeSession(await place())),
    answer: (requestId: string, choice: PermissionChoice) =>
      asHuman(() => answerPermission(io, store, { sessionId, requestId }, choice)),
    stop: (how: string) => hold((here) => stopSession(here, how)),
  };
}

export function waitingRequests({ permissions }: Session): readonly PermissionRequest[] {
  return permissions.requests.filter(({ answer }) => answer === null);
}

/**
 * From anywhere but the run's own terminal: on the record first and, where it was given
 * for good, remembered. Null: the request was answered or withdrawn meanwhile.
 */
export async function answerPermission(
  io: Io,
  store: Store,
  { sessionId, requestId }: { readonly sessionId: string; readonly requestId: string },
  remembered: PermissionChoice,
): Promise<Session | null> {
  const session = await store.state(sessionId);
  const request =
    session &&
    waitingRequests(session).find((waiting) => waiting.requestId === requestId);
  if (!session || !request) return null;
  const said = { id: createIdentifiers(io.clock).next(), at: io.clock.now() };
  const wait = {
    kind: 'permission',
    requestId,
    granted: remembered !== 'no',
    remembered,
  } as const;
  const acted = await sendActs({ io, store, session }, [
    { ...said, type: 'wait-ended', wait },
  ]);
  const { directory } = session.descriptor;
  if (remembered === 'always' && directory !== null) {
    const place = { stateDirectory: stateDirectory(io.env), directory };
    addGrant(place, {
      tool: request.tool,
      pattern: request.pattern,
      answerId: said.id,
      at: said.at,
    });
  }
  return acted.session;
}
