// Growth: what a decision and a change of one todo cost with 10,000 todos beside 100, and
// what 100,000 sessions with pending countdowns cost in one process. Usage:
// npm run bench -- growth
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Event } from '../../src/core/events.ts';
import { defaultSettings } from '../../src/core/settings.ts';
import type { ToldHost } from '../../src/engine/host.ts';
import { createRuntime, type Runtime } from '../../src/engine/runtime.ts';
import type { Store } from '../../src/engine/store.ts';
import { createIdentifiers, sha256, systemClock } from '../../src/engine/system.ts';
import { scriptedDescriptor } from '../../src/simulated/scripted-host.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const directory = mkdtempSync(join(tmpdir(), 'untildone-growth-'));
const settings = {
  ...defaultSettings,
  maxStagnant: 100,
  maxContinuations: 10_000,
  ceiling: 100_000,
};
const agent = { name: 'build', canWrite: 'yes' as const, model: null, variant: null };
const median = (values: number[]): number =>
  values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

async function begin(
  runtime: Runtime,
  sessionId: string,
  mode: 'asked' | 'told',
  todos: number,
): Promise<void> {
  const base = (id: string) => ({ id: `${sessionId}-${id}`, sessionId, at: Date.now() });
  await runtime.handle({
    ...base('open'),
    type: 'session-opened',
    descriptor: scriptedDescriptor(mode, 'growth'),
    agent,
  });
  await runtime.handle({
    ...base('human'),
    type: 'human-spoke',
    text: 'all of it',
    messageId: null,
    turnId: `${sessionId}-turn`,
    agent: null,
    fingerprint: null,
    policyHash: null,
  });
  const items = Array.from({ length: todos }, (_, index) => ({
    id: `${sessionId}-t${index}`,
    title: `todo ${index}`,
  }));
  await runtime.handle({ ...base('plan'), type: 'todos-created', actor: 'agent', items });
}

const stopped = (sessionId: string, id: string): Event => ({
  id,
  sessionId,
  at: Date.now(),
  type: 'stop-attempted',
  end: 'normal',
  question: false,
  fingerprint: null,
  background: null,
  toolError: null,
});

async function planSizes(store: Store): Promise<void> {
  const runtime = createRuntime({
    store,
    clock: systemClock,
    identifiers: createIdentifiers(),
    hash: sha256,
    policy: () => ({ settings, goalChecks: [] }),
  });
  const sizes = [100, 10_000];
  for (const size of sizes) await begin(runtime, `plan-${size}`, 'asked', size);
  const times = {
    decision: new Map<number, number[]>(),
    change: new Map<number, number[]>(),
  };
  const note = (kind: keyof typeof times, size: number, ms: number): void => {
    times[kind].set(size, [...(times[kind].get(size) ?? []), ms]);
  };
  for (let round = 0; round < 90; round++) {
    for (const size of sizes) {
      const sessionId = `plan-${size}`;
      let began = performance.now();
      await runtime.handle(stopped(sessionId, `${sessionId}-stop-${round}`));
      note('decision', size, performance.now() - began);
      began = performance.now();
      await runtime.handle({
        id: `${sessionId}-done-${round}`,
        sessionId,
        at: Date.now(),
        type: 'todo-completed',
        actor: 'agent',
        todoId: `${sessionId}-t${round}`,
        status: 'completed',
        outcome: 'done',
      });
      note('change', size, performance.now() - began);
    }
  }
  for (const kind of ['decision', 'change'] as const) {
    const small = median(times[kind].get(100) ?? []);
    const large = median(times[kind].get(10_000) ?? []);
    print(
      `${kind}: 100 todos ${small.toFixed(2)} ms, 10,000 todos ${large.toFixed(2)} ms, ratio ${(large / small).toFixed(2)} (limit 3)`,
    );
    if (large / small > 3) process.exitCode = 1;
  }
}

async function manySessions(store: Store, count: number): Promise<void> {
  const lateness: number[] = [];
  const dueAt = new Map<string, number>();
  const host: ToldHost = {
    async inject({ session }) {
      lateness.push(Date.now() - (dueAt.get(session.id) ?? 0));
      return { taken: true };
    },
    find: async () => 'absent',
    isIdle: async () => true,
    readPlan: async () => null,
    notify: async () => {},
  };
  const countdown = 3600;
  let now = 0;
  const clock = { ...systemClock, now: () => Date.now() + now };
  const runtime = createRuntime({
    store,
    clock,
    identifiers: createIdentifiers(),
    hash: sha256,
    host,
    instance: 'growth',
    policy: () => ({
      settings: { ...settings, countdownSeconds: countdown, timerMaxAgeMinutes: 1440 },
      goalChecks: [],
    }),
  });
  await runtime.attach();
  global.gc?.();
  const before = process.memoryUsage();
  const began = performance.now();
  for (let index = 0; index < count; index++) {
    await begin(runtime, `s${index}`, 'told', 1);
    await runtime.handle(stopped(`s${index}`, `s${index}-stop`));
  }
  global.gc?.();
  const after = process.memoryUsage();
  const perSession =
    (after.heapUsed + after.external - before.heapUsed - before.external) / count;
  print(
    `${count} sessions with pending countdowns: ${perSession.toFixed(0)} bytes of memory each, made in ${((performance.now() - began) / 1000).toFixed(0)} s`,
  );
  const start = Date.now();
  for (let index = 0; index < count; index++) dueAt.set(`s${index}`, start);
  now = (countdown + 60) * 1000;
  const fired = await runtime.fireDue();
  lateness.sort((a, b) => a - b);
  const last = lateness.at(-1) ?? 0;
  print(
    `all due at once: ${fired} fired, ${lateness.length} injected; lateness median ${median(lateness)} ms, last ${last} ms (${Math.round(count / (last / 1000))} per second)`,
  );
  if (lateness.length !== count) process.exitCode = 1;
  await runtime.detach();
}

const store = await openSqliteStore({
  path: join(directory, 'store.db'),
  clock: systemClock,
});
await planSizes(store);
await manySessions(store, Number(process.argv[2] ?? 100_000));
await store.close();
rmSync(directory, { recursive: true, force: true });
