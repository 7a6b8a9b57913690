// A server process without its process: the real engine and tools over a store in memory,
// the clock of the test, and the hook that binds receipts. For tests only.
import { defaultSettings, type Settings } from '../../src/core/settings.ts';
import type { Todo } from '../../src/core/todo.ts';
import type { Clock } from '../../src/engine/host.ts';
import { createRuntime } from '../../src/engine/runtime.ts';
import { createIdentifiers, sha256 } from '../../src/engine/system.ts';
import { findReceipt } from '../../src/hosts/asked-call.ts';
import { bindReceipt } from '../../src/mcp/receipts.ts';
import { createTodoCaller } from '../../src/mcp/serve-mcp.ts';
import { todoToolsFor } from '../../src/tools/todo-tools.ts';
import { createMemoryStore } from './memory-store.ts';

export function createMcpBench(clock: Clock, settings: Partial<Settings> = {}) {
  const store = createMemoryStore();
  const identifiers = createIdentifiers(clock);
  const policy = () => ({
    settings: { ...defaultSettings, ...settings },
    goalChecks: [],
  });
  const checker = { run: async () => {} };
  const engine = createRuntime({
    store,
    clock,
    identifiers,
    hash: sha256,
    policy,
    checker,
  });

  /** One more server process over the same store. */
  function startServer() {
    const open = async () => ({ store, engine });
    const ended = new AbortController().signal;
    const session = createTodoCaller({ open, clock, directory: '/workspace' }, ended);
    const { call } = session;
    return {
      session,
      async call(name: string, input: unknown) {
        const tool = todoToolsFor('agent').find((one) => one.name === name);
        if (tool === undefined) throw new Error(`no tool ${name}`);
        const { ok, text } = await call(tool, input, 'test client');
        const receipt = findReceipt(text) ?? '';
        const [words = ''] = text.split('\n');
        return {
          ok,
          text,
          receipt,
          output: ok ? (JSON.parse(words) as Record<string, unknown>) : {},
        };
      },
      async create(...titles: string[]) {
        const { output, receipt } = await this.call('create_todo', {
          items: titles.map((title) => ({ title })),
        });
        const ids = (output['created'] as { id: string }[]).map(({ id }) => id);
        return { ids, receipt };
      },
    };
  }

  const base = (sessionId: string) => ({
    id: identifiers.next(),
    sessionId,
    at: clock.now(),
  });
  return {
    ...startServer(),
    startServer,
    store,
    engine,
    /** What the host's hook does with a result of ours. */
    bind: (receipt: string, sessionId: string) =>
      bindReceipt(store, engine, { receipt, sessionId, at: clock.now() }),
    closed: (sessionId: string) =>
      engine.append({ ...base(sessionId), type: 'session-closed' }),
    humanSays: (sessionId: string, text: string) =>
      engine.handle({
        ...base(sessionId),
        type: 'human-spoke',
        messageId: null,
        text,
        turnId: identifiers.next(),
        agent: null,
        fingerprint: null,
        policyHash: null,
      }),
    /** The host's own todo tool. */
    hostCreates: (sessionId: string, hostKey: string, title: string) =>
      engine.handle({
        ...base(sessionId),
        type: 'todos-created',
        actor: 'agent',
        items: [{ id: identifiers.next(), title, hostKey }],
      }),
    sessionOf: (id: string) => store.state(id),
    plan: async (sessionId: string): Promise<readonly Todo[]> =>
      (await store.state(sessionId))?.plan ?? [],
  };
}

/** How a plan reads at a glance. */
export function titles(todos: readonly Todo[]): string[] {
  return todos.map(({ status, title }) => `${status} ${title}`);
}
