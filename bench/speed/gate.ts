// Prints what the gate costs: from the claim of a todo to its passed check, through the
// detached runner, beside the bare command that the check runs and beside the start of
// Node alone. Medians of interleaved rounds; it asserts nothing.
// Usage: npm run bench -- gate [ROUNDS]
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createChecker, runQueue, startRunner } from '../../src/checks/checker.ts';
import { createCommandCheck } from '../../src/core/check-specs.ts';
import { defaultSettings } from '../../src/core/settings.ts';
import { createRuntime, type Runtime } from '../../src/engine/runtime.ts';
import { createIdentifiers, sha256, systemClock } from '../../src/engine/system.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { storePath } from '../../src/store/state-directory.ts';

const rounds = Number(process.argv[2] ?? 15);
const filesInFolder = 200;
const dist = fileURLToPath(new URL('../../dist/', import.meta.url));

const base = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-gate-')));
const folder = join(base, 'work');
const environment = { ...process.env, UNTILDONE_HOME: join(base, 'state') };
const identifiers = createIdentifiers(systemClock);

/** `program` null: the runner works in this process. */
async function createGate(program: string | null): Promise<() => Promise<void>> {
  const store = await openSqliteStore({
    path: storePath(environment),
    clock: systemClock,
  });
  const checker = createChecker({
    store,
    clock: systemClock,
    identifiers,
    startRunner: (directory, holder) => {
      if (program !== null) startRunner(directory, holder, environment, program);
      else void runQueue({ store, clock: systemClock, directory, holder, environment });
    },
    signal: () => new AbortController().signal,
  });
  const checks = { trivial: createCommandCheck('trivial', { shell: 'true' }) };
  const policy = () => ({ settings: defaultSettings, goalChecks: [], checks });
  const runtime = createRuntime({
    store,
    clock: systemClock,
    identifiers,
    hash: sha256,
    policy,
    checker,
  });
  const sessionId = identifiers.next();
  await openSession(runtime, sessionId);
  const base = () => ({ id: identifiers.next(), sessionId, at: systemClock.now() });
  return async () => {
    const todoId = identifiers.next();
    const items = [{ id: todoId, title: `Todo ${todoId}`, checks: ['trivial'] }];
    await runtime.handle({ ...base(), type: 'todos-created', actor: 'agent', items });
    await measureInto(() => complete(runtime, base(), todoId));
  };
}

let lastMs = 0;

async function measureInto(work: () => Promise<void>): Promise<void> {
  const start = performance.now();
  await work();
  lastMs = performance.now() - start;
}

async function complete(
  runtime: Runtime,
  base: { id: string; sessionId: string; at: number },
  todoId: string,
): Promise<void> {
  const claim = {
    actor: 'agent',
    todoId,
    status: 'completed',
    outcome: 'finished',
  } as const;
  const { checks } = await runtime.handle({ ...base, type: 'todo-completed', ...claim });
  await checks;
}

async function openSession(runtime: Runtime, sessionId: string): Promise<void> {
  await runtime.handle({
    id: identifiers.next(),
    sessionId,
    at: systemClock.now(),
    type: 'session-opened',
    descriptor: {
      host: 'bench',
      instance: 'bench',
      mode: 'asked',
      kind: 'main',
      parentId: null,
      directory: folder,
      headless: true,
      immediate: false,
      everyAgentWrites: false,
      seesTools: true,
      tools: { pause: null, verify: null },
    },
    agent: { name: null, canWrite: 'yes', model: null, variant: null },
  });
}

function run(command: string, ...argv: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, argv, { stdio: 'ignore', cwd: folder });
    child.on('error', reject);
    child.on('close', () => resolve());
  });
}

function median(values: readonly number[]): number {
  return (
    [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0
  );
}

const alive = setInterval(() => {}, 1000);
try {
  mkdirSync(folder);
  mkdirSync(environment.UNTILDONE_HOME, { mode: 0o700 });
  for (let file = 0; file < filesInFolder; file += 1)
    writeFileSync(join(folder, `${file}.txt`), `${file}\n`);
  const runner = join(dist, 'plugin/programs/check-runner.js');
  if (!existsSync(runner)) throw new Error(`${runner} is not built: npm run build`);
  const measured: Record<string, () => Promise<void>> = {
    'the bare command (sh -c true)': () =>
      measureInto(() => run('/bin/sh', '-c', 'true')),
    'Node alone (node -e 0)': () => measureInto(() => run(process.execPath, '-e', '0')),
    'the gate, runner in the same process': await createGate(null),
    'the gate, detached runner': await createGate(runner),
  };
  const times = new Map(Object.keys(measured).map((name) => [name, [] as number[]]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, work] of Object.entries(measured)) {
      await work();
      times.get(name)?.push(lastMs);
    }
  }
  const [bare = 1, node = 0] = [...times.values()].map(median);
  console.log(
    `medians of ${rounds} interleaved rounds, folder of ${filesInFolder} files without git`,
  );
  for (const [name, values] of times) {
    const milliseconds = median(values);
    const share = name.includes('detached')
      ? `, ${Math.round((100 * node) / milliseconds)} % of it Node`
      : '';
    console.log(
      `${name}: ${milliseconds.toFixed(1)} ms, ${(milliseconds / bare).toFixed(1)} times${share}`,
    );
  }
} finally {
  clearInterval(alive);
  rmSync(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}
