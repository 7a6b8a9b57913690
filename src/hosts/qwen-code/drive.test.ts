// What the lines of Qwen Code 0.24.4 mean to its driver (recorded and shortened), and the
// words that start it.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { DriveStart } from '../../engine/host-driver.ts';
import { qwenCodeDriver } from './drive.ts';

const id = '17b9f1e5-fccb-43c7-9e17-02729728d53f';
const readLine = qwenCodeDriver.createReader();
const read = (line: object) =>
  readLine(JSON.stringify({ session_id: id, ...line }), 'output');
const used = {
  input_tokens: 12_594,
  output_tokens: 26,
  cache_read_input_tokens: 12_249,
  total_tokens: 12_620,
};
const tokens = { inputTokens: 12_594, cachedTokens: 12_249, outputTokens: 26 };

it('the first line names the conversation; what is for its own view says nothing', () => {
  expect(read({ type: 'system', subtype: 'init', uuid: id })).toEqual([
    { type: 'conversation', id },
  ]);
  expect(read({ type: 'stream_event', event: { type: 'goal_state' } })).toEqual([]);
  expect(readLine('Ripgrep not available', 'output')).toEqual([]);
});

it('an answer is a step with its call; tokens from the cache are among the input', () => {
  const call = {
    type: 'tool_use',
    id: 'call_1',
    name: 'run_shell_command',
    input: { command: 'false' },
  };
  const message = {
    id: '9c1637a3',
    role: 'assistant',
    model: 'fake',
    content: [call],
    usage: used,
  };
  expect(read({ type: 'assistant', parent_tool_use_id: null, message })).toEqual([
    { type: 'step', id: '9c1637a3' },
    {
      type: 'tool-started',
      callId: 'call_1',
      tool: 'run_shell_command',
      input: { command: 'false' },
    },
    { type: 'usage', of: 'step', id: '9c1637a3', tokens, cost: null },
  ]);
  const content = [
    {
      type: 'tool_result',
      tool_use_id: 'call_1',
      is_error: true,
      content: 'Exit Code: 1',
    },
  ];
  expect(read({ type: 'user', message: { role: 'user', content } })).toEqual([
    { type: 'tool-ended', callId: 'call_1', ok: false, output: 'Exit Code: 1' },
  ]);
});

it('G9: an error that it says in the place of the model is no answer of the model', () => {
  const content = [{ type: 'text', text: '[API Error: 400 The request is not valid.]' }];
  expect(
    read({ type: 'assistant', parent_tool_use_id: null, message: { id: 'e', content } }),
  ).toEqual([]);
});

it('the result ends it, with the tokens of the whole conversation', () => {
  const result = { type: 'result', is_error: false, usage: used, permission_denials: [] };
  const usage = { type: 'usage', of: 'conversation', tokens, cost: null };
  expect(read({ ...result, subtype: 'success', result: 'done' })).toEqual([
    usage,
    { type: 'ended', end: 'normal', text: 'done' },
  ]);
  const failed = { ...result, subtype: 'error_during_execution', is_error: true };
  const message = '[API Error: 429 Too many requests]';
  expect(read({ ...failed, error: { message } })).toEqual([
    usage,
    { type: 'error', kind: 'rate-limit', message },
    { type: 'ended', end: 'error' },
  ]);
});

it('a conversation that was killed in its first moments is not known', () => {
  const line = `No saved session found with ID ${id}. Run \`qwen --resume\` without an ID to choose one.`;
  expect(readLine(line, 'errors')).toEqual([{ type: 'unknown-conversation' }]);
});

it('our hooks and tools come as defaults beside those of an administrator, and only for this run', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'untildone-drive-'));
  try {
    const theirs = join(scratch, 'theirs.json');
    const beep = { hooks: [{ type: 'command', command: 'beep' }] };
    writeFileSync(
      theirs,
      JSON.stringify({ stopHookBlockingCap: 20, hooks: { Stop: [beep] }, ui: { a: 1 } }),
    );
    const start: DriveStart = {
      text: '-x is a flag',
      id: null,
      isNew: true,
      mode: 'edit',
      model: null,
      flags: ['--debug'],
      scratch,
      environment: { QWEN_CODE_SYSTEM_DEFAULTS_PATH: theirs },
    };
    const { words, variables = {}, input } = qwenCodeDriver.start(start);
    expect(words).toEqual([
      '-o',
      'stream-json',
      '--approval-mode',
      'auto-edit',
      '--debug',
    ]);
    expect(input).toBe('-x is a flag');
    const written = JSON.parse(
      readFileSync(variables['QWEN_CODE_SYSTEM_DEFAULTS_PATH'] ?? '', 'utf8'),
    );
    expect(written).toMatchObject({
      stopHookBlockingCap: 20,
      ui: { a: 1 },
      tools: { todoWrite: { enabled: true } },
      mcpServers: { untildone: { trust: true, alwaysLoadTools: true } },
    });
    expect(written.hooks.Stop).toMatchObject([beep, { hooks: [{ timeout: 900 }] }]);
    const again = qwenCodeDriver.start({ ...start, id, isNew: false, model: 'm' }).words;
    expect(again).toEqual(expect.arrayContaining(['--resume', id, '--model', 'm']));
  } finally {
    rmSync(scratch, { recursive: true });
  }
});
