// `untildone/langchain`: a middleware for agents of LangChain 1 and deepagents that
// brings the todo tools, or reads the list of theirs, and sends the agent back to the
// model until the session lets it stop. `langchain` and `zod` are the user's own.
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

/** Whose todo list it is, and whether other tools are seen. */
export interface MiddlewareOptions {
  /**
   * `theirs`: the plan is the list of `todoListMiddleware()`, and of our tools only list,
   * pause and verify are given.
   */
  readonly list?: 'ours' | 'theirs';
  /** Makes the calls of all other tools seen: work is told from talk by them. */
  readonly watch?: boolean;
}

/** A row of their list. */
const written = z.object({ content: z.string(), status: z.string() });
type Written = z.infer<typeof written>;

/**
 * `createAgent({ model, tools, middleware: [untilDone(session)] })`; raise the
 * `recursionLimit` of its calls.
 */
export function untilDone(session: Session, options: MiddlewareOptions = {}) {
  assertSession('untilDone', session);
  const { list, watch } = readOptions(options);
  // Nothing to wrap here: the middleware itself sees the calls.
  if (watch) session.watch({});
  const { list_todo, todo_pause, todo_verify } = session.tools;
  const given: Readonly<Record<string, SessionTool>> =
    list === 'ours' ? session.tools : { list_todo, todo_pause, todo_verify };
  const isOurs = (name: string) => Object.hasOwn(session.tools, name);
  let known = '[]';

  /**
   * Before the model goes on: what was planned is on the record, whatever happens to the
   * process.
   */
  async function seeList(todos: readonly Written[] = []) {
    const now = JSON.stringify(todos);
    if (list === 'ours' || now === known) return;
    // Their list has no ids: titles tell todos apart.
    const items = todos.map((todo) => ({ ...todo, freshId: crypto.randomUUID() }));
    await session.tell({ type: 'plan-written', actor: 'agent', items });
    known = now;
  }

  return createMiddleware({
    name: 'untildone',
    // Without it the hooks would not see their todos.
    stateSchema: z.object({ todos: z.array(written).optional() }),
    tools: Object.entries(given).map(([name, ours]) => toTool(name, ours)),
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
    beforeModel: ({ todos }) => seeList(todos),
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
        await seeList(todos);
        const answer = answerOf(messages);
        const said = answer?.text ?? '';
        const { text } = await session.stop({ text: said, ...endOf(answer) });
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
  // A copy, with the keywords alone.
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

/** By the words of the providers. */
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
