// A host without a process, for tests: each payload is translated and performed over a
// store in memory, with a clock that moves only when told to. What a host would read from
// stdout comes back.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Policy } from '../../src/core/policy.ts';
import type { ListedTodo } from '../../src/core/reconcile.ts';
import { defaultSettings } from '../../src/core/settings.ts';
import type { Session } from '../../src/core/state.ts';
import type { Todo } from '../../src/core/todo.ts';
import type { Checker } from '../../src/engine/host.ts';
import { createRuntime } from '../../src/engine/runtime.ts';
import type { Store, StoredDecision } from '../../src/engine/store.ts';
import { createIdentifiers } from '../../src/engine/system.ts';
import { createAnswers } from '../../src/hosts/asked-answers.ts';
import type { AskedHost, HookProcess } from '../../src/hosts/asked-call.ts';
import { claudeCode } from '../../src/hosts/claude-code/host.ts';
import { createParts } from '../../src/open.ts';
import {
  createSimulatedClock,
  type SimulatedClock,
} from '../../src/simulated/simulated-clock.ts';
import { createMemoryStore } from './memory-store.ts';
import { sessionId } from './payload-cases.ts';

export interface HookCaseOptions {
  /** Default: Claude Code, whose own list is then what a test says. */
  readonly host?: AskedHost;
  readonly policy?: Partial<Policy>;
  readonly checker?: Checker;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Of a hook, in seconds. */
  readonly timeout?: number;
  /** Shared with commands; default: a store and a clock of its own. */
  readonly bench?: Readonly<{ store: Store; clock: SimulatedClock }>;
}

export function createHookCase(options: HookCaseOptions = {}) {
  const clock = options.bench?.clock ?? createSimulatedClock();
  const shared = options.bench?.store ?? createMemoryStore();
  const identifiers = createIdentifiers(clock);
  const stateDirectory = mkdtempSync(join(tmpdir(), 'untildone-hook-'));
  const policy: Policy = { settings: defaultSettings, goalChecks: [], ...options.policy };
  const environment = options.environment ?? {};
  const bound: string[] = [];
  const shown: { list: readonly ListedTodo[] | null } = { list: null };
  const checker = options.checker ?? { run: async () => {} };

  /**
   * @param brokenOffMs the host ends the call so long after it began; null: it lets it
   * answer
   * @param own what this hook has of its own
   */
  async function send(
    payload: unknown,
    brokenOffMs: number | null = null,
    { store = shared, steady = clock.now }: { store?: Store; steady?: () => number } = {},
  ): Promise<object> {
    await clock.advance(10);
    const since = steady();
    const host = options.host ?? { ...claudeCode, readList: () => shown.list };
    const translation = host.translate(payload, {
      at: clock.now(),
      environment,
      toolPrefix: null,
    });
    if (!translation.ok) return {};
    const { call } = translation;
    const { asks } = call;
    if (asks.type === 'record' && !asks.decided && !asks.listed) {
      await store.append(asks.events);
      return Object.assign({}, ...[host.render({}, call.hook)].flat());
    }
    const variables = { UNTILDONE_HOME: stateDirectory, ...environment };
    const parts = createParts({
      store,
      clock,
      identifiers,
      checker,
      environment: variables,
    });
    const bindReceipt: HookProcess['bindReceipt'] = async (
      _store,
      _engine,
      { receipt },
    ) => {
      bound.push(receipt);
    };
    const at = clock.now();
    const { perform, breakOff } = createAnswers({
      ...parts,
      host,
      call,
      runtime: createRuntime({ ...parts, policy: () => policy }),
      configuration: {
        current: () => policy,
        problem: () => null,
        pending: () => null,
        renew: async () => {},
      },
      hook: {
        at,
        since,
        steady,
        environment: variables,
        bindReceipt,
        toolPrefix: null,
        timeout: options.timeout ?? null,
        ignored: [],
      },
    });
    if (brokenOffMs !== null) await clock.advance(brokenOffMs);
    const answer = await (brokenOffMs === null ? perform() : breakOff());
    return Object.assign({}, ...[host.render(answer, call.hook)].flat());
  }

  return {
    clock,
    store: shared,
    bound,
    shown,
    send,
    session: (id = sessionId): Promise<Session | null> => shared.state(id),
    todos: (): Promise<readonly Todo[]> => shared.todos({ planId: sessionId }),
    /** Oldest first. */
    decisions: async (): Promise<StoredDecision[]> =>
      [...(await shared.decisions(sessionId, 100))].reverse(),
  };
}

/** What a continuation says to the model; null: the agent may stop. */
export function continuationOf(answer: object): string | null {
  const { hookSpecificOutput, decision, reason } = answer as {
    hookSpecificOutput?: { additionalContext?: string };
    decision?: string;
    reason?: string;
  };
  return (
    hookSpecificOutput?.additionalContext ??
    (decision === 'block' && reason ? reason : null)
  );
}
