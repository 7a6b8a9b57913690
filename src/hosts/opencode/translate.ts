// OpenCode's events → signals of one session. Pure: the same event gives the same signal. It never decides whether an
// agent may stop, and most of what the host tells (every word that streams) is no signal at all.
import { amountOf, type Fields, listOf, recordOf, textOf } from './payload.ts';

export interface HostTodo {
  readonly content: string;
  readonly status?: string;
  readonly priority?: string;
}

export interface SessionInfo {
  readonly id: string;
  readonly parentId: string | null;
  readonly directory: string | null;
  /** The human went back to an earlier message. */
  readonly reverted: boolean;
}

interface SignalBase {
  readonly sessionId: string;
  /** The host's id of the event, unique. */
  readonly eventId: string;
}

type SignalBody =
  | { readonly type: 'session'; readonly info: SessionInfo }
  | { readonly type: 'deleted' }
  | { readonly type: 'busy' }
  | { readonly type: 'idle' }
  | { readonly type: 'error'; readonly error: unknown }
  /** An assistant message began or changed; one per step of the model. */
  | {
      readonly type: 'assistant';
      readonly messageId: string;
      readonly parentId: string | null;
      readonly finish: string | null;
      /** What it failed with; null: nothing. */
      readonly error: unknown;
      /** The summary that a compaction writes. */
      readonly summary: boolean;
    }
  /** The model answers: the request has reached it. */
  | { readonly type: 'step-started'; readonly messageId: string }
  | { readonly type: 'text'; readonly messageId: string; readonly text: string }
  /** The human ran a command of their own in the chat. */
  | { readonly type: 'shell'; readonly messageId: string }
  | {
      readonly type: 'tool';
      readonly callId: string;
      readonly tool: string;
      readonly state: 'running' | 'completed' | 'error';
      readonly error: string | null;
    }
  | {
      readonly type: 'step-ended';
      readonly messageId: string;
      readonly reason: string;
      readonly inputTokens: number;
      readonly outputTokens: number;
      readonly cost: number;
    }
  | { readonly type: 'todos'; readonly todos: readonly HostTodo[] }
  | { readonly type: 'permission-asked' | 'question-asked'; readonly requestId: string }
  | {
      readonly type: 'permission-answered' | 'question-answered';
      readonly requestId: string;
      readonly rejected: boolean;
    }
  | { readonly type: 'compacted' };

export type Signal = SignalBase & SignalBody;

/** Null: nothing that concerns us. */
export function translate(event: unknown): Signal | null {
  const { type, id, properties } = recordOf(event);
  const read = typeof type === 'string' && Object.hasOwn(readers, type) ? readers[type] : undefined;
  if (read === undefined) return null;
  const fields = recordOf(properties);
  const body = read(fields);
  const sessionId = textOf(fields['sessionID']) ?? textOf(recordOf(fields['info'])['id']);
  const eventId = textOf(id);
  if (body === null || sessionId === null || sessionId === '' || eventId === null) return null;
  return { ...body, sessionId: sessionId.slice(0, 200), eventId: eventId.slice(0, 200) };
}

type Reader = (fields: Fields) => SignalBody | null;

const readers: Readonly<Record<string, Reader>> = {
  'session.created': sessionSeen,
  'session.updated': sessionSeen,
  'session.deleted': () => ({ type: 'deleted' }),
  'session.status': statusSeen,
  'session.idle': () => ({ type: 'idle' }),
  'session.error': ({ error }) => ({ type: 'error', error }),
  'session.compacted': () => ({ type: 'compacted' }),
  'message.updated': messageSeen,
  'message.part.updated': partSeen,
  'todo.updated': ({ todos }) => (Array.isArray(todos) ? { type: 'todos', todos: readTodos(todos) } : null),
  'permission.asked': ({ id }) => asked('permission-asked', id),
  'permission.replied': ({ requestID, reply }) =>
    answered('permission-answered', requestID, reply === 'reject'),
  'question.asked': ({ id }) => asked('question-asked', id),
  'question.replied': ({ requestID }) => answered('question-answered', requestID, false),
  'question.rejected': ({ requestID }) => answered('question-answered', requestID, true),
};

export function readSession(value: unknown): SessionInfo | null {
  const info = recordOf(value);
  const id = textOf(info['id']);
  if (id === null || id === '') return null;
  return {
    id,
    parentId: textOf(info['parentID']),
    directory: textOf(info['directory']),
    reverted: typeof info['revert'] === 'object' && info['revert'] !== null,
  };
}

/** A todo without a text keeps its place with an empty one, and is refused by name (T6). */
export function readTodos(value: unknown): readonly HostTodo[] {
  return listOf(value).map((entry) => {
    const { content, status, priority } = recordOf(entry);
    const [statusWord, priorityWord] = [textOf(status), textOf(priority)];
    return {
      content: textOf(content) ?? '',
      ...(statusWord === null ? {} : { status: statusWord }),
      ...(priorityWord === null ? {} : { priority: priorityWord }),
    };
  });
}

function sessionSeen({ info }: Fields): SignalBody | null {
  const session = readSession(info);
  return session === null ? null : { type: 'session', info: session };
}

/** A retry is busy too: the host asks the provider again by itself. The end of it comes as an idle of its own. */
function statusSeen({ status }: Fields): SignalBody | null {
  const type = textOf(recordOf(status)['type']);
  return type === 'busy' || type === 'retry' ? { type: 'busy' } : null;
}

function messageSeen({ info }: Fields): SignalBody | null {
  const message = recordOf(info);
  const messageId = textOf(message['id']);
  if (messageId === null || message['role'] !== 'assistant') return null;
  return {
    type: 'assistant',
    messageId,
    parentId: textOf(message['parentID']),
    finish: textOf(message['finish']),
    error: message['error'] ?? null,
    summary: message['summary'] === true,
  };
}

function partSeen({ part }: Fields): SignalBody | null {
  const fields = recordOf(part);
  const messageId = textOf(fields['messageID']);
  if (messageId === null) return null;
  switch (fields['type']) {
    case 'text':
      return textSeen(fields, messageId);
    case 'tool':
      return toolSeen(fields);
    case 'step-start':
      return { type: 'step-started', messageId };
    case 'step-finish':
      return stepSeen(fields, messageId);
    default:
      return null;
  }
}

/** What the host writes in the human's name before it runs a command that they typed. */
const shellSentence = 'The following tool was executed by the user';

function textSeen(part: Fields, messageId: string): SignalBody | null {
  const text = textOf(part['text']) ?? '';
  if (part['synthetic'] === true) return text === shellSentence ? { type: 'shell', messageId } : null;
  // The text of a human has no times; that of a model has an end when it is whole.
  return typeof recordOf(part['time'])['end'] === 'number' ? { type: 'text', messageId, text } : null;
}

/** The error's first words are all that a continuation quotes. */
const longestError = 2000;

function toolSeen(part: Fields): SignalBody | null {
  const callId = textOf(part['callID']);
  const state = recordOf(part['state']);
  const status = state['status'];
  if (callId === null || (status !== 'running' && status !== 'completed' && status !== 'error')) return null;
  const error = status === 'error' ? (textOf(state['error']) ?? 'The call failed.') : null;
  return {
    type: 'tool',
    callId: callId.slice(0, 200),
    tool: (textOf(part['tool']) ?? 'unknown').slice(0, 200),
    state: status,
    error: error?.slice(0, longestError) ?? null,
  };
}

function stepSeen(part: Fields, messageId: string): SignalBody {
  const tokens = recordOf(part['tokens']);
  const cache = recordOf(tokens['cache']);
  return {
    type: 'step-ended',
    messageId,
    reason: textOf(part['reason']) ?? 'unknown',
    inputTokens: amountOf(tokens['input']) + amountOf(cache['read']) + amountOf(cache['write']),
    outputTokens: amountOf(tokens['output']) + amountOf(tokens['reasoning']),
    cost: amountOf(part['cost']),
  };
}

function asked(type: 'permission-asked' | 'question-asked', id: unknown): SignalBody | null {
  const requestId = textOf(id);
  return requestId === null ? null : { type, requestId: requestId.slice(0, 200) };
}

function answered(
  type: 'permission-answered' | 'question-answered',
  id: unknown,
  rejected: boolean,
): SignalBody | null {
  const requestId = textOf(id);
  return requestId === null ? null : { type, requestId: requestId.slice(0, 200), rejected };
}
