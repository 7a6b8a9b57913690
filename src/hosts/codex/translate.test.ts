// Every hook of Codex, from its real payload to what it asks for and what it is answered.
import { describe, expect, it } from 'vitest';
import {
  codexAgent,
  codexCompaction,
  codexEnd,
  codexInterrupt,
  codexPermission,
  codexPlan,
  codexPlanBefore,
  codexPrompt,
  codexSession,
  codexStart,
  codexStop,
  codexTool,
  codexTurn,
} from '../../../test/support/codex-payloads.ts';
import { codex } from './host.ts';

function translated(payload: unknown) {
  return codex.translate(payload, {
    at: 1_800_000_000_000,
    environment: {},
    toolPrefix: 'mcp__untildone__',
  });
}

function callOf(payload: unknown) {
  const translation = translated(payload);
  if (!translation.ok) throw new Error(translation.sentence ?? 'nothing is asked for');
  return translation.call;
}

function eventsOf(payload: unknown) {
  const { asks } = callOf(payload);
  return 'events' in asks ? asks.events : [];
}

const nothing = { ok: false, sentence: null };
const steps = [
  { step: 'Write the parser', status: 'completed' },
  { step: 'Write the docs', status: 'in_progress' },
];

describe('a stop of Codex', () => {
  it('G2: carries the last words and where the tokens stand; there is no cap', () => {
    const { asks, timeout, sessionId, promptId, descriptor } = callOf(codexStop());
    expect({ timeout, sessionId, promptId }).toEqual({
      timeout: 'stop',
      sessionId: codexSession,
      promptId: codexTurn,
    });
    expect(descriptor.tools).toEqual({
      pause: 'mcp__untildone__todo_pause',
      verify: 'mcp__untildone__todo_verify',
    });
    expect(asks).toEqual({
      type: 'stop',
      end: 'normal',
      lastText: 'All done!',
      isContinued: false,
      background: null,
      blockCap: null,
      transcript: expect.stringContaining('rollout-'),
    });
  });

  it('P14: without any words is an empty answer', () => {
    expect(callOf(codexStop({ last_assistant_message: null })).asks).toMatchObject({
      end: 'empty',
    });
  });

  it('P26: plan mode is an agent that cannot write', () => {
    expect(callOf(codexStop({ permission_mode: 'plan' })).agent.canWrite).toBe('no');
    expect(callOf(codexStop()).agent.canWrite).toBe('yes');
  });

  it('C4: of an agent that it started is a session of its own', () => {
    const { sessionId, descriptor, agent } = callOf(
      codexStop({ hook_event_name: 'SubagentStop', ...codexAgent }),
    );
    expect(sessionId).toMatch(new RegExp(`^${codexSession}:[0-9a-f]{12}$`));
    expect(descriptor).toMatchObject({ kind: 'subagent', parentId: codexSession });
    expect(agent.name).toBe('default');
  });

  it('is found in bytes that are no payload', () => {
    expect(codex.findStop(Buffer.from('{"hook_event_name":"Stop", …'))).toBe('Stop');
    expect(codex.findStop(Buffer.from('{"hook_event_name":"PostToolUse", …'))).toBeNull();
  });
});

describe('the plan of Codex', () => {
  it('T1: is what its tool wrote, in code mode too', () => {
    expect(eventsOf(codexPlan(steps))).toMatchObject([
      { type: 'tool-ended', tool: 'update_plan', access: 'todo' },
      {
        type: 'plan-written',
        items: [
          { content: 'Write the parser', status: 'completed' },
          { content: 'Write the docs', status: 'in_progress' },
        ],
      },
    ]);
  });

  it('of an agent that it started is not its own', () => {
    expect(eventsOf(codexPlan(steps, codexAgent)).map(({ type }) => type)).toEqual([
      'tool-ended',
    ]);
    expect(translated(codexPlanBefore(steps, codexAgent))).toEqual(nothing);
  });

  it('V1: before it is written, what it would complete can be refused', () => {
    const { asks, timeout, hook } = callOf(codexPlanBefore(steps));
    expect({ asks, timeout }).toEqual({
      asks: { type: 'complete', todos: ['Write the parser'] },
      timeout: 'completion',
    });
    expect(translated(codexPlanBefore(steps.slice(1)))).toEqual(nothing);
    expect(codex.render({ refusal: 'The check failed.' }, hook)).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: 'The check failed.',
      },
    });
  });
});

describe('a call of Codex', () => {
  it.each([
    ['Bash', 'unknown'],
    ['write_stdin', 'unknown'],
    ['apply_patch', 'write'],
    ['view_image', 'read'],
    ['multi_agent_v1wait_agent', 'read'],
    ['spawn_agent', 'read'],
    ['mcp__other__write', 'unknown'],
    ['mcp__untildone__todo_pause', 'todo'],
    ['tool_search', 'todo'],
  ])('G7: %s counts as %s', (tool, access) => {
    expect(eventsOf(codexTool(tool, {}, '')).at(-1)).toMatchObject({
      type: 'tool-ended',
      access,
      error: null,
    });
  });

  it('V5: of our own tool shows its receipt', () => {
    const receipt = `udr_${'0'.repeat(32)}`;
    const response = {
      content: [{ type: 'text', text: `{}\nreceipt: ${receipt}` }],
      isError: false,
    };
    const { asks } = callOf(codexTool('mcp__untildone__todo_pause', {}, response));
    expect(asks).toMatchObject({ receipt, decided: true });
  });
});

describe('the human of Codex', () => {
  it('G6: speaks in a prompt; the task of an agent that it started is not theirs', () => {
    const { asks, promptId } = callOf(codexPrompt('Do it.'));
    expect(asks).toEqual({ type: 'prompt', text: 'Do it.', speaker: { type: 'human' } });
    expect(promptId).toBe(codexTurn);
    expect(translated(codexPrompt('Look around', codexAgent))).toEqual(nothing);
  });

  it('P19: who interrupts is heard at once', () => {
    expect(callOf(codexInterrupt)).toMatchObject({
      timeout: 'ending',
      asks: {
        type: 'record',
        decided: true,
        events: [{ type: 'human-aborted', how: 'interrupted' }],
      },
    });
  });

  it('is asked for a permission', () => {
    expect(callOf(codexPermission).asks).toMatchObject({
      type: 'record',
      asksHuman: true,
    });
  });

  it('P23: after a compaction or a resume the plan is given again', () => {
    expect(callOf(codexStart('startup')).asks).toMatchObject({
      begins: true,
      givesPlan: false,
    });
    expect(callOf(codexStart('resume')).asks).toMatchObject({
      begins: true,
      givesPlan: true,
    });
    expect(callOf(codexStart('compact')).asks).toMatchObject({
      begins: false,
      givesPlan: true,
    });
    expect(eventsOf(codexCompaction)).toMatchObject([
      { type: 'wait-started', wait: { kind: 'compaction' } },
    ]);
    expect(eventsOf(codexEnd)).toMatchObject([{ type: 'session-closed' }]);
  });

  it('E6: a continuation is a block with a reason, elsewhere a text is more context', () => {
    expect(codex.render({ text: 'Go on.', message: 'so it is.' }, 'Stop')).toEqual({
      decision: 'block',
      reason: 'Go on.',
      systemMessage: 'untildone: so it is.',
    });
    expect(codex.render({ text: 'The plan.' }, 'SessionStart')).toEqual({
      hookSpecificOutput: {
        hookEventName: 'SessionStart',
        additionalContext: 'The plan.',
      },
    });
  });

  it('V10: a command of the agent is told by the variables that Codex gives it, and by none of a hook', () => {
    const shell = {
      CODEX_THREAD_ID: 'agent',
      CODEX_SESSION_ID: codexSession,
      CODEX_CI: '1',
    };
    expect(codex.agentCommandOf((name) => shell[name as keyof typeof shell])).toEqual({
      sessionId: codexSession,
    });
    const hook = { CODEX_MANAGED_BY_NPM: '1', CODEX_MANAGED_PACKAGE_ROOT: '/x' };
    expect(codex.agentCommandOf((name) => hook[name as keyof typeof hook])).toBeNull();
  });
});
