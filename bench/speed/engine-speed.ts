// Speed as ratios within one run: the engine on SQLite beside raw node:sqlite with the
// same rows per transaction, decide() alone, and the start of the command line beside
// bare Node. Usage: npm run bench -- speed
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decide } from '../../src/core/decide.ts';
import type { Event } from '../../src/core/events.ts';
import { defaultSettings } from '../../src/core/settings.ts';
import { createRuntime } from '../../src/engine/runtime.ts';
import { createIdentifiers, sha256, systemClock } from '../../src/engine/system.ts';
import { scriptedDescriptor } from '../../src/simulated/scripted-host.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { createRawWriter } from './raw-rows.ts';

const events = Number(process.argv[2] ?? 3000);
const directory = mkdtempSync(join(tmpdir(), 'untildone-speed-'));
const policy = { settings: { ...defaultSettings, maxTodos: 100_000 }, goalChecks: [] };
const print = (line: string): void => void process.stdout.write(`${line}\n`);

const base = (id: string) => ({ id, sessionId: 's', at: Date.now() });

/** A session with a plan of `events` open todos. */
async function fill(path: string) {
  const store = await openSqliteStore({ path, clock: systemClock });
  const runtime = createRuntime({
    store,
    clock: systemClock,
    identifiers: createIdentifiers(),
    hash: sha256,
    policy: () => policy,
  });
  const agent = { name: 'build', canWrite: 'yes' as const, model: null, variant: null };
  const descriptor = scriptedDescriptor('asked', 'bench');
  await runtime.handle({ ...base('open'), type: 'session-opened', descriptor, agent });
  await runtime.handle({
    ...base('human'),
    type: 'human-spoke',
    text: 'all of it',
    messageId: null,
    turnId: 'turn',
    agent: null,
    fingerprint: null,
    policyHash: null,
  });
  const items = Array.from({ length: events }, (_, index) => ({
    id: `t${index}`,
    title: `todo number ${index}`,
  }));
  await runtime.handle({ ...base('plan'), type: 'todos-created', actor: 'agent', items });
  return { store, runtime };
}

const complete = (index: number): Event => ({
  ...base(`e${index}`),
  type: 'todo-completed',
  actor: 'agent',
  todoId: `t${index}`,
  status: 'completed',
  outcome: 'done',
});
const { store, runtime } = await fill(join(directory, 'engine.db'));
await (await fill(join(directory, 'raw.db'))).store.close();
const raw = createRawWriter(join(directory, 'raw.db'), 's');

/** Interleaved in slices, so that a busy machine slows both alike. */
const slice = 250;
let engineMs = 0;
let rawMs = 0;
for (let from = 0; from < events; from += slice) {
  const until = Math.min(events, from + slice);
  let began = performance.now();
  for (let index = from; index < until; index++) await runtime.handle(complete(index));
  engineMs += performance.now() - began;
  began = performance.now();
  for (let index = from; index < until; index++) raw.write(index);
  rawMs += performance.now() - began;
}
const perSecond = (count: number, ms: number): number => Math.round(count / (ms / 1000));
print(`engine on SQLite: ${perSecond(events, engineMs)} events/s`);
print(`raw node:sqlite:  ${perSecond(events, rawMs)} transactions/s with the same rows`);
print(`ratio:            ${(rawMs / engineMs).toFixed(2)} of raw (aim: at least 0.5)`);

const session = await store.state('s');
await store.close();
raw.close();
rmSync(directory, { recursive: true, force: true });
if (session !== null) {
  const stop: Event = {
    ...base('stop'),
    type: 'stop-attempted',
    end: 'normal',
    question: false,
    fingerprint: null,
    background: null,
    toolError: null,
  };
  const rounds = 200_000;
  const began = performance.now();
  for (let round = 0; round < rounds; round++) decide(session, stop, policy);
  print(`decide() alone:   ${perSecond(rounds, performance.now() - began)} decisions/s`);
}

if (existsSync('dist/bin.js')) {
  const times: Record<string, number[]> = { bare: [], version: [] };
  for (let round = 0; round < 40; round++) {
    for (const [name, argv] of [
      ['bare', ['-e', '0']],
      ['version', ['dist/bin.js', '--version']],
    ] as const) {
      const start = performance.now();
      spawnSync(process.execPath, argv, { stdio: 'ignore' });
      times[name]?.push(performance.now() - start);
    }
  }
  const median = (name: string): number =>
    (times[name] ?? []).sort((a, b) => a - b)[20] ?? 0;
  print(
    `bare Node start:  ${median('bare').toFixed(1)} ms median; untildone --version: ${median('version').toFixed(1)} ms`,
  );
  print(
    `ratio:            ${(median('version') / median('bare')).toFixed(2)} of bare (aim: at most 1.5)`,
  );
} else {
  print('dist/ is missing: run npm run build first to measure the start');
  process.exitCode = 1;
}
