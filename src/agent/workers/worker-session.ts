// The session of a worker: a subagent of the run's own session, with its own transcript. It is opened and its end is
// put before the engine like any stop attempt, so that `why` can explain it; nothing ever sends it on.
import type { SessionDescriptor, StopEnd, WorkerResult } from '../../core/events.ts';
import type { Clock, Identifiers } from '../../engine/clock.ts';
import type { Engine } from '../../engine/engine.ts';

export interface WorkerSession {
  readonly engine: Pick<Engine, 'handle'>;
  readonly clock: Clock;
  readonly identifiers: Identifiers;
  /** The run's own session. */
  readonly sessionId: string;
  readonly workerId: string;
  readonly directory: string;
  readonly name: string;
  readonly canWrite: boolean;
  /** provider/model */
  readonly model: string;
}

export async function openWorkerSession(session: WorkerSession): Promise<void> {
  const { engine, name, canWrite, model } = session;
  await engine.handle({
    ...base(session),
    type: 'session-opened',
    descriptor: describe(session),
    agent: { name, canWrite: canWrite ? 'yes' : 'no', model, variant: null },
  });
}

const ends: Readonly<Record<WorkerResult, StopEnd>> = {
  done: 'normal',
  failed: 'error',
  'timed-out': 'cancelled',
  refused: 'refusal',
  interrupted: 'cancelled',
};

export async function closeWorkerSession(
  session: Pick<WorkerSession, 'engine' | 'clock' | 'identifiers' | 'workerId'>,
  { result }: { readonly result: WorkerResult },
): Promise<void> {
  await session.engine.handle({
    ...base(session),
    type: 'stop-attempted',
    end: ends[result],
    question: false,
    fingerprint: null,
    background: [],
    toolError: null,
  });
}

function base({ identifiers, clock, workerId }: Pick<WorkerSession, 'identifiers' | 'clock' | 'workerId'>) {
  return { id: identifiers.next(), sessionId: workerId, at: clock.now() };
}

function describe({ directory, sessionId }: WorkerSession): SessionDescriptor {
  return {
    host: 'untildone',
    instance: `untildone:${directory}`,
    mode: 'asked',
    kind: 'subagent',
    parentId: sessionId,
    directory,
    headless: true,
    immediate: false,
    everyAgentWrites: false,
    seesTools: true,
    tools: { pause: null, verify: null },
  };
}
