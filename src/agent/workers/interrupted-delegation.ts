// What became of a delegation whose process died (V5). A worker that had ended is reported as it ended; one that was
// at work is put on the record as interrupted, its open calls are closed in its own transcript, and the agent that
// delegated may delegate again. A call that never got its turn is said to have done nothing.
import type { Delegation } from '../../core/session.ts';
import type { Clock, Identifiers } from '../../engine/clock.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Store } from '../../engine/store.ts';
import type { Emit } from '../agent-event.ts';
import { settleInterrupted } from '../loop/interrupted-calls.ts';
import type { ToolCallResult } from '../loop/tool-calls.ts';
import { openTranscript, type Transcript } from '../loop/transcript.ts';
import { reported, type WorkerEnd } from './run-worker.ts';
import { lastWords } from './worker-desk.ts';
import { refusedDelegation, workerReport } from './worker-report.ts';
import { closeWorkerSession } from './worker-session.ts';

export interface SettleOptions {
  readonly store: Store;
  readonly engine: Pick<Engine, 'handle'>;
  readonly clock: Clock;
  readonly identifiers: Identifiers;
  readonly sessionId: string;
  readonly emit: Emit;
}

export async function settleDelegation(options: SettleOptions, callId: string): Promise<ToolCallResult> {
  const { store, sessionId } = options;
  const session = await store.read(async (reader) => reader.session(sessionId));
  const delegation = session?.delegation;
  if (delegation?.callId !== callId)
    return refusedDelegation('The run was interrupted before this worker started; nothing was delegated.');
  const transcript = await openTranscript({
    store,
    clock: options.clock,
    sessionId: delegation.workerId,
    turnId: () => null,
    maxMessages: 1,
  });
  const text = lastWords(transcript.messages());
  const end = delegation.ended ?? (await endOf(options, delegation, transcript));
  const todo = await store.read(async (reader) => reader.findTodo(delegation.todoId));
  return workerReport(delegation, { ...end, text }, todo);
}

type SettledEnd = Pick<WorkerEnd, 'result' | 'sentence'>;

const interrupted: SettledEnd = {
  result: 'interrupted',
  sentence: 'The run was interrupted while it worked.',
};

/** Puts on the record what the dead process could not. */
async function endOf(
  options: SettleOptions,
  delegation: Delegation,
  transcript: Transcript,
): Promise<SettledEnd> {
  const { store, engine, clock, identifiers, sessionId, emit } = options;
  const { workerId, agentType, todoId, startedAt } = delegation;
  await settleInterrupted(store, workerId, transcript, [], neverCalled, 'give-up');
  const worker = await store.read(async (reader) => reader.session(workerId));
  // Its report was written down, and only the run had not heard of it.
  const end = worker?.lastStop?.end === 'normal' ? reported : interrupted;
  if (worker !== null && worker.lastStop === null) await closeWorkerSession({ ...options, workerId }, end);
  const at = clock.now();
  await engine.handle({
    type: 'delegation-ended',
    id: identifiers.next(),
    sessionId,
    at,
    workerId,
    ...end,
  });
  const about = { workerId, agentType, todoId };
  emit({ type: 'worker-ended', at, sessionId, ...about, ...end, milliseconds: at - startedAt });
  return end;
}

/** Without the worker's tools no call of its can be made again, not even one that only reads. */
async function neverCalled(): Promise<ToolCallResult> {
  throw new Error('A call of a dead worker was about to be made again.');
}
