// What the server remembers of each conversation, oldest forgotten first, and how it knows a conversation again. Two
// sessions that begin with the same words are told apart by the ids of their calls.

import { createHash } from 'node:crypto';
import type { ModelRequest } from '../model-request.ts';
import { readAnchor } from '../script/anchor.ts';
import type { ScriptMemory } from '../script/answer.ts';
import type { Chosen } from '../script/script.ts';
import type { Segment } from '../tokens.ts';
import type { HttpHeaders } from './http-headers.ts';

export interface ConversationMemory {
  readonly script: ScriptMemory;
  /** The last request in pieces, to tell which prefix is cached. */
  readonly segments: readonly Segment[];
}

const MOST_CONVERSATIONS = 1000;
const MARKER = /\[conversation:\s*([\w.-]+)\s*\]/;
// Headers by which Claude Code and Codex name their session.
const SESSION_HEADERS = ['x-claude-code-session-id', 'session_id', 'session-id', 'x-session-id'];

/** The conversation that the latest anchored call belongs to; undefined before the first call. */
export function anchoredConversation(request: ModelRequest, chosen: Chosen): string | undefined {
  const anchors = request.messages.slice(chosen.from).map(readAnchor);
  return anchors.findLast((anchor) => anchor !== undefined)?.conversation;
}

export function conversationKey(request: ModelRequest, chosen: Chosen, headers: HttpHeaders): string {
  const anchored = chosen.script.cursor === 'history' ? anchoredConversation(request, chosen) : undefined;
  if (anchored !== undefined) return anchored;
  const humanTexts = request.messages
    .filter((message) => message.role === 'user')
    .map((message) => message.text);
  const marked = humanTexts.map((text) => MARKER.exec(text)?.[1]).find((name) => name !== undefined);
  const session = SESSION_HEADERS.map((name) => headers[name]).find((value) => value !== undefined);
  const beginning =
    request.messages.slice(chosen.from).find((message) => message.role === 'user')?.text ?? '';
  const unnamed = createHash('sha1')
    .update(`${request.conversation ?? ''}\n${beginning}`)
    .digest('base64url');
  return [chosen.script.name, marked ?? session ?? unnamed].join('|');
}

export interface Conversations {
  get(key: string): ConversationMemory | undefined;
  set(key: string, memory: ConversationMemory): void;
}

export function createConversations(): Conversations {
  const memories = new Map<string, ConversationMemory>();
  return {
    get: (key) => memories.get(key),
    set(key, memory) {
      memories.delete(key);
      memories.set(key, memory);
      for (const oldest of memories.keys()) {
        if (memories.size <= MOST_CONVERSATIONS) break;
        memories.delete(oldest);
      }
    },
  };
}
