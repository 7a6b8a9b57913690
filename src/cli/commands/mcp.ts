// `untildone mcp`: serves the todo tools to any host that speaks MCP, over standard input
// and output. Hosts start it. It reports a broken configuration or store on standard
// error and still offers the tools.
import { UntildoneError } from '../../core/error.ts';
import { createRuntime } from '../../engine/runtime.ts';
import { serveMcp } from '../../mcp/serve-mcp.ts';
import type { TodoTool } from '../../tools/todo-tools.ts';
import { todoToolsFor } from '../../tools/todo-tools.ts';
import type { Command } from '../command.ts';
import { programVersion } from '../io.ts';
import { openOrCreateStore, openParts } from '../open-runtime.ts';
import { escapeForTerminal, printComplaint } from '../print.ts';
import { withoutProjectVariables } from '../project-environment.ts';

export const mcp: Command = {
  about: [
    'Serves the todo tools to one client over standard input and output (MCP, stdio) and ends when the client closes its\nend. Hosts start it; docs/mcp.md says how to configure one.',
  ],
  options: {
    tools: {
      value: 'LIST',
      summary: 'Offer only these tools, by name, with commas between them.',
    },
  },
  async run(given, io) {
    const tools = toolsOf(given.text('tools'));
    const { own, warning } = await withoutProjectVariables(io);
    if (warning !== null) printComplaint(io, warning);
    await serveMcp({
      open: async (ended) => {
        const store = await openOrCreateStore(own);
        const checker = { signal: () => ended };
        const parts = openParts(own, store, {
          directory: io.cwd,
          rereads: true,
          checker,
        });
        return { store, engine: createRuntime(parts) };
      },
      clock: io.clock,
      directory: io.cwd,
      tools,
      version: programVersion,
      input: process.stdin,
      output: process.stdout,
      complain: (sentence) => printComplaint(io, escapeForTerminal(sentence, 300)),
    });
    return 0;
  },
};

function toolsOf(list: string | null): readonly TodoTool[] {
  const allTools = todoToolsFor('agent');
  if (list === null) return allTools;
  const names = list.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !allTools.some((tool) => tool.name === name));
  if (unknown === undefined) return allTools.filter(({ name }) => names.includes(name));
  const all = allTools.map(({ name }) => name).join(', ');
  throw new UntildoneError(
    'usage',
    `There is no tool "${escapeForTerminal(unknown, 40)}"; known are ${all}.`,
  );
}
