// The events that the enforcer wants, and how one is read from whatever the bus delivers. Nothing else of a payload
// comes along, and a getter that throws makes it unreadable, no more.
import type { StopEnd } from '../../core/events.ts';
import type { EnforcerMessage } from './enforcer-options.ts';

export const enforcerEvents = [
  'session.idle',
  'session.error',
  'session.deleted',
  'message.updated',
  'message.after',
  'tool.before',
  'tool.after',
  'permission.asked',
  'permission.answered',
  'question.asked',
  'question.answered',
  'compaction.started',
  'compaction.ended',
] as const;

export type EnforcerEventName = (typeof enforcerEvents)[number];

interface Of<Type extends EnforcerEventName> {
  readonly type: Type;
  readonly sessionId: string;
}

export type EnforcerEvent =
  /** `end`: how the model's last step ended; default: normal, or error if an error was the last that happened. */
  | (Of<'session.idle'> & { readonly end?: StopEnd | undefined })
  | (Of<'session.error'> & { readonly error: unknown })
  | Of<'session.deleted'>
  /** A message appeared or changed. */
  | (Of<'message.updated'> & { readonly message: EnforcerMessage })
  /** A message is complete. */
  | (Of<'message.after'> & { readonly message: EnforcerMessage })
  | (Of<'tool.before'> & { readonly tool: string })
  /** `error`: the text of what went wrong in the call. */
  | (Of<'tool.after'> & { readonly tool: string; readonly error?: string | null | undefined })
  | (Of<'permission.asked'> & { readonly requestId: string })
  | (Of<'permission.answered'> & { readonly requestId: string; readonly granted: boolean })
  | (Of<'question.asked'> & { readonly requestId: string })
  | (Of<'question.answered'> & { readonly requestId: string; readonly rejected?: boolean | undefined })
  | Of<'compaction.started'>
  | Of<'compaction.ended'>;

export type ReadEvent =
  | { readonly read: 'event'; readonly event: EnforcerEvent }
  /** Somebody else's event: a bus carries many. */
  | { readonly read: 'foreign' }
  | { readonly read: 'broken'; readonly sentence: string };

const ends: ReadonlySet<unknown> = new Set<StopEnd>([
  'normal',
  'length',
  'empty',
  'error',
  'cancelled',
  'refusal',
  'content-filter',
  'iteration-budget',
]);

/** Ids of hosts are UUIDs, paths or hashes; room is left for the name of the program before it. */
const longestId = 120;
const longestText = 1_000_000;

export function readEnforcerEvent(value: unknown): ReadEvent {
  try {
    return readFields(value);
  } catch (error) {
    // Safe: nothing was done with it yet, and the caller tells that it could not be read.
    return { read: 'broken', sentence: `an event could not be read: ${String(error).slice(0, 200)}` };
  }
}

function readFields(value: unknown): ReadEvent {
  if (typeof value !== 'object' || value === null) return { read: 'foreign' };
  const fields = value as Readonly<Record<string, unknown>>;
  const type = enforcerEvents.find((name) => name === fields['type']);
  if (type === undefined) return { read: 'foreign' };
  const sessionId = readId(fields['sessionId']);
  const event = sessionId === null ? null : readDetails(type, sessionId, fields);
  return event === null
    ? { read: 'broken', sentence: `an event "${type}" lacks a field or has a wrong one; it was left out` }
    : { read: 'event', event };
}

function readDetails(
  type: EnforcerEventName,
  sessionId: string,
  fields: Readonly<Record<string, unknown>>,
): EnforcerEvent | null {
  switch (type) {
    case 'session.idle': {
      const { end } = fields;
      return { type, sessionId, end: ends.has(end) ? (end as StopEnd) : undefined };
    }
    case 'session.error':
      return { type, sessionId, error: fields['error'] };
    case 'message.updated':
    case 'message.after': {
      const message = readMessage(fields['message']);
      return message === null ? null : { type, sessionId, message };
    }
    case 'tool.before':
    case 'tool.after': {
      const tool = readId(fields['tool']);
      const error = readText(fields['error']);
      return tool === null ? null : { type, sessionId, tool, error };
    }
    case 'permission.asked':
    case 'permission.answered':
    case 'question.asked':
    case 'question.answered': {
      const requestId = readId(fields['requestId']);
      // What is not clearly granted or answered was not: a rejection is the human's will, a grant must be said.
      const answer = { granted: fields['granted'] === true, rejected: fields['rejected'] === true };
      return requestId === null ? null : { type, sessionId, requestId, ...answer };
    }
    default:
      return { type, sessionId };
  }
}

/** null: it is neither the human's nor the assistant's. */
export function readMessage(value: unknown): EnforcerMessage | null {
  if (typeof value !== 'object' || value === null) return null;
  const { role, id, text, key, agent, model, variant, error } = value as Record<string, unknown>;
  if (role !== 'user' && role !== 'assistant') return null;
  return {
    role,
    id: readId(id) ?? undefined,
    text: readText(text) ?? undefined,
    key: readId(key) ?? undefined,
    agent: readId(agent) ?? undefined,
    model: readId(model) ?? undefined,
    variant: readId(variant) ?? undefined,
    ...(error === undefined || error === null ? {} : { error }),
  };
}

export function readId(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' && value.length <= longestId ? value : null;
}

function readText(value: unknown): string | null {
  return typeof value === 'string' ? value.slice(0, longestText) : null;
}
