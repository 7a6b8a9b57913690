// Who may take a session up again, with real processes (V5, P41): not a second process
// beside a living one, and not `run` where the session belongs to another program.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../src/agent/agent-event.ts';
import type { SessionDescriptor } from '../../src/core/events.ts';
import { createRuntime } from '../../src/engine/runtime.ts';
import { systemClock } from '../../src/engine/system.ts';
import { createParts } from '../../src/open.ts';
import { complete, plan, runCommand, say } from '../../src/scripted-model/index.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { type CommandLine, openCommandLine } from './command-line.ts';

const run = ['run', 'Do the work.', '--auto', '--json', '--model', 'openai/story'];
const startsShell = (event: AgentEvent) =>
  event.type === 'tool-started' && event.tool === 'shell';
const slow = [
  plan('Write one'),
  runCommand('while [ ! -e go ]; do sleep 0.05; done; echo one >> log.txt'),
  complete('Write one'),
  say('Written.'),
];

describe('P41: one owner', () => {
  it('P41: --resume of a session that runs is refused, and nothing of it is ended', async () => {
    const line = await openCommandLine({ steps: slow });
    const first = line.start(...run);
    await first.sees(startsShell);
    const { id } = await line.session();
    for (const words of [
      ['--resume'],
      ['--resume', id],
      ['--resume', 'and the docs too'],
    ]) {
      const second = await line.run('run', ...words, '--auto');
      expect(second.code).toBe(2);
      expect(second.err).toContain(`runs in process ${first.child.pid}`);
      for (const helps of ['attach', 'say', 'stop'])
        expect(second.err).toContain(`untildone ${helps}`);
      expect(second.out).toBe('');
    }
    writeFileSync(join(line.project, 'go'), '');
    expect(await first.ended).toBe(3);
    expect(readFileSync(join(line.project, 'log.txt'), 'utf8')).toBe('one\n');
    expect(line.model.requests).toHaveLength(4);
    expect(await line.run('run', '--resume', '--auto')).toMatchObject({ code: 3 });
  });

  it('P41, V5: a suspended owner keeps its session; that of a killed one is taken at once', async () => {
    const line = await openCommandLine({ steps: slow });
    const first = line.start(...run);
    await first.sees(startsShell);
    first.child.kill('SIGSTOP');
    await outlive(line);
    expect(await line.run('run', '--resume', '--auto')).toMatchObject({ code: 2 });
    first.child.kill('SIGKILL');
    await first.ended;
    writeFileSync(join(line.project, 'go'), '');
    const second = line.start('run', '--resume', '--auto', '--json');
    expect(await second.ended).toBe(3);
  });

  it('P41, V5: what a killed run left running is ended before the next one works in its place', async () => {
    const left = runCommand('echo $$ > left.pid; while [ ! -e go ]; do sleep 0.05; done');
    // A zombie has ended; whoever took the orphan over has not asked for its status yet.
    const look = runCommand(
      `ps -o stat= -p "$(cat left.pid)" | grep -qv '^Z' && touch still-alive; true`,
    );
    const line = await openCommandLine({
      steps: [plan('Write one'), left, look, complete('Write one'), say('Written.')],
    });
    const first = line.start(...run);
    await first.sees(startsShell);
    const pidFile = join(line.project, 'left.pid');
    await expect
      .poll(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8').trim())
      .toMatch(/^\d+$/u);
    first.child.kill('SIGKILL');
    await first.ended;
    // Signal 0 asks whether it is there, and throws if not: nobody ended it with its
    // owner.
    process.kill(Number(readFileSync(pidFile, 'utf8')), 0);
    const second = line.start('run', '--resume', '--auto', '--json');
    await second.sees(startsShell);
    expect(await second.ended).toBe(3);
    expect(existsSync(join(line.project, 'still-alive'))).toBe(false);
  });

  it('P41: a process that has the number of a dead owner is not taken for it', async () => {
    const line = await openCommandLine({ steps: [say('Nothing to do.')] });
    await line.run(...run);
    const { id } = await line.session();
    const store = await openSqliteStore({ path: line.storePath, clock: systemClock });
    const reused = `${hostname()}/${process.pid}/12345`;
    expect(await store.lease(`run ${id}`, reused, Date.now(), Date.now() + 60_000)).toBe(
      reused,
    );
    await store.close();
    expect((await line.run('run', '--resume', '--auto')).err).not.toContain(
      'runs in process',
    );
  });
});

describe('V5: an owner whose session was taken', () => {
  const slowThenMore = [
    ...slow.slice(0, 2),
    runCommand('echo two >> log.txt'),
    ...slow.slice(2),
  ];

  for (const [how, isGivenBack] of [
    ['holds it', false],
    ['has ended since', true],
  ] as const)
    it(`V5: ends at its next write with a sentence, and calls no tool and no model, where the taker ${how}`, async () => {
      const line = await openCommandLine({ steps: slowThenMore });
      const first = line.start(...run);
      await first.sees(startsShell);
      const { id } = await line.session();
      const store = await openSqliteStore({ path: line.storePath, clock: systemClock });
      await outlive(line);
      const taker = 'elsewhere/12/34';
      // As if the machine had slept past its lease, and another one shared the store.
      expect(await store.lease(`run ${id}`, taker, Date.now(), Date.now() + 60_000)).toBe(
        taker,
      );
      if (isGivenBack) await store.lease(`run ${id}`, taker, Date.now(), null);
      const { messages } = await store.transcript(id, 0);
      const events = await store.events({ sessionId: id, after: 0, limit: 1000 });
      writeFileSync(join(line.project, 'go'), '');
      expect(await first.ended, first.err()).toBe(1);
      expect(first.err()).toContain(
        `taken over by ${isGivenBack ? 'another process, which has ended' : 'process 12 on elsewhere'}`,
      );
      expect(line.model.requests).toHaveLength(2);
      expect(readFileSync(join(line.project, 'log.txt'), 'utf8')).toBe('one\n');
      expect((await store.transcript(id, 0)).messages).toEqual(messages);
      expect(await store.events({ sessionId: id, after: 0, limit: 1000 })).toEqual(
        events,
      );
      expect(await store.lease(`run ${id}`, 'nobody', 0, null)).toBe(
        isGivenBack ? null : taker,
      );
      await store.close();
    });
});

describe('P41: sessions of hosts', () => {
  it('P41: run --resume takes only sessions of our own and leaves a host its session', async () => {
    const line = await openCommandLine({ steps: [say('Nothing to do.')] });
    await openHostSession(line, 'claude-session');
    const without = await line.run(
      'run',
      '--resume',
      '--auto',
      '--model',
      'openai/story',
    );
    expect(without.code).toBe(1);
    expect(without.err).toContain(
      '`untildone plan move claude-session run` moves its plan to `run`',
    );
    const named = await line.run(
      'run',
      '--resume',
      'claude-s',
      '--auto',
      '--model',
      'openai/story',
    );
    expect(named.code).toBe(2);
    expect(named.err).toContain('Session claude-session belongs to Claude Code');
    expect(named.err).toContain(
      '`untildone plan move claude-session run` moves its plan to `run`',
    );
    expect((await line.session()).descriptor.host).toBe('claude-code');
    expect(line.model.requests).toHaveLength(0);

    // Beside it, one of our own is found.
    await line.run(...run);
    await openHostSession(line, 'newer-session');
    const own = line.start('run', '--resume', '--auto', '--json');
    expect(await own.sees(({ type }) => type === 'run-started')).toMatchObject({
      resumed: true,
    });
    await own.ended;
  });
});

/** As if the lease of the running session had been written long ago. */
async function outlive(line: CommandLine): Promise<void> {
  const { id } = await line.session();
  const store = await openSqliteStore({ path: line.storePath, clock: systemClock });
  const holder = await store.lease(`run ${id}`, 'nobody', 0, null);
  if (holder === null) throw new Error('The session has no owner.');
  await store.lease(`run ${id}`, holder, 0, 1);
  await store.close();
}

async function openHostSession(line: CommandLine, sessionId: string): Promise<void> {
  const store = await openSqliteStore({ path: line.storePath, clock: systemClock });
  const descriptor: SessionDescriptor = {
    host: 'claude-code',
    instance: 'claude-code',
    mode: 'asked',
    kind: 'main',
    parentId: null,
    directory: line.project,
    headless: false,
    immediate: false,
    everyAgentWrites: true,
    seesTools: true,
    tools: { pause: null, verify: null },
  };
  const at = Date.now();
  const runtime = createRuntime(
    createParts({ store, clock: systemClock, environment: line.environment }),
  );
  const id = `${sessionId} opened`;
  await runtime.handle({
    type: 'session-opened',
    id,
    sessionId,
    at,
    descriptor,
    agent: null,
  });
  await store.close();
}
