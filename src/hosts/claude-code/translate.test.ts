// Every hook of Claude Code, from its real payload to what it asks for.

import { describe, expect, it } from 'vitest';
import {
  completedPayload,
  createPayload,
  notification,
  promptId,
  promptPayload,
  sessionId,
  startPayload,
  stopPayload,
  toolPayload,
  updatePayload,
} from '../../../test/support/payload-cases.ts';
import type { HookMoment } from '../asked-call.ts';
import { createAskedHost, hooksOf } from '../asked-translate.ts';
import { claudeCodeLanguage } from './host.ts';

const claudeCodeHooks = hooksOf(claudeCodeLanguage);
const { translate } = createAskedHost(claudeCodeLanguage);

const moment: HookMoment = { at: 1_800_000_000_000, environment: {}, toolPrefix: null };

function callOf(payload: unknown, overrides: Partial<HookMoment> = {}) {
  const translation = translate(payload, { ...moment, ...overrides });
  if (!translation.ok) throw new Error(translation.sentence ?? '');
  return translation.call;
}

function eventsOf(payload: unknown) {
  const { asks } = callOf(payload);
  return 'events' in asks ? asks.events : [];
}

describe('a stop', () => {
  it('G2: carries the last words, the background work and how many blocks the host takes', () => {
    const running = {
      id: 'b1',
      type: 'shell',
      status: 'running',
      description: 'Run',
      command: 'npm start',
    };
    const ended = {
      id: 'b2',
      type: 'shell',
      status: 'completed',
      description: 'Run',
      command: 'ls',
    };
    const agent = {
      id: 'a1',
      type: 'subagent',
      status: 'running',
      description: 'Look around',
    };
    const { asks, timeout } = callOf(
      stopPayload({ background_tasks: [running, ended, agent] }),
    );
    expect(timeout).toBe('stop');
    expect(asks).toEqual({
      type: 'stop',
      end: 'normal',
      lastText: 'I am done.',
      isContinued: false,
      background: [
        { id: 'b1', kind: 'shell', description: 'npm start' },
        { id: 'a1', kind: 'subagent', description: 'Look around' },
      ],
      blockCap: 8,
      transcript: '/home/me/.claude/projects/-project/dfe1636e.jsonl',
    });
  });

  it('P14: without any words is an empty answer', () => {
    const { asks } = callOf(stopPayload({ last_assistant_message: ' \n' }));
    expect(asks).toMatchObject({ end: 'empty' });
  });

  it.each([
    ['12', 12],
    ['0', null],
    ['many', 8],
    [undefined, 8],
  ])('the cap of blocks %j means %j', (configured, cap) => {
    const environment = { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: configured };
    expect(callOf(stopPayload(), { environment }).asks).toMatchObject({ blockCap: cap });
  });

  it('P26: plan mode is an agent that cannot write', () => {
    expect(callOf(stopPayload()).agent.canWrite).toBe('yes');
    expect(callOf(stopPayload({ permission_mode: 'plan' })).agent.canWrite).toBe('no');
  });

  it('the project stays where the human started the host, though the agent moves about', () => {
    const environment = { CLAUDE_PROJECT_DIR: '/home/me/project' };
    const moved = callOf(stopPayload({ cwd: '/home/me/project/below' }), { environment });
    expect(moved.descriptor.directory).toBe('/home/me/project');
    expect(callOf(stopPayload({ cwd: 'relative' })).descriptor.directory).toBeNull();
  });

  it('M6, M8: names our own tools only where the agent may call them', () => {
    expect(callOf(stopPayload()).descriptor.tools).toEqual({ pause: null, verify: null });
    const granted = callOf(stopPayload(), { toolPrefix: 'mcp__untildone__' });
    expect(granted.descriptor.tools.verify).toBe('mcp__untildone__todo_verify');
  });

  it('a subagent stops in a session of its own, beneath its parent', () => {
    const payload = stopPayload({
      hook_event_name: 'SubagentStop',
      agent_id: 'a1',
      agent_type: 'explorer',
    });
    const call = callOf(payload);
    expect(call.descriptor).toMatchObject({ kind: 'subagent', parentId: sessionId });
    expect(call.sessionId).not.toBe(sessionId);
    expect(call.agent.name).toBe('explorer');
  });

  it('P23: the end of a compaction looks like a subagent without a type, and is nobody’s stop', () => {
    const payload = stopPayload({
      hook_event_name: 'SubagentStop',
      agent_id: 'a1',
      agent_type: '',
    });
    expect(translate(payload, moment)).toMatchObject({ ok: false, sentence: null });
  });
});

describe('a tool call', () => {
  it('TaskCreate adds a todo under the number that the host gave it', () => {
    expect(eventsOf(createPayload('3', 'Write a.txt'))).toMatchObject([
      { type: 'tool-ended', access: 'todo', error: null },
      {
        type: 'todos-created',
        actor: 'agent',
        items: [{ id: `${sessionId}/task-3`, title: 'Write a.txt', hostKey: 'task-3' }],
      },
    ]);
  });

  it('TaskUpdate changes the todo', () => {
    expect(eventsOf(updatePayload('1', 'in_progress', 'c1')).at(-1)).toMatchObject({
      type: 'todo-updated',
      todoId: 'task-1',
      changes: { status: 'in_progress' },
    });
  });

  it('T2: a deleted task is cancelled without a reason', () => {
    expect(eventsOf(updatePayload('1', 'deleted', 'c1')).at(-1)).toMatchObject({
      changes: { status: 'cancelled' },
    });
  });

  it('a TaskUpdate that the host refused changes nothing', () => {
    const refused = toolPayload(
      'TaskUpdate',
      'c1',
      { taskId: '9', status: 'completed' },
      { success: false, taskId: '9', updatedFields: [], error: 'Task not found' },
    );
    expect(eventsOf(refused).map(({ type }) => type)).toEqual(['tool-ended']);
  });

  it('TodoWrite writes the whole list', () => {
    const newTodos = [
      { content: 'A', status: 'completed', activeForm: 'Doing A' },
      { content: 'B', status: 'pending', activeForm: 'Doing B' },
    ];
    const payload = toolPayload(
      'TodoWrite',
      'c1',
      { todos: newTodos },
      { oldTodos: [], newTodos },
    );
    const written = eventsOf(payload).at(-1);
    expect(written).toMatchObject({
      type: 'plan-written',
      items: [
        { content: 'A', status: 'completed' },
        { content: 'B', status: 'pending' },
      ],
    });
  });

  it('a whole list that a subagent writes is its own, and leaves the plan alone', () => {
    const todos = [{ content: 'A', status: 'pending' }];
    const payload = toolPayload(
      'TodoWrite',
      'c1',
      { todos },
      { newTodos: todos },
      { agent_id: 'a1' },
    );
    expect(eventsOf(payload).map(({ type }) => type)).toEqual(['tool-ended']);
  });

  it('V4: any other call is work, told as started and ended', () => {
    const events = eventsOf(toolPayload('Write', 'c1', {}, {}));
    expect(events).toMatchObject([
      { type: 'tool-started', tool: 'Write', access: 'write' },
      { type: 'tool-ended', tool: 'Write', access: 'write', error: null },
    ]);
    expect(eventsOf(toolPayload('Read', 'c2', {}, {})).at(-1)).toMatchObject({
      access: 'read',
    });
    expect(eventsOf(toolPayload('mcp__other__x', 'c3', {}, {})).at(-1)).toMatchObject({
      access: 'unknown',
    });
  });

  it('V4: a search for tools is no work', () => {
    const events = eventsOf(
      toolPayload('ToolSearch', 'c1', { query: 'select:TaskCreate' }, {}),
    );
    expect(events).toMatchObject([
      { type: 'tool-ended', tool: 'ToolSearch', access: 'todo' },
    ]);
  });

  it('P12: a failed call carries its error', () => {
    const payload = toolPayload('Bash', 'c1', {}, undefined, {
      hook_event_name: 'PostToolUseFailure',
      error: 'Exit code 1',
    });
    expect(eventsOf(payload).at(-1)).toMatchObject({
      type: 'tool-ended',
      error: 'Exit code 1',
    });
  });

  const receipt = `udr_${'0f'.repeat(16)}`;

  it.each([
    ['mcp__untildone__todo_pause'],
    ['mcp__plugin_untildone_untildone__create_todo'],
  ])('M7: a result of %s brings its receipt, which stands in the last line', (tool) => {
    const response = [{ type: 'text', text: `{"paused":true}\nreceipt: ${receipt}` }];
    expect(callOf(toolPayload(tool, 'c1', {}, response)).asks).toMatchObject({ receipt });
    const wrapped = { content: response };
    expect(callOf(toolPayload(tool, 'c1', {}, wrapped)).asks).toMatchObject({ receipt });
  });

  it('a receipt that a stranger printed binds nothing', () => {
    const text = `receipt: ${receipt}`;
    expect(callOf(toolPayload('Bash', 'c1', {}, text)).asks).toMatchObject({
      receipt: null,
    });
    const quoted = `${text}\nas the file says`;
    expect(
      callOf(toolPayload('mcp__untildone__list_todo', 'c1', {}, quoted)).asks,
    ).toMatchObject({
      receipt: null,
    });
    expect(
      callOf(toolPayload('mcp__not_untildone__x', 'c1', {}, text)).asks,
    ).toMatchObject({
      receipt: null,
    });
  });

  it('the same call delivered twice gives the same events', () => {
    const payload = updatePayload('1', 'completed', 'c1');
    const again = translate(payload, { ...moment, at: moment.at + 5000 });
    const ids = eventsOf(payload).map(({ id }) => id);
    expect(
      again.ok && 'events' in again.call.asks
        ? again.call.asks.events.map(({ id }) => id)
        : [],
    ).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('a subagent’s call is work, and says nothing about the turn of its parent', () => {
    const own = eventsOf(toolPayload('Write', 'c1', {}, {}));
    const sub = eventsOf(
      toolPayload('Write', 'c2', {}, {}, { agent_id: 'a1', agent_type: 'explorer' }),
    );
    expect(own.at(-1)?.id).toContain(`/${promptId}/work/`);
    expect(sub.at(-1)?.id).toContain(`/${promptId}/side/`);
    expect(sub.at(-1)).toMatchObject({ type: 'tool-ended', sessionId });
  });
});

describe('a prompt', () => {
  it.each([
    ['a human', 'Please write two files', { type: 'human' }],
    ['a notice of the host', notification('b1'), { type: 'notice', jobIds: ['b1'] }],
    [
      'two notices at once',
      `${notification('b1')}\n${notification('b2')}`,
      { type: 'notice', jobIds: ['b1', 'b2'] },
    ],
    [
      'a human behind a notice',
      `${notification('b1')}\nand now go on`,
      { type: 'human' },
    ],
    ['a human who quotes a notice', `what is ${notification('b1')}?`, { type: 'human' }],
    ['a command of ours', '/untildone:status', { type: 'command' }],
    [
      'our pause',
      '/untildone:pause lunch',
      { type: 'command', pauses: { reason: 'lunch' } },
    ],
    ['a command of others', '/review everything', { type: 'human' }],
  ])('comes from %s', (_who, prompt, speaker) => {
    expect(callOf(promptPayload(prompt)).asks).toEqual({
      type: 'prompt',
      text: prompt,
      speaker,
    });
  });
});

describe('the rest', () => {
  it.each([
    ['startup', false],
    ['resume', true],
    ['compact', true],
    ['clear', false],
  ])(
    'P23: a session that starts by %s has its plan given again: %j',
    (source, givesPlan) => {
      expect(callOf(startPayload(source)).asks).toMatchObject({
        type: 'open',
        givesPlan,
      });
    },
  );

  it('a compaction begins and ends within a turn', () => {
    expect(
      eventsOf({ ...startPayload(''), hook_event_name: 'PreCompact' }),
    ).toMatchObject([{ type: 'wait-started', wait: { kind: 'compaction' } }]);
    expect(callOf(startPayload('compact')).asks).toMatchObject({
      begins: false,
      events: [{ type: 'wait-ended', wait: { kind: 'compaction', shrunk: true } }],
    });
  });

  it('V1: a completed task waits at the gate, for as long as its hook may take', () => {
    const call = callOf(completedPayload('2', 'Write b.txt'));
    expect(call).toMatchObject({
      timeout: 'completion',
      asks: { type: 'complete', todos: ['task-2'] },
    });
  });

  it.each([
    ['rate_limit', 'rate-limit'],
    ['overloaded', 'overload'],
    ['unknown', 'other'],
    ['__proto__', 'other'],
  ])('G9: the error %s is a stop that failed, of the kind %s', (error, kind) => {
    const payload = { ...startPayload(''), hook_event_name: 'StopFailure', error };
    expect(eventsOf(payload)).toMatchObject([
      { type: 'error-occurred', kind, signature: error },
      { type: 'stop-attempted', end: 'error' },
    ]);
  });

  it('the end of a session closes it', () => {
    const payload = {
      ...startPayload(''),
      hook_event_name: 'SessionEnd',
      reason: 'other',
    };
    expect(eventsOf(payload)).toMatchObject([{ type: 'session-closed' }]);
  });

  it.each([
    ['no object', 'text'],
    ['nothing', null],
    ['a list', []],
    ['no session', { hook_event_name: 'Stop' }],
    ['a session that is a path', stopPayload({ session_id: '../../etc' })],
    ['a hook that nobody knows', stopPayload({ hook_event_name: 'Whatever' })],
    ['a hook that objects inherit', stopPayload({ hook_event_name: 'constructor' })],
  ])('%s asks for nothing, and is told', (_what, payload) => {
    expect(translate(payload, moment)).toMatchObject({
      ok: false,
      sentence: expect.any(String),
    });
  });

  it('a task whose number is no plain name is left alone', () => {
    expect(translate(completedPayload('../1', 'x'), moment)).toMatchObject({ ok: false });
    expect(eventsOf(createPayload('a/b', 'x')).map(({ type }) => type)).toEqual([
      'tool-ended',
    ]);
  });

  it('init writes a timeout for every hook: long for stops, two minutes for the gate, short for the rest', () => {
    const named = (wanted: string) =>
      claudeCodeHooks.flatMap(({ hook, timeout }) => (timeout === wanted ? [hook] : []));
    expect(named('stop')).toEqual(['Stop']);
    expect(named('completion')).toEqual(['TaskCompleted']);
    expect(named('other')).toHaveLength(claudeCodeHooks.length - 2);
  });
});
