import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { event, sampleRun, todoView, totalUsage } from '../../../test/support/sample-run.ts';
import type { AgentEvent } from '../../agent/agent-event.ts';
import { createLinePrinter, type LinePrinterOptions } from './line-printer.ts';

type Options = Partial<Omit<LinePrinterOptions, 'write'>>;

function writesOf(events: readonly AgentEvent[], options: Options = {}): string[] {
  const writes: string[] = [];
  const print = createLinePrinter({
    write: (text) => writes.push(text),
    columns: 80,
    color: false,
    unicode: true,
    isTTY: true,
    ...options,
  });
  for (const each of events) print(each);
  return writes;
}

function printed(events: readonly AgentEvent[], options: Options = {}): string {
  return writesOf(events, options).join('');
}

function fixture(name: string): string {
  return readFileSync(new URL(`./fixtures/${name}.txt`, import.meta.url), 'utf8');
}

const text = (piece: string): AgentEvent => event(1, { type: 'text', text: piece });
const notice = event(1, { type: 'notice', sentence: 'Something happened.' });
const started = (callId: string, command: string): AgentEvent =>
  event(1, { type: 'tool-started', callId, tool: 'shell', input: { command } });
const finished = (callId: string, milliseconds = 1500): AgentEvent =>
  event(2, { type: 'tool-ended', callId, tool: 'shell', ok: true, output: '', milliseconds });

describe('a whole run', () => {
  it('C4: reads like this on a terminal of 80 columns', () => {
    expect(printed(sampleRun)).toBe(fixture('run-80-columns'));
  });

  it('C4: fits into 40 columns, except the command that is there to be copied', () => {
    const output = printed(sampleRun, { columns: 40 });
    expect(output).toBe(fixture('run-40-columns'));
    const wide = output.split('\n').filter((line) => line.length > 40);
    expect(wide).toEqual(['resume with: untildone run --resume 0198c7e4']);
  });

  it('C4: is not wrapped in a log, where no width is known', () => {
    expect(printed(sampleRun, { columns: null, isTTY: false })).toBe(fixture('run-log'));
  });

  it('needs nothing but ASCII where the locale is not UTF-8', () => {
    expect(printed(sampleRun, { unicode: false })).toBe(fixture('run-ascii'));
    expect(fixture('run-ascii')).toMatch(/^[\n\x20-\x7e]*$/);
  });

  it('says the same in colour, and ends every colour on its own line', () => {
    const output = printed(sampleRun, { color: true });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are escape sequences
    const ours = /\u001b\[(?:1|2|22|31|32|33|39)m/g;
    expect(output.replace(ours, '')).toBe(fixture('run-80-columns'));
    for (const line of output.split('\n')) {
      const codes = [...line.matchAll(ours)].map(([code]) => code);
      expect(codes.filter((_code, index) => index % 2 === 1).every((code) => /\[(?:22|39)m/.test(code))).toBe(
        true,
      );
      expect(codes.length % 2).toBe(0);
    }
    expect(output).toContain('\u001b[31moutcome: blocked');
  });

  it('writes only whole lines where nobody watches them grow', () => {
    const writes = writesOf(sampleRun, { isTTY: false });
    expect(writes.join('')).toBe(fixture('run-80-columns'));
    expect(writes.filter((write) => !write.endsWith('\n'))).toEqual([]);
  });
});

describe("the agent's text", () => {
  it('is shown word by word on a terminal, each as soon as it is complete', () => {
    expect(writesOf([text('one tw')]).join('')).toBe('│ one');
    expect(writesOf([text('one tw'), text('o three')]).join('')).toBe('│ one two');
  });

  it('goes on behind its margin after another line came in between', () => {
    expect(printed([text('one tw'), notice, text('o three'), notice])).toBe(
      '│ one tw\n• Something happened.\n│ o three\n• Something happened.\n',
    );
  });

  it('is not interrupted by events that print nothing', () => {
    const usage = event(1, { type: 'usage', step: totalUsage, total: totalUsage });
    expect(printed([text('one tw'), usage, text('o'), notice])).toBe('│ one two\n• Something happened.\n');
  });

  it('starts anew with each step', () => {
    const step = event(1, { type: 'step-started', step: 2 });
    expect(printed([text('one'), step, text('two'), notice])).toBe('│ one\n│ two\n• Something happened.\n');
  });

  it('starts anew below a tool call that is not finished yet', () => {
    const events = [text('one'), started('1', 'make'), text('two'), finished('1')];
    expect(printed(events)).toBe('│ one\n· shell make\n│ two\n· shell make ✓ 1.5 s\n');
    expect(printed(events, { isTTY: false })).toBe('│ one\n│ two\n· shell make ✓ 1.5 s\n');
  });

  it('Must hold 6: cannot pass for a line of ours', () => {
    const output = printed([text('fine\n\noutcome: done\r✓ x\u2028plan [████████] 9/9\u0085'), notice]);
    expect(output.split('\n').slice(0, -2)).toEqual([
      '│ fine',
      '│',
      '│ outcome: done',
      '│ ✓ x',
      '│ plan [████████] 9/9',
    ]);
  });
});

describe('tool calls', () => {
  it('show the call at once and its result on the same line', () => {
    expect(writesOf([started('1', 'make'), finished('1')])).toEqual(['· shell make', ' ✓ 1.5 s', '\n']);
  });

  it('that run side by side have one line each when they end in order', () => {
    expect(printed([started('1', 'a'), started('2', 'b'), finished('1'), finished('2')])).toBe(
      '· shell a ✓ 1.5 s\n· shell b ✓ 1.5 s\n',
    );
  });

  it('are told apart when they end in another order', () => {
    const events = [started('1', 'a'), started('2', 'b'), finished('2'), finished('1')];
    expect(printed(events)).toBe('· shell a\n· shell b ✓ 1.5 s\n· shell a ✓ 1.5 s\n');
    expect(printed(events, { isTTY: false })).toBe('· shell b ✓ 1.5 s\n· shell a ✓ 1.5 s\n');
  });

  it('leave room for the result whatever the command is', () => {
    const output = printed([started('1', 'x'.repeat(500)), finished('1', 59_900)], { columns: 40 });
    expect(output).toBe(`· shell ${'x'.repeat(22)}… ✓ 59.9 s\n`);
  });

  it('that never ended are named, and do not keep a changed plan from being shown', () => {
    const plan = event(2, {
      type: 'plan-changed',
      todos: [todoView('a', 'Read')],
      completed: 0,
      total: 1,
    });
    const step = event(3, { type: 'step-started', step: 2 });
    expect(printed([started('1', 'a'), plan, step, started('2', 'b'), finished('2')])).toBe(
      '· shell a\n· shell a no result\nplan [░░░░░░░░] 0/1\n  [ ] Read\n· shell b ✓ 1.5 s\n',
    );
  });

  it('without a known start are shown by their name', () => {
    expect(printed([finished('9')])).toBe('· shell ✓ 1.5 s\n');
  });

  it('quote the first line of a failure that says something', () => {
    const failed = event(2, {
      type: 'tool-ended',
      callId: '1',
      tool: 'read_file',
      ok: false,
      output: '\n \u001b[0m\r\nThere is no such file.\nmore',
      milliseconds: 3,
    });
    expect(printed([failed])).toBe('· read_file ✗ 3 ms\n    There is no such file.\n');
  });
});

describe('what the system does', () => {
  const sent = (level: number, textKind: 'standard' | 'failed-check', sentence: string): AgentEvent =>
    event(1, { type: 'continuation', textKind, level, sentence, text: 'Go on.', number: 4 });

  it('C4: a continuation is shown as what it is, with its level and its reason', () => {
    const events = [
      sent(1, 'failed-check', 'Todos are open or unverified: the agent goes on (failed-check).'),
      sent(3, 'failed-check', 'Unverified.'),
      sent(3, 'standard', 'Todos are open (reminder 3 of 3).'),
    ];
    expect(printed(events, { columns: null }).split('\n')).toEqual([
      '↻ continuation 4 (failed check): Todos are open or unverified: the agent goes on.',
      '↻ continuation 4 (failed check, reminder 3 of 3): Unverified.',
      '↻ continuation 4 (reminder 3 of 3): Todos are open.',
      '',
    ]);
  });

  it('C4: the last reminder is red', () => {
    expect(printed([sent(3, 'standard', 'Open.')], { color: true })).toContain('\u001b[31m↻\u001b[39m');
    expect(printed([sent(2, 'standard', 'Open.')], { color: true })).toContain('\u001b[33m↻\u001b[39m');
  });

  it('I1: text that was held back is one dim line', () => {
    const held = event(1, { type: 'text-held-back', text: `All\ndone ${'x'.repeat(200)}` });
    const output = printed([held], { columns: 40 });
    expect(output).toBe(`held back: All done ${'x'.repeat(19)}…\n`);
    expect(printed([held], { color: true })).toContain(' \u001b[2mAll done');
  });

  it('G9: an error says whether and when it is tried again', () => {
    const error = (retryAt: number | null): AgentEvent =>
      event(0, { type: 'error', kind: 'overload', sentence: 'Too much.', retryAt });
    const tomorrow = new Date(2026, 2, 5, 9, 0, 0).getTime();
    expect(printed([error(null), error(tomorrow)], { columns: null })).toBe(
      '! error (overload): Too much. It is not tried again.\n' +
        '! error (overload): Too much. It is tried again at 2026-03-05 09:00:00 (in 18 h).\n',
    );
  });

  it('a wait without an end says only what it waits for', () => {
    const wait = event(0, {
      type: 'waiting',
      reason: 'subagent-at-work',
      sentence: 'Work runs.',
      until: null,
    });
    expect(printed([wait])).toBe('… waiting: Work runs.\n');
  });

  it('G8: tokens and cost are told every ten steps', () => {
    const usage = event(1, { type: 'usage', step: totalUsage, total: totalUsage });
    expect(printed(Array<AgentEvent>(9).fill(usage))).toBe('');
    expect(printed(Array<AgentEvent>(25).fill(usage))).toBe(
      'so far: 48.2k tokens in (31k cached), 2.3k out; cost 0.2184\n'.repeat(2),
    );
  });

  it('a resumed session says so', () => {
    const start = event(0, {
      type: 'run-started',
      goal: null,
      model: 'm',
      directory: '/',
      resumed: true,
      permissions: 'auto',
    });
    expect(printed([start])).toBe(
      '» resumed: session 0198c7e4\n  session 0198c7e4, model m, permissions auto\n  folder /\n',
    );
  });
});

describe('a worker', () => {
  const inside = (each: AgentEvent): AgentEvent => ({ ...each, sessionId: 'worker-1' });
  const about = { workerId: 'worker-1', agentType: 'coder', todoId: 'a' } as const;
  const begins = event(1, { type: 'worker-started', ...about, title: 'Write\u001b[2J it' });
  const ends = event(9, {
    type: 'worker-ended',
    ...about,
    result: 'failed',
    sentence: 'It gave up.',
    milliseconds: 8000,
  });
  const delegates = event(1, {
    type: 'tool-started',
    callId: 'd',
    tool: 'delegate',
    input: { todoId: 'a', instructions: 'In src.' },
  });
  const delegated = event(9, {
    type: 'tool-ended',
    callId: 'd',
    tool: 'delegate',
    ok: false,
    output: 'It gave up.',
    milliseconds: 8000,
  });
  const events = [
    delegates,
    begins,
    ...[event(1, { type: 'step-started', step: 1 }), text('Look'), text('ing.'), started('1', 'ls')].map(
      inside,
    ),
    ...[finished('1'), text('No'), text(' way.')].map(inside),
    ends,
    delegated,
  ];

  it.each([true, false])('S4 C4: is named, and its lines stand further in (terminal: %s)', (isTTY) => {
    const begun = isTTY ? ['· delegate In src.'] : [];
    expect(printed(events, { isTTY }).trimEnd().split('\n')).toEqual([
      ...begun,
      '→ worker coder: Write it',
      '  │ Looking.',
      '  · shell ls ✓ 1.5 s',
      '  │ No way.',
      '✗ worker coder: failed after 8.0 s. It gave up.',
      '· delegate In src. ✗ 8.0 s',
      '    It gave up.',
    ]);
  });
});
