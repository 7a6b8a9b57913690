// Keeps `opencode run` from leaving before a continuation is in. The host goes on as long as its session has a message
// that is newer than the step that just ended, and it leaves within milliseconds otherwise: too soon to decide, to put
// it on the record and to send. So where the agent would be sent on if it stopped now, an empty message is placed while
// the host still waits for us. If the step turns out to be the last, it is filled with the continuation; if tool calls
// follow, it stays empty, which no model and no human ever sees.
import type { Policy } from '../../core/config/policy.ts';
import { decide } from '../../core/decide.ts';
import type { Event } from '../../core/events.ts';
import { needs } from '../../core/needs.ts';
import type { Session } from '../../core/session.ts';
import { stopEvent } from './attempt-stop.ts';
import { hostId } from './message-id.ts';
import { listOf, recordOf, textOf } from './payload.ts';
import { type PluginContext, readSessionRecord } from './plugin-context.ts';
import { type HeldMessage, rememberSent, type SessionMemory, type Speaker } from './session-memory.ts';
import { speakerOf } from './told-host.ts';

/** At the end of a text, while the host waits. */
export async function holdStep(
  context: PluginContext,
  memory: SessionMemory,
  session: Session,
  stop: Event,
  stepId: string,
): Promise<void> {
  if (await wouldContinue(context, session, stop))
    await placeHeld(context, memory, stepId, speakerOf(session));
}

/**
 * Before a step begins, while the host waits: a step without a text gives no later chance. Whether it will be one that
 * calls no tool is not known yet, so that nothing is placed before it ends.
 */
export async function prepareHold(context: PluginContext, memory: SessionMemory): Promise<void> {
  memory.prepared = null;
  const session = await readSessionRecord(context, memory.id);
  const stepId = memory.lastStep?.messageId;
  if (session === null || stepId === undefined || session.descriptor.kind === 'subagent') return;
  const step = { messageId: stepId, parentId: null, finish: 'stop', failed: false, summary: false };
  const facts = { step, text: '', toolError: memory.toolError, failed: false };
  const stop = stopEvent(context, memory, facts, `prepared/${stepId}`, null);
  if (await wouldContinue(context, session, stop)) memory.prepared = { stepId, speaker: speakerOf(session) };
}

export async function placeHeld(
  { calls, clock }: Pick<PluginContext, 'calls' | 'clock'>,
  memory: SessionMemory,
  stepId: string,
  speaker: Speaker,
): Promise<void> {
  const now = clock.now();
  const [messageId, partId] = [hostId('msg', `hold:${stepId}`, now), hostId('prt', `hold:${stepId}`, now)];
  const held: HeldMessage = { stepId, messageId, partId, isWanted: false, text: null };
  memory.held = held;
  rememberSent(memory, messageId, null);
  const part = { id: partId, type: 'text', text: '', synthetic: true, ignored: true } as const;
  const failed = await calls.show(memory.id, { messageID: messageId, ...speaker, parts: [part] });
  // Then the continuation is sent as a message of its own, and may come too late.
  if (failed !== null && memory.held === held) memory.held = null;
}

/** What the engine would decide, asked without telling it: nothing is recorded and nothing counted. */
function wouldContinue({ store, policy }: PluginContext, session: Session, stop: Event): Promise<boolean> {
  return store.read(async (reader) => {
    const text = session.policyHash === null ? null : await reader.policy(session.policyHash);
    const frozen = text === null ? policy.current() : (JSON.parse(text) as Policy);
    const rows = await reader.rows(session, needs(session, stop));
    const { decision } = decide(session, rows, stop, frozen);
    if (decision === null || decision.observed) return false;
    // Checks that have to run first cannot be waited for once the host leaves: the agent is told to ask for them.
    return (
      decision.answer === 'continue' || (decision.answer === 'wait' && decision.reason === 'nothing-open')
    );
  });
}

/**
 * The host has read its messages before the held one was filled: what it is about to send gets the words as well.
 * @param messages those of one session, which is changed in place
 */
export function fillHeld(messages: unknown, memory: SessionMemory): void {
  const { held } = memory;
  if (held === null || held.text === null) return;
  const found = listOf(messages)
    .map(recordOf)
    .find(({ info }) => recordOf(info)['id'] === held.messageId);
  for (const part of listOf(found?.['parts'])) {
    if (recordOf(part)['id'] === held.partId)
      Object.assign(part as object, { text: held.text, ignored: false });
  }
  memory.held = null;
}

/** Null: they do not say. */
export function sessionOfMessages(messages: unknown): string | null {
  return textOf(recordOf(recordOf(listOf(messages)[0])['info'])['sessionID']);
}
