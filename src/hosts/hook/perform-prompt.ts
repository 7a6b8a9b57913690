// A prompt: a human's message starts or joins a turn; a notice of the host, one of our commands and our own text
// shown back do not. One that finds a turn unfinished tells that a human broke it off (G4, P19).

import type { Event } from '../../core/events.ts';
import { continuationMarker } from '../../core/texts/continuation-text.ts';
import type { StoreReader } from '../../engine/store.ts';
import { eventKey, shortHash } from './event-key.ts';
import type { HookContext } from './hook-context.ts';
import type { HookAnswer, Speaker } from './hook-request.ts';
import { catchUpEvents } from './open-session.ts';
import { addEvents } from './record-events.ts';
import type { Trail } from './trail.ts';
import { readTrail } from './trail-file.ts';

interface PromptRecord {
  readonly catchUp: readonly Event[];
  readonly trail: Trail | null;
  /** How many decisions there are: the same words after another decision are another message. */
  readonly decisions: number;
  readonly letGo: boolean;
  readonly isOurs: boolean;
}

export async function performPrompt(
  context: HookContext,
  text: string,
  speaker: Speaker,
): Promise<HookAnswer> {
  const record = await context.store.transact((reader) => lookUp(context, reader, text, speaker));
  const speaks = speaker.type === 'human' && !record.isOurs;
  const problem = speaks ? (await context.policy.prepare()).problem : null;
  await addEvents(context.store, record.catchUp);
  for (const event of promptEvents(context, text, speaker, record)) await context.runtime.append(event);
  return problem === null
    ? { type: 'nothing' }
    : { type: 'let-go', message: `off for this message, because the configuration is broken: ${problem}` };
}

async function lookUp(
  context: HookContext,
  reader: StoreReader,
  text: string,
  speaker: Speaker,
): Promise<PromptRecord> {
  const { call, host, stateDirectory } = context;
  const { sessionId } = call;
  const [session, pending, [newest]] = [
    await reader.session(sessionId),
    await reader.pendingEvents(sessionId),
    await reader.decisions(sessionId, 1),
  ];
  const place = { directory: stateDirectory, host: host.name, sessionId };
  return {
    catchUp: catchUpEvents(context, session, pending),
    trail: speaker.type === 'human' ? null : await readTrail(reader, place),
    decisions: newest?.sequence ?? 0,
    letGo: newest === undefined || newest.decision.answer !== 'continue',
    isOurs: await isOurText(reader, sessionId, text),
  };
}

/** By what the record says was sent; the marker only saves the look (E6). */
async function isOurText(reader: StoreReader, sessionId: string, text: string): Promise<boolean> {
  if (!text.includes(continuationMarker)) return false;
  const sent = await reader.outbox(sessionId);
  const shown = text.trim();
  return sent.some((row) => shown === row.text.trim() || shown.endsWith(`\n${row.text.trim()}`));
}

function promptEvents(
  { call, host }: HookContext,
  text: string,
  speaker: Speaker,
  record: PromptRecord,
): readonly Event[] {
  const { sessionId, promptId, at, agent } = call;
  const origin = { host: host.name, sessionId, promptId };
  const detail = `${shortHash(text)}:${record.decisions}`;
  const id = eventKey(origin, 'prompt', detail);
  if (record.isOurs) return [{ id: eventKey(origin, 'side', detail), sessionId, at, type: 'activity-seen' }];
  if (speaker.type === 'human')
    return [
      {
        id,
        sessionId,
        at,
        type: 'human-spoke',
        messageId: id,
        text,
        turnId: id,
        agent,
        fingerprint: null,
        policyHash: null,
      },
    ];
  const aborted = wasBrokenOff(record, promptId)
    ? [{ id: `${id}:aborted`, sessionId, at, type: 'human-aborted' as const, how: 'interrupted' }]
    : [];
  const jobIds = speaker.type === 'notice' ? speaker.jobIds : [];
  const ended = jobIds.map((jobId) => ({
    id: `${id}:${shortHash(jobId)}`,
    sessionId,
    at,
    type: 'background-ended' as const,
    jobId,
  }));
  return [...aborted, ...ended, { id, sessionId, at, type: 'activity-seen' }];
}

/**
 * The host says nothing when a human interrupts it. But it starts a new prompt only when nothing runs, and a turn
 * that ran ends with a stop that we let through or with a failure: anything else was broken off.
 */
function wasBrokenOff({ trail, letGo }: PromptRecord, promptId: string | null): boolean {
  if (trail === null || promptId === null || trail.promptId === null || trail.promptId === promptId)
    return false;
  if (trail.last === 'stop') return !letGo;
  return trail.last === 'work' || trail.last === 'prompt';
}
