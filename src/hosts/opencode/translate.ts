// The shapes of OpenCode that we rely on, so that its package is never imported, and its events as signals of one
// session. Pure: the same event gives the same signal. Most of what the host tells (every word that streams) is none.
import type { Knowledge, ToolAccess } from '../../core/events.ts';
import type { ListedTodo } from '../../core/reconcile.ts';
import { todoToolsFor } from '../../tools/todo-tools.ts';
import type { Happening } from '../told.ts';
import { amountOf, type Fields, listOf, recordOf, textOf } from '../untrusted.ts';

/** A call of the host's own interface. It gives `error` instead of throwing, and may throw when the host goes down. */
export type ClientAnswer = Promise<{ readonly data?: unknown; readonly error?: unknown }>;
type SessionCall<More = object> = (
  request: { readonly path: { readonly id: string } } & More,
) => ClientAnswer;

export interface PromptBodyLike {
  readonly messageID?: string;
  readonly agent?: string;
  readonly model?: { readonly providerID: string; readonly modelID: string };
  readonly variant?: string;
  readonly noReply?: boolean;
  readonly parts: {
    readonly id?: string;
    readonly type: 'text';
    readonly text: string;
    readonly synthetic?: boolean;
    readonly ignored?: boolean;
    readonly metadata?: Record<string, unknown>;
  }[];
}

export interface ClientLike {
  readonly session: {
    readonly get: SessionCall;
    readonly todo: SessionCall;
    readonly messages: SessionCall<{ readonly query?: { readonly limit?: number } }>;
    readonly status: () => ClientAnswer;
    readonly prompt: SessionCall<{ readonly body: PromptBodyLike }>;
    readonly promptAsync: SessionCall<{ readonly body: PromptBodyLike }>;
    readonly abort: SessionCall;
  };
  readonly app: { readonly agents: () => ClientAnswer };
  readonly tui: { readonly showToast: (request: { readonly body: ToastLike }) => ClientAnswer };
}

type ToastLike = {
  readonly title?: string;
  readonly message: string;
  readonly variant: 'info' | 'success' | 'warning' | 'error';
  readonly duration?: number;
};

/** The host takes JSON Schema for each argument where it finds no schema object of its own library. */
export interface ToolDefinitionLike {
  readonly description: string;
  // biome-ignore lint/suspicious/noExplicitAny: the host's type wants its own schema objects here, and takes plain ones
  readonly args: any;
  readonly execute: (
    // biome-ignore lint/suspicious/noExplicitAny: what the model sends is checked by the tool itself
    args: any,
    context: { readonly sessionID: string; readonly abort: { readonly aborted: boolean } },
  ) => Promise<string>;
}

/** The host's settings, as far as they are read or extended. */
export interface ConfigLike {
  command?: Record<string, { template: string; description?: string }>;
}

type Hook<Input, Output> = (input: Readonly<Input>, output: Output) => Promise<void>;

export interface HooksLike {
  dispose?: () => Promise<void>;
  event?: (input: { readonly event: unknown }) => Promise<void>;
  config?: (config: ConfigLike) => Promise<void>;
  tool?: Record<string, ToolDefinitionLike>;
  'chat.message'?: Hook<
    { sessionID: string },
    { readonly message: unknown; readonly parts: readonly unknown[] }
  >;
  'command.execute.before'?: Hook<{ command: string; sessionID: string; arguments: string }, unknown>;
  'tool.execute.after'?: Hook<{ tool: string; sessionID: string; callID: string }, { output: string }>;
  'tool.definition'?: Hook<{ toolID: string }, object>;
  'experimental.chat.messages.transform'?: Hook<object, { readonly messages: readonly unknown[] }>;
  'experimental.session.compacting'?: Hook<{ sessionID: string }, { readonly context: string[] }>;
  'experimental.text.complete'?: Hook<{ sessionID: string; messageID: string }, { readonly text: string }>;
}

/** What the host hands to a plugin; `directory` is the folder that this instance of the host works in. */
export interface PluginInputLike {
  readonly client: ClientLike;
  readonly directory: string;
}
export type PluginLike = (input: PluginInputLike) => Promise<HooksLike>;

export type SessionInfo = NonNullable<ReturnType<typeof readSession>>;

/** `eventId`: the host's, unique. */
export type Signal = { readonly sessionId: string; readonly eventId: string } & NonNullable<
  ReturnType<(typeof readers)[keyof typeof readers]>
>;
export type SignalOf<Type extends Signal['type']> = Extract<Signal, { type: Type }>;

/** Null: nothing that concerns us. */
export function translate(event: unknown): Signal | null {
  const { type, id, properties } = recordOf(event);
  if (typeof type !== 'string' || !Object.hasOwn(readers, type)) return null;
  const fields = recordOf(properties);
  const body = readers[type as keyof typeof readers](fields);
  const sessionId = textOf(fields['sessionID']) ?? textOf(recordOf(fields['info'])['id']);
  const eventId = textOf(id);
  if (body === null || sessionId === null || sessionId === '' || eventId === null) return null;
  return { ...body, sessionId: sessionId.slice(0, 200), eventId: eventId.slice(0, 200) };
}

const readers = {
  'session.created': sessionSeen,
  'session.updated': sessionSeen,
  'session.deleted': () => happened({ type: 'session-deleted' }),
  // A retry is busy too: the host asks the provider again by itself. The end of it comes as an idle of its own.
  'session.status': ({ status }: Fields) =>
    ['busy', 'retry'].includes(String(recordOf(status)['type'])) ? ({ type: 'busy' } as const) : null,
  'session.idle': () => ({ type: 'idle' }) as const,
  'session.error': ({ error }: Fields) => ({ type: 'error', error }) as const,
  'session.compacted': () => happened({ type: 'wait-ended', wait: { kind: 'compaction', shrunk: true } }),
  'message.updated': messageSeen,
  'message.part.updated': partSeen,
  'todo.updated': ({ todos }: Fields) =>
    Array.isArray(todos) ? ({ type: 'todos', todos: readTodos(todos) } as const) : null,
  'permission.asked': ({ id }: Fields) => asked('permission', id),
  'permission.replied': ({ requestID, reply }: Fields) =>
    answered(requestID, { kind: 'permission', granted: reply !== 'reject' }),
  'question.asked': ({ id }: Fields) => asked('question', id),
  'question.replied': ({ requestID }: Fields) => answered(requestID, { kind: 'question', rejected: false }),
  'question.rejected': ({ requestID }: Fields) => answered(requestID, { kind: 'question', rejected: true }),
};

/** Told to the engine as it is. `about`: what makes it this one; null: the host's event. */
function happened(happening: Happening, about: string | null = null) {
  return { type: 'happened', happening, about } as const;
}

function asked(kind: 'permission' | 'question', id: unknown) {
  const requestId = textOf(id)?.slice(0, 200);
  if (requestId === undefined) return null;
  return happened({ type: 'wait-started', wait: { kind, requestId } }, `${kind}/${requestId}`);
}

type Answer = { kind: 'permission'; granted: boolean } | { kind: 'question'; rejected: boolean };

function answered(id: unknown, answer: Answer) {
  const requestId = textOf(id)?.slice(0, 200);
  if (requestId === undefined) return null;
  return happened({ type: 'wait-ended', wait: { ...answer, requestId } }, `${answer.kind}/${requestId}`);
}

/** `reverted`: the human went back to an earlier message. */
export function readSession(value: unknown) {
  const { id, parentID, revert } = recordOf(value);
  if (typeof id !== 'string' || id === '') return null;
  return { id, parentId: textOf(parentID), reverted: typeof revert === 'object' && revert !== null };
}

/** A todo without a text keeps its place with an empty one, and is refused by name (T6). */
export function readTodos(value: readonly unknown[]): readonly ListedTodo[] {
  return value.map(recordOf).map(({ content, status, priority }) => ({
    ...{ key: null, title: textOf(content) ?? '', status: textOf(status) ?? 'pending' },
    priority: textOf(priority) ?? undefined,
  }));
}

function sessionSeen({ info }: Fields) {
  const session = readSession(info);
  return session === null ? null : ({ type: 'session', info: session } as const);
}

/** An assistant message began or changed; one per step of the model. `summary`: what a compaction writes. */
function messageSeen({ info }: Fields) {
  const { id, role, parentID, finish, error = null, summary } = recordOf(info);
  if (typeof id !== 'string' || role !== 'assistant') return null;
  const about = { parentId: textOf(parentID), finish: textOf(finish), summary: summary === true, error };
  return { type: 'assistant', messageId: id, ...about } as const;
}

/** What the host writes in the human's name before it runs a command that they typed. */
const shellSentence = 'The following tool was executed by the user';
/** The error's first words are all that a continuation quotes. */
const longestError = 2000;

function partSeen({ part }: Fields) {
  const fields = recordOf(part);
  const messageId = textOf(fields['messageID']);
  if (messageId === null) return null;
  const text = textOf(fields['text']) ?? '';
  // The text of a human has no times; that of a model has an end when it is whole.
  const isWhole = typeof recordOf(fields['time'])['end'] === 'number';
  switch (fields['type']) {
    case 'text':
      if (fields['synthetic'] !== true) return isWhole ? ({ type: 'text', messageId, text } as const) : null;
      return text === shellSentence ? ({ type: 'shell', messageId } as const) : null;
    case 'tool':
      return toolSeen(fields);
    case 'step-start':
      // The model answers: the request has reached it.
      return { type: 'step-started', messageId } as const;
    case 'step-finish': {
      const reason = textOf(fields['reason']) ?? 'unknown';
      return { type: 'step-ended', messageId, reason, usage: usageOf(fields) } as const;
    }
    default:
      return null;
  }
}

function toolSeen(part: Fields) {
  const callId = textOf(part['callID'])?.slice(0, 200);
  const state = recordOf(part['state']);
  const status = (['running', 'completed', 'error'] as const).find((known) => known === state['status']);
  if (callId === undefined || status === undefined) return null;
  const tool = (textOf(part['tool']) ?? 'unknown').slice(0, 200);
  const call = { tool, access: accessOf.get(tool) ?? 'unknown' } as const;
  const said = (textOf(state['error']) ?? 'The call failed.').slice(0, longestError);
  return { type: 'tool', callId, call, state: status, error: status === 'error' ? said : null } as const;
}

function usageOf(part: Fields) {
  const tokens = recordOf(part['tokens']);
  const cache = recordOf(tokens['cache']);
  return {
    type: 'usage-reported',
    inputTokens: amountOf(tokens['input']) + amountOf(cache['read']) + amountOf(cache['write']),
    outputTokens: amountOf(tokens['output']) + amountOf(tokens['reasoning']),
    cost: amountOf(part['cost']),
    // The host watches the context and compacts by itself; what counts here is what was spent.
    ...{ contextTokens: null, contextLimit: null },
  } as const;
}

export const hostTodoTool = 'todowrite';

/**
 * What each tool can do to the workspace. A name that is not here may write: work that is not seen would make an honest
 * agent look idle, and that mistake is the worse one.
 */
const tools: Readonly<Record<'read' | 'write' | 'todo', readonly string[]>> = {
  read: ['read', 'glob', 'grep', 'list', 'lsp', 'webfetch', 'websearch', 'skill', 'question', 'invalid'],
  write: ['edit', 'write', 'patch', 'apply_patch'],
  todo: [hostTodoTool, 'todoread', ...todoToolsFor('agent').map(({ name }) => name)],
};
const accessOf: ReadonlyMap<string, ToolAccess> = new Map(
  (['read', 'write', 'todo'] as const).flatMap((access) =>
    tools[access].map((name) => [name, access] as const),
  ),
);

/** A file like any other: rules for single places do not make an agent a writer. */
const anyFile = 'src/some-file.txt';

/**
 * May an agent change files? By its permissions, an ordered list in which the last match wins (G4, P26). `edit` is what
 * the host asks before every tool that changes a file; a shell alone does not make a writer. What cannot be read is
 * unknown, and whoever is unknown is never continued.
 */
export function canEdit(permissions: unknown): Knowledge {
  const rules = listOf(permissions).map(recordOf);
  const last = rules.findLast(
    ({ permission, pattern }) => matches(permission, 'edit') && matches(pattern, anyFile),
  );
  if (last?.['action'] === 'allow' || last?.['action'] === 'ask') return 'yes';
  return last?.['action'] === 'deny' ? 'no' : 'unknown';
}

/** `*` stands for any text and `?` for one character, as in the host. */
function matches(pattern: unknown, text: string): boolean {
  // Longer than any honest rule: what a hostile one would cost is not paid.
  if (typeof pattern !== 'string' || pattern.length > 200) return false;
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/gu, '\\$&');
  return new RegExp(`^${escaped.replace(/\*+/gu, '.*').replace(/\?/gu, '.')}$`, 'su').test(text);
}

export type HostMessage = NonNullable<ReturnType<typeof readMessage>>;

const humanParts: ReadonlySet<unknown> = new Set(['text', 'file', 'agent', 'subtask']);

/**
 * A message that the host is about to keep; null: it cannot be read. Only what a person typed or attached is a human's
 * (G4); hosts and plugins put messages of their own into a session, whose text is null.
 */
export function readMessage(message: unknown, parts: readonly unknown[]) {
  const info = recordOf(message);
  const id = textOf(info['id']);
  if (id === null) return null;
  const { providerID, modelID, variant } = recordOf(info['model']);
  const isNamed = typeof providerID === 'string' && typeof modelID === 'string';
  const said = parts
    .map(recordOf)
    .filter(({ type, synthetic, ignored }) => humanParts.has(type) && synthetic !== true && ignored !== true);
  const text = said.length === 0 ? null : said.map((part) => textOf(part['text']) ?? '').join('\n');
  const model = isNamed ? `${providerID}/${modelID}` : null;
  const agent = { name: textOf(info['agent']), model, variant: textOf(variant) ?? textOf(info['variant']) };
  return { id, text, agent };
}

/** As the host wants it back; the name of a model may hold slashes, that of a provider does not. */
export function splitModel(model: string | null): { providerID: string; modelID: string } | null {
  const cut = model?.indexOf('/') ?? -1;
  if (model === null || cut < 1 || cut === model.length - 1) return null;
  return { providerID: model.slice(0, cut), modelID: model.slice(cut + 1) };
}
