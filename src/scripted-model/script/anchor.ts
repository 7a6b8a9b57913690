// The script's place in the story, written into the ids of its tool calls. Clients send those ids back with every
// request, even when they trim the history, so the place survives restarts of client and server alike.
import type { ModelMessage } from '../model-request.ts';
import { decodePosition, encodePosition, type Position } from './step.ts';

export interface Anchor {
  /** Minted with the first call of a conversation and repeated in every later one. */
  readonly conversation: string;
  /** Unique for each reply. */
  readonly serial: string;
  /** Where the story stands once the reply has been taken in. */
  readonly position: Position;
}

const ANCHORED_ID = /^call_([0-9a-z]+)_([0-9a-z]+)_at-([0-9a-z-]*)_\d+$/;

export function writeCallId(anchor: Anchor, index: number): string {
  return `call_${anchor.conversation}_${anchor.serial}_at-${encodePosition(anchor.position)}_${index}`;
}

export function readAnchor(said: ModelMessage): Anchor | undefined {
  for (const call of said.toolCalls) {
    const [, conversation, serial, position] = ANCHORED_ID.exec(call.id) ?? [];
    if (conversation === undefined || serial === undefined || position === undefined) continue;
    return { conversation, serial, position: decodePosition(position) };
  }
  return undefined;
}
