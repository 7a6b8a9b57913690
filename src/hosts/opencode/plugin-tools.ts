// The todo tools as tools of the host: the way out and the waiting for checks always, because continuations name them;
// all of them where the host's own list is taken away (P17). Which session is meant comes from the host (M7).
import { allowedProposal } from '../../core/check-specs/check-specs.ts';
import { settingsForAgent } from '../../core/config/agent-settings.ts';
import type { TodoTool } from '../../tools/todo-tool.ts';
import { todoToolsFor } from '../../tools/todo-tools.ts';
import type { Driver } from './driver.ts';
import { recordOf } from './payload.ts';
import { openSession, type PluginContext, readSessionRecord } from './plugin-context.ts';
import type { ConfigLike, ToolDefinitionLike } from './plugin-types.ts';
import type { SessionMemory } from './session-memory.ts';
import { hostTodoTool } from './tool-access.ts';

const alwaysOffered: ReadonlySet<string> = new Set(['todo_pause', 'todo_verify']);

export function offeredTools(config: ConfigLike | null): readonly TodoTool[] {
  const tools = todoToolsFor('agent');
  return config !== null && lacksTodoTool(config)
    ? tools
    : tools.filter(({ name }) => alwaysOffered.has(name));
}

/** As the settings say it: a switch under `tools`, or a permission, for all agents or for one that people talk to. */
function lacksTodoTool(config: ConfigLike): boolean {
  const settings = recordOf(config);
  const agents = Object.values(recordOf(settings['agent'])).map(recordOf);
  return [settings, ...agents.filter(({ mode }) => mode !== 'subagent')].some(denies);
}

function denies({ tools, permission }: Readonly<Record<string, unknown>>): boolean {
  if (recordOf(tools)[hostTodoTool] === false) return true;
  const rule = recordOf(permission)[hostTodoTool];
  return rule === 'deny' || recordOf(rule)['*'] === 'deny';
}

export function definePluginTool(
  tool: TodoTool,
  driver: Driver,
  onError: (error: unknown) => void,
): ToolDefinitionLike {
  const refusal = `${tool.name} could not be carried out and nothing changed.`;
  return {
    description: tool.description,
    args: tool.inputSchema.properties,
    async execute(input, { sessionID }) {
      const opened = await driver.after(sessionID, async (context, memory) => {
        await openSession(context, memory);
        return { context, memory };
      });
      if (opened === null) return refusal;
      try {
        // Outside the queue: a call may wait for checks, and what happens meanwhile, an abort for one, must be heard.
        return await callTool(opened.context, opened.memory, tool, input);
      } catch (error) {
        // Safe: a change of the plan is one transaction, so that nothing was applied; the model is told.
        onError(error);
        return refusal;
      }
    },
  };
}

async function callTool(
  context: PluginContext,
  memory: SessionMemory,
  tool: TodoTool,
  input: unknown,
): Promise<string> {
  const { runtime, store, clock, identifiers, policy } = context;
  const session = await readSessionRecord(context, memory.id);
  const settings = settingsForAgent(policy.current().settings, session?.agent.name ?? null);
  const result = await tool.call(input, {
    engine: runtime,
    store,
    sessionId: memory.id,
    actor: memory.info?.parentId != null ? 'worker' : 'agent',
    clock,
    identifiers,
    resolveCheck: (proposal) => allowedProposal(settings, proposal),
  });
  return result.ok ? JSON.stringify(result.output) : result.error.message;
}
