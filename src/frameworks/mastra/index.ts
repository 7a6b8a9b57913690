// `untildone/mastra`: the todo tools for agents of Mastra 1, and calls until the session
// lets the agent stop. It does not use `onIterationComplete`: what that hook says at an
// answer's end never reaches the model. `@mastra/core` is the user's own package.
import { assertSession } from '../../session/reply.ts';
import type { Session, SessionTool } from '../../session/session.ts';

/** The part of an agent that we use; a type test compares it with the real one. */
export interface AgentLike<Options, Result extends ResultLike> {
  generate(messages: never, options: Options): Promise<Result>;
}

interface ResultLike {
  readonly text: string;
  readonly finishReason?: string | undefined;
  readonly totalUsage?: unknown;
  readonly response?: { readonly dbMessages?: readonly unknown[] | undefined };
}

/** The todo tools, for the agent's `tools`. */
export function todoTools(session: Session) {
  assertSession('todoTools', session);
  // Mastra's types want an id besides the name.
  const tools = Object.entries(session.tools).map(([id, tool]) => [id, { id, ...tool }]);
  return Object.fromEntries(tools) as {
    [Name in keyof Session['tools']]: SessionTool & { readonly id: Name };
  };
}

/** Mastra ends a call after a few steps; here only the limits of the session do. */
const mostSteps = 100_000;

/**
 * `const result = await untilDone(session, agent)` gives the result of the last call. A
 * call that waits for an approval ends as `paused`.
 */
export async function untilDone<Options extends object, Result extends ResultLike>(
  session: Session,
  agent: AgentLike<Options, Result>,
  options?: Options,
): Promise<Result> {
  assertSession('untilDone', session);
  const addDate = createDates();
  const held = await session.hold(async (messages: object[]) => {
    const callOptions = { maxSteps: mostSteps, ...options } as Options & {
      maxSteps: number;
    };
    const result = await agent.generate(messages.map(addDate) as never, callOptions);
    const { text, finishReason, totalUsage, response } = result;
    const storedMessages = response?.dbMessages;
    const asks = finishReason === 'suspended';
    return {
      result,
      text,
      finishReason,
      totalUsage,
      asks,
      ...(storedMessages && { messages: storedMessages }),
    };
  });
  return held.result;
}

/**
 * Mastra puts messages in the order of their times, and merges several messages without a
 * time into one. So ours get the time at which they are first sent, in the form in which
 * Mastra stores its own.
 */
function createDates() {
  const known = new WeakMap<object, object>();
  return (message: object): object => {
    const text = (message as { content?: unknown }).content;
    if (typeof text !== 'string') return message;
    const content = { format: 2, parts: [{ type: 'text', text }] };
    const dated = known.get(message) ?? {
      ...message,
      id: crypto.randomUUID(),
      createdAt: new Date(),
      content,
    };
    known.set(message, dated);
    return dated;
  };
}
