// What the lines of Gemini CLI mean to its driver; the lines were recorded and shortened.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { DriveStart } from '../../engine/host-driver.ts';
import { geminiDriver } from './drive.ts';

const scratch = mkdtempSync(join(tmpdir(), 'untildone-drive-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const id = 'd58781df-5b38-4654-9349-0c5e254fa3f3';
const plain: DriveStart = {
  text: '-Do it',
  id,
  isNew: true,
  mode: 'edit',
  model: null,
  flags: [],
  scratch,
  environment: { HOME: scratch },
};

const at = (second: string) => `2026-11-18T01:33:${second}Z`;
const says = (content: string, second = '21.570') =>
  JSON.stringify({
    type: 'message',
    timestamp: at(second),
    role: 'assistant',
    content,
    delta: true,
  });
const calls = (
  tool_name: string,
  tool_id: string,
  parameters: object,
  second = '22.000',
) =>
  JSON.stringify({
    type: 'tool_use',
    timestamp: at(second),
    tool_name,
    tool_id,
    parameters,
  });
const stats = {
  total_tokens: 8096,
  input_tokens: 8082,
  output_tokens: 14,
  cached: 8000,
  input: 82,
};
const ends = (more: object = { status: 'success' }) =>
  JSON.stringify({ type: 'result', timestamp: at('23.000'), stats, ...more });
function read(...lines: readonly string[]) {
  const readLine = geminiDriver.createReader();
  return lines.flatMap((line) => readLine(line, 'output'));
}

describe('a start', () => {
  it('names the conversation, takes the words by standard input, and the flags of the human last', () => {
    const flags = ['--debug'];
    const { words, input } = geminiDriver.start({
      ...plain,
      flags,
      model: 'gemini-2.5-pro',
    });
    expect(input).toBe('-Do it');
    const named = ['-m', 'gemini-2.5-pro', '--session-id', id, '--debug'];
    expect(words.slice(-5)).toEqual(named);
    expect(words).toEqual(
      expect.arrayContaining(['--skip-trust', 'auto_edit', 'stream-json']),
    );
    expect(geminiDriver.start({ ...plain, isNew: false }).words).toEqual(
      expect.arrayContaining(['--resume', id]),
    );
  });

  it('allows the list of todos by a policy of its own, and only where it takes the place of none', () => {
    const policy = join(scratch, 'untildone.toml');
    expect(geminiDriver.start(plain).words).toEqual(
      expect.arrayContaining(['--policy', policy]),
    );
    expect(existsSync(policy)).toBe(true);
    expect(geminiDriver.start({ ...plain, mode: 'auto' }).words).not.toContain(
      '--policy',
    );
    mkdirSync(join(scratch, '.gemini', 'policies'), { recursive: true });
    expect(geminiDriver.start(plain).words).not.toContain('--policy');
  });
});

describe('the lines', () => {
  it('an answer in pieces is one step and one text, and the result ends it', () => {
    const tokens = { inputTokens: 8082, cachedTokens: 8000, outputTokens: 14 };
    expect(read(says('Hello'), says(' there.', '21.582'), ends())).toEqual([
      { type: 'step', id: at('21.570') },
      { type: 'text', text: 'Hello there.' },
      { type: 'usage', of: 'start', tokens, cost: null },
      { type: 'ended', end: 'normal', text: 'Hello there.' },
    ]);
    expect(read(ends()).at(-1)).toEqual({ type: 'ended', end: 'empty', text: '' });
  });

  it('calls of one answer are one step; the list of todos is told whole', () => {
    const todos = [{ description: 'one', status: 'completed' }];
    const result = { type: 'tool_result', tool_id: 'a', status: 'error', output: 'No.' };
    const lines = [
      calls('write_todos', 'a', { todos }),
      calls('write_file', 'b', {}),
      JSON.stringify(result),
    ];
    expect(read(...lines, says('Next.', '25.000'))).toEqual([
      { type: 'step', id: at('22.000') },
      { type: 'tool-started', callId: 'a', tool: 'write_todos', input: { todos } },
      { type: 'todos', todos: [{ key: null, title: 'one', status: 'completed' }] },
      { type: 'tool-started', callId: 'b', tool: 'write_file', input: {} },
      { type: 'tool-ended', callId: 'a', ok: false, output: 'No.' },
      { type: 'step', id: at('25.000') },
    ]);
  });

  it('two starts at once do not mix: neither completes the answer of the other', () => {
    const one = geminiDriver.createReader();
    const other = geminiDriver.createReader();
    expect(one(says('One', '21.570'), 'output')).toEqual([
      { type: 'step', id: at('21.570') },
    ]);
    expect(other(says('Other', '21.571'), 'output')).toEqual([
      { type: 'step', id: at('21.571') },
    ]);
    expect(one(ends(), 'output').at(-1)).toMatchObject({ end: 'normal', text: 'One' });
    expect(other(ends(), 'output').at(-1)).toMatchObject({ text: 'Other' });
  });

  it('a continuation by our own hook is a warning, and no error', () => {
    const warning = {
      type: 'error',
      severity: 'warning',
      message: 'Agent execution blocked: Go on.',
    };
    expect(read(says('Done.'), JSON.stringify(warning)).map(({ type }) => type)).toEqual([
      'step',
      'text',
    ]);
  });

  it.each([
    [400, 'other'],
    [429, 'rate-limit'],
    [503, 'overload'],
  ])('a result with the status %d of the provider is an error: %s', (code, kind) => {
    const message = `[API Error: {"error":{"code":${code},"message":"It says no."}}]`;
    const facts = read(ends({ status: 'error', error: { type: 'unknown', message } }));
    expect(facts.slice(1)).toEqual([
      { type: 'error', kind, message },
      { type: 'ended', end: 'error' },
    ]);
  });

  it('on the other output it says that it tries again, and that it knows no such conversation', () => {
    const readLine = geminiDriver.createReader();
    const [retry] = readLine(
      'Attempt 1 failed with status 429. Retrying with backoff... _ApiError: {',
      'errors',
    );
    expect(retry).toMatchObject({
      type: 'retrying',
      sentence: expect.stringContaining('429'),
    });
    const unknown = 'Error resuming session: Invalid session identifier "fa6686da".';
    expect(readLine(unknown, 'errors')).toEqual([{ type: 'unknown-conversation' }]);
  });

  it.each([
    '',
    'null',
    '[]',
    '{"type":"tool_use"}',
    '{"type":"message","role":"assistant","content":7}',
    'Loading…',
  ])('nothing throws: %j', (line) => {
    for (const from of ['output', 'errors'] as const)
      expect(() => geminiDriver.createReader()(line, from)).not.toThrow();
  });
});
