// An agent does not speak as the human: its `stop` and `pause` are its own pause of its
// own session (V12, P52).
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  addStagnantSession,
  type CommandBench,
  createCommandBench,
} from '../../../test/support/command-bench.ts';
import { createHumanActs } from '../human-event.ts';
import type { Io } from '../io.ts';

let bench: CommandBench;
beforeEach(() => {
  bench = createCommandBench();
});
afterEach(() => bench.close());

const beneath = (agent: string, ...sessions: string[]): Partial<Io> => ({
  agentAbove: async () => agent,
  agentSessions: async () => sessions,
});

const advice = 'type it in another terminal, or type "stop" to the agent.';

/** A session that is at work and has an open todo. */
async function addWorking(sessionId: string, host = 'claude-code') {
  const added = await bench.host({ sessionId, descriptor: { host } });
  await added.open();
  await added.says('Clean up');
  await added.plans('Remove dead code');
  return added;
}

const stateOf = async (id: string) =>
  (await (await bench.store()).state(id)) ?? expect.fail(`no session ${id}`);

describe.each([
  ['stop', [], 'The agent asked to stop.'],
  ['pause', ['--reason', 'I need a key'], 'The agent asked to stop: I need a key'],
] as const)('an agent that calls %s', (command, more, sentence) => {
  it('P52: pauses its own session, not the most recent one here; the outcome is paused, and nothing says "stopped by you"', async () => {
    const host = await addWorking('own-0001');
    await addWorking('other-0001');
    const { code, out } = await bench.runWith(
      beneath('Claude Code', 'own-0001'),
      command,
      ...more,
    );
    expect(code).toBe(0);
    expect(out).toContain(
      'Session own-0001 “Clean up”: Claude Code called this: the agent asked to stop',
    );
    expect(out.replaceAll('\n', ' ')).toContain('its next stop ends the turn as paused.');
    expect(out.replaceAll('\n', ' ')).toContain(advice);
    expect((await host.stops()).decision).toMatchObject({
      answer: 'let-go',
      reason: 'paused-by-model',
      outcome: 'paused',
      sentence,
    });
    const own = await stateOf('own-0001');
    expect(own).toMatchObject({
      latch: null,
      pause: { by: 'model' },
      settled: { outcome: 'paused' },
    });
    expect(await stateOf('other-0001')).toMatchObject({ latch: null, pause: null });
    const { out: status } = await bench.run('status', 'own-0001');
    expect(status).toContain('paused by the agent');
    expect(status).not.toContain('by you');
  });

  it('P52: is refused for another session: a sentence says why, and nothing changes', async () => {
    await addWorking('own-0001');
    await addWorking('other-0001');
    const words = [command, 'other-0001', ...more];
    const { code, out, err } = await bench.runWith(
      beneath('Claude Code', 'own-0001'),
      ...words,
    );
    expect({ code, out }).toEqual({ code: 1, out: '' });
    const said = err.replaceAll('\n', ' ');
    expect(said).toContain(
      'Claude Code called this, and an agent may only pause its own session, own-0001',
    );
    expect(said).toContain(advice);
    for (const id of ['own-0001', 'other-0001'])
      expect(await stateOf(id)).toMatchObject({ latch: null, pause: null });
  });
});

describe('the session of the agent that calls', () => {
  it('P52: is the one of its host that is at work here, if the host names none', async () => {
    await addWorking('ended-0001', 'gemini-cli').then((ended) =>
      ended.happens({ type: 'human-aborted', how: 'Esc' }),
    );
    await addWorking('codex-0001', 'codex');
    await addWorking('gemini-0001', 'gemini-cli');
    expect((await bench.runWith(beneath('Gemini CLI'), 'stop')).code).toBe(0);
    expect(await stateOf('gemini-0001')).toMatchObject({ pause: { by: 'model' } });
    expect(await stateOf('codex-0001')).toMatchObject({ pause: null });
  });

  it('P52: is not known if several or none are at work, or if it has no record: refused, and a sentence says why', async () => {
    const refused = async (io: Partial<Io>) => {
      const { code, err } = await bench.runWith(io, 'stop');
      expect(code).toBe(1);
      return err.replaceAll('\n', ' ');
    };
    await addWorking('gemini-0001', 'gemini-cli');
    expect(await refused(beneath('Codex'))).toContain(
      'none of its sessions is at work in this directory.',
    );
    expect(await refused(beneath('Gemini CLI', 'unheard'))).toContain(
      'there is no record of its session.',
    );
    await addWorking('gemini-0002', 'gemini-cli');
    const several = await refused(beneath('Gemini CLI'));
    expect(several).toContain('does not say from which session: ');
    for (const id of ['gemini-0001', 'gemini-0002']) expect(several).toContain(id);
  });

  it('P52: is found although its events since the last stop still wait in the inbox', async () => {
    const store = await bench.store();
    const wait = (sessionId: string) =>
      store.append([
        {
          id: `${sessionId}/said`,
          sessionId,
          at: bench.clock.now(),
          type: 'human-spoke',
          messageId: 'm',
          text: 'Clean up',
          turnId: 't',
          agent: null,
          fingerprint: null,
          policyHash: null,
        },
      ]);
    await wait('first-turn');
    expect((await bench.runWith(beneath('Claude Code', 'first-turn'), 'stop')).code).toBe(
      0,
    );
    expect(await stateOf('first-turn')).toMatchObject({
      title: 'Clean up',
      latch: null,
      pause: { by: 'model' },
    });
    const gemini = await addWorking('gemini-0001', 'gemini-cli');
    await gemini.happens({ type: 'human-aborted', how: 'Esc' });
    await wait('gemini-0001');
    expect((await bench.runWith(beneath('Gemini CLI'), 'stop')).code).toBe(0);
    expect(await stateOf('gemini-0001')).toMatchObject({
      latch: null,
      pause: { by: 'model' },
    });
  });

  it("P52: is the parent's for a subagent, and the run's for a host that a run drives", async () => {
    await addWorking('main-0001');
    const child = await bench.host({
      sessionId: 'child-0001',
      descriptor: { host: 'claude-code', kind: 'subagent', parentId: 'main-0001' },
    });
    await child.open();
    expect((await bench.runWith(beneath('Claude Code', 'child-0001'), 'stop')).code).toBe(
      0,
    );
    expect(await stateOf('main-0001')).toMatchObject({ pause: { by: 'model' } });
    await addWorking('run-0001', 'untildone');
    const driven = beneath(
      'a session of untildone',
      'unrecorded-id-of-the-host',
      'run-0001',
    );
    expect((await bench.runWith(driven, 'pause')).code).toBe(0);
    expect(await stateOf('run-0001')).toMatchObject({ pause: { by: 'model' } });
  });
});

it('P52: a session that the human holds stays held by the human, and the answer says so', async () => {
  await addWorking('own-0001');
  await bench.run('pause', '--reason', 'lunch');
  const { code, out } = await bench.runWith(beneath('Claude Code', 'own-0001'), 'stop');
  expect(code).toBe(0);
  expect(out).toContain('nothing changes: paused by you: lunch.');
  expect(await stateOf('own-0001')).toMatchObject({
    latch: null,
    pause: { by: 'human' },
  });
});

it('P52: the keys of a view follow the same rules if an agent started it, and say why they are refused', async () => {
  await addWorking('own-0001');
  await addWorking('other-0001');
  const io = {
    ...beneath('Claude Code', 'own-0001'),
    clock: bench.clock,
    env: bench.env,
    cwd: bench.project,
  };
  const store = await bench.store();
  const acts = (id: string) => createHumanActs(io as Io, store, id);
  expect(await acts('other-0001').stop('a key')).toContain(
    'an agent may only pause its own session',
  );
  expect(await acts('other-0001').pause()).toContain(
    'an agent may only pause its own session',
  );
  expect(await stateOf('other-0001')).toMatchObject({ latch: null, pause: null });
  expect(await acts('own-0001').stop('a key')).toBeNull();
  expect(await stateOf('own-0001')).toMatchObject({
    latch: null,
    pause: { by: 'model' },
  });
});

it('V12: an agent that pauses its session after the end leaves the outcome as it was', async () => {
  await addStagnantSession(bench);
  const { out } = await bench.runWith(beneath('scripted', 'alpha-0001'), 'stop');
  expect(out.replaceAll('\n', ' ')).toContain(
    'its turn has ended already, and the outcome stays',
  );
  expect(await stateOf('alpha-0001')).toMatchObject({ settled: { outcome: 'stagnant' } });
  expect((await bench.run('status')).out).toContain(
    'ended: stagnant; paused by the agent since ',
  );
});
