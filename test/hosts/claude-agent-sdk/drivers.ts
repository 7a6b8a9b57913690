// The Claude Agent SDK with its real program, which knows nothing but the scripted model.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type SdkLike,
  untilDone,
} from '../../../src/frameworks/claude-agent-sdk/index.ts';
import type { FrameworkDriver } from '../../frameworks/conformance.ts';

interface Sdk extends SdkLike<object, object> {
  query(given: { prompt: string; options: object }): AsyncIterable<object>;
}

/** Not by a name that TypeScript reads: `npm run types` must pass without it. */
const name = '@anthropic-ai/claude-agent-sdk';
const sdk = (await import(name)) as Sdk;

export const drivers: readonly FrameworkDriver[] = [
  {
    name: 'Claude Agent SDK: query',
    async run(session, { url, goal, tools, signal }) {
      const home = mkdtempSync(join(tmpdir(), 'untildone-claude-sdk-'));
      const abortController = new AbortController();
      signal.addEventListener('abort', () => abortController.abort());
      const held = untilDone(session, sdk);
      const others = Object.entries(tools);
      const test = sdk.createSdkMcpServer({
        name: 'test',
        tools: others.map(([tool, { description, execute }]) => {
          const call = async () => ({
            content: [{ type: 'text' as const, text: JSON.stringify(await execute({})) }],
          });
          return sdk.tool(tool, description, {}, call, { alwaysLoad: true });
        }),
      });
      const options = {
        ...held,
        mcpServers: { ...held.mcpServers, test },
        allowedTools: [
          ...held.allowedTools,
          ...others.map(([tool]) => `mcp__test__${tool}`),
        ],
        abortController,
        cwd: home,
        model: 'story',
        settingSources: [],
        env: {
          PATH: process.env['PATH'],
          HOME: home,
          ANTHROPIC_BASE_URL: url,
          ANTHROPIC_API_KEY: 'dummy',
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        },
      };
      for await (const _message of sdk.query({ prompt: goal, options })) {
        // Only the end counts: what the model was told is read from its own record.
      }
    },
  },
];
