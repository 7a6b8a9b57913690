import { describe, expect, it } from 'vitest';
import type { MessageKind, MessageRow } from '../../engine/host.ts';
import { transcriptEntries } from './transcript-entries.ts';

let sequence = 0;

function row(
  kind: MessageKind,
  content: unknown,
  at = sequence * 10,
  cut = false,
): MessageRow {
  sequence += 1;
  const body = JSON.stringify({ cut, message: { role: 'user', content } });
  return { sequence, sessionId: 's', turnId: null, at, kind, body };
}

const textsOf = (rows: readonly MessageRow[], all: boolean) =>
  transcriptEntries(rows, all).map(({ text }) => text);

describe('a transcript for people', () => {
  it('I7: leaves out what the system said and what was held back, unless it is asked for', () => {
    const rows = [
      row('human', 'Go.'),
      row('held', 'Done!'),
      row('continuation', 'Go on.'),
      row('note', 'A job ended.'),
      row('agent', 'Now it is.'),
    ];
    expect(textsOf(rows, false)).toEqual(['Go.', 'Now it is.']);
    expect(textsOf(rows, true)).toEqual([
      'Go.',
      'Done!',
      'Go on.',
      'A job ended.',
      'Now it is.',
    ]);
  });

  it('tells calls and results apart, and which failed', () => {
    const calls = [
      { type: 'text', text: 'I look.' },
      { type: 'tool-call', toolName: 'grep', input: { pattern: 'x' } },
    ];
    const results = [
      { type: 'tool-result', toolName: 'grep', output: { type: 'text', value: 'a.ts' } },
      {
        type: 'tool-result',
        toolName: 'shell',
        output: { type: 'error-text', value: 'no' },
      },
      {
        type: 'tool-result',
        toolName: 'shell',
        output: { type: 'text', value: 'Exit code 1.\nno test' },
      },
    ];
    const [said, answered] = transcriptEntries(
      [row('agent', calls), row('tools', results)],
      false,
    );
    expect(said).toMatchObject({
      text: 'I look.',
      calls: [{ tool: 'grep', input: { pattern: 'x' } }],
    });
    expect(answered?.results).toEqual([
      { tool: 'grep', ok: true, output: 'a.ts' },
      { tool: 'shell', ok: false, output: 'no' },
      { tool: 'shell', ok: false, output: 'Exit code 1.\nno test' },
    ]);
  });

  it('P23: shows nothing twice that a compaction wrote once more', () => {
    const rows = [
      row('human', 'Go.', 1),
      row('agent', 'One.', 2),
      row('agent', 'Two.', 3),
      row('human', 'Go.', 9, true),
      row('summary', 'One was said.', 9),
      row('agent', 'Two.', 9),
      row('agent', 'Three.', 12),
    ];
    expect(textsOf(rows, false)).toEqual(['Go.', 'One.', 'Two.', 'Three.']);
    expect(textsOf(rows, true)).toEqual([
      'Go.',
      'One.',
      'Two.',
      'One was said.',
      'Three.',
    ]);
  });
});
