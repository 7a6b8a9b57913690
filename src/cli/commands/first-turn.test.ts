// A session of a host with hooks in its first turn: its hooks leave most of what happens
// in the inbox, and commands know it all the same (C3).
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  addStagnantSession,
  type CommandBench,
  createCommandBench,
} from '../../../test/support/command-bench.ts';
import * as gemini from '../../../test/support/gemini-payloads.ts';
import { createHookCase } from '../../../test/support/hook-case.ts';
import {
  createPayload,
  promptPayload,
  sessionId,
  startPayload,
  stopPayload,
  toolPayload,
} from '../../../test/support/payload-cases.ts';
import { claudeCode } from '../../hosts/claude-code/host.ts';
import { geminiCli } from '../../hosts/gemini-cli/host.ts';

let bench: CommandBench;
beforeEach(() => {
  bench = createCommandBench();
});
afterEach(() => bench.close());

async function openHooks(host = claudeCode) {
  const { clock } = bench;
  const hooks = createHookCase({
    host: { ...host, readList: () => null },
    bench: { store: await bench.store(), clock },
  });
  const here = { cwd: bench.project };
  return {
    ...hooks,
    send: (payload: object) => hooks.send({ ...payload, ...here }),
  };
}

/** Its agent has planned and worked, and has not tried to stop yet. */
async function beginFirstTurn() {
  const hooks = await openHooks();
  await hooks.send(startPayload('startup'));
  await hooks.send(promptPayload('Write the parser'));
  await hooks.send(createPayload('1', 'Write it'));
  await hooks.send(toolPayload('Write', 'w1', {}, {}));
  return hooks;
}

const shortName = sessionId.slice(-6);
const flat = (text: string) => text.replaceAll('\n', ' ');

describe('a first turn', () => {
  it('C3: is listed by status with what it does and how far its plan is, before a session that has ended', async () => {
    await addStagnantSession(bench);
    await beginFirstTurn();
    const { out } = await bench.run('status');
    const [first = ''] = out.split('\n\n');
    expect(first).toContain(`${shortName}  “Write the parser” · Claude Code`);
    expect(first).toContain('running: turn 1');
    expect(first).toContain('1 todo: 1 open');
    const [session] = JSON.parse((await bench.run('status', '--json')).out).sessions;
    expect(session).toMatchObject({ id: sessionId, turn: 1, settled: null });
  });

  it('C4: has no outcome yet: status --exit-code exits with 8, by its name and without', async () => {
    await beginFirstTurn();
    for (const words of [[], [shortName]])
      expect(await bench.run('status', '--exit-code', ...words)).toMatchObject({
        code: 8,
        out: 'no outcome yet: running: turn 1\n',
      });
  });

  it('C3: is what stop without a name takes, although another session has ended here', async () => {
    const ended = await addStagnantSession(bench);
    const hooks = await beginFirstTurn();
    const { out } = await bench.run('stop');
    expect(flat(out)).toContain(`Session ${shortName} “Write the parser” is stopped.`);
    expect(out).not.toContain('nothing runs here');
    expect(await hooks.session()).toMatchObject({
      latch: { how: 'untildone stop' },
      settled: { outcome: 'aborted' },
    });
    expect(await hooks.session(ended.sessionId)).toMatchObject({ latch: null });
    expect(await hooks.send(stopPayload())).not.toHaveProperty('hookSpecificOutput');
  });

  it('C3: is found by its name, and pause holds it', async () => {
    await addStagnantSession(bench);
    const hooks = await beginFirstTurn();
    expect((await bench.run('pause', shortName)).code).toBe(0);
    expect(await hooks.session()).toMatchObject({ pause: { by: 'human' } });
    const { code, err } = await bench.run('why', shortName);
    expect(code).toBe(1);
    expect(flat(err)).toContain('has no decision yet: the agent has not tried to stop');
    const said = await bench.run('say', '--session', shortName, 'Use tabs');
    expect(flat(said.err)).toContain('It belongs to claude-code: say it there.');
  });

  it('C3: is what attach without a name shows, with its todos, and it goes on', async () => {
    await addStagnantSession(bench);
    const hooks = await beginFirstTurn();
    const attached = bench.run('attach', '--json');
    await hooks.send(stopPayload());
    await bench.run('stop', shortName);
    const { code, out } = await attached;
    expect(code).toBe(0);
    const events = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const states = events.filter(({ type }) => type === 'session-state');
    expect(states[0]).toMatchObject({ sessionId, state: 'running' });
    expect(events.find(({ type }) => type === 'plan-changed')).toMatchObject({
      todos: [{ title: 'Write it' }],
    });
    expect(states.at(-1)).toMatchObject({ state: 'latched' });
  });

  it('C3: a host that was only started is listed as idle, and never chosen before a session that worked', async () => {
    await addStagnantSession(bench);
    const hooks = await openHooks();
    await hooks.send(startPayload('startup'));
    expect((await bench.run('status')).out).toContain(
      'idle: nothing was asked of it yet',
    );
    expect((await bench.run('why')).out).toContain('Build the parser');
    await hooks.send({ ...startPayload(''), hook_event_name: 'SessionEnd' });
    expect((await bench.run('status')).out).not.toContain('nothing was asked');
  });
});

describe('a first turn in a host that names no session to its agent’s commands', () => {
  it('P52: the agent’s own stop pauses its session', async () => {
    const hooks = await openHooks(geminiCli);
    await hooks.send(gemini.startPayload('startup'));
    await hooks.send(gemini.promptPayload('Write the parser'));
    const { code, out, err } = await bench.runWith(
      { agentAbove: async () => 'Gemini CLI', agentSessions: async () => [] },
      'stop',
    );
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(flat(out)).toContain('its next stop ends the turn as paused');
    expect(await hooks.session(gemini.sessionId)).toMatchObject({
      latch: null,
      pause: { by: 'model' },
    });
  });
});
