// A plan of twelve todos over three workers, one of which cannot do one of its todos,
// with the real loop, a SQLite store and the scripted model; and the same work
// interrupted at every kind of moment (S4, S6, V5).
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runScriptedAgent } from '../../bench/agent/scripted-agent.ts';
import type { AgentEvent } from '../../src/agent/agent-event.ts';
import { createLinePrinter } from '../../src/cli/show/lines.ts';
import { systemClock } from '../../src/engine/system.ts';
import { startScriptedModel } from '../../src/scripted-model/index.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import {
  hopeless,
  workerNames,
  workerScripts,
  workerTodos,
} from '../run-kills/worker-story.ts';

// The models of the story have no names that the packages know; their remarks about that
// are not the point.
(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;

async function playAll() {
  const base = mkdtempSync(join(tmpdir(), 'untildone-workers-'));
  const directory = join(base, 'work');
  mkdirSync(directory);
  const store = await openSqliteStore({
    path: join(base, 'store.db'),
    clock: systemClock,
  });
  const model = await startScriptedModel({ scripts: workerScripts() });
  onTestFinished(async () => {
    await model.close();
    await store.close();
    rmSync(base, { recursive: true, force: true });
  });
  const events: AgentEvent[] = [];
  let printed = '';
  const write = (text: string): void => {
    printed += text;
  };
  const { print } = createLinePrinter({
    write,
    look: { columns: null, color: false, unicode: true },
  });
  const ended = await runScriptedAgent({
    url: model.url,
    api: 'anthropic',
    store,
    directory,
    sessionId: 'twelve',
    goal: 'Do all of it.',
    workers: workerNames,
    emit: (event) => {
      events.push(event);
      print(event);
    },
  });
  const { planId = '', plan: todos = [] } = (await store.state('twelve')) ?? {};
  const ledger = await store.ledger(planId);
  const sessions = await store.sessions({ limit: 100 });
  return { ended, events, printed, todos, ledger, sessions };
}

it('S4 S6: twelve todos over three workers, one of which fails twice: eleven done, one blocked, and all of it told', async () => {
  const { ended, events, printed, todos, ledger, sessions } = await playAll();
  expect(ended).toMatchObject({ outcome: 'blocked', reason: 'all-blocked', exitCode: 4 });
  expect(todos.filter(({ status }) => status === 'completed')).toHaveLength(11);
  expect(todos.filter(({ status }) => status === 'blocked')).toMatchObject([
    {
      title: hopeless,
      attempts: 2,
      reason: expect.stringContaining('its worker failed 2 times'),
    },
  ]);
  expect(ended.todos.map(({ title }) => title)).toEqual(
    workerTodos.map(({ title }) => title),
  );

  // Each got its own worker, the hopeless one two; every one is on the record with a
  // session of its own.
  const ends = events.filter((event) => event.type === 'worker-ended');
  expect(ends).toHaveLength(13);
  expect(ends.filter(({ result }) => result === 'refused')).toHaveLength(2);
  expect(
    sessions.filter(({ descriptor }) => descriptor.parentId === 'twelve'),
  ).toHaveLength(13);
  expect(ledger.filter(({ change }) => change === 'delegated')).toHaveLength(13);
  expect(ledger.filter(({ change }) => change === 'worker-ended')).toHaveLength(13);
  for (const { agentType, todoId } of ends)
    expect(todos.find(({ id }) => id === todoId)?.agentType).toBe(agentType);

  // The summary counts what workers spent, and says what is left and why.
  const spent = events.flatMap((event) =>
    event.type === 'usage' ? [event.step.inputTokens] : [],
  );
  expect(ended.usage.inputTokens).toBe(spent.reduce((sum, tokens) => sum + tokens, 0));
  expect(ended.toolCalls).toBe(events.filter(({ type }) => type === 'tool-ended').length);
  expect(printed).toContain('worker coder: Write part 02');
  expect(printed).toMatch(/worker tester: refused after .* It refused/);
  expect(printed).toContain(hopeless);
  expect(printed).toMatch(
    /Everything that is left is blocked[\s\S]*its worker failed 2 times/,
  );
}, 30_000);
