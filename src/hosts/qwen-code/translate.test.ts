// Every hook of Qwen Code, from its real payload to what it asks for.
import { describe, expect, it } from 'vitest';
import {
  qwenAgent,
  qwenCompleted,
  qwenContinued,
  qwenFailure,
  qwenNotification,
  qwenPrompt,
  qwenRefusedWrite,
  qwenSession,
  qwenStart,
  qwenStop,
  qwenSubagentStop,
  qwenTool,
  qwenWrite,
} from '../../../test/support/qwen-payloads.ts';
import type { HookMoment } from '../asked-call.ts';
import { createAskedHost } from '../asked-translate.ts';
import { qwenCodeLanguage, takenBlocks } from './host.ts';

const { translate } = createAskedHost(qwenCodeLanguage);

const moment: HookMoment = { at: 1_800_000_000_000, environment: {}, toolPrefix: null };

function callOf(payload: unknown, environment = {}) {
  const translation = translate(payload, {
    ...moment,
    environment: { HOME: '/nowhere', ...environment },
  });
  if (!translation.ok) throw new Error(translation.sentence ?? 'nothing is asked for');
  return translation.call;
}
const isSilent = (payload: unknown) => {
  const read = translate(payload, moment);
  return !read.ok && read.sentence === null;
};
function eventsOf(payload: unknown) {
  const { asks } = callOf(payload);
  return 'events' in asks ? asks.events : [];
}

describe('a stop', () => {
  it('G2: carries the last words, the agents at work and how many continuations the host takes in a turn', () => {
    const jobs = [qwenAgent('a1'), qwenAgent('a2', 'completed')];
    const { asks, timeout, promptId } = callOf(qwenStop({ background_tasks: jobs }));
    expect([timeout, promptId]).toEqual(['stop', 'prompt-0']);
    expect(asks).toEqual({
      type: 'stop',
      end: 'normal',
      lastText: 'I am done.',
      isContinued: false,
      background: [{ id: 'a1', kind: 'subagent', description: 'look around' }],
      blockCap: 7,
      capsTurn: true,
      transcript: expect.stringContaining('chats'),
    });
  });

  it('P14: without any words, as the host puts it, is an empty answer', () => {
    const { asks } = callOf(qwenStop({ last_assistant_message: '[no response text]' }));
    expect(asks).toMatchObject({ end: 'empty', lastText: '' });
  });

  it.each([
    ['12', 11],
    ['1', 0],
    ['0', 7],
    ['500', 99],
    ['many', 7],
    [' ', 7],
  ])('a cap of %j in the environment means %j', (said, taken) => {
    const environment = { QWEN_CODE_STOP_HOOK_BLOCK_CAP: said };
    expect(callOf(qwenStop(), environment).asks).toMatchObject({ blockCap: taken });
    expect(takenBlocks('12'), 'in settings it must be a number').toBe(7);
  });

  it('P26: plan mode is an agent that cannot write', () => {
    expect(callOf(qwenStop()).agent.canWrite).toBe('yes');
    expect(callOf(qwenStop({ permission_mode: 'plan' })).agent.canWrite).toBe('no');
  });

  it("C4: a subagent's is on the record as its own, below its parent", () => {
    const { sessionId, descriptor, agent, asks } = callOf(
      qwenSubagentStop('general-purpose-1'),
    );
    expect(sessionId).toMatch(new RegExp(`^${qwenSession}:[0-9a-f]{12}$`));
    expect(descriptor).toMatchObject({ kind: 'subagent', parentId: qwenSession });
    expect([agent.name, asks.type]).toEqual(['general-purpose', 'stop']);
  });
});

describe('a prompt', () => {
  it('G6: only what somebody submitted is theirs', () => {
    const { asks } = callOf(qwenPrompt('Do it.'));
    expect(asks).toEqual({ type: 'prompt', text: 'Do it.', speaker: { type: 'human' } });
  });

  it.each(['', '[TODO CONTINUATION] Go on.', 'a reason of another hook'])(
    'G6: %j, which the host sends by itself, asks for nothing',
    (text) => expect(isSilent(qwenContinued(text))).toBe(true),
  );
});

const list = [
  { id: '1', content: 'alpha', status: 'completed' },
  { id: '2', content: 'beta', status: 'pending' },
];

describe('a tool call', () => {
  it('G5: todo_write is the whole list, by its titles', () => {
    const [ended, written] = eventsOf(qwenWrite(list, 'c1'));
    expect(ended).toMatchObject({ type: 'tool-ended', access: 'todo', error: null });
    const items = [
      { content: 'alpha', status: 'completed' },
      { content: 'beta', status: 'pending' },
    ];
    expect(written).toMatchObject({ type: 'plan-written', actor: 'agent', items });
  });

  it('V1: a list that was refused changes nothing, although the host calls it a success', () => {
    const events = eventsOf(qwenRefusedWrite(list, 'c1'));
    expect(events).toMatchObject([
      { type: 'tool-ended', error: 'Todo completion blocked: the check failed' },
    ]);
  });

  it("P32: a subagent's list is its own", () => {
    const events = eventsOf({ ...qwenWrite(list, 'c1'), agent_id: 'a1' });
    expect(events.map(({ type }) => type)).toEqual(['tool-ended']);
  });

  it.each([
    ['write_file', 'write'],
    ['edit', 'write'],
    ['read_file', 'read'],
    ['grep_search', 'read'],
    ['run_shell_command', 'unknown'],
    ['mcp__untildone__todo_pause', 'todo'],
    ['tool_search', 'todo'],
  ])('G7: %s is %s', (tool, access) => {
    expect(eventsOf(qwenTool(tool, 'c1', {}, '')).at(-1)).toMatchObject({
      type: 'tool-ended',
      access,
    });
  });

  it('P12: one that failed says why', () => {
    const error = expect.stringContaining('Exit Code: 1');
    expect(eventsOf(qwenFailure('run_shell_command', 'c1')).at(-1)).toMatchObject({
      error,
    });
  });

  it('P19: one that the human broke off is an interrupt', () => {
    const events = eventsOf(
      qwenFailure('run_shell_command', 'c1', { is_interrupt: true }),
    );
    expect(events.map(({ type }) => type)).toEqual([
      'human-aborted',
      'tool-started',
      'tool-ended',
    ]);
  });
});

describe('everything else', () => {
  it('V1: a completion is asked about before it is written, and not afterwards', () => {
    expect(callOf(qwenCompleted('alpha')).asks).toEqual({
      type: 'complete',
      todos: ['alpha'],
    });
    expect(isSilent(qwenCompleted('alpha', 'postWrite'))).toBe(true);
  });

  it('P23: a session that is resumed is given its plan again; one that starts is not', () => {
    expect(callOf(qwenStart('resume')).asks).toMatchObject({
      type: 'open',
      givesPlan: true,
    });
    expect(callOf(qwenStart('startup')).asks).toMatchObject({
      type: 'open',
      begins: true,
      givesPlan: false,
    });
  });

  it('P9: a question of the host is told to those who want to know, its greeting is not', () => {
    expect(callOf(qwenNotification('permission_prompt')).asks).toMatchObject({
      asksHuman: true,
    });
    expect(callOf(qwenNotification('auth_success')).asks).not.toHaveProperty('asksHuman');
  });
});
