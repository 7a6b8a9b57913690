// A host without a process, for tests: each payload is translated and performed over a store in memory, with a clock
// that moves only when told to. What a host would read from stdout comes back.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Policy } from '../../src/core/config/policy.ts';
import { defaultSettings } from '../../src/core/config/settings.ts';
import type { Session } from '../../src/core/session.ts';
import type { Todo } from '../../src/core/todo.ts';
import type { Checker } from '../../src/engine/host.ts';
import { createRuntime } from '../../src/engine/runtime.ts';
import type { StoredDecision } from '../../src/engine/store.ts';
import { createIdentifiers, sha256 } from '../../src/engine/system.ts';
import { claudeCode } from '../../src/hosts/claude-code/claude-code.ts';
import type { HookContext } from '../../src/hosts/hook/hook-context.ts';
import type { ListedTodo } from '../../src/hosts/hook/hook-request.ts';
import { performCall } from '../../src/hosts/hook/perform-call.ts';
import { deadlineOf } from '../../src/hosts/hook/timeouts.ts';
import { createSimulatedClock } from '../../src/simulated/simulated-clock.ts';
import { createMemoryStore } from '../../src/store/memory/memory-store.ts';
import { sessionId } from './payload-cases.ts';

export interface HookCaseOptions {
  readonly policy?: Partial<Policy>;
  readonly checker?: Checker;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

export function createHookCase(options: HookCaseOptions = {}) {
  const clock = createSimulatedClock();
  const store = createMemoryStore();
  const identifiers = createIdentifiers(clock);
  const stateDirectory = mkdtempSync(join(tmpdir(), 'untildone-hook-'));
  const policy: Policy = { settings: defaultSettings, goalChecks: [], ...options.policy };
  const environment = options.environment ?? {};
  const bound: string[] = [];
  const shown: { list: readonly ListedTodo[] | null } = { list: null };
  const checker = options.checker ?? { run: async () => {} };

  async function send(payload: unknown): Promise<object> {
    await clock.advance(10);
    const host = { ...claudeCode, readList: () => shown.list };
    const translation = host.translate(payload, { at: clock.now(), environment, toolPrefix: null });
    if (!translation.ok) return {};
    const { call } = translation;
    const context: HookContext = {
      host,
      call,
      store,
      clock,
      identifiers,
      environment,
      stateDirectory,
      runtime: createRuntime({ store, clock, identifiers, hash: sha256, policy: () => policy, checker }),
      parts: {
        bindReceipt: async (_store, _engine, { receipt }) => {
          bound.push(receipt);
        },
        endsInQuestion: (text) => text.endsWith('?'),
      },
      deadlineAt: deadlineOf(call.timeout, clock.now()),
      policy: {
        current: () => ({ policy, problem: null }),
        prepare: async () => ({ policy, problem: null }),
      },
    };
    return host.render(await performCall(context), call.hook);
  }

  return {
    clock,
    store,
    bound,
    shown,
    send,
    session: (id = sessionId): Promise<Session | null> => store.read(async (reader) => reader.session(id)),
    todos: (): Promise<Todo[]> => store.read(async (reader) => reader.todosOfPlan(sessionId)),
    /** Oldest first. */
    decisions: (): Promise<StoredDecision[]> =>
      store.read(async (reader) => (await reader.decisions(sessionId, 100)).reverse()),
  };
}

/** What a continuation says to the model; null: the agent may stop. */
export function continuationOf(answer: object): string | null {
  const { hookSpecificOutput } = answer as { hookSpecificOutput?: { additionalContext?: string } };
  return hookSpecificOutput?.additionalContext ?? null;
}
