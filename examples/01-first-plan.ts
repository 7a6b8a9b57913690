// 01: the smallest program. A plan, an agent that stops too early, and the answer it gets.
// Run it, after npm run build, with: node_modules/.bin/node examples/01-first-plan.ts (or npm run examples)
import {
  createIdentifiers,
  createRuntime,
  defaultSettings,
  type Event,
  openSqliteStore,
  sha256,
  systemClock,
} from 'untildone';

const identifiers = createIdentifiers();
const runtime = createRuntime({
  store: await openSqliteStore({ path: ':memory:' }),
  clock: systemClock,
  identifiers,
  hash: sha256,
  policy: () => ({ settings: defaultSettings, goalChecks: [] }),
});

const base = () => ({ id: identifiers.next(), sessionId: 'example', at: Date.now() });
const tell = (event: Event) => runtime.handle(event);

await tell({
  ...base(),
  type: 'session-opened',
  descriptor: {
    host: 'example',
    instance: 'example',
    mode: 'asked',
    kind: 'main',
    parentId: null,
    directory: null,
    headless: true,
    immediate: false,
    everyAgentWrites: true,
    seesTools: true,
    tools: { pause: 'todo_pause', verify: null },
  },
  agent: null,
});
await tell({
  ...base(),
  type: 'human-spoke',
  text: 'Write the parser and its tests.',
  messageId: null,
  turnId: identifiers.next(),
  agent: null,
  fingerprint: null,
  policyHash: null,
});
const parser = identifiers.next();
await tell({
  ...base(),
  type: 'todos-created',
  actor: 'agent',
  items: [
    { id: parser, title: 'Write the parser' },
    { id: identifiers.next(), title: 'Write its tests', completionCriteria: 'npm test passes' },
  ],
});
await tell({ ...base(), type: 'tool-ended', tool: 'write_file', access: 'write', error: null });
await tell({
  ...base(),
  type: 'todo-completed',
  actor: 'agent',
  todoId: parser,
  status: 'completed',
  outcome: 'parser.ts written',
});

// "I'm done!", says the agent. The system answers:
const { answer, decision } = await tell({
  ...base(),
  type: 'stop-attempted',
  end: 'normal',
  question: false,
  fingerprint: null,
  background: null,
  toolError: null,
});
console.log(`${decision?.answer}: ${decision?.sentence}\n\n${answer?.text}`);
