// What the enforcer remembers of a session while its process lives: only what tells news from echoes. Losing it costs
// nothing that the store does not know; it is bounded in every direction.
import type { EnforcerMessage } from './enforcer-options.ts';

export interface SessionMemory {
  /** The last idle, if nothing happened since, and what stood at the end of the messages then. */
  idle: { readonly mark: string | null } | null;
  /** The last that happened was an error. */
  errored: boolean;
  /** The last that happened was a tool call that failed with this. */
  toolError: string | null;
  /** Descriptor and agent as they were told last. */
  opened: string | null;
  /** The human's last message as it was told. */
  asked: EnforcerMessage | null;
  /** An abort was told and nothing happened since. */
  aborted: boolean;
  /** The messages were read once: an unknown one is new from then on. */
  looked: boolean;
  /** An assistant's message without an id was told since the last idle. */
  active: boolean;
  readonly assistantIds: Set<string>;
  readonly humanIds: Set<string>;
  readonly ourIds: Set<string>;
  /** Messages of the human that were seen before their event came. */
  readonly untold: Set<string>;
}

export interface SessionMemories {
  of(sessionId: string): SessionMemory;
  /** null: nothing was heard of it in this process. */
  peek(sessionId: string): SessionMemory | null;
  forget(sessionId: string): void;
}

/** Sessions of one program that are at work at the same time; the one that was silent longest is forgotten first. */
const mostSessions = 1000;
/** Echoes come within seconds: older ids are not needed to recognise them. */
const mostIds = 200;

export function createSessionMemories(): SessionMemories {
  const memories = new Map<string, SessionMemory>();
  return {
    of(sessionId) {
      const memory = memories.get(sessionId) ?? emptyMemory();
      memories.delete(sessionId);
      memories.set(sessionId, memory);
      for (const oldest of memories.keys()) {
        if (memories.size <= mostSessions) break;
        memories.delete(oldest);
      }
      return memory;
    },
    peek: (sessionId) => memories.get(sessionId) ?? null,
    forget(sessionId) {
      memories.delete(sessionId);
    },
  };
}

function emptyMemory(): SessionMemory {
  return {
    idle: null,
    errored: false,
    toolError: null,
    opened: null,
    asked: null,
    aborted: false,
    looked: false,
    active: false,
    assistantIds: new Set(),
    humanIds: new Set(),
    ourIds: new Set(),
    untold: new Set(),
  };
}

export function remember(ids: Set<string>, id: string): void {
  ids.add(id);
  for (const oldest of ids) {
    if (ids.size <= mostIds) break;
    ids.delete(oldest);
  }
}

/** The agent works: what ended its last step is past. */
export function wake(memory: SessionMemory): void {
  memory.idle = null;
  memory.errored = false;
  memory.toolError = null;
  memory.aborted = false;
}
