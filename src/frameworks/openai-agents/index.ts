// `untildone/openai-agents`: the todo tools for agents of the OpenAI Agents SDK, and runs
// of the agent, one after the other with the whole history, until the session lets it
// stop. `@openai/agents` is the user's own package.
import {
  type Agent,
  type AgentInputItem,
  type NonStreamRunOptions,
  run,
  tool,
} from '@openai/agents';
import { UntildoneError } from '../../core/error.ts';
import { assertSession } from '../../session/reply.ts';
import type { Session } from '../../session/session.ts';

/** The todo tools, for the agent's `tools`. */
export function todoTools(session: Session) {
  assertSession('todoTools', session);
  return Object.entries(session.tools).map(
    ([name, { description, inputSchema, execute }]) => {
      // A copy that holds only the keywords. Not strict, since most fields may be left
      // out.
      const parameters = { ...inputSchema, additionalProperties: true } as never;
      return tool({
        name,
        description,
        parameters,
        strict: false,
        execute: (input: unknown) => execute(input),
      });
    },
  );
}

/**
 * `const result = await untilDone(session, agent)` gives the result of the last run. Only
 * the limits of the session bound its turns, unless you set `maxTurns`. A run that waits
 * for an approval ends as `paused`.
 */
// biome-ignore lint/suspicious/noExplicitAny: as the SDK's own `run` has it; no narrower agent fits its results
export async function untilDone<Own extends Agent<any, any>>(
  session: Session,
  agent: Own,
  options: NonStreamRunOptions<undefined, Own> = {},
) {
  assertSession('untilDone', session);
  if ((options as { stream?: boolean }).stream === true)
    throw new UntildoneError(
      'usage',
      'untilDone: stream: cannot be true; run it with session.hold instead.',
    );
  let currentAgent = agent;
  let sentCount = 0;
  const held = await session.hold(async (messages: AgentInputItem[]) => {
    // A session of the SDK keeps the conversation itself, and appends what it is given.
    const isKeptBySdk = options.session !== undefined;
    const result = await run(
      currentAgent,
      isKeptBySdk ? messages.slice(sentCount) : messages,
      {
        maxTurns: null,
        ...options,
      },
    );
    sentCount = messages.length;
    // If the agent handed over to another one, that one goes on.
    currentAgent = result.lastAgent ?? currentAgent;
    const { inputTokens, outputTokens } = result.state.usage;
    const asks = result.interruptions.length > 0;
    return {
      result,
      // The SDK warns if the output is read before the end.
      text: asks ? '' : String(result.finalOutput ?? ''),
      messages: isKeptBySdk ? [] : result.history.slice(messages.length),
      asks,
      usage: { inputTokens, outputTokens },
    };
  });
  return held.result;
}
