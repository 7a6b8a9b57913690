// The todo tools and the plan as an MCP server over standard input and output, until the client closes its end. Names,
// descriptions and schemas are those of src/tools, and each tool reads its own input. What only a human may do (approve,
// resume) is not offered. Nothing but the protocol is written to standard output; the rest goes to `complain`.
import type { Readable, Writable } from 'node:stream';
import {
  CLIENT_INFO_META_KEY,
  fromJsonSchema,
  type JsonSchemaType,
  type JsonSchemaValidator,
  McpServer,
  ResourceNotFoundError,
  type ToolAnnotations,
} from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { oneLine } from '../core/safe-text.ts';
import { isObject } from '../core/schema.ts';
import type { TodoTool } from '../tools/todo-tool.ts';
import { createTodoCaller, type TodoCallerOptions } from './calls.ts';
import { createResourceWatch, planResources } from './plan-resources.ts';

export interface ServeMcpOptions extends Pick<TodoCallerOptions, 'clock' | 'directory'> {
  /** `ended`: the client is gone, and nobody waits for results any more. */
  readonly open: (ended: AbortSignal) => ReturnType<TodoCallerOptions['open']>;
  readonly version: string;
  /** What is offered; a host with todo tools of its own wants only some. */
  readonly tools: readonly TodoTool[];
  readonly input: Readable;
  readonly output: Writable;
  readonly complain: (sentence: string) => void;
}

export async function serveMcp(options: ServeMcpOptions): Promise<void> {
  const { tools, clock } = options;
  const ending = new AbortController();
  let underWay: Promise<unknown> = Promise.resolve();
  let client: string | null = null;
  let tellChange: (uri: string) => Promise<void> = async () => {};
  const open = () => options.open(ending.signal);
  const caller = createTodoCaller({ ...options, open, client: () => client });
  const watch = createResourceWatch(clock, caller.state, (uri) => tellChange(uri));

  /** @param after is done with it, whether it failed or not. What is under way is waited for at the end. */
  function during<T>(work: Promise<T>, after: () => Promise<void>): Promise<T> {
    // Safe: a client that was not told of a change reads the resource again when it wants to.
    const all = work.finally(() => after().catch(() => null));
    underWay = Promise.allSettled([underWay, all]).then(() => null);
    return all;
  }

  function createServer({ era }: { readonly era: 'legacy' | 'modern' }): McpServer {
    const server = new McpServer(
      { name: 'untildone', version: options.version },
      {
        capabilities: { tools: { listChanged: false }, resources: { listChanged: false, subscribe: true } },
        instructions: instructionsFor(tools),
        jsonSchemaValidator: readByTheTool,
      },
    );
    for (const tool of tools) {
      const { name, description } = tool;
      const inputSchema = fromJsonSchema(tool.inputSchema as unknown as JsonSchemaType, readByTheTool);
      const shown = { description, inputSchema, annotations: annotationsOf(name) };
      server.registerTool(name, shown, async (input, { mcpReq }) => {
        client = clientName(server, mcpReq.envelope) ?? client;
        const { ok, text } = await during(caller.call(tool, input), watch.look);
        return { content: [{ type: 'text', text }], ...(ok ? {} : { isError: true }) };
      });
    }
    for (const { name, uri, title, description, mimeType, read } of planResources) {
      server.registerResource(name, uri, { title, description, mimeType }, async () => {
        const text = await during(caller.state().then(read), watch.begin);
        return { contents: [{ uri, mimeType, text }] };
      });
    }
    const subscribed = era === 'legacy' ? keepSubscriptions(server, watch.begin) : null;
    tellChange = async (uri) => {
      if (subscribed === null || subscribed.has(uri)) await server.server.sendResourceUpdated({ uri });
    };
    return server;
  }

  const transport = new StdioServerTransport(options.input, options.output);
  /** Whichever side ends the connection. */
  const ended = new Promise<void>((resolve) => {
    const close = transport.close.bind(transport);
    transport.close = () => close().then(resolve);
  });
  const onerror = ({ message }: Error): void => options.complain(`On the MCP connection: ${message}`);
  serveStdio(createServer, { transport, onerror });
  await ended;
  watch.end();
  ending.abort();
  // A call that was under way is one transaction: it is let to its end before the store is closed.
  await underWay;
  await caller.close();
}

/** What the client tells the model about the server; it names no tool that is not offered. */
function instructionsFor(tools: readonly TodoTool[]): string {
  const has = (name: string): boolean => tools.some((tool) => tool.name === name);
  const plan =
    'Keep your plan in these todo tools. Work of three or more steps: plan it first with create_todo, work on one todo at a time, and call complete_todo right after each. ';
  const pause = ' If only a human can help, call todo_pause.';
  const ends = `Do not end your turn while todos are open.${has('todo_pause') ? pause : ''}`;
  const receipt = 'The receipt line of a result is for the system: ignore it.';
  return `${has('create_todo') && has('complete_todo') ? plan : ''}${ends} ${receipt}`;
}

/** Every input is let through to the tool, which says in a sentence what is wrong, item by item (T6). */
const readByTheTool = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
  },
};

/** For the human before a tool runs. Nothing is destructive: rows are never deleted, and every change is in the ledger. */
function annotationsOf(tool: string): ToolAnnotations {
  const readOnlyHint = tool === 'list_todo' || tool === 'todo_read';
  // Of all others a second call with the same input adds nothing to the first.
  const idempotentHint = tool !== 'create_todo';
  return { readOnlyHint, destructiveHint: false, idempotentHint, openWorldHint: false };
}

/** Of clients that begin with `initialize`; those of the protocol of 2026-07-28 are kept by the transport. */
function keepSubscriptions({ server }: McpServer, onSubscribe: () => Promise<void>): ReadonlySet<string> {
  const uris = new Set<string>();
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
  const said: unknown = isObject(envelope) ? envelope[CLIENT_INFO_META_KEY] : server.getClientVersion();
  const name = isObject(said) ? said['name'] : null;
  return typeof name === 'string' && name.trim() !== '' ? oneLine(name, 60) : null;
}
