// A stop attempt: the host's own list first, then the workspace, then the engine's decision. It only asks: whether and
// when the agent goes on is decided there, and the continuation comes back through the host port.
import { fingerprintWorkspace } from '../../checks/fingerprint.ts';
import { endsInQuestion } from '../../core/ends-in-question.ts';
import type { Event, StopEnd } from '../../core/events.ts';
import { planSize, type Session } from '../../core/session.ts';
import { eventOf, type PluginContext, readSessionRecord, tell } from './plugin-context.ts';
import type { LastStep, SessionMemory } from './session-memory.ts';
import { readHostPlan } from './told-host.ts';

/** What is known of the step that ended, taken at the moment of its end. */
export interface StepFacts {
  readonly step: LastStep | null;
  readonly text: string;
  readonly toolError: string | null;
  readonly failed: boolean;
}

export function factsOf({ lastStep, lastText, toolError, failedSinceBusy }: SessionMemory): StepFacts {
  const text = lastStep !== null && lastText?.messageId === lastStep.messageId ? lastText.text : '';
  return { step: lastStep, text, toolError, failed: failedSinceBusy || (lastStep?.failed ?? false) };
}

function endOf({ step, text, failed }: StepFacts): StopEnd {
  if (step?.finish === 'content-filter') return 'content-filter';
  if (failed) return 'error';
  if (step === null) return 'normal';
  // A step that never finished and brought no error was broken off.
  if (step.finish === null) return 'cancelled';
  if (step.finish === 'length') return 'length';
  return step.finish === 'stop' && text.trim() === '' ? 'empty' : 'normal';
}

/** Brings the record up to date with what only the host knows (G5). */
export async function prepareStop(context: PluginContext, memory: SessionMemory): Promise<string | null> {
  const plan = await readHostPlan(context.calls, context.list, memory.id);
  if (plan !== null) await context.runtime.handle(plan);
  const session = await readSessionRecord(context, memory.id);
  return session === null ? null : lookAtWorkspace(context, session);
}

/**
 * @param detail what makes this stop attempt the one it is
 * @param fingerprint the state of the workspace, where it was looked at
 */
export function stopEvent(
  context: PluginContext,
  memory: SessionMemory,
  facts: StepFacts,
  detail: string,
  fingerprint: string | null,
): Event {
  return eventOf(context, memory.id, `stop/${detail}`, {
    type: 'stop-attempted',
    end: endOf(facts),
    question: facts.step?.summary !== true && endsInQuestion(facts.text),
    fingerprint,
    background: context.memories
      .busyChildren(memory.id)
      .map(({ id }) => ({ id, kind: 'subagent', description: 'a subagent' })),
    toolError: facts.toolError,
  });
}

/** The host works on although it never said that its compaction ended: it failed. */
export async function closeCompaction(
  context: PluginContext,
  memory: SessionMemory,
  detail: string,
): Promise<void> {
  if (!memory.compacting) return;
  memory.compacting = false;
  await tell(context, memory, `compaction-failed/${detail}`, { type: 'compaction-ended', shrunk: false });
}

/** A stop waits for it; a folder that takes longer has no fingerprint, and tool calls count instead. */
const fingerprintMs = 5000;

/**
 * A new fingerprint counts only with a call of a tool that can write since the last one (G7): where there was none, a
 * look would cost more than all the rest of a stop and find nothing that counts.
 */
async function lookAtWorkspace(context: PluginContext, session: Session): Promise<string | null> {
  const { directory, environment, policy } = context;
  const { fingerprint, writes, writesAtFingerprint, started } = session.work;
  const measured = planSize(session.counts) > 0 || policy.current().goalChecks.length > 0;
  const moved = fingerprint === null || writes > writesAtFingerprint || started > writes;
  if (!measured || !moved) return null;
  const seen = await fingerprintWorkspace(directory, { timeoutMs: fingerprintMs, environment });
  return seen.ok ? seen.fingerprint : null;
}
