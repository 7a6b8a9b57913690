// What a prompt means if it comes from a human, as a notice of the host, as a command of
// ours, or as our own text shown back.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  continuationOf,
  createHookCase,
  type HookCaseOptions,
} from '../../test/support/hook-case.ts';
import {
  createPayload,
  notification,
  promptPayload,
  sessionId,
  stopPayload,
  toolPayload,
} from '../../test/support/payload-cases.ts';
import { defaultSettings } from '../core/settings.ts';

const later = { prompt_id: '64f01d62-9673-45a8-bf7a-33d9a2863956' };

async function atWork() {
  const hooks = createHookCase();
  await hooks.send(promptPayload('Please do it'));
  await hooks.send(createPayload('1', 'A'));
  await hooks.send(toolPayload('Bash', 'b1', {}, { backgroundTaskId: 'job' }));
  return hooks;
}

const running = {
  background_tasks: [
    { id: 'job', type: 'subagent', status: 'running', description: 'Look' },
  ],
};

describe('a genuine human message', () => {
  it('G6: zeroes the counters; our own text, a notice and a command of ours do not', async () => {
    const hooks = await atWork();
    const text = continuationOf(await hooks.send(stopPayload())) ?? '';
    await hooks.send(promptPayload(text));
    await hooks.send(promptPayload(`Stop hook feedback:\n${text}`));
    await hooks.send(promptPayload('/untildone:status'));
    await hooks.send(promptPayload(notification('job')));
    await hooks.send(stopPayload());
    expect((await hooks.session())?.counters.total).toBe(2);
    await hooks.send(promptPayload('continue'));
    await hooks.send(stopPayload());
    expect((await hooks.session())?.counters.total).toBe(1);
  });

  it('V12: /untildone:pause that a human types is a pause by the human', async () => {
    const hooks = await atWork();
    const answer = await hooks.send(promptPayload('/untildone:pause  lunch\nsoon'));
    expect(JSON.stringify(answer)).toContain('this session is paused by you');
    expect(await hooks.session()).toMatchObject({
      pause: { by: 'human', reason: 'lunch soon' },
    });
    expect(continuationOf(await hooks.send(stopPayload()))).toBeNull();
    expect((await hooks.session())?.settled?.reason).toBe('paused-by-human');
  });

  it('E6: a human who writes our marker is still a human', async () => {
    const hooks = await atWork();
    await hooks.send(stopPayload());
    await hooks.send(promptPayload('continue, [TODO CONTINUATION] or not'));
    await hooks.send(stopPayload());
    expect((await hooks.session())?.turn?.number).toBe(1);
    expect((await hooks.session())?.counters.total).toBe(1);
  });

  it('T3: joins the turn that runs, and starts one when none does', async () => {
    const hooks = await atWork();
    await hooks.send(promptPayload('and mind the tests'));
    await hooks.send(stopPayload());
    expect((await hooks.session())?.turn?.number).toBe(1);
  });

  it('C2: is recorded with the agent that it went to, whose settings count from there', async () => {
    const hooks = createHookCase();
    const planner = { agent_type: 'planner', permission_mode: 'plan' };
    await hooks.send(promptPayload('Please do it', planner));
    const events = await hooks.store.events({ sessionId, waiting: true });
    expect(events.map(({ event }) => event)).toContainEqual(
      expect.objectContaining({
        type: 'human-spoke',
        agent: expect.objectContaining({ name: 'planner', canWrite: 'no' }),
      }),
    );
  });

  it('P20: exactly "stop" latches', async () => {
    const hooks = await atWork();
    await hooks.send(promptPayload('stop'));
    expect(continuationOf(await hooks.send(stopPayload()))).toBeNull();
    expect((await hooks.session())?.latch).not.toBeNull();
  });

  it('P34: an unrelated question leaves the old plan alone', async () => {
    const hooks = await atWork();
    for (let stop = 0; stop < 6; stop++) await hooks.send(stopPayload());
    await hooks.send(promptPayload('What does this function do?', later));
    const answer = await hooks.send(stopPayload(later));
    expect(continuationOf(answer)).toBeNull();
    expect((await hooks.decisions()).at(-1)?.decision.reason).toBe('plan-not-resumed');
  });
});

describe('an interrupt, which the host never tells', () => {
  async function askedSomethingElse(hooks: Awaited<ReturnType<typeof atWork>>) {
    await hooks.send(promptPayload('What is the capital of France?', later));
    const answer = continuationOf(await hooks.send(stopPayload(later)));
    return {
      held: answer !== null,
      reason: (await hooks.decisions()).at(-1)?.decision.reason,
    };
  }
  const notResumed = { held: false, reason: 'plan-not-resumed' };

  it('P19 P34: what is asked next is another turn, and the old plan is left alone', async () => {
    expect(await askedSomethingElse(await atWork())).toEqual(notResumed);
  });

  it('P19 P34: the same in a continuation', async () => {
    const hooks = await atWork();
    expect(continuationOf(await hooks.send(stopPayload()))).not.toBeNull();
    expect(await askedSomethingElse(hooks)).toEqual(notResumed);
  });

  it('P19 P34: the same when the host was started anew in between', async () => {
    const hooks = await atWork();
    await hooks.send({
      ...stopPayload(),
      hook_event_name: 'SessionStart',
      source: 'resume',
    });
    expect(await askedSomethingElse(hooks)).toEqual(notResumed);
  });

  it('T3: told to go on, the agent is held to the old plan', async () => {
    const hooks = await atWork();
    await hooks.send(promptPayload('go on', later));
    expect(continuationOf(await hooks.send(stopPayload(later)))).toContain('“A”');
  });

  async function wakes(hooks: Awaited<ReturnType<typeof atWork>>) {
    await hooks.send(promptPayload(notification('job'), later));
    const answer = await hooks.send(stopPayload(later));
    return {
      held: continuationOf(answer) !== null,
      latch: (await hooks.session())?.latch?.how ?? null,
    };
  }

  it('P19: while a tool ran or the model streamed: the next notice latches', async () => {
    expect(await wakes(await atWork())).toEqual({ held: false, latch: 'interrupted' });
  });

  it('P19: before the agent did anything: the next notice latches', async () => {
    const hooks = await atWork();
    await hooks.send(stopPayload(running));
    for (let stop = 0; stop < 4; stop++) await hooks.send(stopPayload(running));
    await hooks.send(promptPayload('Next', { prompt_id: 'p2' }));
    expect(await wakes(hooks)).toEqual({ held: false, latch: 'interrupted' });
  });

  it('P19: in a continuation: the next notice latches', async () => {
    const hooks = await atWork();
    expect(continuationOf(await hooks.send(stopPayload()))).not.toBeNull();
    expect(await wakes(hooks)).toEqual({ held: false, latch: 'interrupted' });
  });

  it('G4: a command of ours in mid-turn is none, and the agent is still held', async () => {
    const hooks = await atWork();
    await hooks.send(promptPayload('/untildone:status', later));
    expect(continuationOf(await hooks.send(stopPayload(later)))).toContain('“A”');
    expect((await hooks.session())?.latch).toBeNull();
  });

  it('G4: a command of ours is no message that lifts the latch', async () => {
    const hooks = await atWork();
    await wakes(hooks);
    await hooks.send(promptPayload('/untildone:status', { prompt_id: 'p3' }));
    expect(continuationOf(await hooks.send(stopPayload({ prompt_id: 'p3' })))).toBeNull();
    expect((await hooks.session())?.latch?.how).toBe('interrupted');
  });

  it('a notice after a stop that was let through is no interrupt', async () => {
    const hooks = await atWork();
    await hooks.send(stopPayload(running));
    expect(await hooks.send(stopPayload(running))).toEqual({});
    expect(await wakes(hooks)).toEqual({ held: true, latch: null });
  });

  it('a notice in mid-turn, under the same prompt, is no interrupt', async () => {
    const hooks = await atWork();
    await hooks.send(promptPayload(notification('job')));
    expect(continuationOf(await hooks.send(stopPayload()))).not.toBeNull();
    expect((await hooks.session())?.latch).toBeNull();
  });

  it('work of a background subagent after the stop is no interrupt', async () => {
    const hooks = await atWork();
    await hooks.send(stopPayload(running));
    await hooks.send(stopPayload(running));
    await hooks.send(
      toolPayload('Write', 's1', {}, {}, { agent_id: 'a1', agent_type: 'worker' }),
    );
    expect((await wakes(hooks)).latch).toBeNull();
  });

  it('a turn that failed at the provider was not interrupted', async () => {
    const hooks = await atWork();
    await hooks.send(stopPayload({ hook_event_name: 'StopFailure', error: 'unknown' }));
    expect((await wakes(hooks)).latch).toBeNull();
  });

  it('G4: a Stop hook that ran out of its time was ended by the host, not by a human', async () => {
    const hooks = await atWork();
    await hooks.send(stopPayload(), 899_000);
    expect(await wakes(hooks)).toEqual({ held: true, latch: null });
  });

  it('P19: a Stop hook that was ended before its time was ended by a human', async () => {
    const hooks = await atWork();
    await hooks.send(stopPayload(), 5000);
    expect(await wakes(hooks)).toEqual({ held: false, latch: 'interrupted' });
  });

  it('a host that was started anew was not interrupted by a human', async () => {
    const hooks = await atWork();
    await hooks.send({
      ...stopPayload(),
      hook_event_name: 'SessionStart',
      source: 'resume',
    });
    expect((await wakes(hooks)).latch).toBeNull();
  });

  it('G4: the latch holds over further notices until a human speaks', async () => {
    const hooks = await atWork();
    await wakes(hooks);
    await hooks.send(promptPayload(notification('other'), { prompt_id: 'p3' }));
    expect(continuationOf(await hooks.send(stopPayload({ prompt_id: 'p3' })))).toBeNull();
    await hooks.send(promptPayload('continue', { prompt_id: 'p4' }));
    expect(continuationOf(await hooks.send(stopPayload({ prompt_id: 'p4' })))).toContain(
      '“A”',
    );
  });
});

describe('the look at the workspace', () => {
  /**
   * What a session in a folder of many files knows of it after two messages of its human.
   */
  async function spokenTwice(options: HookCaseOptions = {}) {
    const cwd = mkdtempSync(join(tmpdir(), 'untildone-prompt-'));
    onTestFinished(() => rmSync(cwd, { recursive: true }));
    for (let file = 0; file < 2000; file++)
      writeFileSync(join(cwd, `${file}.txt`), 'as it was');
    const { send, store } = createHookCase(options);
    await send(promptPayload('Please do it', { cwd }));
    await send(promptPayload('and mind the tests', { cwd }));
    const events = await store.events({ sessionId, waiting: true });
    return events
      .map(({ event }) => event.type)
      .filter((type) => type !== 'session-opened');
  }

  it('P38 V4: is taken at the first message, after its words, and not again', async () => {
    expect(await spokenTwice()).toEqual(['human-spoke', 'workspace-seen', 'human-spoke']);
  });

  it('is none where it takes longer than the host waits: the words count all the same', async () => {
    expect(await spokenTwice({ timeout: 2 })).toEqual(['human-spoke', 'human-spoke']);
  });

  it('C2: is not taken where untildone is off', async () => {
    const policy = { settings: { ...defaultSettings, mode: 'off' as const } };
    expect(await spokenTwice({ policy })).toEqual(['human-spoke', 'human-spoke']);
  });
});
