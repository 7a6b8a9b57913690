// `untildone/langchain`: a middleware for agents of LangChain 1 and deepagents. It brings
// the todo tools, or reads the agent's own list, and sends the agent back to the model
// until the session lets it stop. `langchain` and `zod` are the user's own packages.
import {
  type AIMessage,
  type BaseMessage,
  createMiddleware,
  HumanMessage,
  tool,
} from 'langchain';
import { z } from 'zod';
import { UntildoneError } from '../../core/error.ts';
import type { StopEnd } from '../../core/events.ts';
import { assertSession, usageOf } from '../../session/reply.ts';
import type { Session, SessionTool } from '../../session/session.ts';

/** Which todo list is the plan, and whether other tools are watched. */
export interface MiddlewareOptions {
  /**
   * `ours`: our todo tools, the default. `theirs`: the plan is the list of
   * `todoListMiddleware()`, and of our tools the agent only gets list, pause and verify.
   */
  readonly list?: 'ours' | 'theirs';
  /** Reports the calls of all other tools: they tell work from talk. */
  readonly watch?: boolean;
}

/** A row of the agent's own list. */
const listRow = z.object({ content: z.string(), status: z.string() });
type ListRow = z.infer<typeof listRow>;

/**
 * `createAgent({ model, tools, middleware: [untilDone(session)] })`; raise the
 * `recursionLimit` of its calls.
 */
export function untilDone(session: Session, options: MiddlewareOptions = {}) {
  assertSession('untilDone', session);
  const { list, watch } = readOptions(options);
  // Nothing is wrapped here: the middleware itself sees the calls.
  if (watch) session.watch({});
  const { list_todo, todo_pause, todo_verify } = session.tools;
  const tools: Readonly<Record<string, SessionTool>> =
    list === 'ours' ? session.tools : { list_todo, todo_pause, todo_verify };
  const isOurs = (name: string) => Object.hasOwn(session.tools, name);
  let lastList = '[]';

  /**
   * Before the model goes on, so that the plan is on the record whatever happens to the
   * process.
   */
  async function recordList(todos: readonly ListRow[] = []) {
    const now = JSON.stringify(todos);
    if (list === 'ours' || now === lastList) return;
    // Their list has no ids: titles tell todos apart.
    const items = todos.map((todo) => ({ ...todo, freshId: crypto.randomUUID() }));
    await session.tell({ type: 'plan-written', actor: 'agent', items });
    lastList = now;
  }

  return createMiddleware({
    name: 'untildone',
    // Without this schema the hooks would not see the agent's todos.
    stateSchema: z.object({ todos: z.array(listRow).optional() }),
    tools: Object.entries(tools).map(([name, sessionTool]) => toTool(name, sessionTool)),
    async wrapToolCall(request, handler) {
      const { name } = request.toolCall;
      if (!watch || isOurs(name)) return handler(request);
      const access = name === 'write_todos' ? 'todo' : 'unknown';
      await session.tell({ type: 'tool-started', tool: name, access });
      try {
        const result = await handler(request);
        await session.tell({ type: 'tool-ended', tool: name, access });
        return result;
      } catch (error) {
        await session.tell({
          type: 'tool-ended',
          tool: name,
          access,
          error: String(error).slice(0, 500),
        });
        throw error;
      }
    },
    beforeModel: ({ todos }) => recordList(todos),
    async afterModel({ messages }) {
      const usage = answerOf(messages)?.usage_metadata as Tokens | undefined;
      const used = usageOf({
        inputTokens: usage?.input_tokens,
        outputTokens: usage?.output_tokens,
      });
      if (used !== null) await session.tell({ type: 'usage-reported', ...used });
    },
    afterAgent: {
      canJumpTo: ['model'],
      async hook({ messages, todos }) {
        await recordList(todos);
        const answer = answerOf(messages);
        const answerText = answer?.text ?? '';
        const { text } = await session.stop({ text: answerText, ...endOf(answer) });
        return text === null
          ? undefined
          : { messages: [new HumanMessage(text)], jumpTo: 'model' };
      },
    },
  });
}

const optionFields = z.strictObject({
  list: z.enum(['ours', 'theirs']).default('ours'),
  watch: z.boolean().default(false),
});

function readOptions(options: MiddlewareOptions) {
  const read = optionFields.safeParse(options);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new UntildoneError(
    'usage',
    `untilDone: ${[...(issue?.path ?? []), issue?.message].join(': ')}`,
  );
}

function toTool(name: string, { description, inputSchema, execute }: SessionTool) {
  // A copy that holds only the keywords.
  const schema = { ...inputSchema, type: 'object' } as const;
  return tool(async (input: unknown) => JSON.stringify(await execute(input)), {
    name,
    description,
    schema,
  });
}

type Tokens = Readonly<Record<'input_tokens' | 'output_tokens', number>>;

function answerOf(messages: readonly BaseMessage[]): AIMessage | null {
  const last = messages.at(-1);
  return last?.getType() === 'ai' ? (last as AIMessage) : null;
}

/** Why an answer ended, in the words of the providers. */
const ends: Readonly<Record<string, StopEnd>> = {
  length: 'length',
  max_tokens: 'length',
  MAX_TOKENS: 'length',
  content_filter: 'content-filter',
  SAFETY: 'content-filter',
  refusal: 'refusal',
};

function endOf(answer: AIMessage | null): { end?: StopEnd } {
  const { finish_reason, finishReason, stop_reason } = answer?.response_metadata ?? {};
  const end = ends[String(finish_reason ?? finishReason ?? stop_reason)];
  return end === undefined ? {} : { end };
}
