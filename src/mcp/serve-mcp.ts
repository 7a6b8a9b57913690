// The todo tools over MCP on stdio, plan and outcome as resources. What only a human may
// (approve, resume) is left out.
import { randomBytes } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import type * as types from '@modelcontextprotocol/server';
import { allowedProposal } from '../core/check-specs.ts';
import { UntildoneError } from '../core/error.ts';
import { oneLine } from '../core/safe-text.ts';
import { isObject } from '../core/schema.ts';
import { defaultSettings, settingsForAgent } from '../core/settings.ts';
import {
  countPlan,
  openCount,
  planSize,
  type State,
  unknownAgent,
  unknownHost,
} from '../core/state.ts';
import type { Engine } from '../engine/engine.ts';
import type { Clock } from '../engine/host.ts';
import { frozenPolicy } from '../engine/policy.ts';
import type { Store } from '../engine/store.ts';
import { createIdentifiers, createQueue } from '../engine/system.ts';
import { formatPlan } from '../plan-file/line-text.ts';
import {
  remaining,
  shownNote,
  summarise,
  type TodoTool,
  viewTodo,
} from '../tools/todo-tools.ts';
import { formatReceipt, type Place, placesOf, translateId } from './receipts.ts';

export type ServeMcpOptions = Readonly<{
  /** `ended`: the client is gone, and nobody waits for results. */
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

export async function serveMcp(options: ServeMcpOptions): Promise<void> {
  const mcp = await import('./mcp-package.ts');
  const { tools, clock } = options;
  const ending = new AbortController();
  let underWay: Promise<unknown> = Promise.resolve();
  let client: string | null = null;
  let tellChange: (uri: string) => Promise<void> = async () => {};
  const caller = createTodoCaller(options, ending.signal);
  const watch = createResourceWatch(clock, caller.state, (uri) => tellChange(uri));

  /** What is under way is waited for at the end. */
  function during<T>(work: Promise<T>, after: () => Promise<void>): Promise<T> {
    // Safe: a client that was not told of a change can read the resource again.
    const all = work.finally(() => after().catch(() => null));
    underWay = Promise.allSettled([underWay, all]).then(() => null);
    return all;
  }

  function createServer({ era }: { readonly era: 'legacy' | 'modern' }): types.McpServer {
    const resources = { listChanged: false, subscribe: true };
    const capabilities = { tools: { listChanged: false }, resources };
    const instructions = instructionsFor(tools);
    const offered = { capabilities, instructions, jsonSchemaValidator: readByTheTool };
    const server = new mcp.McpServer(
      { name: 'untildone', version: options.version },
      offered,
    );
    for (const tool of tools) {
      const { name, description } = tool;
      const schema = tool.inputSchema as unknown as types.JsonSchemaType;
      const inputSchema = mcp.fromJsonSchema(schema, readByTheTool);
      const shown = { description, inputSchema, annotations: annotationsOf(name) };
      server.registerTool(name, shown, async (input, { mcpReq }) => {
        const { envelope } = mcpReq;
        const said: unknown = isObject(envelope)
          ? envelope[mcp.CLIENT_INFO_META_KEY]
          : server.server.getClientVersion();
        client = clientName(said) ?? client;
        const { ok, text } = await during(caller.call(tool, input, client), watch.look);
        return { content: [{ type: 'text', text }], ...(ok ? {} : { isError: true }) };
      });
    }
    for (const { name, uri, title, description, mimeType, read } of planResources) {
      server.registerResource(name, uri, { title, description, mimeType }, async () => {
        const text = await during(caller.state().then(read), watch.begin);
        return { contents: [{ uri, mimeType, text }] };
      });
    }
    const unknownResource = (uri: string) => new mcp.ResourceNotFoundError(uri);
    const subscribed =
      era === 'legacy' ? keepSubscriptions(server, unknownResource, watch.begin) : null;
    tellChange = async (uri) => {
      if (subscribed === null || subscribed.has(uri))
        await server.server.sendResourceUpdated({ uri });
    };
    return server;
  }

  const transport = new mcp.StdioServerTransport(options.input, options.output);
  // Whichever side ends the connection.
  const ended = new Promise<void>((resolve) => {
    const close = transport.close.bind(transport);
    transport.close = () => close().then(resolve);
  });
  const onerror = ({ message }: Error): void =>
    options.complain(`On the MCP connection: ${message}`);
  mcp.serveStdio(createServer, { transport, onerror });
  await ended;
  watch.end();
  ending.abort();
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

/** The tool itself says in a sentence what is wrong, item by item (T6). */
const readByTheTool = {
  getValidator<T>(): types.JsonSchemaValidator<T> {
    return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
  },
};

/**
 * Nothing is destructive: rows are never deleted. Only a second `create_todo` adds to the
 * first.
 */
const annotationsOf = (tool: string): types.ToolAnnotations => ({
  readOnlyHint: tool === 'list_todo' || tool === 'todo_read',
  idempotentHint: tool !== 'create_todo',
  destructiveHint: false,
  openWorldHint: false,
});

/**
 * For clients that begin with `initialize`; with the protocol of 2026-07-28 the transport
 * keeps them.
 */
function keepSubscriptions(
  { server }: types.McpServer,
  unknownResource: (uri: string) => Error,
  onSubscribe: () => Promise<void>,
): ReadonlySet<string> {
  const uris = new Set<string>();
  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }) => {
    if (!planResources.some((resource) => resource.uri === uri))
      throw unknownResource(uri);
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

function clientName(said: unknown): string | null {
  const name = isObject(said) ? said['name'] : null;
  return typeof name === 'string' && name.trim() !== '' ? oneLine(name, 60) : null;
}

const looking = ['list_todo', 'todo_read', 'todo_verify'];
/** What the host's own tools planned is out of sight until a first receipt is bound. */
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
  let known = 0;
  let lastCall = 0;

  /** When first needed: a host that only starts its servers leaves no trace. */
  function openOnce() {
    opened ??= open(ended).catch((error: unknown) => {
      // Safe: nothing is open yet, and the next call tries again.
      opened = null;
      throw error;
    });
    return opened;
  }

  /** null: no call was made yet, or the host ended that session. */
  async function find(): Promise<Place | null> {
    const { store } = await openOnce();
    const last = await placesOf(store, server).last(known);
    known = last?.index ?? known;
    return last === null || (!last.provisional && (await isOver(store, last.sessionId)))
      ? null
      : last;
  }

  async function findOrOpen(
    client: string | null,
  ): Promise<Place & { readonly isNew: boolean }> {
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
      ...(await placesOf(store, server).add(known, { sessionId, provisional: true })),
      isNew: true,
    };
  }

  return {
    find,
    async state(): Promise<State | null> {
      const place = await find();
      return place && (await openOnce()).store.state(place.sessionId);
    },
    /** Whatever goes wrong is a result that the model can read; nothing throws. */
    async call(tool: TodoTool, input: unknown, client: string | null) {
      try {
        // Two calls at once must not open two sessions.
        const { sessionId, index, isNew } = await queue(() => findOrOpen(client));
        const { store, engine } = await openOnce();
        // Its ids and its receipt carry this time: no other call may have it.
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
        const note = isNew && looking.includes(tool.name) ? [firstLook] : [];
        const receipt = formatReceipt({
          server,
          place: index,
          call: at.toString(16).padStart(12, '0'),
        });
        return {
          ok: result.ok,
          text: [words, ...note, `receipt: ${receipt}`].join('\n'),
        };
      } catch (error) {
        // Safe: a change of the plan is one transaction, and the model is told that
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
    /** A host's session is the host's to close. */
    async close(): Promise<void> {
      // Safe: what could not be opened need not be closed.
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
 * After `/clear` this process serves a new session, whose todos must not land in the old
 * one's plan.
 */
async function isOver(store: Store, sessionId: string): Promise<boolean> {
  const state = await store.state(sessionId);
  if (state?.deleted === true) return true;
  const waiting = await store.events({ sessionId, waiting: true });
  const telling = ['session-closed', 'session-opened', 'human-spoke'];
  const last = waiting.findLast(({ event }) => telling.includes(event.type));
  return last === undefined
    ? state?.closed === true
    : last.event.type === 'session-closed';
}

/**
 * Of the human's last message (V2): an agent that edits the file allows itself nothing.
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

const planResources = [
  {
    name: 'plan',
    uri: 'untildone://plan',
    title: 'The plan',
    description:
      'The todos of this session as a Markdown task list. Cancelled todos are left out.',
    mimeType: 'text/markdown',
    read: (state: State | null) =>
      `# Plan\n\n${progressLine(state)}\n\n${formatPlan(state?.plan ?? [])}`.trimEnd(),
  },
  {
    name: 'plan-json',
    uri: 'untildone://plan.json',
    title: 'The plan as JSON',
    description:
      'Every todo of this session with all its fields, and how many are in which state.',
    mimeType: 'application/json',
    read: (state: State | null) =>
      json(state, { todos: state?.plan.map((todo) => viewTodo(todo, state)) ?? [] }),
  },
  {
    name: 'outcome',
    uri: 'untildone://outcome',
    title: 'The outcome',
    description:
      'How the turn settled (done, claimed, blocked, stagnant, exhausted, paused, aborted, failed); null while it has not.',
    mimeType: 'application/json',
    read: (state: State | null) => {
      const {
        outcome = null,
        reason = null,
        at: settledAt = null,
      } = state?.settled ?? {};
      const paused = state?.pause
        ? { by: state.pause.by, reason: shownNote(state.pause.reason) }
        : null;
      return json(state, {
        outcome,
        reason,
        settledAt,
        paused,
        remaining: remaining(state),
      });
    },
  },
];

function json(state: State | null, fields: object): string {
  const host = state === null ? null : oneLine(state.descriptor.host, 60);
  const summary = summarise(state?.plan ?? []);
  return JSON.stringify(
    { session: state?.id ?? null, host, summary, ...fields },
    null,
    2,
  );
}

function progressLine(state: State | null): string {
  const counts = countPlan(state?.plan ?? []);
  if (planSize(counts) === 0) return 'There are no todos yet.';
  const stuck = counts.blocked === 0 ? '' : `, ${counts.blocked} blocked`;
  return `${counts.completed} of ${planSize(counts)} completed, ${openCount(counts)} open${stuck}.`;
}

const lookEveryMs = 2000;

/**
 * Tells of changes by our own calls at once, of those by other processes once somebody
 * read or subscribed.
 */
export function createResourceWatch(
  clock: Clock,
  stateNow: () => Promise<State | null>,
  tell: (uri: string) => Promise<void>,
) {
  const queue = createQueue();
  let known: readonly string[] | null = null;
  let cancel: (() => void) | null = null;
  let ended = false;

  const versions = () =>
    stateNow().then((state) => planResources.map(({ read }) => read(state)));

  function arm(): void {
    // A look that failed is made again.
    if (!ended)
      cancel = clock.wake(clock.now() + lookEveryMs, () => void look().then(arm, arm));
  }

  /** In turn: two calls at once must not tell of the same change twice. */
  const look = () =>
    queue(async () => {
      if (ended) return;
      const before = known;
      const now = before && (await versions());
      known = now;
      for (const [index, { uri }] of planResources.entries())
        if (now === null || before?.[index] !== now[index]) await tell(uri);
    });

  return {
    async begin(): Promise<void> {
      if (known !== null) return;
      const now = await versions();
      // Of two who begin at once the first one counts.
      known ??= now;
      if (cancel === null) arm();
    },
    look,
    end(): void {
      ended = true;
      cancel?.();
    },
  };
}
