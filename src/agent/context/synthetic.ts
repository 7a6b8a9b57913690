// Tells messages that a human wrote from messages that we wrote in the same role. The mark travels with the message
// into the store and back; providers ignore options under a name that is not theirs.
import type { ModelMessage } from 'ai';
import type { MessageKind } from '../../engine/transcript.ts';

/** `note`: messages were left out here. `summary`: what they said. `plan`: only for one call, never stored. */
export type SyntheticKind = 'continuation' | 'note' | 'summary' | 'plan';

const owner = 'untildone';

export function syntheticMessage(kind: SyntheticKind, text: string, leftOut = 0): ModelMessage {
  return { role: 'user', content: text, providerOptions: { [owner]: { synthetic: kind, leftOut } } };
}

/** A human's message with the id under which the engine hears it. */
export function humanMessage(text: string, messageId: string): ModelMessage {
  return { role: 'user', content: text, providerOptions: { [owner]: { messageId } } };
}

/** null: not a human's message, or one without an id. */
export function humanMessageId(message: ModelMessage): string | null {
  const messageId = message.providerOptions?.[owner]?.['messageId'];
  return isHuman(message) && typeof messageId === 'string' ? messageId : null;
}

/** Messages of a transcript with their marks: what the system said never passes for the human's words. */
export function markedHistory(
  rows: readonly { readonly kind: MessageKind; readonly message: ModelMessage }[],
): readonly ModelMessage[] {
  return rows.map(({ kind, message }) => {
    const isOurs = kind === 'continuation' || kind === 'note' || kind === 'summary';
    if (!isOurs || syntheticKind(message) !== null) return message;
    // A note of the transcript is any word of the system; only a note of ours stands for messages that went.
    const mark = { synthetic: kind === 'summary' ? 'summary' : 'continuation', leftOut: 0 };
    return { ...message, providerOptions: { ...message.providerOptions, [owner]: mark } };
  });
}

/** The other way round, for writing a compacted history down. */
export function transcriptKind(message: ModelMessage): MessageKind {
  if (message.role === 'assistant') return 'agent';
  if (message.role === 'tool') return 'tools';
  const kind = syntheticKind(message);
  return kind === null ? 'human' : kind === 'plan' ? 'note' : kind;
}

export function syntheticKind(message: ModelMessage): SyntheticKind | null {
  const kind = message.providerOptions?.[owner]?.['synthetic'];
  return kind === 'continuation' || kind === 'note' || kind === 'summary' || kind === 'plan' ? kind : null;
}

/** How many messages of the conversation a note stands for. */
export function leftOutBy(message: ModelMessage): number {
  const leftOut = message.providerOptions?.[owner]?.['leftOut'];
  return typeof leftOut === 'number' && leftOut > 0 ? leftOut : 0;
}

export function isHuman(message: ModelMessage): boolean {
  return message.role === 'user' && syntheticKind(message) === null;
}
