// Where the host leaves with its idle, the end of a text is the last moment at which it waits for us. What a stop will
// need is prepared here; and once nothing is open, the checks of the whole work run here, because afterwards it would
// be too late (V1). Whether more tool calls follow the text cannot be known yet.
import { openCount, type Session } from '../../core/session.ts';
import type { Handled } from '../../engine/engine.ts';
import { factsOf, prepareStop, stopEvent } from './attempt-stop.ts';
import { holdStep } from './hold-step.ts';
import { openSession, type PluginContext, readSessionRecord } from './plugin-context.ts';
import type { SessionMemory } from './session-memory.ts';

/** Gives what became of the stop, if it was attempted here: the host is to wait for its checks. */
export async function finishText(
  context: PluginContext,
  memory: SessionMemory,
  messageId: string,
): Promise<Handled | null> {
  // The summary of a compaction is nobody's answer, and a step may have several texts.
  if (memory.lastStep?.summary === true) return null;
  if (memory.held?.stepId === messageId || memory.answeredStep === messageId) return null;
  await openSession(context, memory);
  const value = await prepareStop(context, memory);
  memory.fingerprint = { messageId, value };
  const session = await readSessionRecord(context, memory.id);
  if (session === null || session.descriptor.kind === 'subagent') return null;
  const { step, ...rest } = factsOf(memory);
  const facts = { ...rest, step: step === null ? null : { ...step, finish: 'stop' } };
  const stop = stopEvent(context, memory, facts, `text/${messageId}`, value);
  if (!isDecidedHere(context, session)) {
    await holdStep(context, memory, session, stop, messageId);
    return null;
  }
  memory.answeredStep = messageId;
  return context.runtime.handle(stop);
}

/**
 * A plan that was worked through, with checks to run, or checks that an earlier stop left running. Without a plan a
 * text is as often a word between two calls as an answer, and checks in mid-work would fail for no reason.
 */
function isDecidedHere({ policy }: PluginContext, session: Session): boolean {
  const { counts, turn, finalRun, latch, pause } = session;
  if (latch !== null || pause !== null) return false;
  if (openCount(counts) > 0 || !policy.changesTheHost()) return false;
  if (finalRun?.overdue && turn?.ended === false) return true;
  const hasChecks = policy.current().goalChecks.length > 0 || counts.unverified > 0 || counts.passed > 0;
  return hasChecks && turn?.touchedPlan === true;
}
