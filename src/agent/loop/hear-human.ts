// The human's words, written down before the engine hears them: a run that is killed in between finds them in the
// transcript when it is resumed, and the engine knows by their id whether it has heard them already.
import type { ModelMessage } from 'ai';
import type { HumanSpoke } from '../../core/events.ts';
import type { Clock, Identifiers } from '../../engine/clock.ts';
import type { Engine } from '../../engine/engine.ts';
import { humanMessage, humanMessageId } from '../context/synthetic.ts';
import type { Transcript, TranscriptMessage } from './transcript.ts';

export interface HearOptions {
  readonly sessionId: string;
  readonly clock: Clock;
  readonly identifiers: Identifiers;
  readonly fingerprint: () => Promise<string | null>;
}

/** Its id is that of the turn as well, if it begins one. */
export function humanWords(text: string, messageId: string): TranscriptMessage {
  return { kind: 'human', message: humanMessage(text, messageId) };
}

/**
 * Words for an agent that is at work: the engine hears them now, the loop takes them up between two steps.
 * `policyHash` null: what holds where this is said becomes the snapshot of the session (V2).
 */
export function queuedWords(
  text: string,
  base: Pick<HumanSpoke, 'id' | 'sessionId' | 'at'>,
  policyHash: string | null,
): HumanSpoke {
  const messageId = `said:${base.id}`;
  return {
    ...base,
    type: 'human-spoke',
    text,
    messageId,
    turnId: messageId,
    agent: null,
    fingerprint: null,
    policyHash,
    queued: true,
  };
}

/** Tells the engine what the human said last; a message that the agent has answered already was heard. */
export async function hearHuman(
  engine: Pick<Engine, 'handle'>,
  transcript: Transcript,
  { sessionId, clock, identifiers, fingerprint }: HearOptions,
): Promise<void> {
  const last: ModelMessage | undefined = transcript.messages().at(-1)?.message;
  const messageId = last === undefined ? null : humanMessageId(last);
  if (last === undefined || messageId === null) return;
  await engine.handle({
    type: 'human-spoke',
    id: identifiers.next(),
    sessionId,
    at: clock.now(),
    text: typeof last.content === 'string' ? last.content : '',
    messageId,
    turnId: messageId,
    agent: null,
    fingerprint: await fingerprint(),
    policyHash: null,
  });
}
