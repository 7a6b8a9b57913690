// Asks the right script for its reply and keeps what must be remembered of it. Requests that a host makes beside the
// work are answered here too, without moving any story on.

import type { ModelReply } from '../model-reply.ts';
import type { ModelRequest } from '../model-request.ts';
import type { Anchor } from '../script/anchor.ts';
import { answerRequest } from '../script/answer.ts';
import { chooseScript, type Script } from '../script/script.ts';
import { answerSideRequest, isSideRequest } from '../side-requests.ts';
import { type Segment, segmentsOf } from '../tokens.ts';
import { anchoredConversation, type Conversations, conversationKey } from './conversations.ts';
import type { HttpHeaders } from './http-headers.ts';

export interface ChosenReply {
  readonly reply: ModelReply;
  /** What the ids of the reply's calls carry. */
  readonly anchor: Anchor;
  readonly isAside: boolean;
  readonly script?: string;
  /** The previous request of the same conversation, in pieces. */
  readonly previous: readonly Segment[];
}

/** A reply that belongs to no story. */
export function replyOutside(reply: ModelReply, serial: string): ChosenReply {
  return { reply, anchor: { conversation: serial, serial, position: [] }, isAside: false, previous: [] };
}

export function chooseReply(
  request: ModelRequest,
  headers: HttpHeaders,
  serial: string,
  scripts: readonly Script[],
  conversations: Conversations,
): ChosenReply {
  const chosen = chooseScript(scripts, request);
  if (!chosen) return replyOutside({ text: 'There is no script.', finish: 'stop' }, serial);
  const { script } = chosen;
  if (isSideRequest(request, script)) {
    return {
      ...replyOutside(answerSideRequest(request, script), serial),
      isAside: true,
      script: script.name,
    };
  }

  const key = conversationKey(request, chosen, headers);
  const known = conversations.get(key);
  const answer = answerRequest(chosen, request, serial, known?.script);
  const conversation = anchoredConversation(request, chosen) ?? serial;
  const memory = { script: answer.memory, segments: segmentsOf(request) };
  conversations.set(key, memory);
  // From its first call on, a conversation is known by the token in its call ids.
  const isFirstCall = conversation === serial && (answer.reply.calls ?? []).length > 0;
  if (isFirstCall && script.cursor === 'history') conversations.set(conversation, memory);
  return {
    reply: answer.reply,
    anchor: { conversation, serial, position: answer.position },
    isAside: false,
    script: script.name,
    previous: known?.segments ?? [],
  };
}
