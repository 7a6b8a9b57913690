// What a human does to a session from outside its host goes through the engine, as what a host tells (C3). The session is
// found first, so that a wrong word changes nothing.
import type { PermissionChoice } from '../agent/agent-event.ts';
import { addGrant } from '../agent/workspace/remembered-grants.ts';
import type { Event } from '../core/events.ts';
import type { PermissionRequest, Session, State } from '../core/state.ts';
import type { Handled } from '../engine/engine.ts';
import type { Store } from '../engine/store.ts';
import { createIdentifiers } from '../engine/system.ts';
import { stateDirectory } from '../store/state-directory.ts';
import type { Arguments } from './command.ts';
import { withSession } from './find-session.ts';
import type { Io } from './io.ts';
import { openRuntime } from './open-runtime.ts';
import { tell } from './print.ts';
import { sessionFields } from './session-name.ts';

type HumanAct = Event extends infer E
  ? E extends Event
    ? Omit<E, 'id' | 'sessionId' | 'at'>
    : never
  : never;

/** `session`: as it stands afterwards. `handled`: of the last act; null: there was none. */
export async function sendActs(io: Io, store: Store, session: State, acts: readonly HumanAct[]) {
  const runtime = openRuntime(io, store);
  const identifiers = createIdentifiers(io.clock);
  let handled: Handled | null = null;
  for (const act of acts) {
    const made = { id: identifiers.next(), sessionId: session.id, at: io.clock.now() };
    handled = await runtime.handle({ ...act, ...made });
    // What the event set going must be on the record before the store is closed.
    await handled.checks;
  }
  return { session: handled?.state ?? session, handled };
}

export type Acted = Awaited<ReturnType<typeof sendActs>>;

/** `act` returns null where there is nothing to do for this session; then nothing is written. */
export function actOnSession(io: Io, word: string | null, act: (session: Session) => HumanAct | null) {
  return withSession(io, word, (store, session) => {
    const what = act(session);
    return sendActs(io, store, session, what === null ? [] : [what]);
  });
}

/** One answer of a command about a session: the document, or sentences. Returns the exit code. */
export function report(
  { given, io, session }: Readonly<{ given: Arguments; io: Io; session: Session }>,
  document: object,
  lines: readonly string[],
  code = 0,
): number {
  tell(io, given.has('json'), { ...sessionFields(session), ...document }, () => lines);
  return code;
}

/**
 * What a human does to a session from a view, as the commands do it. Resuming and answering ask first whether a human is
 * speaking, and say in a sentence why not; the others are never refused.
 */
export function createHumanActs(io: Io, store: Store, sessionId: string) {
  /** `act` returns null where there is nothing to do. */
  async function send(act: (session: State) => HumanAct | null): Promise<void> {
    const session = await store.state(sessionId);
    const what = session && act(session);
    if (session && what) await sendActs(io, store, session, [what]);
  }
  const beneath = async (): Promise<string | null> => {
    const above = await io.agentAbove();
    return above === null ? null : `asked for beneath ${above}`;
  };
  const asHuman = async (work: () => Promise<unknown>): Promise<string | null> => {
    const refusal = await io.whyNoHuman();
    if (refusal === null) await work();
    return refusal;
  };
  return {
    async pause() {
      const reason = await beneath();
      await send(({ pause }) => (pause?.by === 'human' ? null : { type: 'human-paused', reason }));
    },
    resume: () =>
      asHuman(() =>
        send(({ latch, pause }) => (latch === null && pause === null ? null : { type: 'human-resumed' })),
      ),
    answer: (requestId: string, choice: PermissionChoice) =>
      asHuman(() => answerPermission(io, store, { sessionId, requestId }, choice)),
    async stop(how: string) {
      const where = await beneath();
      await send(() => ({ type: 'human-aborted', how: where === null ? how : `${how}, ${where}` }));
    },
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
  const said = { id: createIdentifiers(io.clock).next(), sessionId, at: io.clock.now() };
  const wait = { kind: 'permission', requestId, granted: remembered !== 'no', remembered } as const;
  const handled = await openRuntime(io, store).handle({ ...said, type: 'wait-ended', wait });
  await handled.checks;
  const { directory } = session.descriptor;
  if (remembered === 'always' && directory !== null) {
    const place = { stateDirectory: stateDirectory(io.env), directory };
    addGrant(place, { tool: request.tool, pattern: request.pattern, answerId: said.id, at: said.at });
  }
  return handled.state;
}
