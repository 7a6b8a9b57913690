// The idle enforcer for any program with an event bus: when a session goes idle with open todos, it counts down and
// sends the agent back to work; any sign of life stops it (E1–E6). It never throws into the bus.
import type { Session } from '../../core/session.ts';
import { UntildoneError } from '../../core/untildone-error.ts';
import type { Store } from '../../engine/store.ts';
import { createIdentifiers, sha256, systemClock } from '../../engine/system.ts';
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts';
import { storePath } from '../../store/state-directory.ts';
import { createHostList } from '../told/host-list.ts';
import { openToldRuntime } from '../told/open-told-runtime.ts';
import type { ToldRuntime } from '../told/told-runtime.ts';
import { createBackgroundWatch } from './background-watch.ts';
import { createCommits } from './commits.ts';
import { type EnforcerContext, programId, tell } from './enforcer-context.ts';
import {
  type EnforcerEvent,
  type EnforcerEventName,
  enforcerEvents,
  readEnforcerEvent,
  readId,
} from './enforcer-event.ts';
import { createEnforcerHost, toastOf } from './enforcer-host.ts';
import type { EnforcerOptions } from './enforcer-options.ts';
import { createEnforcerPolicy } from './enforcer-policy.ts';
import { createHolds } from './holds.ts';
import { lookAtBackground } from './look-at-session.ts';
import { agentOf, openSession } from './open-session.ts';
import { performEvent } from './perform-event.ts';
import { createProgram } from './program.ts';
import { createSessionMemories } from './session-memory.ts';
import { createSessionQueues } from './session-queues.ts';

export interface Enforcer {
  readonly name: string;
  readonly description: string;
  readonly priority: number;
  /** The names of the events to deliver; the handler leaves all others alone. */
  readonly events: readonly EnforcerEventName[];
  /** Settles when the event was dealt with. Never rejects. Events of one session are dealt with in order. */
  handler(event: EnforcerEvent): Promise<void>;
  /** The program mends the session by itself: nothing is sent until it says that it is complete (E3). */
  markRecovering(sessionId: string): Promise<void>;
  markRecoveryComplete(sessionId: string): Promise<void>;
  /** A clean end: countdowns are cancelled, nothing is sent any more. Never rejects; may be called twice. */
  dispose(): Promise<void>;
}

const defaultName = 'untildone-enforcer';
const defaultDescription = 'Sends an idle agent back to its open todos until they are done.';
const defaultPriority = 40;
const longestName = 60;
/** More than a program leaves behind; those beyond are looked at when their time has come. */
const mostWaiting = 1000;

export function createEnforcer(options: EnforcerOptions): Enforcer {
  const name = readName(options.name ?? defaultName);
  const clock = options.clock ?? systemClock;
  const environment = options.environment ?? process.env;
  const onError = options.onError ?? (() => {});
  const policy = createEnforcerPolicy({ ...options, environment, onError });
  const queues = createSessionQueues();
  const holds = createHolds();
  let disposed: Promise<void> | null = null;

  /** null: the store could not be opened; the program goes on as if we were not there. */
  const opening = open().catch((error: unknown) => {
    onError(error);
    return null;
  });

  async function open(): Promise<Opened> {
    const store = options.store ?? (await openSqliteStore({ path: storePath(environment), clock }));
    const identifiers = createIdentifiers(clock);
    let instance = name;
    const commits = createCommits(onError);
    const context: EnforcerContext = {
      options,
      name,
      store,
      clock,
      identifiers,
      program: createProgram(options, clock, onError),
      memories: createSessionMemories(),
      hostList: createHostList({ store, clock, identifiers }),
      instance: () => instance,
      hasLater: queues.hasLater,
      isHeld: holds.isHeld,
      handle: (event) => commits.handle(event),
      onError,
    };
    const watch = createBackgroundWatch(
      clock,
      (session) => lookAtBackground(context, programId(context, session.id), session),
      onError,
    );
    const opened = await openToldRuntime({
      store,
      clock,
      identifiers,
      hash: sha256,
      policy,
      ...(options.checker === undefined ? {} : { checker: options.checker }),
      host: createEnforcerHost(context, onError),
      instance,
      toast: (session: Session, toast) => toastOf(context, session, toast),
      watch: (session, events) => {
        commits.seen(events);
        watch.follow(session);
      },
      onError,
    });
    commits.use(opened.runtime);
    instance = opened.instance;
    for (const session of await waitingSessions(store, instance)) watch.follow(session);
    return {
      context,
      runtime: opened.runtime,
      endWatch: watch.end,
      ownStore: options.store === undefined ? store : null,
    };
  }

  function inOrder(sessionId: string, work: (context: EnforcerContext) => Promise<unknown>): Promise<void> {
    return queues.add(sessionId, async () => {
      const opened = await opening;
      if (opened === null || disposed !== null) return;
      // Fail open: what goes wrong here is ours to tell and must not reach the program's bus.
      await work(opened.context).catch(onError);
    });
  }

  async function mark(sessionId: string, type: 'recovery-started' | 'recovery-ended'): Promise<void> {
    if (readId(sessionId) === null) onError(new UntildoneError('invalid-event', 'a mark needs a session'));
    else await inOrder(sessionId, (context) => performMark(context, sessionId, type));
  }

  async function end(): Promise<void> {
    const opened = await opening;
    if (opened === null) return;
    opened.endWatch();
    // Safe: the process is going away, and what could not be cancelled is too old by the time it matters.
    await opened.runtime.dispose().catch(onError);
    await opened.ownStore?.close().catch(onError);
  }

  return {
    name,
    description: options.description ?? defaultDescription,
    priority: options.priority ?? defaultPriority,
    events: enforcerEvents,
    async handler(event) {
      const read = readEnforcerEvent(event);
      if (read.read === 'event') {
        const release = holds.receive(read.event);
        await inOrder(read.event.sessionId, (context) => performEvent(context, read.event)).finally(release);
      } else if (read.read === 'broken') onError(new UntildoneError('invalid-event', read.sentence));
    },
    markRecovering: (sessionId) => mark(sessionId, 'recovery-started'),
    markRecoveryComplete: (sessionId) => mark(sessionId, 'recovery-ended'),
    dispose() {
      disposed ??= end();
      return disposed;
    },
  };
}

interface Opened {
  readonly context: EnforcerContext;
  readonly runtime: ToldRuntime;
  readonly endWatch: () => void;
  /** To be closed by us; null: the program's own. */
  readonly ownStore: Store | null;
}

/** Sessions of this instance that a process before us left waiting. */
async function waitingSessions(store: Store, instance: string): Promise<readonly Session[]> {
  return store.read(async (reader) => {
    const timers = await reader.dueTimers(instance, Number.MAX_SAFE_INTEGER, mostWaiting);
    const sessions: (Session | null)[] = [];
    for (const { sessionId } of timers) sessions.push(await reader.session(sessionId));
    return sessions.filter((session) => session !== null);
  });
}

async function performMark(
  context: EnforcerContext,
  sessionId: string,
  type: 'recovery-started' | 'recovery-ended',
): Promise<void> {
  if (context.memories.of(sessionId).opened === null)
    await openSession(context, sessionId, await agentOf(context, sessionId));
  await tell(context, sessionId, { type });
}

/** It is part of every id that we keep, and of the name by which countdowns are found again. */
function readName(name: string): string {
  if (readId(name) !== null && name.length <= longestName) return name;
  throw new UntildoneError('invalid-config', `name: must be a text of 1 to ${longestName} characters`);
}
