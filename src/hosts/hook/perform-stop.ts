// A stop attempt: bring the record up to date, compare the host's own list, ask, and say the answer in the host's
// words. It decides nothing: what the engine answers is what the host gets.
import type { AnswerCommand } from '../../core/commands.ts';
import type { Event, StopAttempted } from '../../core/events.ts';
import { planSize, type Session } from '../../core/session.ts';
import type { Handled } from '../../engine/engine.ts';
import { eventKey } from './event-key.ts';
import type { HookContext } from './hook-context.ts';
import type { HookAnswer, StopFacts } from './hook-request.ts';
import { catchUpEvents } from './open-session.ts';
import { reconcileEvents } from './reconcile.ts';
import { addEvents } from './record-events.ts';
import { takeFingerprint } from './take-fingerprint.ts';
import type { Trail } from './trail.ts';
import { readTrail } from './trail-file.ts';

/** A shorter wait is slept here; a longer one would hold the host for nothing. */
const sleptWaitMs = 2000;

interface StopRecord {
  readonly trail: Trail;
  readonly session: Session | null;
  readonly decisions: number;
  readonly catchUp: readonly Event[];
  readonly hasPlan: boolean;
  /** Could a look at the workspace count for anything? */
  readonly mayHaveMoved: boolean;
}

export async function performStop(context: HookContext, facts: StopFacts): Promise<HookAnswer> {
  const record = await context.store.transact(async (reader): Promise<StopRecord> => {
    const { sessionId } = context.call;
    const session = await reader.session(sessionId);
    const pending = await reader.pendingEvents(sessionId);
    const [newest] = await reader.decisions(sessionId, 1);
    const place = { directory: context.stateDirectory, host: context.host.name, sessionId };
    const trail = await readTrail(reader, place);
    const planned = pending.some(({ type }) => type === 'todos-created' || type === 'plan-written');
    return {
      trail,
      session,
      decisions: newest?.sequence ?? 0,
      catchUp: catchUpEvents(context, session, pending),
      hasPlan: planned || (session !== null && planSize(session.counts) > 0),
      mayHaveMoved: mayHaveMoved(session, pending),
    };
  });
  const differences = reconcileEvents(context, record.trail, record.decisions);
  await addEvents(context.store, [...record.catchUp, ...differences]);
  const hasPlan = record.hasPlan || differences.length > 0;
  const isMeasured = hasPlan || context.policy.current().policy.goalChecks.length > 0;
  const fingerprint = isMeasured && record.mayHaveMoved ? await takeFingerprint(context) : null;
  const handled = await ask(context, stopEvent(context, facts, record, fingerprint));
  return say(context, facts, record, handled);
}

/**
 * A new fingerprint counts only with a call of a tool that can write since the last one (G7). Where there was none, what
 * a look could find is somebody else's, and a look costs more than all the rest of a stop. Calls that still wait in the
 * inbox, or that were seen to start, are taken for such calls.
 */
function mayHaveMoved(session: Session | null, pending: readonly Event[]): boolean {
  if (session === null || session.work.fingerprint === null) return true;
  const { writes, writesAtFingerprint, started } = session.work;
  if (writes > writesAtFingerprint || started > writes) return true;
  return pending.some((event) => {
    if (event.type !== 'tool-ended' && event.type !== 'tool-started') return false;
    return event.access !== 'read' && event.access !== 'todo';
  });
}

function stopEvent(
  { call, host, parts, clock }: HookContext,
  facts: StopFacts,
  { trail, decisions }: StopRecord,
  fingerprint: string | null,
): StopAttempted {
  const { sessionId, promptId } = call;
  return {
    // Two hooks that are asked about the same stop see the same number of decisions: they are one stop.
    id: eventKey({ host: host.name, sessionId, promptId }, 'stop', String(decisions)),
    sessionId,
    at: Math.max(call.at, clock.now()),
    type: 'stop-attempted',
    end: facts.end,
    question: parts.endsInQuestion(facts.lastText),
    fingerprint,
    background: facts.background,
    toolError: trail.toolError,
  };
}

async function ask({ runtime, clock, deadlineAt }: HookContext, stop: StopAttempted): Promise<Handled> {
  const first = await runtime.ask(stop, deadlineAt);
  const dueAt = first.answer?.answer === 'wait' ? first.answer.dueAt : null;
  if (dueAt === null || dueAt - clock.now() > sleptWaitMs || dueAt > deadlineAt) return first;
  await new Promise<void>((resolve) => clock.wake(dueAt, resolve));
  return runtime.ask({ ...stop, id: `${stop.id}:again`, at: clock.now() }, deadlineAt);
}

async function say(
  context: HookContext,
  facts: StopFacts,
  { trail }: StopRecord,
  handled: Handled,
): Promise<HookAnswer> {
  const { answer, decision } = handled;
  // Known already: another hook was asked about the same stop and answers it.
  if (answer === null) return { type: 'nothing' };
  if (answer.answer === 'continue' && answer.text !== null) {
    const left = facts.blockCap === null ? null : facts.blockCap - trail.stops;
    if (left !== null && left <= 0) return tellHostCap(context, facts.blockCap ?? 0, handled);
    return { type: 'continue', text: answer.text, message: left === 1 ? lastBlockMessage : null };
  }
  // The host says by itself when background work ends, and wakes the agent.
  if (decision?.reason === 'background') return { type: 'let-go', message: null };
  return { type: 'let-go', message: messageOf(answer, handled) };
}

/** The host would ignore the answer and report success: what became of the turn is decided and put on the record. */
async function tellHostCap(
  { runtime, clock }: HookContext,
  cap: number,
  stopped: Handled,
): Promise<HookAnswer> {
  const { id: sessionId, epoch } = stopped.session;
  const id = `${sessionId}:host-cap:${epoch}`;
  const handled = await runtime.handle({ type: 'host-cap-reached', id, sessionId, at: clock.now(), cap });
  return { type: 'let-go', message: handled.answer === null ? null : messageOf(handled.answer, handled) };
}

const lastBlockMessage =
  'the agent is continued once more; unless it calls a tool, the host then ends the turn by itself, and its report of success says nothing about the todos.';

function messageOf({ message }: AnswerCommand, { decision }: Handled): string | null {
  if (message === null) return null;
  const outcome = decision?.outcome ?? null;
  return outcome === null ? message : `${outcome}. ${message}`;
}
