// Every hook of Gemini CLI, from its real payload to what it asks for and what it is
// answered.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  beforeTodosPayload,
  endPayload,
  failedPayload,
  ownToolPayload,
  permissionPayload,
  promptPayload,
  receipt,
  sessionId,
  shellPayload,
  startPayload,
  stopPayload,
  todosPayload,
  toolPayload,
} from '../../../test/support/gemini-payloads.ts';
import { hooksOf } from '../asked-translate.ts';
import { geminiCli, geminiLanguage } from './host.ts';

const { translate } = geminiCli;
const moment = { at: 1_800_000_000_000, environment: {}, toolPrefix: 'mcp_untildone_' };
const scratch = mkdtempSync(join(tmpdir(), 'untildone-gemini-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function callOf(payload: unknown) {
  const translation = translate(payload, moment);
  if (!translation.ok) throw new Error(translation.sentence ?? 'nothing is asked for');
  return translation.call;
}

function eventsOf(payload: unknown) {
  const { asks } = callOf(payload);
  return 'events' in asks ? asks.events : [];
}

describe('a stop', () => {
  it('G2: carries what was said in the turn and where its tokens stand', () => {
    const call = callOf(stopPayload());
    expect(call).toMatchObject({ sessionId, timeout: 'stop', promptId: null });
    expect(call.descriptor).toMatchObject({
      host: 'gemini-cli',
      directory: '/nowhere/project',
    });
    expect(call.descriptor.tools.pause).toBe('mcp_untildone_todo_pause');
    expect(call.asks).toEqual({
      type: 'stop',
      end: 'normal',
      lastText: 'All done.',
      isContinued: false,
      background: null,
      blockCap: null,
      transcript: stopPayload()['transcript_path'],
    });
  });

  it.each(['[no response text]', ' \n \n', '', undefined])(
    'P14: with %j for the words of the model is an empty answer',
    (said) => {
      expect(callOf(stopPayload({ prompt_response: said })).asks).toMatchObject({
        end: 'empty',
      });
    },
  );

  it('is continued by a block, whose reason the model gets; a word for the human goes beside it', () => {
    expect(
      geminiCli.render({ text: 'Go on.', message: 'once more' }, 'AfterAgent'),
    ).toEqual({
      decision: 'block',
      reason: 'Go on.',
      systemMessage: 'untildone: once more',
    });
    expect(geminiCli.render({}, 'AfterAgent')).toEqual({});
  });

  it('is known even in bytes that are no JSON', () => {
    expect(geminiCli.findStop(Buffer.from('{"hook_event_name":"AfterAgent",'))).toBe(
      'AfterAgent',
    );
    expect(geminiCli.findStop(Buffer.from('{"hook_event_name":"AfterTool",'))).toBeNull();
  });
});

describe('a prompt', () => {
  const promptOf = (payload: unknown) => callOf(payload).asks;

  it('G6: is what the human said, without the context that a hook put before it at the start', () => {
    const spoken = { type: 'prompt', text: 'Do it.', speaker: { type: 'human' } };
    expect(promptOf(promptPayload('Do it.'))).toEqual(spoken);
    const given = '<hook_context>&lt;plan&gt; is open</hook_context>\n\nDo it.';
    expect(promptOf(promptPayload(given))).toEqual(spoken);
  });

  it('what a human wrote between such tags stays', () => {
    const text = 'Why is there <hook_context>x</hook_context>\n\nin it?';
    expect(promptOf(promptPayload(text))).toMatchObject({ text });
  });

  it('G6: said twice, it is two', () => {
    const later = promptPayload('go on', { timestamp: '2026-11-18T00:56:00.000Z' });
    expect(callOf(promptPayload('go on')).promptId).not.toBe(callOf(later).promptId);
  });
});

describe('a tool call', () => {
  it('T1: write_todos writes the whole plan, with all five words of status', () => {
    const words = ['pending', 'in_progress', 'completed', 'cancelled', 'blocked'];
    const todos = words.map((status) => ({ description: `${status} one`, status }));
    const [ended, written] = eventsOf(todosPayload(todos));
    expect(ended).toMatchObject({ type: 'tool-ended', access: 'todo', error: null });
    expect(written).toMatchObject({
      type: 'plan-written',
      items: todos.map(({ description, status }) => ({ content: description, status })),
    });
  });

  it('T6: of a list with something else in it, that is refused by its place, and none at all changes nothing', () => {
    const [, written] = eventsOf(
      toolPayload('write_todos', '01.000', { todos: [7, { description: 'one' }] }, {}),
    );
    expect(written).toMatchObject({ items: [{ content: '' }, { content: 'one' }] });
    expect(
      eventsOf(toolPayload('write_todos', '02.000', { todos: 'none' }, {})),
    ).toHaveLength(1);
  });

  it('V1: before write_todos the completed ones are asked for, and a refusal reaches the model', () => {
    const todos = [
      { description: 'one', status: 'completed' },
      { description: 'two', status: 'pending' },
    ];
    const { asks, timeout } = callOf(beforeTodosPayload(todos));
    expect([timeout, asks]).toEqual(['completion', { type: 'complete', todos: ['one'] }]);
    expect(translate(beforeTodosPayload(todos.slice(1)), moment)).toEqual({
      ok: false,
      sentence: null,
    });
    expect(geminiCli.render({ refusal: 'It fails.' }, 'BeforeTool')).toEqual({
      decision: 'block',
      reason: 'It fails.',
    });
  });

  it('E5: one of ours carries a receipt, though the host wraps what the model reads', () => {
    expect(callOf(ownToolPayload()).asks).toMatchObject({ receipt, decided: true });
    const stranger = { ...ownToolPayload(), tool_name: 'mcp_other_create_todo' };
    expect(callOf(stranger).asks).toMatchObject({ receipt: null });
  });

  it.each([
    ['write_file', 'write'],
    ['replace', 'write'],
    ['read_file', 'read'],
    ['google_web_search', 'read'],
    ['tracker_update_task', 'todo'],
    ['run_shell_command', 'unknown'],
    ['mcp_other_thing', 'unknown'],
  ])('%s is one that may %s', (tool, access) => {
    expect(eventsOf(toolPayload(tool, '03.000', {}, {})).at(-1)).toMatchObject({
      tool,
      access,
    });
  });

  it('that failed says why; a command that ends with an error is none to the host', () => {
    const failed = 'File not found: /nowhere/project/nothere.txt';
    expect(eventsOf(failedPayload()).at(-1)).toMatchObject({
      type: 'tool-ended',
      error: failed,
    });
    expect(eventsOf(shellPayload()).at(-1)).toMatchObject({
      type: 'tool-ended',
      error: null,
    });
  });

  it('without an id is told apart by its time, and told twice it is one', () => {
    const idsOf = (second: string) =>
      eventsOf(toolPayload('replace', second, {}, {})).map(({ id }) => id);
    expect(idsOf('04.000')).toEqual(idsOf('04.000'));
    expect(idsOf('04.000')).not.toEqual(idsOf('04.001'));
  });
});

describe('a session', () => {
  it('P23: that is taken up again is given its plan; a new one is not', () => {
    expect(callOf(startPayload('resume')).asks).toMatchObject({
      type: 'open',
      givesPlan: true,
    });
    expect(callOf(startPayload('startup')).asks).toMatchObject({
      type: 'open',
      givesPlan: false,
    });
    expect(geminiCli.render({ text: 'The plan.' }, 'SessionStart')).toEqual({
      hookSpecificOutput: {
        hookEventName: 'SessionStart',
        additionalContext: 'The plan.',
      },
    });
  });

  it('ends, and asks its human', () => {
    expect(eventsOf(endPayload())).toMatchObject([{ type: 'session-closed' }]);
    expect(callOf(permissionPayload()).asks).toMatchObject({
      type: 'record',
      asksHuman: true,
    });
  });

  it('has a hook for each of these and for nothing that fires at every request', () => {
    const names = [
      'AfterAgent',
      'BeforeTool',
      'AfterTool',
      'BeforeAgent',
      'SessionStart',
      'SessionEnd',
    ];
    expect(hooksOf(geminiLanguage).map(({ hook }) => hook)).toEqual([
      ...names,
      'Notification',
    ]);
  });

  it('an agent speaks from a command of the agent', () => {
    expect(
      geminiCli.agentCommandOf((name) => (name === 'GEMINI_CLI' ? '1' : undefined)),
    ).not.toBeNull();
    expect(geminiCli.agentCommandOf(() => undefined)).toBeNull();
  });
});

describe('V10: the variables that a project sets', () => {
  const files = {
    own: 'project/.gemini/.env',
    common: 'project/.env',
    above: '.env',
  };
  function variables(texts: Partial<Record<keyof typeof files, string>>) {
    const home = mkdtempSync(join(scratch, 'v10-'));
    mkdirSync(join(home, 'project/.gemini'), { recursive: true });
    for (const [name, text] of Object.entries(texts))
      writeFileSync(join(home, files[name as 'own']), text);
    return geminiCli.projectVariables?.(join(home, 'project'), {});
  }

  it('are those of its .env files, here and above, in every form that the host reads', () => {
    expect(variables({})).toEqual([]);
    const own =
      'export UNTILDONE_HOME=/tmp/x\n  UNTILDONE_MODE : off\n# XDG_STATE_HOME=/no\n';
    expect(variables({ own })).toEqual(['UNTILDONE_HOME', 'UNTILDONE_MODE']);
    expect(variables({ common: '\u{feff}HOME=/x\r\nA=1' })).toEqual(['HOME', 'A']);
    expect(variables({ above: 'XDG_STATE_HOME="/x"' })).toEqual(['XDG_STATE_HOME']);
  });

  it('are any, if a file is too long to be read', () => {
    expect(variables({ common: `A=${'x'.repeat(1_100_000)}` })).toBeNull();
  });

  it('a folder named .env sets none, and blank lines take no time', () => {
    const home = mkdtempSync(join(scratch, 'folder-'));
    mkdirSync(join(home, '.env'));
    expect(geminiCli.projectVariables?.(home, {})).toEqual([]);
    const before = performance.now();
    expect(variables({ common: '\n'.repeat(1_000_000) })).toEqual([]);
    expect(performance.now() - before).toBeLessThan(1000);
  });
});

describe('S9: what the model used', () => {
  it('is read from the transcript, each answer once, and only since the human spoke', () => {
    const path = join(scratch, 'session.jsonl');
    const line = (id: string, second: number, more: object = {}) =>
      JSON.stringify({
        id,
        timestamp: `2026-11-18T00:55:0${second}.000Z`,
        type: 'gemini',
        content: '',
        thoughts: [],
        tokens: {
          input: 8906,
          output: 31,
          cached: 8000,
          thoughts: 9,
          tool: 4,
          total: 8950,
        },
        ...more,
      });
    const human = line('h', 8, { type: 'user', tokens: undefined });
    const lines = [
      line('a', 1),
      line('b', 8),
      human,
      line('b', 8, { toolCalls: [] }),
      '{"$set":{"tokens":',
    ];
    writeFileSync(path, lines.join('\n'));
    const since = Date.parse('2026-11-18T00:55:05.000Z');
    expect(geminiCli.readUsage?.(path, since)).toEqual([
      { key: 'b', inputTokens: 8910, outputTokens: 40 },
    ]);
    expect(geminiCli.readUsage?.(join(scratch, 'none.jsonl'), since)).toEqual([]);
  });
});
