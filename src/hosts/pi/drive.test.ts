// Lines that pi 0.87.1 printed in its JSON mode, as facts for its driver, and the words
// that start it.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { piDriver } from './drive.ts';

const lines = readFileSync(new URL('./fixtures/json-mode.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n');
const read = piDriver.createReader();
const facts = lines.flatMap((line) => read(line, 'output'));
const of = (type: string) => facts.filter((fact) => fact.type === type);

describe('lines of pi', () => {
  it('tell the conversation, steps with what they used, and text', () => {
    expect(of('conversation')).toEqual([
      { type: 'conversation', id: expect.stringMatching(/^01/) },
    ]);
    expect(of('text')).toEqual([{ type: 'text', text: 'All done.' }]);
    expect(of('step'), 'G9: a call that failed is none').toHaveLength(2);
    expect(of('usage')[0]).toMatchObject({
      of: 'step',
      tokens: { inputTokens: expect.any(Number) },
    });
  });

  it('tell calls, and whether they failed', () => {
    expect(of('tool-started')).toMatchObject([
      { tool: 'write', input: { path: 'a.txt' } },
      { tool: 'read', input: { path: 'missing.txt' } },
    ]);
    expect(of('tool-ended')).toMatchObject([
      { ok: true, output: 'Successfully wrote to a.txt' },
      { ok: false, output: expect.stringContaining('ENOENT') },
    ]);
  });

  it('P21: tell retries apart from the end', () => {
    expect(of('retrying')).toMatchObject([
      { inMs: 2000, sentence: expect.stringContaining('1 of 3') },
    ]);
    expect(of('ended')).toEqual([
      { type: 'ended', end: 'normal' },
      { type: 'ended', end: 'error' },
    ]);
    expect(of('error')).toMatchObject([
      { kind: 'other', message: expect.stringContaining('400') },
    ]);
  });

  it('that are no JSON, or of another shape, say nothing', () => {
    for (const line of [
      '',
      'x',
      '{',
      'null',
      '[]',
      '{"type":"__proto__"}',
      '{"type":"agent_end","messages":7}',
    ])
      expect(read(line, 'output')).toEqual([]);
    expect(read(lines[0] ?? '', 'errors')).toEqual([]);
  });
});

describe('a start', () => {
  const start = {
    text: '-v is a flag',
    id: 'a',
    isNew: true,
    model: null,
    scratch: '/',
    environment: {},
  };

  it('gives the text on standard input, where no word of it is a flag or a file', () => {
    const call = piDriver.start({ ...start, mode: 'auto', flags: ['--thinking', 'off'] });
    expect(call.input).toBe('-v is a flag');
    expect(call.words.slice(-3)).toEqual(['--thinking', 'off', '-p']);
  });

  it('V9: only --auto leaves it a shell; our todo tools it has always', () => {
    const toolsOf = (mode: 'read-only' | 'edit' | 'auto') => {
      const { words } = piDriver.start({ ...start, mode, flags: [] });
      return words.includes('--tools')
        ? (words[words.indexOf('--tools') + 1] ?? '').split(',')
        : null;
    };
    expect(toolsOf('read-only')).toEqual(expect.arrayContaining(['read', 'todo_write']));
    expect(toolsOf('read-only')).not.toContain('write');
    expect(toolsOf('edit')).toEqual(
      expect.arrayContaining(['read', 'edit', 'write', 'todo_write']),
    );
    expect(toolsOf('edit')).not.toContain('bash');
    expect(toolsOf('auto')).toBeNull();
  });
});
