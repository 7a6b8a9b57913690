// Follows the host: what must be known at once is noted when it is heard, and everything is told to the engine in its
// order, one queue per session. Two triggers, one decision: on idle where the host stays, at the end of the last step
// where it leaves with the idle. It never throws into the host.
import type { Session } from '../../core/session.ts';
import type { Clock } from '../../engine/clock.ts';
import { readHostError } from '../told/host-error.ts';
import { closeCompaction, factsOf, prepareStop, stopEvent } from './attempt-stop.ts';
import { placeHeld } from './hold-step.ts';
import type { HostCalls } from './host-calls.ts';
import { type PluginContext, readSessionRecord, tell } from './plugin-context.ts';
import * as record from './record-signal.ts';
import { rememberCall, type SessionMemories, type SessionMemory } from './session-memory.ts';
import type { StoppedSessions } from './stopped-sessions.ts';
import type { Signal } from './translate.ts';
import type { HostMessage } from './translate-message.ts';

export interface DriverOptions {
  /** Null: the store cannot be opened, and nothing is done. */
  readonly ready: Promise<PluginContext | null>;
  readonly memories: SessionMemories;
  readonly stopped: StoppedSessions;
  readonly clock: Clock;
  readonly calls: HostCalls;
  readonly headless: boolean;
  readonly onError: (error: unknown) => void;
}

export type Work<Result = void> = (context: PluginContext, memory: SessionMemory) => Promise<Result>;

export interface Driver {
  hear(signal: Signal): void;
  hearHuman(sessionId: string, message: HostMessage): void;
  /** Behind everything that was heard of the session before. Null: it could not be done, which was told. */
  after<Result>(sessionId: string, work: Work<Result>): Promise<Result | null>;
  /** The host goes down: what it still tells is not followed, and what fails now is nobody's news. */
  end(): void;
}

/** A countdown, a text that waits to be sent again, or one that was sent and not begun. */
function isUnderWay(session: Session): boolean {
  return session.parked !== null || session.timer !== null || isOnItsWay(session);
}

function isOnItsWay({ injection }: Session): boolean {
  return injection?.state === 'intended' || injection?.state === 'sent';
}

/** An error that belongs to an idle may be told after it, but not later than this. */
const errorDelayMs = 300;

export function createDriver(options: DriverOptions): Driver {
  const { memories, stopped, clock, calls, headless } = options;
  let hasEnded = false;

  function after<Result>(sessionId: string, work: Work<Result>): Promise<Result | null> {
    const memory = memories.of(sessionId);
    const done = memory.queue
      .then(async () => {
        const context = await options.ready;
        return context === null || hasEnded ? null : work(context, memory);
      })
      .catch((error: unknown) => {
        // Whoever hears of it says so once; the next signal must not be held up by this one.
        if (!hasEnded) options.onError(error);
        return null;
      });
    memory.queue = done.then(() => {});
    return done;
  }

  /** Says what is to be told, and notes what cannot wait. */
  function note(signal: Signal, memory: SessionMemory): Work | null {
    switch (signal.type) {
      case 'session':
        return noteSession(signal, memory);
      case 'deleted':
        stopped.lift(memory.id);
        return async (context) => {
          await tell(context, memory, `deleted/${signal.eventId}`, { type: 'session-deleted' });
          memories.forget(memory.id);
        };
      case 'busy':
        noteBusy(memory);
        return null;
      case 'idle':
        return noteIdle(signal.eventId, memory);
      case 'error':
        memory.failedSinceBusy = true;
        if (memory.leaving) return null;
        if (readHostError(signal.error, clock.now()).aborted) stopped.stop(memory.id);
        return stopping((context) => record.recordError(context, memory, signal));
      case 'assistant':
        return noteStep(signal, memory);
      case 'step-started':
        return noteStepStart(signal.messageId, memory);
      case 'text':
        memory.lastText = { messageId: signal.messageId, text: signal.text };
        return null;
      case 'shell':
        stopped.lift(memory.id);
        return (context) => record.recordShell(context, memory, signal);
      case 'tool':
        if (signal.state !== 'running') memory.toolError = signal.error;
        return rememberCall(memory, `${signal.callId} ${signal.state}`)
          ? (context) => record.recordTool(context, memory, signal)
          : null;
      case 'step-ended':
        return noteStepEnd(signal, memory);
      case 'todos':
        return (context) => record.recordTodos(context, memory, signal);
      case 'compacted':
        memory.compacting = false;
        return async (context) => {
          await tell(context, memory, `compacted/${signal.eventId}`, {
            type: 'compaction-ended',
            shrunk: true,
          });
        };
      case 'permission-asked':
      case 'question-asked':
      case 'permission-answered':
      case 'question-answered':
        return (context) => record.recordRequest(context, memory, signal);
    }
  }

  function noteSession(
    { info, eventId }: Extract<Signal, { type: 'session' }>,
    memory: SessionMemory,
  ): Work | null {
    const undone = info.reverted && memory.info?.reverted === false;
    memory.info = info;
    if (!undone) return null;
    // The human took messages back: that is a word of theirs, and nothing is sent into what they look at.
    stopped.stop(memory.id);
    return stopping((context) => record.recordAbort(context, memory, eventId, 'undone'));
  }

  function stopping(work: Work): Work {
    return async (context, memory) => {
      await work(context, memory);
      stopped.recorded(memory.id);
    };
  }

  /** What it is busy with is told next, by a human's words or by a step: then the engine hears of it. */
  function noteBusy(memory: SessionMemory): void {
    if (memory.busy) return;
    memory.busy = true;
    memory.failedSinceBusy = false;
    memory.answeredSinceBusy = false;
  }

  function noteIdle(eventId: string, memory: SessionMemory): Work | null {
    // A turn that failed or was aborted idles twice, any other once.
    if (!memory.busy) return memory.failedSinceBusy ? null : stopWhileIdle(eventId, memory);
    memory.busy = false;
    tellParent(memory, eventId);
    // Answered before the idle, and if it is to go on it has been told already.
    if (headless && memory.answeredSinceBusy) return null;
    return (context) => stopOnIdle(context, memory, eventId);
  }

  /**
   * Nothing ran, and yet the host says idle: someone asked it to stop. That is meant for a countdown, or for a
   * continuation that the host has not begun to answer.
   */
  function stopWhileIdle(eventId: string, { id }: SessionMemory): Work {
    stopped.stop(id);
    return async (context, memory) => {
      const session = await readSessionRecord(context, id);
      // Told once: what we end below is reported as one more idle.
      if (session?.latch) return stopped.recorded(id);
      if (session === null || !isUnderWay(session)) stopped.lift(id);
      else await record.recordAbort(context, memory, eventId, 'stopped while idle');
      stopped.recorded(id);
      // The host may begin with our text although it was told to stop before that.
      if (session !== null && isOnItsWay(session)) await calls.abort(id);
    };
  }

  async function stopOnIdle(context: PluginContext, memory: SessionMemory, eventId: string): Promise<void> {
    // At the first idle of a broken turn the host has not told its error yet.
    if (memory.lastStep?.finish === null && !memory.failedSinceBusy) await wait(errorDelayMs);
    if (memory.busy) return;
    const facts = factsOf(memory);
    const fingerprint = headless ? null : await prepareStop(context, memory);
    if (memory.busy) return;
    await closeCompaction(context, memory, eventId);
    await context.runtime.handle(stopEvent(context, memory, facts, eventId, fingerprint));
  }

  function wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      clock.wake(clock.now() + milliseconds, resolve);
    });
  }

  function noteStep(signal: Extract<Signal, { type: 'assistant' }>, memory: SessionMemory): Work | null {
    const { messageId, parentId, finish, summary, eventId } = signal;
    const before = memory.lastStep?.messageId ?? '';
    // Ids rise with time: what the host tells late of an earlier step is no news.
    if (messageId < before || messageId < memory.lastHumanId) return null;
    const failed = signal.error !== null;
    memory.lastStep = { messageId, parentId, finish, failed, summary };
    // If the host went on by itself, what failed before is over.
    memory.failedSinceBusy = failed || (messageId === before && memory.failedSinceBusy);
    // An abort between two steps is told with the step alone.
    if (failed && memory.leaving) return null;
    if (failed && !stopped.has(memory.id) && readHostError(signal.error, clock.now()).aborted) {
      stopped.stop(memory.id);
      return stopping((context) => record.recordAbort(context, memory, eventId, 'interrupted'));
    }
    // An answer to a continuation of ours counts once the model has begun it.
    if (messageId === before || continuationOf(memory) !== null) return null;
    return (context) => record.recordStep(context, memory, messageId);
  }

  /** The epoch of the continuation that the last step answers; null: it answers something else. */
  function continuationOf({ lastStep, sent }: SessionMemory): number | null {
    return sent.get(lastStep?.parentId ?? '') ?? null;
  }

  function noteStepStart(messageId: string, memory: SessionMemory): Work | null {
    const epoch = memory.lastStep?.messageId === messageId ? continuationOf(memory) : null;
    return epoch === null ? null : (context) => record.recordAnswer(context, memory, messageId, epoch);
  }

  function noteStepEnd(signal: Extract<Signal, { type: 'step-ended' }>, memory: SessionMemory): Work {
    const { messageId, reason, eventId } = signal;
    const ends = reason !== 'tool-calls' && reason !== 'unknown' && memory.lastStep?.summary !== true;
    const isAnswered = memory.answeredStep === messageId;
    if (headless && ends) memory.answeredSinceBusy = true;
    if (!headless || !ends || isAnswered) {
      memory.held = null;
      return (context) => record.recordUsage(context, memory, signal);
    }
    const placed = keepHost(messageId, memory);
    const { step, ...rest } = factsOf(memory);
    const facts = { ...rest, step: step === null ? null : { ...step, finish: reason } };
    return async (context) => {
      await placed;
      const known = memory.fingerprint?.messageId === messageId ? memory.fingerprint.value : null;
      await closeCompaction(context, memory, eventId);
      const stop = stopEvent(context, memory, facts, eventId, known);
      // Nobody waits for checks here: what has to be run is asked for by the agent itself.
      await context.runtime.ask(stop, clock.now());
      if (isKeptForNothing(messageId, memory)) await leave(memory);
      await record.recordUsage(context, memory, signal);
    };
  }

  /** The step was the last: the host leaves in a moment unless it is kept. Nothing may be awaited before that. */
  async function keepHost(stepId: string, memory: SessionMemory): Promise<void> {
    const { prepared } = memory;
    const isHeld = memory.held?.stepId === stepId;
    const placed =
      isHeld || prepared?.stepId !== stepId
        ? null
        : placeHeld({ calls, clock }, memory, stepId, prepared.speaker);
    if (memory.held?.stepId === stepId) memory.held.isWanted = true;
    await placed;
  }

  /** It was held because it would go on, and then it was let go: the host would ask the model again and again. */
  function isKeptForNothing(stepId: string, { held }: SessionMemory): boolean {
    return held?.stepId === stepId && held.text === null;
  }

  async function leave(memory: SessionMemory): Promise<void> {
    memory.leaving = true;
    await calls.abort(memory.id);
  }

  /** A parent that stopped while its subagent worked was told to wait for it (P18). */
  function tellParent({ id, info }: SessionMemory, eventId: string): void {
    const parentId = info?.parentId ?? null;
    if (parentId === null) return;
    after(parentId, async (context, parent) => {
      await tell(context, parent, `job-ended/${eventId}`, { type: 'background-ended', jobId: id });
    });
  }

  return {
    after,
    end() {
      hasEnded = true;
    },
    hear(signal) {
      const work = note(signal, memories.of(signal.sessionId));
      if (work !== null) after(signal.sessionId, work);
    },
    hearHuman(sessionId, message) {
      stopped.lift(sessionId);
      const memory = memories.of(sessionId);
      memory.leaving = false;
      memory.toolError = null;
      memory.lastHumanId = message.id;
      after(sessionId, (context) => record.recordHuman(context, memory, message));
    },
  };
}
