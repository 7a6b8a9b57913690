// A completion is refused if the todo's own check fails, and no answer takes longer than
// the hook may.
import { describe, expect, it } from 'vitest';
import { continuationOf, createHookCase } from '../../test/support/hook-case.ts';
import {
  completedPayload,
  createPayload,
  promptPayload,
  stopPayload,
  toolPayload,
} from '../../test/support/payload-cases.ts';
import { defaultSettings } from '../core/settings.ts';
import type { Checker } from '../engine/host.ts';

const settings = {
  ...defaultSettings,
  todoChecks: [{ title: 'Make*', checks: ['made'] }],
};

/**
 * Answers each check with the next of these results; if none is left, the check never
 * ends.
 */
function checkerOf(
  ...results: ('passed' | 'failed')[]
): Checker & { readonly asked: string[] } {
  const asked: string[] = [];
  let number = 0;
  return {
    asked,
    async run(session, { checks }, report) {
      for (const { todoId, check } of checks) {
        asked.push(check);
        const result = results.shift();
        if (result === undefined) return new Promise(() => {});
        number += 1;
        await report({
          type: 'check-finished',
          id: `result-${number}`,
          sessionId: session.id,
          at: session.updatedAt + 1,
          todoId,
          check,
          result,
          flaky: false,
          tail: result === 'failed' ? 'made failed\nok.txt <b>is missing</b>' : null,
          fingerprint: null,
          final: false,
          writes: null,
        });
      }
    },
  };
}

async function withPlan(checker: Checker) {
  const hooks = createHookCase({ policy: { settings }, checker });
  await hooks.send(promptPayload('Please do it'));
  await hooks.send(createPayload('1', 'Make ok.txt'));
  await hooks.send(createPayload('2', 'Other'));
  await hooks.send(toolPayload('Write', 'w1', {}, {}));
  return hooks;
}

describe('the gate', () => {
  it('V1, P31: a failed check refuses the completion with the tail of its output, and the todo stays open', async () => {
    const hooks = await withPlan(checkerOf('failed'));
    const answer = await hooks.send(completedPayload('1', 'Make ok.txt'));
    expect(answer).toEqual({
      decision: 'block',
      reason: expect.stringContaining('“Make ok.txt” failed'),
    });
    expect((answer as { reason: string }).reason).toContain('| ok.txt ‹b›is missing‹/b›');
    expect((await hooks.todos())[0]).toMatchObject({
      status: 'in_progress',
      verification: 'failed',
    });
  });

  it('V1: a passed check lets it through, and the claim is verified', async () => {
    const hooks = await withPlan(checkerOf('passed'));
    expect(await hooks.send(completedPayload('1', 'Make ok.txt'))).toEqual({});
    expect((await hooks.todos())[0]).toMatchObject({
      status: 'completed',
      verification: 'passed',
    });
  });

  it('a todo without a check is nobody’s business here, and not yet claimed either', async () => {
    const checker = checkerOf('failed');
    const hooks = await withPlan(checker);
    expect(await hooks.send(completedPayload('2', 'Other'))).toEqual({});
    expect(checker.asked).toEqual([]);
    expect((await hooks.todos())[1]?.status).toBe('pending');
  });

  it('a todo that we do not know is let through', async () => {
    const hooks = await withPlan(checkerOf('failed'));
    expect(await hooks.send(completedPayload('99', 'Unknown'))).toEqual({});
  });

  it('a check that is not finished two seconds before the timeout lets the claim through as running', async () => {
    const hooks = await withPlan(checkerOf());
    let answer: object | null = null;
    const gate = hooks.send(completedPayload('1', 'Make ok.txt')).then((said) => {
      answer = said;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    await hooks.clock.advance(117_000);
    expect(answer).toBeNull();
    await hooks.clock.advance(1_100);
    await gate;
    expect(answer).toEqual({});
    expect((await hooks.todos())[0]?.status).toBe('completed');
  });

  it('after a refusal the todo can be completed again, and the stop is not held by it', async () => {
    const hooks = await withPlan(checkerOf('failed', 'passed', 'passed'));
    await hooks.send(completedPayload('1', 'Make ok.txt'));
    expect(continuationOf(await hooks.send(stopPayload()))).toContain('failed');
    expect(await hooks.send(completedPayload('1', 'Make ok.txt'))).toEqual({});
    expect((await hooks.todos())[0]?.verification).toBe('passed');
  });

  it('C2: in observe mode nothing is refused and no check is run', async () => {
    const checker = checkerOf('failed');
    const hooks = createHookCase({
      policy: { settings: { ...settings, mode: 'observe' } },
      checker,
    });
    await hooks.send(promptPayload('Please do it'));
    await hooks.send(createPayload('1', 'Make ok.txt'));
    expect(await hooks.send(completedPayload('1', 'Make ok.txt'))).toEqual({});
    expect(checker.asked).toEqual([]);
  });
});
