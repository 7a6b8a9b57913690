// The shapes of OpenCode that we rely on, so that its package is never imported, and what
// they mean in our words. Pure.
import { todoToolsFor } from '../../tools/todo-tools.ts';
import { usageReported } from '../told.ts';
import { type Fields, listOf, readTodo, recordOf, textOf } from '../untrusted.ts';

/** A call may still throw when the host goes down. */
export type ClientAnswer = Promise<{ data?: unknown; error?: unknown }>;
type SessionCall<More = object> = (call: { path: { id: string } } & More) => ClientAnswer;

interface TextPartLike extends Partial<Record<'synthetic' | 'ignored', boolean>> {
  id?: string;
  type: 'text';
  text: string;
  metadata?: Record<string, unknown>;
}
export interface PromptBodyLike
  extends Partial<Record<'messageID' | 'agent' | 'variant', string>> {
  model?: { providerID: string; modelID: string };
  noReply?: boolean;
  parts: TextPartLike[];
}
type ToastLike = {
  title: string;
  message: string;
  variant: 'info' | 'warning';
  duration: number;
};

/** As much of OpenCode's client as is used. */
export interface ClientLike {
  session: Record<'get' | 'todo' | 'abort', SessionCall> &
    Record<'prompt' | 'promptAsync', SessionCall<{ body: PromptBodyLike }>> & {
      messages: SessionCall<{ query?: { limit?: number } }>;
      status: () => ClientAnswer;
    };
  app: { agents: () => ClientAnswer };
  tui: { showToast: (request: { body: ToastLike }) => ClientAnswer };
}

export interface ToolDefinitionLike {
  description: string;
  /** The host takes JSON Schema beside schemas of its own library. */
  args: never;
  execute(input: unknown, context: { sessionID: string }): Promise<string>;
}
export type ConfigLike = {
  command?: Record<string, { template: string; description?: string }>;
};

type Hook<Input, Output> = (input: Input, output: Output) => Promise<void>;
type OfSession<More = object> = { sessionID: string } & More;

/** The hooks that the plugin answers. */
export interface HooksLike {
  dispose?: () => Promise<void>;
  event?: (input: { event: unknown }) => Promise<void>;
  config?: (config: ConfigLike) => Promise<void>;
  tool?: Record<string, ToolDefinitionLike>;
  'chat.message'?: Hook<OfSession, { message: unknown; parts: unknown[] }>;
  'command.execute.before'?: Hook<
    OfSession<{ command: string; arguments: string }>,
    unknown
  >;
  'shell.env'?: Hook<{ sessionID?: string }, { env: Record<string, string> }>;
  'tool.execute.after'?: Hook<
    OfSession<{ tool: string; callID: string }>,
    { output: string }
  >;
  'tool.definition'?: Hook<{ toolID: string }, object>;
  'experimental.chat.messages.transform'?: Hook<object, { messages: readonly unknown[] }>;
  'experimental.session.compacting'?: Hook<OfSession, { context: string[] }>;
  'experimental.text.complete'?: Hook<OfSession<{ messageID: string }>, { text: string }>;
}

/** As much as is used of what OpenCode hands to a plugin. */
export type PluginInputLike = { client: ClientLike; directory: string };
/** A plugin of OpenCode. */
export type PluginLike = (input: PluginInputLike) => Promise<HooksLike>;

/** An id, cut to a length that ids of the record may have. */
export const idOf = (value: unknown): string | null =>
  textOf(value)?.slice(0, 200) ?? null;

/** Reads a session; null: it has no id. `reverted`: the human took messages back. */
export function readSession(value: unknown) {
  const { id, parentID, revert } = recordOf(value);
  if (typeof id !== 'string' || id === '') return null;
  return {
    id,
    parentId: textOf(parentID),
    reverted: typeof revert === 'object' && revert !== null,
  };
}

export const readTodos = (value: readonly unknown[]) =>
  value.map((one) => readTodo(one, null));

/**
 * Reads a message of the model: there is one for each step. `summary`: the step is a
 * compaction.
 */
export function readStep(value: unknown) {
  const {
    id: messageId,
    role,
    parentID,
    finish,
    error = null,
    summary,
  } = recordOf(value);
  if (typeof messageId !== 'string' || role !== 'assistant') return null;
  return {
    messageId,
    parentId: textOf(parentID),
    finish: textOf(finish),
    error,
    summary: summary === true,
  };
}

/** Reads a tool call that runs or is over; null: it has not begun. */
export function readCall(part: Fields) {
  const callId = idOf(part['callID']);
  const { status, error } = recordOf(part['state']);
  if (callId === null || !['running', 'completed', 'error'].includes(String(status)))
    return null;
  const tool = idOf(part['tool']) ?? 'unknown';
  const access =
    (['read', 'write', 'todo'] as const).find((one) => tools[one].includes(tool)) ??
    'unknown';
  const call = { tool, access } as const;
  const message = (textOf(error) ?? 'The call failed.').slice(0, 2000);
  return {
    callId,
    call,
    isOver: status !== 'running',
    error: status === 'error' ? message : null,
  };
}

/** The tokens and the cost of a step. */
export function usageOf({ tokens, cost }: Fields) {
  const { input, output, reasoning, cache } = recordOf(tokens);
  const { read, write } = recordOf(cache);
  return usageReported([input, read, write], [output, reasoning], cost);
}

export const hostTodoTool = 'todowrite';
/**
 * Whether settings, or those of an agent, switch the todo tool on; a permission wins over
 * `tools`. Null: they do not say.
 */
export function isTodoToolOn({ permission, tools }: Fields): boolean | null {
  const rule =
    typeof permission === 'string' ? permission : recordOf(permission)[hostTodoTool];
  const permitted = recordOf(rule)['*'] ?? rule;
  if (permitted === 'deny') return false;
  if (permitted === 'allow' || permitted === 'ask') return true;
  const tool = recordOf(tools)[hostTodoTool];
  return typeof tool === 'boolean' ? tool : null;
}
/**
 * A tool that is not named here may write: work that we overlook would make an honest
 * agent look idle.
 */
const tools = {
  read: [
    'read',
    'glob',
    'grep',
    'list',
    'lsp',
    'webfetch',
    'websearch',
    'skill',
    'question',
    'invalid',
  ],
  write: ['edit', 'write', 'patch', 'apply_patch'],
  todo: [hostTodoTool, 'todoread', ...todoToolsFor('agent').map(({ name }) => name)],
};

/**
 * A file that only general rules match: rules for single folders do not make an agent a
 * writer.
 */
const anyFile = 'src/some-file.txt';
/**
 * Whether an agent may edit files: the last rule that matches wins (G4, P26). `edit`
 * stands for every tool that writes; a shell alone makes no writer.
 */
export function canEdit(permissions: unknown) {
  const last = listOf(permissions)
    .map(recordOf)
    .findLast(
      ({ permission, pattern }) =>
        matches(permission, 'edit') && matches(pattern, anyFile),
    );
  if (last?.['action'] === 'allow' || last?.['action'] === 'ask') return 'yes';
  return last?.['action'] === 'deny' ? 'no' : 'unknown';
}

/** Matches a pattern with `*` and `?` as the host does. */
function matches(pattern: unknown, text: string): boolean {
  // Longer than any honest rule.
  if (typeof pattern !== 'string' || pattern.length > 200) return false;
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/gu, '\\$&');
  return new RegExp(
    `^${escaped.replace(/\*+/gu, '.*').replace(/\?/gu, '.')}$`,
    'su',
  ).test(text);
}

const humanParts = new Set<unknown>(['text', 'file', 'agent', 'subtask']);
/**
 * Reads a message of a user. Its text is null if only the host or plugins wrote it (G4).
 */
export function readMessage(message: unknown, parts: readonly unknown[]) {
  const { id, agent, model, variant: messageVariant } = recordOf(message);
  if (typeof id !== 'string') return null;
  const { providerID, modelID, variant } = recordOf(model);
  const isNamed = typeof providerID === 'string' && typeof modelID === 'string';
  const typed = parts
    .map(recordOf)
    .filter(
      ({ type, synthetic, ignored }) =>
        humanParts.has(type) && synthetic !== true && ignored !== true,
    );
  const text =
    typed.length === 0
      ? null
      : typed.map((part) => textOf(part['text']) ?? '').join('\n');
  const named = {
    name: textOf(agent),
    model: isNamed ? `${providerID}/${modelID}` : null,
  };
  return {
    id,
    text,
    agent: { ...named, variant: textOf(variant) ?? textOf(messageVariant) },
  };
}

/** Splits the name of a model, which may itself hold slashes, from its provider. */
export function splitModel(
  model: string | null,
): { providerID: string; modelID: string } | null {
  const [, providerID, modelID] = /^([^/]+)\/(.+)$/su.exec(model ?? '') ?? [];
  return providerID === undefined || modelID === undefined
    ? null
    : { providerID, modelID };
}
