// The todo tools and the plan as an MCP server. One adapter for every tool: names, descriptions and schemas are those
// of src/tools, and the tool reads its own input. What only a human may do (approve, resume) is not offered here.
import {
  CLIENT_INFO_META_KEY,
  fromJsonSchema,
  type JsonSchemaType,
  type JsonSchemaValidator,
  McpServer,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server';
import { isObject } from '../core/config/read-value.ts';
import { oneLine } from '../core/safe-text.ts';
import type { TodoTool } from '../tools/todo-tool.ts';
import type { CallResult } from './call-todo-tool.ts';
import { type PlanResource, planResources } from './plan-resources.ts';
import { annotationsOf } from './tool-annotations.ts';

export interface McpServerParts {
  readonly version: string;
  readonly tools: readonly TodoTool[];
  /** `modern`: the client speaks the protocol of 2026-07-28, where subscriptions are kept by the transport. */
  readonly era: 'legacy' | 'modern';
  readonly call: (tool: TodoTool, input: unknown, client: string | null) => Promise<CallResult>;
  readonly read: (resource: PlanResource) => Promise<string>;
  /** Somebody wants to hear of changes. */
  readonly onSubscribe: () => Promise<void>;
}

export interface TodoMcpServer {
  readonly server: McpServer;
  /** Tells the client, if it wants to know. */
  resourceChanged(uri: string): Promise<void>;
}

/** What the client tells the model about the server; it names no tool that is not offered. */
function instructionsFor(tools: readonly TodoTool[]): string {
  const has = (name: string): boolean => tools.some((tool) => tool.name === name);
  return [
    has('create_todo') && has('complete_todo')
      ? 'Keep your plan in these todo tools. Work of three or more steps: plan it first with create_todo, work on one todo at a time, and call complete_todo right after each.'
      : '',
    'Do not end your turn while todos are open.',
    has('todo_pause') ? 'If only a human can help, call todo_pause.' : '',
    'The receipt line of a result is for the system: ignore it.',
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
}

/** Every input is let through to the tool, which says in a sentence what is wrong, item by item (T6). */
const readByTheTool = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
  },
};

export function createTodoMcpServer(parts: McpServerParts): TodoMcpServer {
  const server = new McpServer(
    { name: 'untildone', version: parts.version },
    {
      capabilities: { tools: { listChanged: false }, resources: { listChanged: false, subscribe: true } },
      instructions: instructionsFor(parts.tools),
      jsonSchemaValidator: readByTheTool,
    },
  );
  for (const tool of parts.tools) addTool(server, tool, parts);
  for (const resource of planResources) addResource(server, resource, parts);
  const subscribed = addSubscriptions(server, parts);
  return {
    server,
    async resourceChanged(uri) {
      if (parts.era === 'modern' || subscribed.has(uri)) await server.server.sendResourceUpdated({ uri });
    },
  };
}

function addTool(server: McpServer, tool: TodoTool, { call }: McpServerParts): void {
  const { name, description } = tool;
  const inputSchema = fromJsonSchema(tool.inputSchema as unknown as JsonSchemaType, readByTheTool);
  server.registerTool(
    name,
    { description, inputSchema, annotations: annotationsOf(name) },
    async (input, context) => {
      const { ok, text } = await call(tool, input, clientName(server, context.mcpReq.envelope));
      return { content: [{ type: 'text', text }], ...(ok ? {} : { isError: true }) };
    },
  );
}

function addResource(server: McpServer, resource: PlanResource, { read }: McpServerParts): void {
  const { name, uri, title, description, mimeType } = resource;
  server.registerResource(name, uri, { title, description, mimeType }, async () => ({
    contents: [{ uri, mimeType, text: await read(resource) }],
  }));
}

/** Subscriptions of clients that begin with `initialize`; the others' are kept by the transport. */
function addSubscriptions({ server }: McpServer, { era, onSubscribe }: McpServerParts): ReadonlySet<string> {
  const uris = new Set<string>();
  if (era === 'modern') return uris;
  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }) => {
    if (!planResources.some((resource) => resource.uri === uri)) throw new ResourceNotFoundError(uri);
    uris.add(uri);
    await onSubscribe();
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', async ({ params: { uri } }) => {
    uris.delete(uri);
    return {};
  });
  return uris;
}

/** As the client calls itself; one line, since people see it in the list of sessions. */
function clientName({ server }: McpServer, envelope: unknown): string | null {
  const said = isObject(envelope) ? envelope[CLIENT_INFO_META_KEY] : server.getClientVersion();
  const name = isObject(said) ? said['name'] : null;
  return typeof name === 'string' && name.trim() !== '' ? oneLine(name, 60) : null;
}
