// Stops of a host with hooks: which stops are continued, which may stop, and what the
// host's own list says.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { continuationOf, createHookCase } from '../../test/support/hook-case.ts';
import {
  createPayload,
  promptPayload,
  sessionId,
  stopPayload,
  toolPayload,
  updatePayload,
} from '../../test/support/payload-cases.ts';
import { defaultSettings } from '../core/settings.ts';

async function planned(...titles: string[]) {
  const hooks = createHookCase();
  await hooks.send(promptPayload('Please do it'));
  for (const [index, title] of titles.entries())
    await hooks.send(createPayload(String(index + 1), title));
  await hooks.send(toolPayload('Write', 'work-1', {}, {}));
  return hooks;
}

describe('a stop attempt', () => {
  it('P1: is continued while todos are open, naming the next one', async () => {
    const hooks = await planned('Write a.txt', 'Write b.txt');
    await hooks.send(updatePayload('1', 'completed', 'u1'));
    expect(continuationOf(await hooks.send(stopPayload()))).toContain('“Write b.txt”');
  });

  it('P29: is let go without a word of ours to the model when all is done', async () => {
    const hooks = await planned('Write a.txt');
    await hooks.send(updatePayload('1', 'completed', 'u1'));
    const answer = await hooks.send(stopPayload());
    expect(continuationOf(answer)).toBeNull();
    expect(answer).toEqual({
      systemMessage:
        "untildone: claimed, not proved. Nothing is open; 1 todo rests on the agent's word alone. For `done` give this project a check: untildone config init.",
    });
  });

  it('without a plan the host is left alone', async () => {
    const hooks = createHookCase();
    await hooks.send(promptPayload('What is this?'));
    expect(await hooks.send(stopPayload())).toEqual({});
  });

  it('P26: plan mode is never continued, and the next mode is', async () => {
    const hooks = await planned('A');
    expect(await hooks.send(stopPayload({ permission_mode: 'plan' }))).toEqual({});
    expect(
      continuationOf(await hooks.send(stopPayload({ permission_mode: 'acceptEdits' }))),
    ).not.toBeNull();
  });

  it('hooks that were installed while a session ran find their way', async () => {
    const hooks = createHookCase();
    await hooks.send(createPayload('1', 'A'));
    expect(continuationOf(await hooks.send(stopPayload()))).toContain('“A”');
    expect((await hooks.session())?.descriptor.host).toBe('claude-code');
  });

  it('G6: an agent that does nothing is let go in the end, with the outcome for the human', async () => {
    const hooks = await planned('A');
    const answers = [];
    for (let stop = 0; stop < 6; stop++) answers.push(await hooks.send(stopPayload()));
    expect(
      answers.filter((answer) => continuationOf(answer) !== null).length,
    ).toBeLessThan(6);
    expect(answers.at(-1)).toMatchObject({
      systemMessage: expect.stringContaining('stagnant'),
    });
    expect((await hooks.session())?.settled?.outcome).toBe('stagnant');
  });

  it('P18: background work is waited for in silence, because the host wakes the agent itself', async () => {
    const hooks = await planned('A');
    const background_tasks = [
      { id: 'a1', type: 'subagent', status: 'running', description: 'Look' },
    ];
    expect(await hooks.send(stopPayload({ background_tasks }))).toEqual({});
    expect((await hooks.decisions()).at(-1)?.decision).toMatchObject({
      answer: 'wait',
      reason: 'subagent-at-work',
    });
  });

  it('P12: a stop right after a failed call gets one targeted retry', async () => {
    const hooks = await planned('A');
    const failure = { hook_event_name: 'PostToolUseFailure', error: 'No such file' };
    await hooks.send(toolPayload('Edit', 'e1', {}, undefined, failure));
    expect(continuationOf(await hooks.send(stopPayload()))).toContain('No such file');
  });

  it('P8: a question in the text is told apart from an end', async () => {
    const hooks = await planned('A');
    const asked = await hooks.send(
      stopPayload({ last_assistant_message: 'Shall I go on?' }),
    );
    expect(continuationOf(asked)).toContain('ends in a question');
  });

  it('a wait of less than two seconds is slept, and then asked again', async () => {
    const hooks = await planned('A');
    const failure = { hook_event_name: 'StopFailure', error: 'rate_limit' };
    await hooks.send(stopPayload(failure));
    await hooks.clock.advance(29_000);
    const answer = hooks.send(stopPayload());
    await new Promise((resolve) => setTimeout(resolve, 20));
    await hooks.clock.advance(1500);
    expect(continuationOf(await answer)).toContain('“A”');
  });

  it('a subagent is not held against the plan of its parent', async () => {
    const hooks = await planned('A');
    const subagent = {
      hook_event_name: 'SubagentStop',
      agent_id: 'a1',
      agent_type: 'explorer',
    };
    expect(await hooks.send(stopPayload(subagent))).toEqual({});
    expect(continuationOf(await hooks.send(stopPayload()))).toContain('“A”');
  });

  it('two hooks that are asked about the same stop count it once', async () => {
    const hooks = await planned('A');
    const answers = await Promise.all([
      hooks.send(stopPayload()),
      hooks.send(stopPayload()),
    ]);
    expect(answers.filter((answer) => continuationOf(answer) !== null)).toHaveLength(1);
    expect((await hooks.session())?.counters.total).toBe(1);
  });
});

describe('the look at the workspace', () => {
  /** A session whose agent wrote a file, which its first stop has seen. */
  async function looked() {
    const cwd = mkdtempSync(join(tmpdir(), 'untildone-look-'));
    onTestFinished(() => rmSync(cwd, { recursive: true }));
    const policy = {
      settings: { ...defaultSettings, maxStagnant: 50, maxContinuations: 50 },
    };
    const hooks = createHookCase({ policy });
    const send = (payload: object) => hooks.send({ ...payload, cwd });
    const edit = (text: string) => writeFileSync(join(cwd, 'a.txt'), text);
    await send(promptPayload('Please do it'));
    await send(createPayload('1', 'A'));
    edit('first');
    await send(toolPayload('Write', 'work-1', {}, {}));
    await send(stopPayload());
    const seen = async () => (await hooks.session())?.work.fingerprint ?? null;
    return { ...hooks, send, edit, seen, baseline: await seen() };
  }

  it('G7: is not taken again while no tool that can write was called', async () => {
    const { send, edit, seen, baseline } = await looked();
    expect(baseline).not.toBeNull();
    edit('by somebody else');
    await send(toolPayload('Read', 'look-1', {}, {}));
    await send(updatePayload('1', 'in_progress', 'u1'));
    await send(stopPayload());
    expect(await seen()).toBe(baseline);
  });

  it('G7: is taken after a call that can write, which may still wait in the inbox, and counts as progress', async () => {
    const { send, edit, seen, baseline, session } = await looked();
    await send(stopPayload());
    expect((await session())?.counters.stagnant).toBe(2);
    edit('second');
    await send(toolPayload('Bash', 'work-2', {}, {}));
    await send(stopPayload());
    expect(await seen()).not.toBe(baseline);
    expect((await session())?.counters.stagnant).toBe(1);
  });

  it('G7: is taken as long as a call that can write has shown nothing new: its work may come later', async () => {
    const { send, edit, seen, baseline } = await looked();
    await send(toolPayload('Bash', 'work-2', {}, {}));
    await send(stopPayload());
    expect(await seen()).toBe(baseline);
    edit('by what the call left running');
    await send(stopPayload());
    expect(await seen()).not.toBe(baseline);
  });
});

describe('the cap of the host', () => {
  const settings = { ...defaultSettings, maxStagnant: 50, maxContinuations: 50 };

  async function stubborn(cap: string) {
    const environment = { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: cap };
    const hooks = createHookCase({ policy: { settings }, environment });
    await hooks.send(promptPayload('Please do it'));
    await hooks.send(createPayload('1', 'A'));
    return hooks;
  }

  it('V8: at the cap the turn is on the record as exhausted and the human is told, since the host reports success', async () => {
    const hooks = await stubborn('3');
    const answers = [];
    for (let stop = 0; stop < 4; stop++) answers.push(await hooks.send(stopPayload()));
    expect(answers.map((answer) => continuationOf(answer) !== null)).toEqual([
      true,
      true,
      true,
      false,
    ]);
    expect(answers[2]).toMatchObject({
      systemMessage: expect.stringContaining('once more'),
    });
    expect(answers[3]).toMatchObject({
      systemMessage: expect.stringContaining('exhausted'),
    });
    expect((await hooks.session())?.settled).toMatchObject({
      outcome: 'exhausted',
      reason: 'host-cap',
    });
  });

  it('a tool call gives the host patience again', async () => {
    const hooks = await stubborn('2');
    for (let round = 0; round < 4; round++) {
      expect(continuationOf(await hooks.send(stopPayload()))).not.toBeNull();
      await hooks.send(toolPayload('Read', `r${round}`, {}, {}));
    }
  });

  it('no cap, no end by it', async () => {
    const hooks = await stubborn('0');
    for (let stop = 0; stop < 12; stop++)
      expect(continuationOf(await hooks.send(stopPayload()))).not.toBeNull();
  });
});

describe("the host's own list", () => {
  const listed = (key: string, title: string, status: string) => ({
    key,
    title,
    status,
    context: null,
  });

  it('G5: a change that no hook told us of is found at the stop', async () => {
    const hooks = await planned('A', 'B');
    hooks.shown.list = [
      listed('task-1', 'A', 'completed'),
      listed('task-2', 'B', 'completed'),
    ];
    expect(continuationOf(await hooks.send(stopPayload()))).toBeNull();
    expect((await hooks.todos()).map(({ status }) => status)).toEqual([
      'completed',
      'completed',
    ]);
  });

  it('G5: a todo that no hook told us of is taken into the plan', async () => {
    const hooks = await planned('A');
    hooks.shown.list = [
      listed('task-1', 'A', 'pending'),
      listed('task-2', 'Found', 'in_progress'),
    ];
    await hooks.send(stopPayload());
    expect(await hooks.todos()).toMatchObject([
      { title: 'A' },
      {
        id: `${sessionId}/task-2`,
        title: 'Found',
        status: 'in_progress',
        hostKey: 'task-2',
      },
    ]);
  });

  it('P3: a todo that left the list is dropped, and named', async () => {
    const hooks = await planned('A', 'B');
    hooks.shown.list = [listed('task-1', 'A', 'pending')];
    expect(continuationOf(await hooks.send(stopPayload()))).toContain('“B”');
    expect((await hooks.todos())[1]?.droppedAt).not.toBeNull();
  });

  it('a finished todo may leave the list without a word', async () => {
    const hooks = await planned('A', 'B');
    await hooks.send(updatePayload('1', 'completed', 'u1'));
    hooks.shown.list = [listed('task-2', 'B', 'pending')];
    await hooks.send(stopPayload());
    expect((await hooks.todos())[0]).toMatchObject({
      status: 'completed',
      droppedAt: null,
    });
  });

  it('V1: what we reopened is not completed again by a list that has not moved', async () => {
    const hooks = await planned('A');
    await hooks.send(updatePayload('1', 'completed', 'u1'));
    hooks.shown.list = [listed('task-1', 'A', 'completed')];
    await hooks.send(stopPayload());
    await hooks.store.step(sessionId, ({ state }) => {
      if (state === null) throw new Error('no plan');
      const plan = state.plan.map((todo) => ({ ...todo, status: 'pending' as const }));
      return { result: null, state: { ...state, plan } };
    });
    await hooks.send(stopPayload());
    expect((await hooks.todos())[0]?.status).toBe('pending');
  });

  it('updates that arrive before their todo, or out of order, end in the state that the host shows', async () => {
    const hooks = createHookCase();
    await hooks.send(promptPayload('Please do it'));
    await hooks.send(updatePayload('1', 'completed', 'u2'));
    await hooks.send(updatePayload('1', 'in_progress', 'u1'));
    await hooks.send(createPayload('1', 'A'));
    hooks.shown.list = [listed('task-1', 'A', 'completed')];
    expect(continuationOf(await hooks.send(stopPayload()))).toBeNull();
    expect((await hooks.todos()).map(({ status }) => status)).toEqual(['completed']);
  });

  it('P32: two sessions side by side share nothing', async () => {
    const hooks = await planned('A');
    const other = { session_id: '11111111-49cc-4ea2-95e5-b1e1e5c9f9d2' };
    await hooks.send(promptPayload('Something else', other));
    expect(await hooks.send(stopPayload(other))).toEqual({});
    expect(continuationOf(await hooks.send(stopPayload()))).toContain('“A”');
  });
});
