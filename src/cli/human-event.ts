// What a human does to a session from outside its host goes through the engine, as what a host tells (C3). The session is
// found first, so that a wrong word changes nothing.
import type { PermissionChoice } from '../agent/agent-event.ts';
import { addGrant } from '../agent/workspace/remembered-grants.ts';
import type { Event } from '../core/events.ts';
import type { PermissionRequest, Session } from '../core/state.ts';
import type { Handled } from '../engine/engine.ts';
import type { Store } from '../engine/store.ts';
import { createIdentifiers } from '../engine/system.ts';
import { stateDirectory } from '../store/state-directory.ts';
import { findSession, type Here } from './find-session.ts';
import type { Io } from './io.ts';
import { openRuntime } from './open-runtime.ts';

type HumanAct = Event extends infer E
  ? E extends Event
    ? Omit<E, 'id' | 'sessionId' | 'at'> & Partial<Pick<E, 'id' | 'at'>>
    : never
  : never;

type Place = Pick<Here, 'io' | 'store' | 'session'>;

/** `session`: as it stands afterwards. `handled`: of the last act; null: there was none. */
export async function sendActs({ io, store, session }: Place, acts: readonly HumanAct[]) {
  const runtime = openRuntime(io, store);
  const identifiers = createIdentifiers(io.clock);
  let handled: Handled | null = null;
  for (const act of acts) {
    const made = { id: identifiers.next(), at: io.clock.now(), ...act, sessionId: session.id };
    handled = await runtime.handle(made);
    // What the event set going must be on the record before the store is closed.
    await handled.checks;
  }
  return { session: handled?.state ?? session, handled };
}

export type Acted = Awaited<ReturnType<typeof sendActs>>;

/** Nobody is refused a pause or a stop; the record says where it was asked for, if that was beneath an agent. */
async function withOrigin(io: Io, words: string | null): Promise<string> {
  const above = await io.agentAbove();
  return [words, above && `asked for beneath ${above}`].filter(Boolean).join('; ');
}

export async function pauseSession(place: Place, reason: string | null = null): Promise<Acted> {
  // A pause keeps the reason that it has.
  const isPaused = place.session.pause?.by === 'human' && reason === null;
  const why = await withOrigin(place.io, reason);
  return sendActs(place, isPaused ? [] : [{ type: 'human-paused', reason: why || null }]);
}

export async function stopSession(place: Place, how: string): Promise<Acted> {
  return sendActs(place, [{ type: 'human-aborted', how: await withOrigin(place.io, how) }]);
}

export function resumeSession(place: Place): Promise<Acted> {
  const { latch, pause } = place.session;
  return sendActs(place, latch === null && pause === null ? [] : [{ type: 'human-resumed' }]);
}

/** The same from a view. Resuming and answering ask first whether a human is speaking, and say in a sentence why not. */
export function createHumanActs(io: Io, store: Store, sessionId: string) {
  const place = async (): Promise<Place> => ({ io, store, session: await findSession(store, sessionId, io) });
  const asHuman = async (work: () => Promise<unknown>): Promise<string | null> => {
    const refusal = await io.whyNoHuman();
    if (refusal === null) await work();
    return refusal;
  };
  return {
    pause: async () => void (await pauseSession(await place())),
    resume: () => asHuman(async () => resumeSession(await place())),
    answer: (requestId: string, choice: PermissionChoice) =>
      asHuman(() => answerPermission(io, store, { sessionId, requestId }, choice)),
    stop: async (how: string) => void (await stopSession(await place(), how)),
  };
}

export function waitingRequests({ permissions }: Session): readonly PermissionRequest[] {
  return permissions?.requests.filter(({ answer }) => answer === null) ?? [];
}

/**
 * From anywhere but the run's own terminal: on the record first and, where it was given for good, remembered. Null: the
 * request was answered or withdrawn meanwhile.
 */
export async function answerPermission(
  io: Io,
  store: Store,
  { sessionId, requestId }: { readonly sessionId: string; readonly requestId: string },
  remembered: PermissionChoice,
): Promise<Session | null> {
  const session = await store.state(sessionId);
  const request = session && waitingRequests(session).find((waiting) => waiting.requestId === requestId);
  if (!session || !request) return null;
  const said = { id: createIdentifiers(io.clock).next(), at: io.clock.now() };
  const wait = { kind: 'permission', requestId, granted: remembered !== 'no', remembered } as const;
  const acted = await sendActs({ io, store, session }, [{ ...said, type: 'wait-ended', wait }]);
  const { directory } = session.descriptor;
  if (remembered === 'always' && directory !== null) {
    const place = { stateDirectory: stateDirectory(io.env), directory };
    addGrant(place, { tool: request.tool, pattern: request.pattern, answerId: said.id, at: said.at });
  }
  return acted.session;
}
