import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../test/support/memory-store.ts';
import type { Event } from '../core/events.ts';
import { defaultSettings } from '../core/settings.ts';
import type { State } from '../core/state.ts';
import type { Checker } from '../engine/host.ts';
import { sha256 } from '../engine/system.ts';
import { describeFailures } from '../hosts/shared.ts';
import { createScriptedHost } from '../simulated/scripted-host.ts';
import {
  createSequentialIdentifiers,
  createSimulatedClock,
} from '../simulated/simulated-clock.ts';
import { createTodoTools } from './todo-tools.ts';

type Result = 'passed' | 'failed';

/**
 * A session with one todo that has a check; `answer` says what the check will say, and
 * when.
 */
async function claimedTodo(answer: () => Promise<Result>, checkPatienceMs: number) {
  const clock = createSimulatedClock();
  const identifiers = createSequentialIdentifiers();
  const store = createMemoryStore();
  let runs = 0;
  const checker: Checker = {
    async run({ id: sessionId, work }, { checks }, report) {
      runs += 1;
      for (const { todoId, check } of checks) {
        const result = await answer();
        const tail = result === 'failed' ? 'expected 3, got 4' : null;
        const event: Event = {
          type: 'check-finished',
          id: `${todoId} ${runs}`,
          sessionId,
          at: clock.now(),
          todoId,
          check,
          result,
          flaky: false,
          tail,
          fingerprint: 'tree',
          final: false,
          writes: work.writes,
        };
        await report(event);
      }
    },
  };
  const policy = () => ({ settings: defaultSettings, goalChecks: [] });
  const host = createScriptedHost({
    mode: 'asked',
    store,
    clock,
    identifiers,
    hash: sha256,
    policy,
    checker,
  });
  await host.open();
  await host.says('work');
  const { sessionId } = host;
  const items = [{ id: 'todo-a', title: 'Parse', checks: ['unit'] }];
  await host.happens({ type: 'todos-created', actor: 'agent', items });
  await host.works();
  const context = {
    engine: host.runtime,
    store,
    sessionId,
    actor: 'agent' as const,
    clock,
    identifiers,
  };
  const tools = createTodoTools({ ...context, checkPatienceMs });
  const call = async (name: string, input: object) => {
    const result = await tools.find((tool) => tool.name === name)?.call(input);
    if (result === undefined) throw new Error(`there is no tool ${name}`);
    return result.ok ? result.output : { error: result.error.code };
  };
  return { host, call, session: async () => store.state(sessionId) };
}

type Claimed = Awaited<ReturnType<typeof claimedTodo>>;

/** How the checks stood before the work began. */
const baseline = ({ host }: Claimed, ...failed: string[]) =>
  host.happens({
    type: 'baseline-seen',
    fingerprint: null,
    checks: failed.map((check) => ({ check, result: 'failed' as const })),
  });
/** The same words as in a host that asks before a completion. */
const failedBefore = (session: State | null) =>
  session === null
    ? expect.fail('no session')
    : (describeFailures(session, session.plan)[0]?.match(
        /The check failed before .* reason\./u,
      )?.[0] ?? expect.fail('no such words'));

const complete = { todoId: 'todo-a', outcome: 'it parses' };

describe('complete_todo with a check', () => {
  it('V1: says at once that the check passed', async () => {
    const { call } = await claimedTodo(async () => 'passed', 1000);
    expect(await call('complete_todo', complete)).toMatchObject({
      status: 'completed',
      verification: 'passed',
      outcome: 'it parses',
      remaining: 0,
    });
  });

  it('P31: says at once what failed, and that the todo is open again', async () => {
    const { call } = await claimedTodo(async () => 'failed', 1000);
    expect(await call('complete_todo', complete)).toMatchObject({
      status: 'in_progress',
      verification: 'failed',
      failure: 'expected 3, got 4',
      completedAt: null,
      remaining: 1,
      notices: ['Its check failed, so the todo is open again.'],
    });
  });
});

describe('a check that failed before the work began too', () => {
  it('P51: complete_todo and todo_verify say so, and what the agent may do', async () => {
    const claimed = await claimedTodo(async () => 'failed', 1000);
    const { call, session, host } = claimed;
    await baseline(claimed, 'unit', 'suite');
    const completed = await call('complete_todo', complete);
    const words = failedBefore(await session());
    expect(words).toContain('call todo_pause with this as the reason');
    expect(completed).toMatchObject({
      notices: ['Its check failed, so the todo is open again.', words],
    });
    await host.happens({
      type: 'check-finished',
      todoId: null,
      check: 'suite',
      result: 'failed',
      flaky: false,
      tail: null,
      fingerprint: null,
      final: true,
      writes: null,
    });
    expect(await call('todo_verify', {})).toMatchObject({
      todos: [{ id: 'todo-a', verification: 'failed', failedBefore: words }],
      goal: [{ check: 'suite', state: 'failed', failedBefore: words }],
    });
  });

  it('P51: is not said of another check, nor once it passes', async () => {
    let result: Result = 'failed';
    const claimed = await claimedTodo(async () => result, 1000);
    await baseline(claimed, 'other');
    const failed = await claimed.call('complete_todo', complete);
    expect(JSON.stringify(failed)).not.toContain('before the work began');
    await baseline(claimed, 'unit');
    result = 'passed';
    const passed = await claimed.call('complete_todo', complete);
    expect(passed).toMatchObject({ verification: 'passed' });
    expect(JSON.stringify([passed, await claimed.call('todo_verify', {})])).not.toContain(
      'before the work began',
    );
  });
});

describe('todo_verify', () => {
  it('M8: waits no longer than it may, and gives the result once it is there', async () => {
    let finish: (result: Result) => void = () => {};
    const slow = new Promise<Result>((resolve) => {
      finish = resolve;
    });
    const { call, session } = await claimedTodo(() => slow, 20);
    expect(await call('complete_todo', complete)).toMatchObject({
      verification: 'claimed',
    });
    const counters = (await session())?.counters;
    expect(await call('todo_verify', {})).toMatchObject({
      finished: false,
      todos: [{ id: 'todo-a', verification: 'claimed' }],
      next: expect.stringContaining('call todo_verify again'),
    });
    expect((await session())?.counters, 'waiting is not stagnation').toEqual(counters);
    finish('passed');
    expect(await call('todo_verify', { todoId: 'todo-a' })).toMatchObject({
      finished: true,
      todos: [{ id: 'todo-a', verification: 'passed' }],
      remaining: 0,
    });
  });

  it('M8: has nothing to say where nothing is checked, and refuses an id that nobody knows', async () => {
    const { call } = await claimedTodo(async () => 'passed', 1000);
    expect(await call('todo_verify', {})).toEqual({
      finished: true,
      todos: [],
      goal: [],
      remaining: 1,
    });
    expect(await call('todo_verify', { todoId: 'nobody' })).toEqual({
      error: 'unknown-todo',
    });
  });
});
