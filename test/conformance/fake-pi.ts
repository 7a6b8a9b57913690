// pi without a process: loads an extension, keeps one session, and tells what happens in
// the order and the shapes that were recorded from the real one. It has no model: whoever
// drives it says what it does.
import type {
  ContextLike,
  ExtensionLike,
  ToolLike,
} from '../../src/hosts/pi/translate.ts';

type Fields = Readonly<Record<string, unknown>>;
type Handler = (event: unknown, context: ContextLike) => unknown;

export interface FakePiOptions {
  readonly id: string;
  readonly directory: string;
  readonly now: () => number;
  /** Default: those that pi has switched on. */
  readonly tools?: readonly string[];
  /** `pi -p`: it leaves after the answer. */
  readonly headless?: boolean;
}

export type FakePi = Awaited<ReturnType<typeof startFakePi>>;

const usage = {
  input: 10,
  output: 5,
  cacheRead: 2,
  cacheWrite: 1,
  totalTokens: 18,
  cost: { total: 0 },
};

export async function startFakePi(extension: ExtensionLike, options: FakePiOptions) {
  const { id, directory, now, headless = false } = options;
  const handlers = new Map<string, Handler[]>();
  const tools = new Map<string, ToolLike>();
  const commands = new Map<
    string,
    (words: string, context: ContextLike) => Promise<void>
  >();
  const entries: Fields[] = [];
  const queue: { text: string; isOurs: boolean }[] = [];
  const notices: string[] = [];
  const keys: ((data: string) => undefined)[] = [];
  /** Texts of the extension, in the order in which the model got them. */
  const injected: string[] = [];
  let status: string | undefined;
  let isRunning = false;
  let count = 0;
  let sending: Promise<unknown> = Promise.resolve();

  const context: ContextLike = {
    cwd: directory,
    hasUI: !headless,
    model: { provider: 'scripted', id: 'first' },
    isIdle: () => !isRunning,
    hasPendingMessages: () => queue.length > 0,
    sessionManager: { getSessionId: () => id, getBranch: () => entries },
    ui: {
      notify: (message) => void notices.push(message),
      setStatus(_key, text) {
        status = text;
      },
      onTerminalInput(handler) {
        keys.push(handler);
        return () => {};
      },
    },
  };

  /** Handlers one after the other, as pi does; the last answer counts. */
  async function tells(type: string, fields: Fields = {}): Promise<unknown> {
    let answer: unknown;
    for (const handler of handlers.get(type) ?? [])
      answer = (await handler({ type, ...fields }, context)) ?? answer;
    return answer;
  }

  async function message(fields: Fields): Promise<Fields> {
    const whole = { ...fields, timestamp: now() };
    await tells('message_start', { message: whole });
    await tells('message_end', { message: whole });
    const timestamp = new Date(now()).toISOString();
    entries.push({
      type: 'message',
      id: `entry-${entries.length}`,
      timestamp,
      message: whole,
    });
    return whole;
  }
  const user = (text: string) =>
    message({ role: 'user', content: [{ type: 'text', text }] });

  /** A text that arrives while nothing runs begins a run. */
  async function prompt(
    text: string,
    source: 'interactive' | 'extension',
  ): Promise<void> {
    await tells('input', { text, source });
    const isOurs = source === 'extension';
    if (isRunning) return void queue.push({ text, isOurs });
    isRunning = true;
    const added = (await tells('before_agent_start', { prompt: text })) as
      | { message?: Fields }
      | undefined;
    await tells('agent_start');
    await tells('turn_start');
    await user(text);
    if (added?.message) await message({ role: 'custom', ...added.message });
    if (isOurs) injected.push(text);
  }

  async function settles(): Promise<void> {
    await tells('agent_end', { messages: [] });
    isRunning = false;
    await tells('agent_settled');
  }

  /** The step ends: with what is queued it goes on, else the run is over. */
  async function endTurn(assistant: Fields): Promise<void> {
    const whole = await message({ role: 'assistant', usage, ...assistant });
    await tells('turn_end', { message: whole, toolResults: [] });
    if (assistant['stopReason'] === 'aborted') queue.splice(0);
    const next = queue.shift();
    if (next === undefined) return settles();
    await tells('turn_start');
    await user(next.text);
    if (next.isOurs) injected.push(next.text);
  }

  async function calls(toolName: string, input: Fields = {}): Promise<string> {
    count += 1;
    const toolCallId = `call_${count}`;
    const call = { type: 'toolCall', id: toolCallId, name: toolName, arguments: input };
    const assistant = await message({
      role: 'assistant',
      content: [call],
      stopReason: 'toolUse',
      usage,
    });
    await tells('tool_execution_start', { toolCallId, toolName, args: input });
    let text = 'done';
    let isError = false;
    try {
      const result = await tools.get(toolName)?.execute(toolCallId, input);
      text = result?.content[0]?.text ?? text;
    } catch (error) {
      [text, isError] = [(error as Error).message, true];
    }
    const content = [{ type: 'text', text }];
    await tells('tool_execution_end', {
      toolCallId,
      toolName,
      result: { content },
      isError,
    });
    await tells('turn_end', {
      message: assistant,
      toolResults: [{ role: 'toolResult', content }],
    });
    await tells('turn_start');
    return text;
  }

  extension({
    on: (name: string, handler) =>
      void handlers.set(name, [...(handlers.get(name) ?? []), handler]),
    registerTool: (tool) => void tools.set(tool.name, tool),
    registerCommand: (name, { handler }) => void commands.set(name, handler),
    getCommands: () => [...commands.keys()].map((name) => ({ name })),
    getActiveTools: () => [
      ...(options.tools ?? ['read', 'bash', 'edit', 'write']),
      ...tools.keys(),
    ],
    sendUserMessage(text) {
      sending = prompt(text, 'extension');
    },
  });
  await tells('session_start', { reason: 'startup' });

  return {
    tells,
    calls,
    injected,
    notices,
    entries,
    tools: [...tools.keys()],
    context,
    says: (text: string) => prompt(text, 'interactive'),
    answers: (text: string) =>
      endTurn({ content: [{ type: 'text', text }], stopReason: 'stop' }),
    fails: (errorMessage: string) =>
      endTurn({ content: [], stopReason: 'error', errorMessage }),
    aborts: () =>
      endTurn({
        content: [],
        stopReason: 'aborted',
        errorMessage: 'Request was aborted',
      }),
    endsWith: (stopReason: string, text = '') =>
      endTurn({ content: [{ type: 'text', text }], stopReason }),
    status: () => status,
    presses(key: string) {
      for (const handler of keys) handler(key);
    },
    types: async (command: string, words = '') => commands.get(command)?.(words, context),
    /** What the extension sent is in the conversation. */
    sent: () => sending,
    isRunning: () => isRunning,
    leaves: () => tells('session_shutdown', { reason: 'quit' }),
  };
}
