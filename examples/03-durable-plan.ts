// 03: a plan that outlives its process. Each run opens the same file, finishes one todo and then wants to stop.
// Run it twice, after npm run build: node_modules/.bin/node examples/03-durable-plan.ts (npm run examples does so)
import { rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import * as untildone from 'untildone';

const folder = join(tmpdir(), `untildone-example-03-${userInfo().username}`);
const clock = untildone.systemClock;
const identifiers = untildone.createIdentifiers();
const store = await untildone.openSqliteStore({ path: join(folder, 'store.db'), clock });
// A runtime must be given all five: a store, the time, identifiers, a hash, and the settings that hold for a session.
const policy = () => ({ settings: untildone.defaultSettings, goalChecks: [] });
const runtime = untildone.createRuntime({ store, clock, identifiers, hash: untildone.sha256, policy });

const sessionId = 'example';
const base = () => ({ id: identifiers.next(), sessionId, at: clock.now() });
const unknown = untildone.createState(sessionId, clock.now()).descriptor;
const descriptor = { ...unknown, host: 'example', kind: 'main', everyAgentWrites: true } as const;
const { state: session } = await runtime.handle({
  ...base(),
  type: 'session-opened',
  descriptor,
  agent: null,
});
const readPlan = () => store.todos({ planId: session.planId });
if ((await readPlan()).length === 0) {
  const items = ['Write the parser', 'Write its tests'].map((title) => ({ id: identifiers.next(), title }));
  await runtime.handle({ ...base(), type: 'todos-created', actor: 'agent', items });
}

const todoId = (await readPlan()).find(({ status }) => status === 'pending')?.id ?? '';
const end = { actor: 'agent', status: 'completed', outcome: 'written' } as const;
await runtime.handle({ ...base(), ...end, type: 'todo-completed', todoId });
const nothingElse = { question: false, fingerprint: null, background: null, toolError: null };
const stop = { ...base(), ...nothingElse, type: 'stop-attempted', end: 'normal' } as const;
const { decision } = await runtime.handle(stop);
for (const { status, title } of await readPlan()) console.log(`${status}: ${title}`);
console.log(`${decision?.answer}: ${decision?.sentence}\n`);

await store.close();
// The example leaves nothing behind: once the agent may go, the next run begins a new plan.
if (decision?.answer === 'let-go') rmSync(folder, { recursive: true });
