// Runs the MCP server over standard input and output until the client closes its end. Nothing but the protocol is
// written to standard output; what cannot be told to the client goes to `complain`.
import type { Readable, Writable } from 'node:stream';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Policy } from '../core/config/policy.ts';
import type { Clock } from '../engine/clock.ts';
import type { Checker } from '../engine/host.ts';
import { createRuntime } from '../engine/runtime.ts';
import type { Store } from '../engine/store.ts';
import { createIdentifiers, sha256 } from '../engine/system.ts';
import type { TodoTool } from '../tools/todo-tool.ts';
import { createCall, createServerId, type TodoCaller } from './call-todo-tool.ts';
import { EndingTransport } from './ending-transport.ts';
import { createTodoMcpServer, type TodoMcpServer } from './mcp-server.ts';
import { planResources, withSession } from './plan-resources.ts';
import { createResourceWatch } from './resource-watch.ts';
import { createServerSession } from './server-session.ts';

export interface ServeMcpOptions {
  readonly openStore: () => Promise<Store>;
  readonly clock: Clock;
  /** What holds in the directory that the server was started in. Must not throw. */
  readonly policy: () => Policy;
  /** `ended`: the client is gone, and nobody waits for results any more. */
  readonly checker: (store: Store, ended: AbortSignal) => Checker;
  readonly directory: string;
  readonly version: string;
  /** What is offered; a host with todo tools of its own wants only some. */
  readonly tools: readonly TodoTool[];
  readonly input: Readable;
  readonly output: Writable;
  readonly complain: (sentence: string) => void;
}

export async function serveMcp(options: ServeMcpOptions): Promise<void> {
  const { clock, complain } = options;
  const ending = new AbortController();
  let client: string | null = null;
  let opened: Promise<TodoCaller> | null = null;
  const busy = new Set<Promise<unknown>>();
  let current: TodoMcpServer | null = null;

  function caller(): Promise<TodoCaller> {
    opened ??= openCaller(options, () => client, ending.signal).catch((error: unknown) => {
      // Safe: nothing is open yet, and the next call tries again.
      opened = null;
      throw error;
    });
    return opened;
  }

  async function look<T>(work: Parameters<typeof withSession<T>>[2]): Promise<T> {
    const { store, session } = await caller();
    return withSession(store, session, work);
  }

  const call = createCall(caller);
  const watch = createResourceWatch(
    clock,
    planResources.map(({ uri }) => uri),
    () =>
      look(async (reader, session) => {
        const versions = new Map<string, string>();
        for (const { uri, version } of planResources) versions.set(uri, await version(reader, session));
        return versions;
      }),
    async (uri) => current?.resourceChanged(uri),
  );

  function during<T>(work: Promise<T>): Promise<T> {
    const settled: Promise<unknown> = work.then(
      () => busy.delete(settled),
      () => busy.delete(settled),
    );
    busy.add(settled);
    return work;
  }

  const transport = new EndingTransport(options.input, options.output);
  serveStdio(
    ({ era }) => {
      current = createTodoMcpServer({
        version: options.version,
        tools: options.tools,
        era,
        onSubscribe: () => watch.begin(),
        // Safe: whoever reads has the text; that it changed is told after the next look that works.
        read: (resource) => during(look(resource.read).finally(() => watch.begin().catch(() => null))),
        call: (tool, input, name) => {
          client = name ?? client;
          // Safe: a client that was not told of a change reads the resource again when it wants to.
          return during(call(tool, input).finally(() => watch.look().catch(() => null)));
        },
      });
      return current.server;
    },
    { transport, onerror: (error) => complain(`On the MCP connection: ${error.message}`) },
  );
  await transport.ended;
  watch.end();
  ending.abort();
  // A call that was under way is one transaction: it is let to its end before the store is closed.
  await Promise.all(busy);
  // Safe: a store that could not be opened need not be closed.
  const last = await (opened as Promise<TodoCaller> | null)?.catch(() => null);
  if (last == null) return;
  // Safe: the plan is kept; that this process went away is a remark.
  await last.session.close().catch(() => null);
  await last.store.close();
}

async function openCaller(
  options: ServeMcpOptions,
  client: () => string | null,
  ended: AbortSignal,
): Promise<TodoCaller> {
  const { clock, directory } = options;
  const store = await options.openStore();
  const identifiers = createIdentifiers(clock);
  const engine = createRuntime({
    store,
    clock,
    identifiers,
    hash: sha256,
    policy: () => options.policy(),
    checker: options.checker(store, ended),
  });
  const server = createServerId();
  const session = createServerSession({ store, engine, clock, identifiers, server, directory, client });
  return { store, engine, clock, server, session };
}
