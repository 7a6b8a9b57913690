// What is told of the messages and calls that our own agent has written down, as the events of a run. A call is told
// when it starts and when it ends, whether it is found as a call or in the messages of its step.
import { isFailedCommand } from '../../agent/workspace/shell.ts';
import type { Event } from '../../core/events.ts';
import type { CallRow, MessageRow } from '../../engine/host.ts';
import type { SessionEvent } from '../view/view-event.ts';
import { createCallTimes } from './call-times.ts';

export interface StoredMessages {
  /** `events`: those of the same session, for the times of its calls. */
  take(messages: readonly MessageRow[], calls: readonly CallRow[], events: readonly Event[]): SessionEvent[];
}

/** As much as watchers of a run see of an output. */
const shownOutput = 400;

interface Part {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly toolCallId?: unknown;
  readonly toolName?: unknown;
  readonly input?: unknown;
  readonly output?: unknown;
}

export function createStoredMessages(): StoredMessages {
  const started = new Map<string, number>();
  const ended = new Set<string>();
  const times = createCallTimes();

  function start(base: Base, callId: string, tool: string, input: unknown): SessionEvent[] {
    if (started.has(callId)) return [];
    started.set(callId, base.at);
    return [{ type: 'tool-started', ...base, callId, tool, input }];
  }

  function end(base: Base, callId: string, tool: string, ok: boolean, output: string): SessionEvent[] {
    if (ended.has(callId)) return [];
    ended.add(callId);
    const measured = Math.max(0, base.at - (started.get(callId) ?? base.at));
    const milliseconds = times.next(tool) ?? measured;
    const shown = output.slice(0, shownOutput);
    const worked = ok && !isFailedCommand(tool, output);
    return [{ type: 'tool-ended', ...base, callId, tool, ok: worked, output: shown, milliseconds }];
  }

  function fromCall({ sessionId, callId, tool, input, startedAt, result, endedAt }: CallRow): SessionEvent[] {
    const begun = start({ sessionId, at: startedAt }, callId, tool, readJson(input));
    if (result === null || endedAt === null) return begun;
    const { ok, output } = (readJson(result) ?? {}) as { ok?: unknown; output?: unknown };
    return [...begun, ...end({ sessionId, at: endedAt }, callId, tool, ok === true, String(output ?? ''))];
  }

  function fromPart(base: Base, part: Part): SessionEvent[] {
    const callId = String(part.toolCallId ?? '');
    const tool = String(part.toolName ?? '');
    if (part.type === 'text') return [{ type: 'text', ...base, text: String(part.text ?? '') }];
    if (part.type === 'tool-call') return start(base, callId, tool, part.input ?? null);
    if (part.type !== 'tool-result') return [];
    const { type, value } = (part.output ?? {}) as { type?: unknown; value?: unknown };
    const output = typeof value === 'string' ? value : JSON.stringify(value ?? '');
    return end(base, callId, tool, !String(type).startsWith('error'), output);
  }

  function fromMessage({ kind, body, at, sessionId }: MessageRow): SessionEvent[] {
    const base = { at, sessionId };
    const { message } = (readJson(body) ?? {}) as { message?: { content?: unknown } };
    const content = message?.content ?? '';
    const parts: readonly Part[] =
      typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content : [];
    // What the human and the system said is told by the events and decisions of the session.
    if (kind === 'agent' || kind === 'tools') return parts.flatMap((part) => fromPart(base, part));
    if (kind !== 'held') return [];
    const text = parts.map((part) => (part.type === 'text' ? String(part.text ?? '') : '')).join('');
    return [{ type: 'text-held-back', ...base, text }];
  }

  return {
    take(messages, calls, events) {
      times.add(events);
      return [...messages.flatMap(fromMessage), ...calls.flatMap(fromCall)];
    },
  };
}

interface Base {
  readonly at: number;
  readonly sessionId: string;
}

/** Null where the row was edited by hand: a view shows what it can. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Safe: nothing is decided by what is shown.
    return null;
  }
}
