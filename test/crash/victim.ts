// The process that the crash matrix kills: a told or asked host without a model, on a
// real SQLite store. What the outside world has seen (messages the host took, answers it
// got, changes it was told of) goes to files beside it. Its clock steps at random (P42),
// and one check of the goal always passes.
// Usage: node victim.ts DIRECTORY told|asked POINT NTH TODOS SEED [copies]   (POINT "none": run to the end; copies: of the
// store after each commit)
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Event } from '../../src/core/events.ts';
import { defaultSettings } from '../../src/core/settings.ts';
import { countPlan, openCount } from '../../src/core/state.ts';
import type { Checker, Clock, ToldHost } from '../../src/engine/host.ts';
import { createRuntime } from '../../src/engine/runtime.ts';
import { createIdentifiers, sha256, systemClock } from '../../src/engine/system.ts';
import { type Happening, scriptedDescriptor } from '../../src/simulated/scripted-host.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { createRandom } from '../evidence/random.ts';

const [
  directory = '',
  mode = 'told',
  point = 'none',
  nth = '1',
  todos = '4',
  seed = '1',
  copies = '',
] = process.argv.slice(2);
const file = (name: string): string => join(directory, name);
const lines = (name: string): string[] =>
  existsSync(file(name))
    ? readFileSync(file(name), 'utf8').split('\n').filter(Boolean)
    : [];
const note = (name: string, line: string): void =>
  appendFileSync(file(name), `${line}\n`);

let passes = 0;
let commits = 0;
function trace(reached: string): void {
  if (reached === 'after-commit' && copies !== '')
    copyStore(join(directory, `copy-${commits++}`));
  if (reached !== point) return;
  passes += 1;
  if (passes === Number(nth)) process.kill(process.pid, 'SIGKILL');
}

/** Nobody else writes, and the log only grows: what is copied is what was committed. */
function copyStore(folder: string): void {
  mkdirSync(folder);
  for (const name of ['store.db', 'store.db-wal'])
    if (existsSync(file(name))) copyFileSync(file(name), join(folder, name));
}

const random = createRandom(Number(seed));
/** Goes on in the process that comes after a kill. */
let skewMs = Number(lines('clock').at(-1) ?? 0);
let stepsBack = 0;
const clock: Clock = {
  now: () => Date.now() + skewMs,
  wake: (at, callback) => systemClock.wake(at - skewMs, callback),
};

/**
 * By −10 s to +2 h. A told host waits until its clock is where it was: it is set back
 * seldom, or the matrix takes hours.
 */
function stepClock(): void {
  if (random.chance(10)) skewMs += random.below(7_200_000);
  else if (
    mode === 'asked' ? random.chance(20) : random.below(400) === 0 && stepsBack++ === 0
  )
    skewMs -= random.below(10_000);
  else return;
  note('clock', String(skewMs));
}

const checker: Checker = {
  async run({ id }, { checks, stop }, report) {
    const base = () => ({ id: identifiers.next(), sessionId: id, at: clock.now() });
    const seen = {
      result: 'passed',
      flaky: false,
      tail: null,
      fingerprint: null,
      writes: null,
    } as const;
    for (const asked of checks)
      await report({
        ...base(),
        ...asked,
        ...seen,
        type: 'check-finished',
        final: stop !== null,
      });
    if (stop !== null)
      await report({ ...base(), type: 'final-run-ended', stop, edited: [] });
  },
};

const store = await openSqliteStore({ path: file('store.db'), clock: systemClock });
const identifiers = createIdentifiers();
const host: ToldHost = {
  async inject({ key }) {
    note('taken', key);
    return { taken: true };
  },
  find: async ({ key }) => (lines('taken').includes(key) ? 'present' : 'absent'),
  isIdle: async () => true,
  readPlan: async () => null,
  notify: async () => {},
};
const settings = { ...defaultSettings, countdownSeconds: 0.01, minIntervalSeconds: 0 };
const runtime = createRuntime({
  store,
  clock,
  identifiers,
  hash: sha256,
  policy: () => ({ settings, goalChecks: ['unit'] }),
  checker,
  host,
  instance: 'crash',
  trace,
});
const sessionId = 'victim';
function happens(happening: Happening) {
  stepClock();
  return runtime.handle({
    ...happening,
    id: identifiers.next(),
    sessionId,
    at: clock.now(),
  } as Event);
}
const current = () => store.state(sessionId);
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const stopEvent: Happening = {
  type: 'stop-attempted',
  end: 'normal',
  question: false,
  fingerprint: null,
  background: null,
  toolError: null,
};

async function begin(): Promise<void> {
  const descriptor = scriptedDescriptor(mode as 'told' | 'asked', 'crash');
  const agent = { name: 'build', canWrite: 'yes' as const, model: null, variant: null };
  await happens({ type: 'session-opened', descriptor, agent });
  const before = await current();
  if ((before?.turn ?? null) === null) {
    const turnId = identifiers.next();
    await happens({
      type: 'human-spoke',
      text: 'all of it',
      messageId: 'm1',
      turnId,
      agent: null,
      fingerprint: null,
      policyHash: null,
    });
  }
  const planned = new Set(lines('planned'));
  for (let index = 0; index < Number(todos); index++) {
    const id = `todo-${index}`;
    if (planned.has(id)) continue;
    await happens({
      type: 'todos-created',
      actor: 'agent',
      items: [{ id, title: `todo number ${index}` }],
    });
    note('planned', id);
  }
}

/** What the agent does when it is continued: one tool call, one todo finished. */
async function workOnce(): Promise<void> {
  await happens({ type: 'tool-ended', tool: 'write_file', access: 'write', error: null });
  const session = await current();
  const open = session === null ? [] : await store.todos({ planId: session.planId });
  const next = open.find((todo) => todo.status === 'pending');
  if (next === undefined) return;
  await happens({
    type: 'todo-completed',
    actor: 'agent',
    todoId: next.id,
    status: 'completed',
    outcome: 'done',
  });
  note('completed', next.id);
}

async function drainTold(): Promise<void> {
  await runtime.attach();
  let worked = lines('worked').length;
  if (worked >= lines('taken').length) await happens(stopEvent);
  while (openCount(countPlan((await current())?.plan ?? [])) > 0) {
    if (lines('taken').length <= worked) {
      await sleep(5);
      await runtime.fireDue();
      // After a leap of the clock nobody is talked to unasked.
      if ((await current())?.pause?.by === 'system')
        await happens({ type: 'human-resumed' });
      continue;
    }
    await workOnce();
    worked += 1;
    note('worked', String(worked));
    await happens({ type: 'activity-seen' });
    await happens(stopEvent);
  }
  await runtime.detach();
}

async function drainAsked(): Promise<void> {
  for (;;) {
    const handled = await happens(stopEvent);
    const { answer } = (await handled.checks) ?? handled;
    if (answer?.answer !== 'continue') return;
    note('answered', `victim:${answer.epoch}`);
    await workOnce();
  }
}

await begin();
await (mode === 'told' ? drainTold() : drainAsked());
await store.close();
