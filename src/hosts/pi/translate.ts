// The shapes of pi that we rely on, so that its package is never imported, and what they
// mean in our words. Pure.
import { endsInQuestion } from '../../core/safe-text.ts';
import { todoToolsFor } from '../../tools/todo-tools.ts';
import { usageReported } from '../told.ts';
import { listOf, readHostError, recordOf, textOf } from '../untrusted.ts';

/** As much as is used of what pi hands to every handler. */
export interface ContextLike {
  cwd: string;
  /** False if pi exits after the answer: print and JSON mode. */
  hasUI: boolean;
  isIdle(): boolean;
  hasPendingMessages(): boolean;
  model: { provider: string; id: string } | undefined;
  sessionManager: { getSessionId(): string; getBranch(): readonly unknown[] };
  ui: {
    notify(message: string, type?: 'info' | 'warning'): void;
    setStatus(key: string, text: string | undefined): void;
    /** Reports every key; only in a terminal. */
    onTerminalInput(handler: (data: string) => undefined): () => void;
  };
}

type TextLike = { type: 'text'; text: string };
type Command = (words: string, context: ContextLike) => Promise<void>;

export interface ToolLike extends Record<'name' | 'label' | 'description', string> {
  /** pi takes JSON Schema beside schemas of its own library. */
  parameters: never;
  executionMode: 'sequential';
  execute(
    callId: string,
    input: unknown,
  ): Promise<{ content: TextLike[]; details: undefined }>;
}

/** As much of pi's API for extensions as is used. */
export interface PiLike {
  on(event: never, handler: (event: unknown, context: ContextLike) => unknown): unknown;
  registerTool(tool: ToolLike): void;
  registerCommand(name: string, command: { description: string; handler: Command }): void;
  getCommands(): readonly { name: string }[];
  getActiveTools(): readonly string[];
  sendUserMessage(text: string, options: { deliverAs: 'followUp' }): void;
}
/** An extension of pi. */
export type ExtensionLike = (pi: PiLike) => void;

const ours: readonly string[] = todoToolsFor('agent').map(({ name }) => name);
const reads = ['read', 'grep', 'find', 'ls'];
const writes = ['edit', 'write'];
/**
 * A tool that is not named here may write: work that we overlook would make an honest
 * agent look idle.
 */
function accessOf(tool: string) {
  if (ours.includes(tool)) return 'todo';
  if (reads.includes(tool)) return 'read';
  return writes.includes(tool) ? 'write' : 'unknown';
}

/**
 * Which of our tools the agent has, and whether it can write. An agent that was started
 * with tools that only read shall not touch files (P26).
 */
export function describeTools(active: readonly string[]) {
  const nameOf = (name: string) => (active.includes(name) ? name : null);
  const isReader = active.every(
    (name) => accessOf(name) === 'read' || accessOf(name) === 'todo',
  );
  const tools = { pause: nameOf('todo_pause'), verify: nameOf('todo_verify') };
  return { tools, canWrite: isReader ? 'no' : 'yes' } as const;
}

/**
 * The human's own words. Null: an extension (such as ours) sends them (E6), or there is
 * no text.
 */
export function readInput(event: unknown): string | null {
  const { text, source } = recordOf(event);
  return source === 'interactive' || source === 'rpc' ? textOf(text) : null;
}

/**
 * Reads an event of a tool call; null: it names none. `error`: in the words that the
 * model reads.
 */
export function readCall(event: unknown) {
  const { toolCallId, toolName, result, isError } = recordOf(event);
  const callId = textOf(toolCallId);
  if (callId === null) return null;
  const tool = textOf(toolName)?.slice(0, 200) || 'unknown';
  const message =
    textsIn(recordOf(result)['content']).slice(0, 2000) || 'The call failed.';
  return {
    callId,
    call: { tool, access: accessOf(tool) },
    error: isError === true ? message : null,
  } as const;
}

/**
 * Reads a message of the model or the human, from an event or from an entry of the
 * session; null: it is neither.
 */
export function readMessage(value: unknown) {
  const { role, content } = recordOf(value);
  if (role !== 'user' && role !== 'assistant') return null;
  return { role, text: textOf(content) ?? textsIn(content) } as const;
}

/**
 * Whether the model answered this text, which was recorded since then.
 * @param entries of the session, oldest first
 */
export function isAnswered(
  entries: readonly unknown[],
  text: string,
  since: number,
): boolean {
  const known = entries.map(recordOf).map(({ message, timestamp }) => {
    return { ...readMessage(message), at: Date.parse(textOf(timestamp) ?? '') };
  });
  const ours = known.findLastIndex(
    (one) => one.role === 'user' && one.text === text && one.at >= since,
  );
  return ours >= 0 && known.slice(ours).some(({ role }) => role === 'assistant');
}

function textsIn(content: unknown): string {
  return listOf(content)
    .map((part) => textOf(recordOf(part)['text']) ?? '')
    .join('\n');
}

/**
 * Reads a step of the model with its calls. `goesOn`: pi asks the model again by itself.
 */
export function readTurn(event: unknown, at: number) {
  const { message } = recordOf(event);
  const { content, stopReason, errorMessage, usage } = recordOf(message);
  const text = readMessage(message)?.text ?? '';
  const failed =
    stopReason === 'error' ? (textOf(errorMessage) ?? 'an error without a word') : null;
  const endOf = () => {
    if (failed !== null)
      return /content.?filter|refusal/i.test(failed) ? 'content-filter' : 'error';
    if (stopReason === 'aborted') return 'cancelled';
    if (stopReason === 'length') return 'length';
    return text.trim() === '' ? 'empty' : 'normal';
  };
  const end = endOf();
  const hasCalls = listOf(content).some((part) => recordOf(part)['type'] === 'toolCall');
  const goesOn = hasCalls && failed === null && end !== 'cancelled';
  const error = failed === null ? null : readHostError({ message: failed }, at);
  return {
    end,
    goesOn,
    question: endsInQuestion(text),
    error,
    usage: usageOf(usage),
  } as const;
}

function usageOf(usage: unknown) {
  const { input, output, cacheRead, cacheWrite, cost } = recordOf(usage);
  return usageReported([input, cacheRead, cacheWrite], [output], recordOf(cost)['total']);
}

/**
 * Puts the plan behind the last summary: always at the same place, so that the model's
 * cache stays valid (P23). Undefined: there is no summary.
 */
export function withPlan(value: unknown, content: string, timestamp: number) {
  const messages = listOf(value);
  const summary = messages.findLastIndex(
    (one) => recordOf(one)['role'] === 'compactionSummary',
  );
  const note = {
    role: 'custom',
    customType: 'untildone',
    content,
    display: false,
    timestamp,
  };
  return summary < 0 ? undefined : { messages: messages.toSpliced(summary + 1, 0, note) };
}

/** Whether a key is Escape alone, as terminals send it. */
export const isEscape = (data: string): boolean =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is the key
  /^\u001b(\[27(;1)?(:1)?u)?$/.test(data);
