// The process that the crash matrix kills: a told or asked host without a model, on a real SQLite store. What the
// outside world has seen (messages the host took, answers it got, changes it was told of) goes to files beside it.
// Usage: node victim.ts DIRECTORY told|asked POINT NTH TODOS   (POINT "none": run to the end)
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Event } from '../../src/core/events.ts';
import { defaultSettings } from '../../src/core/settings.ts';
import { countPlan, openCount } from '../../src/core/state.ts';
import type { ToldHost } from '../../src/engine/host.ts';
import { createRuntime } from '../../src/engine/runtime.ts';
import { createIdentifiers, sha256, systemClock } from '../../src/engine/system.ts';
import { type Happening, scriptedDescriptor } from '../../src/simulated/scripted-host.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';

const [directory = '', mode = 'told', point = 'none', nth = '1', todos = '4'] = process.argv.slice(2);
const file = (name: string): string => join(directory, name);
const lines = (name: string): string[] =>
  existsSync(file(name)) ? readFileSync(file(name), 'utf8').split('\n').filter(Boolean) : [];
const note = (name: string, line: string): void => appendFileSync(file(name), `${line}\n`);

let passes = 0;
function trace(reached: string): void {
  if (reached !== point) return;
  passes += 1;
  if (passes === Number(nth)) process.kill(process.pid, 'SIGKILL');
}

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
const settings = { ...defaultSettings, countdownSeconds: 0.01, minIntervalMs: 0 };
const runtime = createRuntime({
  store,
  clock: systemClock,
  identifiers,
  hash: sha256,
  policy: () => ({ settings, goalChecks: [] }),
  host,
  instance: 'crash',
  trace,
});
const sessionId = 'victim';
const happens = (happening: Happening) =>
  runtime.handle({ ...happening, id: identifiers.next(), sessionId, at: Date.now() } as Event);
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
    await happens({ type: 'todos-created', actor: 'agent', items: [{ id, title: `todo number ${index}` }] });
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
    const { answer } = await happens(stopEvent);
    if (answer?.answer !== 'continue') return;
    note('answered', `victim:${answer.epoch}`);
    await workOnce();
  }
}

const _emptyCounts = { pending: 0, inProgress: 0 } as Parameters<typeof openCount>[0];

await begin();
await (mode === 'told' ? drainTold() : drainAsked());
await store.close();
