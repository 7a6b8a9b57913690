// The todo tools over MCP on stdio. What only a human may do (approve, resume) is left
// out.
import { randomBytes } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import type * as types from '@modelcontextprotocol/server';
import { allowedProposal } from '../core/check-specs.ts';
import { UntildoneError } from '../core/error.ts';
import { oneLine } from '../core/safe-text.ts';
import { isObject } from '../core/schema.ts';
import { defaultSettings, settingsForAgent } from '../core/settings.ts';
import { unknownAgent, unknownHost } from '../core/state.ts';
import type { Engine } from '../engine/engine.ts';
import type { Clock } from '../engine/host.ts';
import { frozenPolicy } from '../engine/policy.ts';
import type { Store } from '../engine/store.ts';
import { createIdentifiers, createQueue } from '../engine/system.ts';
import type { TodoTool } from '../tools/todo-tools.ts';
import { formatReceipt, placesOf, type ServerSession, translateId } from './receipts.ts';

/** What a server serves, and over which streams. */
export type ServeMcpOptions = Readonly<{
  /**
   * Opens store and engine. `ended`: aborts when the client is gone and nobody waits for
   * results.
   */
  open: (ended: AbortSignal) => Promise<{ store: Store; engine: Pick<Engine, 'handle'> }>;
  clock: Clock;
  directory: string;
  version: string;
  tools: readonly TodoTool[];
  input: Readable;
  output: Writable;
  complain: (sentence: string) => void;
}>;
type CallerOptions = Pick<ServeMcpOptions, 'open' | 'clock' | 'directory'>;

/**
 * Serves until the connection ends, from either side, and the calls under way have ended.
 */
export async function serveMcp(options: ServeMcpOptions): Promise<void> {
  const mcp = await import('./mcp-package.ts');
  const { tools } = options;
  const ending = new AbortController();
  let underWay: Promise<unknown> = Promise.resolve();
  let client: string | null = null;
  const caller = createTodoCaller(options, ending.signal);

  function createServer(): types.McpServer {
    const capabilities = { tools: { listChanged: false } };
    const instructions = instructionsFor(tools);
    const serverOptions = {
      capabilities,
      instructions,
      jsonSchemaValidator: readByTheTool,
    };
    const server = new mcp.McpServer(
      { name: 'untildone', version: options.version },
      serverOptions,
    );
    for (const tool of tools) {
      const { name, description } = tool;
      const schema = tool.inputSchema as unknown as types.JsonSchemaType;
      const inputSchema = mcp.fromJsonSchema(schema, readByTheTool);
      const toolOptions = { description, inputSchema, annotations: annotationsOf(name) };
      server.registerTool(name, toolOptions, async (input, { mcpReq }) => {
        const { envelope } = mcpReq;
        const clientInfo: unknown = isObject(envelope)
          ? envelope[mcp.CLIENT_INFO_META_KEY]
          : server.server.getClientVersion();
        client = clientName(clientInfo) ?? client;
        const call = caller.call(tool, input, client);
        underWay = underWay.then(() => call);
        const { ok, text } = await call;
        return { content: [{ type: 'text', text }], ...(ok ? {} : { isError: true }) };
      });
    }
    return server;
  }

  const transport = new mcp.StdioServerTransport(options.input, options.output);
  // Resolves whichever side ends the connection.
  const ended = new Promise<void>((resolve) => {
    const close = transport.close.bind(transport);
    transport.close = () => close().then(resolve);
  });
  const onerror = ({ message }: Error): void =>
    options.complain(`On the MCP connection: ${message}`);
  mcp.serveStdio(createServer, { transport, onerror });
  await ended;
  ending.abort();
  // The store stays open until the calls under way have ended.
  await underWay;
  await caller.close();
}

function instructionsFor(tools: readonly TodoTool[]): string {
  const has = (name: string): boolean => tools.some((tool) => tool.name === name);
  const plan =
    'Keep your plan in these todo tools. Work of three or more steps: plan it first with create_todo, work on one todo at a time, and call complete_todo right after each. ';
  const pause = ' If only a human can help, call todo_pause.';
  const ends = `Do not end your turn while todos are open.${has('todo_pause') ? pause : ''}`;
  const receipt = 'The receipt line of a result is for the system: ignore it.';
  return `${has('create_todo') && has('complete_todo') ? plan : ''}${ends} ${receipt}`;
}

/** The SDK accepts any input: the tool itself says what is wrong, item by item (T6). */
const readByTheTool = {
  getValidator<T>(): types.JsonSchemaValidator<T> {
    return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
  },
};

/**
 * Nothing is destructive, since rows are never deleted. Only a second `create_todo` adds
 * to the first.
 */
const annotationsOf = (tool: string): types.ToolAnnotations => ({
  readOnlyHint: tool === 'list_todo' || tool === 'todo_read',
  idempotentHint: tool !== 'create_todo',
  destructiveHint: false,
  openWorldHint: false,
});

function clientName(clientInfo: unknown): string | null {
  const name = isObject(clientInfo) ? clientInfo['name'] : null;
  return typeof name === 'string' && name.trim() !== '' ? oneLine(name, 60) : null;
}

const readingTools = ['list_todo', 'todo_read', 'todo_verify'];
/** Until a first receipt is bound, todos from the host's own tools cannot be seen. */
const firstLook =
  'This is the first call, made before the session was known: if you expected todos here, call it once more.';

/**
 * Calls tools in the session that this server works in, with the checks that a human
 * allowed there.
 */
export function createTodoCaller(
  { open, clock, directory }: CallerOptions,
  ended: AbortSignal,
) {
  const server = randomBytes(8).toString('hex');
  const identifiers = createIdentifiers(clock);
  const base = (sessionId: string) => ({
    id: identifiers.next(),
    sessionId,
    at: clock.now(),
  });
  const queue = createQueue();
  let opened: ReturnType<typeof open> | null = null;
  let lastIndex = 0;
  let lastCall = 0;

  /**
   * Opens the store when it is first needed: a host that only starts its servers leaves
   * no trace.
   */
  function openOnce() {
    opened ??= open(ended).catch((error: unknown) => {
      // Safe: nothing is open yet, and the next call tries again.
      opened = null;
      throw error;
    });
    return opened;
  }

  /**
   * The place of this server; null: no call was made yet, or the host ended that session.
   */
  async function find(): Promise<ServerSession | null> {
    const { store } = await openOnce();
    const last = await placesOf(store, server).last(lastIndex);
    lastIndex = last?.index ?? lastIndex;
    return last === null || (!last.provisional && (await isOver(store, last.sessionId)))
      ? null
      : last;
  }

  async function findOrOpen(
    client: string | null,
  ): Promise<ServerSession & { readonly isNew: boolean }> {
    const found = await find();
    if (found !== null) return { ...found, isNew: false };
    const { store, engine } = await openOnce();
    const sessionId = `mcp-${identifiers.next()}`;
    const host = {
      ...unknownHost,
      host: 'mcp',
      instance: `mcp-${server}`,
      kind: 'main',
      directory,
    } as const;
    const tools = { pause: 'todo_pause', verify: 'todo_verify' };
    const descriptor = { ...host, seesTools: false, tools };
    const agent = { ...unknownAgent, name: client };
    await engine.handle({
      ...base(sessionId),
      type: 'session-opened',
      descriptor,
      agent,
    });
    return {
      ...(await placesOf(store, server).add(lastIndex, { sessionId, provisional: true })),
      isNew: true,
    };
  }

  return {
    find,
    /**
     * Calls a tool. Never throws: whatever goes wrong is a result that the model can
     * read.
     */
    async call(tool: TodoTool, input: unknown, client: string | null) {
      try {
        // Two calls at once must not open two sessions.
        const { sessionId, index, isNew } = await queue(() => findOrOpen(client));
        const { store, engine } = await openOnce();
        // The ids and the receipt of this call carry this time, so no other call may have
        // it.
        const at = Math.max(clock.now(), lastCall + 1);
        lastCall = at;
        const settings = await settingsOf(store, sessionId);
        const result = await tool.call(await translateIds(store, sessionId, input), {
          engine,
          store,
          sessionId,
          clock,
          actor: 'agent',
          identifiers: createIdentifiers({ now: () => at }),
          resolveCheck: (proposal) => allowedProposal(settings, proposal),
        });
        const words = result.ok ? JSON.stringify(result.output) : result.error.message;
        const hint = isNew && readingTools.includes(tool.name) ? [firstLook] : [];
        const receipt = formatReceipt({
          server,
          place: index,
          call: at.toString(16).padStart(12, '0'),
        });
        return {
          ok: result.ok,
          text: [words, ...hint, `receipt: ${receipt}`].join('\n'),
        };
      } catch (error) {
        // Safe: a change of the plan is one transaction, and the model learns that
        // nothing was applied.
        const why =
          error instanceof UntildoneError
            ? error.message
            : 'Something unexpected went wrong.';
        return {
          ok: false,
          text: `${tool.name} could not be carried out and nothing changed. ${why}`,
        };
      }
    },
    /** Closes a provisional session; a session of the host is the host's to close. */
    async close(): Promise<void> {
      // Safe: a store that could not be opened need not be closed.
      const last = await opened?.catch(() => null);
      if (last == null) return;
      try {
        const place = await find();
        if (place?.provisional)
          await last.engine.handle({ ...base(place.sessionId), type: 'session-closed' });
      } catch {
        // Safe: the plan is kept.
      }
      await last.store.close();
    },
  };
}

/**
 * Tells whether the host has ended the session. After `/clear` this process serves a new
 * session, whose todos must not get into the old one's plan.
 */
async function isOver(store: Store, sessionId: string): Promise<boolean> {
  const state = await store.state(sessionId);
  if (state?.deleted === true) return true;
  const waiting = await store.events({ sessionId, waiting: true });
  const decidingTypes = ['session-closed', 'session-opened', 'human-spoke'];
  const last = waiting.findLast(({ event }) => decidingTypes.includes(event.type));
  return last === undefined
    ? state?.closed === true
    : last.event.type === 'session-closed';
}

/**
 * The settings that the human's last message froze (V2): an agent that edits the file
 * allows itself nothing.
 */
async function settingsOf(store: Store, sessionId: string) {
  const { policyHash = null, agent } = (await store.state(sessionId)) ?? {};
  const policy = await frozenPolicy(store, { policyHash });
  return policy === null
    ? defaultSettings
    : settingsForAgent(policy.settings, agent?.name ?? null);
}

async function translateIds(
  store: Store,
  sessionId: string,
  input: unknown,
): Promise<unknown> {
  const withId = async (value: unknown, key: string): Promise<unknown> => {
    if (!isObject(value) || typeof value[key] !== 'string') return value;
    return { ...value, [key]: await translateId(store, sessionId, value[key]) };
  };
  const changed = await withId(input, 'todoId');
  if (!isObject(changed) || !Array.isArray(changed['todos'])) return changed;
  return {
    ...changed,
    todos: await Promise.all(changed['todos'].map((todo) => withId(todo, 'id'))),
  };
}
