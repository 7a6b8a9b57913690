// Performs what a human does to a session from outside its host. It goes through the
// engine, like events of hosts (C3). The session must be found first, so that a wrong
// word changes nothing.
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

type ActContext = Pick<Here, 'io' | 'store' | 'session'>;

/**
 * Sends acts to the engine. Returns the session as it is afterwards, and how the last act
 * was handled; null: there was none.
 */
export async function sendActs(
  { io, store, session }: ActContext,
  acts: readonly HumanAct[],
) {
  const runtime = openRuntime(io, store);
  const identifiers = createIdentifiers(io.clock);
  let handled: Handled | null = null;
  for (const act of acts) {
    const event = {
      id: identifiers.next(),
      at: io.clock.now(),
      ...act,
      sessionId: session.id,
    };
    handled = await runtime.handle(event);
    // The checks that the event started must be recorded before the store closes.
    await handled.checks;
  }
  return { session: handled?.state ?? session, handled };
}

export type ActResult = Awaited<ReturnType<typeof sendActs>>;

export async function pauseSession(
  context: ActContext,
  reason: string | null = null,
): Promise<ActResult> {
  // A second pause without a reason keeps the first one's reason.
  const isPaused = context.session.pause?.by === 'human' && reason === null;
  return sendActs(context, isPaused ? [] : [{ type: 'human-paused', reason }]);
}

export async function stopSession(context: ActContext, how: string): Promise<ActResult> {
  return sendActs(context, [{ type: 'human-aborted', how }]);
}

/**
 * Pauses a session by its own agent. An agent does not speak as the human: its `stop` or
 * `pause` counts as `todo_pause` (V12).
 */
export async function pauseAsAgent(
  context: ActContext,
  reason: string | null,
): Promise<ActResult> {
  return sendActs(context, [
    { type: 'model-paused', reason: reason ?? '', byCommand: true },
  ]);
}

export function resumeSession(context: ActContext): Promise<ActResult> {
  const { latch, pause } = context.session;
  return sendActs(
    context,
    latch === null && pause === null ? [] : [{ type: 'human-resumed' }],
  );
}

/**
 * The same acts for the keys of a view. Each returns why it is refused; null: it is done.
 */
export function createHumanActs(io: Io, store: Store, sessionId: string) {
  const createContext = async (): Promise<ActContext> => ({
    io,
    store,
    session: await findSession(store, sessionId, io),
  });
  const asHuman = async (work: () => Promise<unknown>): Promise<string | null> => {
    const refusal = await io.whyNoHuman();
    if (refusal === null) await work();
    return refusal;
  };
  const holdSession = async (
    work: (context: ActContext) => Promise<unknown>,
  ): Promise<string | null> => {
    const agent = await io.agentAbove();
    const own =
      agent === null ? null : await findAgentSession(store, sessionId, io, agent);
    if (typeof own === 'string') return own;
    await (own === null
      ? work(await createContext())
      : pauseAsAgent({ io, store, session: own }, null));
    return null;
  };
  return {
    pause: () => holdSession(pauseSession),
    resume: () => asHuman(async () => resumeSession(await createContext())),
    answer: (requestId: string, choice: PermissionChoice) =>
      asHuman(() => answerPermission(io, store, { sessionId, requestId }, choice)),
    stop: (how: string) => holdSession((context) => stopSession(context, how)),
  };
}

export function waitingRequests({ permissions }: Session): readonly PermissionRequest[] {
  return permissions.requests.filter(({ answer }) => answer === null);
}

/**
 * Answers a permission from outside the run's own terminal. The answer is recorded first;
 * an answer for good is then remembered too. Null: the request was answered or withdrawn
 * meanwhile.
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
  const answered = { id: createIdentifiers(io.clock).next(), at: io.clock.now() };
  const wait = {
    kind: 'permission',
    requestId,
    granted: remembered !== 'no',
    remembered,
  } as const;
  const acted = await sendActs({ io, store, session }, [
    { ...answered, type: 'wait-ended', wait },
  ]);
  const { directory } = session.descriptor;
  if (remembered === 'always' && directory !== null) {
    const grantFolder = { stateDirectory: stateDirectory(io.env), directory };
    addGrant(grantFolder, {
      tool: request.tool,
      pattern: request.pattern,
      answerId: answered.id,
      at: answered.at,
    });
  }
  return acted.session;
}
