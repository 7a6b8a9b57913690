// A process that is killed leaves its session in the middle of its work (C3, V5).
// `status` and `attach` say so and name the command that resumes it; a process that only
// sleeps is not taken for dead. Real processes and signals.
import { hostname } from 'node:os';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AgentEvent } from '../../src/agent/agent-event.ts';
import type { SessionStateSeen } from '../../src/cli/show/events.ts';
import { systemClock } from '../../src/engine/system.ts';
import { firstOf, plan, runCommand, say, stall } from '../../src/scripted-model/index.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { type CommandLine, openCommandLine, type Running } from './command-line.ts';
import { delegate, ifSentFor } from './delegating.ts';

const run = ['run', 'Do the work.', '--auto', '--json', '--model', 'openai/story'];
const startsShell = (event: AgentEvent) =>
  event.type === 'tool-started' && event.tool === 'shell';
const slow = [plan('Write one'), runCommand('sleep 30'), say('Written.')];

async function beginSlow() {
  const line = await openCommandLine({ steps: slow });
  const running = line.start(...run);
  await running.sees(startsShell);
  const { id } = await line.session();
  const short = id.slice(-6);
  return {
    line,
    running,
    id,
    short,
    gone: `its process is gone (killed?): untildone run --resume ${short}`,
  };
}

async function kill(running: Running): Promise<void> {
  running.child.kill('SIGKILL');
  await running.ended;
}

async function stateOf(
  line: CommandLine,
  id: string,
): Promise<{ name: string; words: string }> {
  const { out } = await line.run('status', id, '--json');
  return JSON.parse(out).sessions[0].state;
}

const states = (watching: Running) =>
  (watching.events() as readonly (AgentEvent | SessionStateSeen)[]).filter(
    (event) => event.type === 'session-state',
  );

describe('a killed run', () => {
  it('C3: status shows it as gone with the command that resumes it, and that command resumes it', async () => {
    const { line, running, id, gone } = await beginSlow();
    expect(await stateOf(line, id)).toEqual({
      name: 'running',
      words: 'running: turn 1',
    });
    await kill(running);
    expect(await stateOf(line, id)).toEqual({ name: 'gone', words: gone });
    expect((await line.run('status')).out).toContain(gone);
    expect((await line.run('report', id)).out).not.toContain('running: turn 1');
    const again = line.start('run', '--resume', id, '--auto', '--json');
    await again.sees(({ type }) => type === 'run-started');
    expect((await stateOf(line, id)).name).toBe('running');
  });

  it('C3: attach says so at once, or within 5 s of the kill, and ends with 8', async () => {
    const { line, running, id, gone, short } = await beginSlow();
    const watching = line.start('attach', '--json');
    await expect
      .poll(() => states(watching).at(-1)?.state, { timeout: 10_000 })
      .toBe('running');
    await kill(running);
    const killedAt = Date.now();
    expect(await watching.ended).toBe(8);
    expect(Date.now() - killedAt).toBeLessThan(5000);
    expect(states(watching).at(-1)).toMatchObject({ state: 'gone', words: gone });

    const late = await line.run('attach', id);
    expect(late).toMatchObject({ code: 8, err: '' });
    expect(late.out).toContain(`untildone ${short} “Do the work.”: ${gone}`);
    const unnamed = await line.run('attach');
    expect(unnamed.code).toBe(8);
    expect(unnamed.out).toContain(
      `Nothing runs here: no process is at work in ${short} “Do the work.” (killed?).`,
    );
  });

  it('C3: a suspended run is not gone', async () => {
    const { line, running, id } = await beginSlow();
    running.child.kill('SIGSTOP');
    expect((await stateOf(line, id)).name).toBe('running');
    running.child.kill('SIGKILL');
  });

  it('C3: status shows a pause or a stop of it; stop and pause say that no process is at work in it', async () => {
    const { line, running, id, short } = await beginSlow();
    await kill(running);
    const nothing = `no process is at work in ${short} “Do the work.” (killed?).`;
    const paused = await line.run('pause');
    expect(paused.out).toContain(`Nothing runs here: ${nothing}`);
    expect((await stateOf(line, id)).name).toBe('paused');
    expect((await line.runOnTerminal('resume')).out).toContain(
      `No run is at work in it: \`untildone run --resume ${short}\` takes it up again.`,
    );
    const stopped = await line.run('stop', short);
    expect(stopped).toMatchObject({ code: 0 });
    expect(stopped.out).toContain(`N${nothing.slice(1)}`);
    expect(stopped.out).toContain(
      `\`untildone run --resume ${short}\` takes it up again.`,
    );
    expect((await stateOf(line, id)).name).toBe('latched');
  });

  it('C3: say is refused, with the command that resumes it', async () => {
    const { line, running, id, short } = await beginSlow();
    await kill(running);
    const said = await line.runOnTerminal('say', '--session', id, 'use tabs');
    expect(said.code).toBe(1);
    expect(said.out.replace(/\s+/gu, ' ')).toContain(
      `It is not at work; \`untildone run --resume ${short} "…"\``,
    );
  });

  it('V5: a run on another machine counts as alive until its lease ends', async () => {
    const { line, running, id } = await beginSlow();
    await kill(running);
    const store = await openSqliteStore({ path: line.storePath, clock: systemClock });
    onTestFinished(() => store.close());
    const holder = (await store.leaseHolder(`run ${id}`))?.holder ?? '';
    expect(holder).toContain(`${hostname()}/${running.child.pid}/`);
    await store.lease(`run ${id}`, holder, 0, null);
    await store.lease(`run ${id}`, 'elsewhere/12/34', Date.now(), Date.now() + 60_000);
    expect((await stateOf(line, id)).name).toBe('running');
    await store.lease(`run ${id}`, 'elsewhere/12/34', Date.now(), Date.now() - 1);
    expect((await stateOf(line, id)).name).toBe('gone');
  });

  it('S4: its worker is gone with it', async () => {
    const line = await openCommandLine({
      steps: [
        firstOf(
          ifSentFor('Write alpha', runCommand('sleep 30')),
          plan({ title: 'Write alpha', agentType: 'coder' }),
        ),
        delegate('Write alpha'),
      ],
    });
    const running = line.start(...run);
    const started = await running.sees(({ type }) => type === 'worker-started');
    if (started.type !== 'worker-started') throw new Error('There is no worker.');
    await running.sees(startsShell);
    const { sessionId, workerId } = started;
    expect((await line.run('status', sessionId)).out).toContain(
      'coder: not ended “Write alpha”',
    );
    expect((await stateOf(line, workerId)).name).toBe('running');
    await kill(running);
    const detail = (await line.run('status', sessionId)).out;
    expect(detail).toContain(
      `${workerId.slice(-6)} coder: gone with its run “Write alpha”`,
    );
    const resumes = `untildone run --resume ${sessionId.slice(-6)}`;
    expect(await stateOf(line, workerId)).toMatchObject({
      name: 'gone',
      words: expect.stringContaining(resumes),
    });
    expect(await line.run('attach', workerId)).toMatchObject({ code: 8 });
  });

  it('C3: a run that is taken up again without words runs, and is gone when it is killed', async () => {
    const steps = [
      plan('Write one'),
      runCommand('sleep 0.2'),
      runCommand('sleep 1'),
      stall(),
    ];
    const line = await openCommandLine({ steps });
    const first = line.start(...run);
    await first.sees(startsShell);
    first.child.kill('SIGINT');
    expect(await first.ended).toBe(130);
    const { id } = await line.session();
    const again = line.start('run', '--resume', '--auto', '--json');
    await again.sees(({ type }) => type === 'step-started');
    expect(await stateOf(line, id)).toEqual({
      name: 'running',
      words: 'running: turn 1',
    });
    const said = await line.runOnTerminal('say', 'use tabs');
    expect(said.out).toContain(`Said to session ${id.slice(-6)}`);
    await again.sees(
      (event) => event.type === 'human-message' && event.state === 'joined',
    );
    await kill(again);
    expect((await stateOf(line, id)).name).toBe('gone');
  });
});
