import { expect, it } from 'vitest';
import { createMemoryStore } from '../../test/support/memory-store.ts';
import type { EventOf } from '../core/events.ts';
import { defaultSettings } from '../core/settings.ts';
import {
  createSequentialIdentifiers,
  createSimulatedClock,
} from '../simulated/simulated-clock.ts';
import type { Checker } from './host.ts';
import { createRuntime } from './runtime.ts';
import { sha256 } from './system.ts';

it('V1: a failure that is folded together with another result is the answer to the stop, not "wait"', async () => {
  const clock = createSimulatedClock();
  const store = createMemoryStore();
  const identifiers = createSequentialIdentifiers();
  const base = () => ({ id: identifiers.next(), sessionId: 's', at: clock.now() });
  const checker: Checker = {
    async run(_session, { checks, stop }, report) {
      if (stop === null) return;
      const results = checks.map(
        ({ todoId, check }, index): EventOf<'check-finished'> => ({
          ...base(),
          at: clock.now() + index,
          type: 'check-finished',
          todoId,
          check,
          result: index === 0 ? 'passed' : 'failed',
          flaky: false,
          tail: 'it broke',
          fingerprint: null,
          final: true,
          writes: null,
        }),
      );
      // The runner is quicker than the process that waits: all results are in the inbox
      // before the first one is reported.
      for (const result of results) await store.append([result]);

      for (const result of results) await report(result);
      await report({ ...base(), type: 'final-run-ended', stop, edited: [] });
    },
  };
  const policy = () => ({ settings: defaultSettings, goalChecks: [] });
  const runtime = createRuntime({
    store,
    clock,
    identifiers,
    hash: sha256,
    policy,
    checker,
  });
  await runtime.handle({
    ...base(),
    type: 'session-opened',
    descriptor: {
      host: 'test',
      instance: 'test',
      mode: 'asked',
      kind: 'main',
      parentId: null,
      directory: null,
      headless: true,
      immediate: false,
      everyAgentWrites: false,
      seesTools: true,
      tools: { pause: null, verify: null },
    },
    agent: { name: null, canWrite: 'yes', model: null, variant: null },
  });
  const items = ['one', 'two'].map((id) => ({ id, title: id, checks: [id] }));
  await runtime.handle({ ...base(), type: 'todos-created', actor: 'agent', items });
  await runtime.handle({
    ...base(),
    type: 'tool-ended',
    tool: 'write',
    access: 'write',
    error: null,
  });
  for (const todoId of ['one', 'two'])
    await runtime.handle({
      ...base(),
      type: 'todo-completed',
      actor: 'agent',
      todoId,
      status: 'completed',
      outcome: 'ok',
    });
  const stop = {
    end: 'normal',
    question: false,
    toolError: null,
    fingerprint: null,
    background: [],
  } as const;
  const asked = await runtime.ask(
    { ...base(), type: 'stop-attempted', ...stop },
    clock.now() + 60_000,
  );
  expect(asked.answer).toMatchObject({ answer: 'continue' });
  expect(asked.answer?.text).toContain('it broke');
});
