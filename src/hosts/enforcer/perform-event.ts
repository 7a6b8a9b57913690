// One event of the program, told to the engine in its words. It translates and decides nothing.
import type { PlanWritten } from '../../core/events.ts';
import { oneLine } from '../../core/safe-text.ts';
import { openCount } from '../../core/session.ts';
import { UntildoneError } from '../../core/untildone-error.ts';
import { readHostError } from '../told/host-error.ts';
import { type EnforcerContext, storedId, tell } from './enforcer-context.ts';
import type { EnforcerEvent } from './enforcer-event.ts';
import { backgroundJob, lookAtMessages, readList } from './look-at-session.ts';
import { agentOf, openSession } from './open-session.ts';
import { performMessage } from './perform-message.ts';
import { wake } from './session-memory.ts';

export async function performEvent(context: EnforcerContext, event: EnforcerEvent): Promise<void> {
  const { sessionId } = event;
  const memory = context.memories.of(sessionId);
  if (event.type === 'session.deleted') {
    await tell(context, sessionId, { type: 'session-deleted' });
    context.memories.forget(sessionId);
    context.hostList.forget(storedId(context, sessionId));
    return;
  }
  if (memory.opened === null) await openSession(context, sessionId, await agentOf(context, sessionId));
  switch (event.type) {
    case 'session.idle':
      return idle(context, event);
    case 'session.error':
      return failed(context, event);
    case 'message.updated':
    case 'message.after':
      return performMessage(context, sessionId, event.message);
    case 'tool.before':
    case 'tool.after':
      return toolCalled(context, event);
    case 'permission.asked':
      await tell(context, sessionId, { type: 'permission-asked', requestId: event.requestId });
      return;
    case 'permission.answered': {
      const { requestId, granted } = event;
      await tell(context, sessionId, { type: 'permission-answered', requestId, granted });
      return;
    }
    case 'question.asked':
      await tell(context, sessionId, { type: 'question-asked', requestId: event.requestId });
      return;
    case 'question.answered': {
      const { requestId, rejected = false } = event;
      await tell(context, sessionId, { type: 'question-answered', requestId, rejected });
      return;
    }
    case 'compaction.started':
      await tell(context, sessionId, { type: 'compaction-started' });
      return;
    case 'compaction.ended':
      await tell(context, sessionId, { type: 'compaction-ended', shrunk: true });
      return;
  }
}

type Of<Type extends EnforcerEvent['type']> = Extract<EnforcerEvent, { readonly type: Type }>;

async function idle(context: EnforcerContext, { sessionId, end }: Of<'session.idle'>): Promise<void> {
  const { question, overtaken, mark } = await lookAtMessages(context, sessionId);
  if (overtaken) {
    // Its event waits behind this one, or it never comes: then the session would idle for ever without a word.
    if (!context.hasLater(sessionId)) context.onError(unheard(sessionId));
    return;
  }
  await openSession(context, sessionId, await agentOf(context, sessionId));
  const read = await readList(context, sessionId);
  if (read.list !== null) await writeList(context, sessionId, read.list);
  // That nothing is open cannot be said of a list that nobody could read; the next idle reads it again.
  if (!read.known && !(await hasOpenTodos(context, sessionId))) return;
  const count = await context.program.background(sessionId);
  const memory = context.memories.of(sessionId);
  memory.idle = { mark };
  memory.active = false;
  await tell(context, sessionId, {
    type: 'stop-attempted',
    end: end ?? (memory.errored ? 'error' : 'normal'),
    question,
    fingerprint: null,
    background: count === null ? null : count > 0 ? [backgroundJob] : [],
    toolError: memory.toolError,
  });
}

function unheard(sessionId: string): UntildoneError {
  return new UntildoneError(
    'invalid-event',
    `session.idle of ${oneLine(sessionId, 80)}: the last message is the human's, and no message.updated told of it; the idle was left alone`,
  );
}

/** As the store has them. */
async function hasOpenTodos(context: EnforcerContext, sessionId: string): Promise<boolean> {
  const session = await context.store.read(async (reader) => reader.session(storedId(context, sessionId)));
  return session !== null && openCount(session.counts) > 0;
}

/** A list that could not be written down is read again next time. */
async function writeList(context: EnforcerContext, sessionId: string, list: PlanWritten): Promise<void> {
  try {
    await context.handle(list);
  } catch (error) {
    context.hostList.forget(storedId(context, sessionId));
    throw error;
  }
}

async function failed(context: EnforcerContext, { sessionId, error }: Of<'session.error'>): Promise<void> {
  const memory = context.memories.of(sessionId);
  const read = readHostError(error, context.clock.now());
  if (read.aborted) {
    memory.aborted = true;
    await tell(context, sessionId, { type: 'human-aborted', how: read.how });
    return;
  }
  memory.errored = true;
  const { kind, signature, message, retryAt } = read;
  await tell(context, sessionId, { type: 'error-occurred', kind, signature, message, retryAt });
}

async function toolCalled(
  context: EnforcerContext,
  event: Of<'tool.before'> | Of<'tool.after'>,
): Promise<void> {
  const { sessionId, tool } = event;
  const memory = context.memories.of(sessionId);
  const access = context.program.toolAccess(tool);
  wake(memory);
  if (event.type === 'tool.before') {
    await tell(context, sessionId, { type: 'tool-started', tool, access });
    return;
  }
  const error = event.error === undefined || event.error === null ? null : oneLine(event.error, 500);
  memory.toolError = error;
  await tell(context, sessionId, { type: 'tool-ended', tool, access, error });
  if (access !== 'todo') return;
  // Read when it changes, so that work between two changes is seen as such (V4).
  const { list } = await readList(context, sessionId);
  if (list !== null) await writeList(context, sessionId, list);
}
