// `untildone/claude-agent-sdk`: options for one `query` of the Claude Agent SDK: the todo
// tools as an MCP server, and a Stop hook that asks the session. The caller hands in the
// SDK, which is several hundred megabytes; `zod` is the user's own package.
import { z } from 'zod';
import { assertSession } from '../../session/reply.ts';
import type { Session, SessionTool } from '../../session/session.ts';

/** What we use of `import * as sdk from '@anthropic-ai/claude-agent-sdk'`. */
export interface SdkLike<Tool, Server> {
  tool(
    name: string,
    description: string,
    inputSchema: Record<string, never>,
    handler: (input: unknown) => Promise<{ content: { type: 'text'; text: string }[] }>,
    extras: { alwaysLoad: boolean },
  ): Tool;
  createSdkMcpServer(options: { name: string; tools: Tool[] }): Server;
}

const server = 'untildone';

/**
 * The agent gets one family of todo tools: Claude Code's own lists would be a second plan
 * that nobody holds it to.
 */
const disallowedTools = ['TodoWrite', 'TaskCreate', 'TaskUpdate', 'TaskGet', 'TaskList'];

/**
 * Claude Code ends a hook that takes longer, and then the agent may stop. So this is
 * longer than a session waits for checks.
 */
const stopSeconds = 660;

/** `query({ prompt: goal, options: { ...untilDone(session, sdk) } })`. */
export function untilDone<Tool, Server>(session: Session, sdk: SdkLike<Tool, Server>) {
  assertSession('untilDone', session);
  const names = Object.keys(session.tools);
  const tools = Object.entries(session.tools).map(([name, sessionTool]) => {
    const call = async (input: unknown) => {
      const text = JSON.stringify(await sessionTool.execute(input));
      return { content: [{ type: 'text' as const, text }] };
    };
    // Always loaded: if the agent has to search for the tools, it makes no plan.
    return sdk.tool(name, sessionTool.description, shapeOf(sessionTool), call, {
      alwaysLoad: true,
    });
  });

  async function stopHook(
    input: object,
  ): Promise<{ decision?: 'block'; reason?: string }> {
    const { last_assistant_message: lastMessage } = input as {
      last_assistant_message?: unknown;
    };
    const { text } = await session.stop(
      typeof lastMessage === 'string' ? { text: lastMessage } : {},
    );
    return text === null ? {} : { decision: 'block', reason: text };
  }

  return {
    mcpServers: { [server]: sdk.createSdkMcpServer({ name: server, tools }) },
    allowedTools: names.map((name) => `mcp__${server}__${name}`),
    disallowedTools,
    hooks: { Stop: [{ hooks: [stopHook], timeout: stopSeconds }] },
  };
}

/** The SDK wants the fields of an object as zod types. */
function shapeOf({ inputSchema }: SessionTool): Record<string, never> {
  const schema = z.fromJSONSchema({ ...inputSchema });
  return (schema as unknown as { shape: Record<string, never> }).shape;
}
