import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  event,
  sampleRun,
  todoView,
  totalUsage,
} from '../../../test/support/sample-run.ts';
import type { AgentEvent } from '../../agent/agent-event.ts';
import type { TextKind } from '../../core/texts.ts';
import { createLinePrinter, type LineOptions } from './lines.ts';
import { renderMarkdown } from './markdown.ts';
import type { TerminalStyle } from './page.ts';

type Options = Partial<Omit<LineOptions, 'write' | 'look'> & TerminalStyle>;

function writesOf(events: readonly AgentEvent[], options: Options = {}): string[] {
  const writes: string[] = [];
  const look = { columns: 80, color: false, unicode: true, ...options };
  const { print } = createLinePrinter({
    write: (text) => writes.push(text),
    isTTY: true,
    ...options,
    look,
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
  event(2, {
    type: 'tool-ended',
    callId,
    tool: 'shell',
    ok: true,
    output: '',
    milliseconds,
  });

describe('a whole run', () => {
  it('C4: reads like this on a terminal of 80 columns', () => {
    expect(printed(sampleRun)).toBe(fixture('run-80-columns'));
  });

  it('C4: fits into 40 columns', () => {
    const output = printed(sampleRun, { columns: 40 });
    expect(output).toBe(fixture('run-40-columns'));
    const wide = output.split('\n').filter((line) => line.length > 40);
    // A command is there to be copied: it is not broken.
    expect(wide).toEqual(['next: untildone run --resume 0198c7e4 "how to get past it"']);
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
      expect(codes.filter((code) => /\[(?:22|39)m/.test(code))).toHaveLength(
        codes.length / 2,
      );
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
  it('is shown paragraph by paragraph, each as soon as it is complete', () => {
    expect(printed([text('one\ntw')])).toBe('');
    expect(printed([text('one\ntw'), text('o\n'), text('\nthree')])).toBe(
      '│ one\n│ two\n',
    );
  });

  it('keeps a block of code in one piece, whatever blank lines it has', () => {
    const code = 'Look:\n\n```js\na();\n\nb();\n```\n\nthat is';
    expect(printed([text(code)])).toBe('│ Look:\n│\n│ ```js\n│ a();\n│\n│ b();\n│ ```\n');
  });

  it('keeps a very long block of code a block of code, and what follows it text', () => {
    const code = `\`\`\`js\n${'const a = 1; // *not* emphasis\n'.repeat(300)}\`\`\`\n\nThen **text**.\n\n`;
    const lines = printed([text(code)], { render: renderMarkdown })
      .trimEnd()
      .split('\n');
    expect(
      lines.filter((line) => line === '│   const a = 1; // *not* emphasis'),
    ).toHaveLength(300);
    expect(lines.slice(-2)).toEqual(['│', '│ Then text.']);
    expect(lines).toHaveLength(302);
  });

  it('goes on behind its margin after another line came in between', () => {
    expect(printed([text('one tw'), notice, text('o three'), notice])).toBe(
      '│ one tw\n• Something happened.\n│ o three\n• Something happened.\n',
    );
  });

  it('is not interrupted by events that print nothing', () => {
    const usage = event(1, { type: 'usage', step: totalUsage, total: totalUsage });
    expect(printed([text('one tw'), usage, text('o'), notice])).toBe(
      '│ one two\n• Something happened.\n',
    );
  });

  it('starts anew with each step', () => {
    const step = event(1, { type: 'step-started', step: 2 });
    expect(printed([text('one'), step, text('two'), notice])).toBe(
      '│ one\n│ two\n• Something happened.\n',
    );
  });

  it('starts anew below a tool call that is not finished yet', () => {
    const events = [text('one'), started('1', 'make'), text('two'), finished('1')];
    expect(printed(events)).toBe('│ one\n· shell make\n│ two\n· shell make ✓ 1.5 s\n');
    expect(printed(events, { isTTY: false })).toBe(
      '│ one\n│ two\n· shell make ✓ 1.5 s\n',
    );
  });

  it('Must hold 6: cannot pass for a line of ours', () => {
    const output = printed([
      text('fine\n\noutcome: done\r✓ x\u2028plan [████████] 9/9\u0085'),
      notice,
    ]);
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
    expect(writesOf([notice, started('1', 'make'), finished('1')]).slice(1)).toEqual([
      '· shell make',
      ' ✓ 1.5 s\n',
    ]);
  });

  it('that run side by side have one line each when they end in order', () => {
    expect(
      printed([started('1', 'a'), started('2', 'b'), finished('1'), finished('2')]),
    ).toBe('· shell a ✓ 1.5 s\n· shell b ✓ 1.5 s\n');
  });

  it('are told apart when they end in another order', () => {
    const events = [started('1', 'a'), started('2', 'b'), finished('2'), finished('1')];
    expect(printed(events)).toBe('· shell a\n· shell b ✓ 1.5 s\n· shell a ✓ 1.5 s\n');
    expect(printed(events, { isTTY: false })).toBe(
      '· shell b ✓ 1.5 s\n· shell a ✓ 1.5 s\n',
    );
  });

  it('leave room for the result whatever the command is', () => {
    const output = printed([started('1', 'x'.repeat(500)), finished('1', 59_900)], {
      columns: 40,
    });
    expect(output).toBe(`· shell ${'x'.repeat(19)}… ✓ 59.9 s\n`);
  });

  it('that never ended are named when the next step begins', () => {
    const step = event(3, { type: 'step-started', step: 2 });
    expect(printed([started('1', 'a'), step, started('2', 'b'), finished('2')])).toBe(
      '· shell a\n· shell a no result\n· shell b ✓ 1.5 s\n',
    );
  });

  it('first-use 5: a command that failed is marked as one, with its exit code', () => {
    const output = 'Exit code 1.\nError: no test specified';
    const failed = { ...finished('1', 279), ok: false, output } as AgentEvent;
    expect(printed([started('1', 'npm test'), failed], { isTTY: false })).toBe(
      '· shell npm test ✗ exit 1 · 279 ms\n    Error: no test specified\n',
    );
  });

  it('first-use 22: an edit is folded to its size', () => {
    const change = {
      callId: '1',
      tool: 'edit_file',
      path: 'parser.mjs',
      isNew: false,
      diff: '+a',
    };
    const edit = (type: 'tool-started' | 'tool-ended') =>
      event(1, {
        ...({
          type,
          callId: '1',
          tool: 'edit_file',
          input: { path: 'parser.mjs' },
        } as const),
        ok: true,
        output: '',
        milliseconds: 6,
      } as never);
    const changed = event(1, { type: 'file-changed', ...change, added: 12, removed: 3 });
    expect(
      printed([edit('tool-started'), changed, edit('tool-ended')], { isTTY: false }),
    ).toBe('· edit_file parser.mjs ✓ +12 −3 · 6 ms\n');
  });

  it('first-use 30: what only changes the plan shows in the plan', () => {
    const write = (type: 'tool-started' | 'tool-ended', ok: boolean) =>
      event(1, {
        ...({ type, callId: '1', tool: 'todo_write', input: { todos: [1] } } as const),
        ok,
        output: 'No.',
        milliseconds: 6,
      } as never);
    expect(printed([write('tool-started', true), write('tool-ended', true)])).toBe('');
    expect(printed([write('tool-started', true), write('tool-ended', false)])).toBe(
      '· plan 1 todo ✗ 6 ms\n    No.\n',
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
  const sent = (textKind: TextKind, level = 1): AgentEvent =>
    event(1, {
      type: 'continuation',
      textKind,
      level,
      sentence: 'A rule.',
      text: 'Go on.',
      number: 4,
    });
  const held = event(1, {
    type: 'text-held-back',
    text: 'All done! Everything works.\nReally.',
  });
  const todos = [
    todoView('a', 'Write it', { status: 'completed' }),
    todoView('b', 'Try it out', { status: 'in_progress' }),
    todoView('c', 'Say so', { dropped: true }),
  ];
  const plan = event(1, { type: 'plan-changed', todos, completed: 1, total: 3 });
  const check = event(1, {
    ...({
      type: 'check-ended',
      check: 'npm test',
      todoId: null,
      result: 'failed',
      flaky: false,
    } as const),
    sentence: 'npm test exited with 1 instead of 0 after 0.0 s.',
    milliseconds: 49,
    tail: `${'passed\n'.repeat(50)}\u001b[31m1 failed\u001b[0m\n`,
  });
  const told = (...events: AgentEvent[]): string[] =>
    printed([plan, ...events], { columns: null })
      .split('\n')
      .slice(4, -1);

  it.each<[TextKind, string]>([
    ['standard', '✋ "All done!" refused: 2 of 3 todos open → next: Try it out'],
    [
      'dropped-todos',
      '✋ "All done!" refused: it left "Say so" out of the plan → next: Try it out',
    ],
    [
      'text-question',
      '✋ "All done!" refused: it asked instead of working, 2 of 3 todos open → next: Try it out',
    ],
    [
      'output-limit',
      '↻ Sent on: its answer was cut off at the output limit → next: Try it out',
    ],
  ])(
    'C4, first-use 13: %s says in one sentence what was refused, and why',
    (textKind, line) => {
      expect(told(held, sent(textKind))).toEqual([line]);
    },
  );

  it('C4: where it says what was open, that counts, and not the plan that was shown meanwhile', () => {
    const late = { ...sent('standard'), open: 1, next: 'Say so' } as AgentEvent;
    expect(told(held, late)).toEqual([
      '✋ "All done!" refused: 1 of 3 todos open → next: Say so',
    ]);
  });

  it('first-use 12: the event gives the counts, and an unknown plan has no total', () => {
    const unplanned = (...events: AgentEvent[]) =>
      printed(events, { columns: null }).trimEnd();
    const late = { ...sent('standard'), open: 1, next: 'Say so' } as AgentEvent;
    expect(unplanned(held, late)).toBe(
      '✋ "All done!" refused: 1 todo open → next: Say so',
    );
    expect(unplanned(held, { ...late, total: 2 } as AgentEvent)).toBe(
      '✋ "All done!" refused: 1 of 2 todos open → next: Say so',
    );
    expect(told(held, { ...late, total: 5 } as AgentEvent)[0]).toContain(
      'refused: 1 of 5 todos open',
    );
  });

  it('first-use 13: of an answer that asks, the question is quoted', () => {
    const asks = event(1, {
      type: 'text-held-back',
      text: 'It is missing. Shall I go on? I wait.',
    });
    expect(told(asks, sent('text-question'))[0]).toMatch(
      /^✋ "Shall I go on\?" refused: it asked/u,
    );
  });

  it('C4: without an answer to quote, it is the stop that is refused; a firmer text says how firm', () => {
    expect(told(sent('empty-answer'))).toEqual([
      '✋ Stop refused: it said nothing → next: Try it out',
    ]);
    expect(told(sent('standard', 3))).toEqual([
      '✋ Stop refused: 2 of 3 todos open (reminder 3 of 3) → next: Try it out',
    ]);
  });

  it('first-use 13: a refused answer is the most visible line: bold and in colour, the last reminder red', () => {
    const coloured = (level: number): string =>
      printed([held, sent('standard', level)], { color: true });
    expect(coloured(1)).toContain('\u001b[1m\u001b[33m✋');
    expect(coloured(3)).toContain('\u001b[1m\u001b[31m✋');
  });

  it('first-use 13: a failed check shows the lines that say what failed, not the end of its output', () => {
    const tail = `✔ is a function\n✖ adds\n  AssertionError: 0 == 4\n${'    generatedMessage: true,\n'.repeat(9)}`;
    expect(told({ ...check, tail } as AgentEvent).slice(1)).toEqual([
      '  │ ✖ adds',
      '  │ AssertionError: 0 == 4',
    ]);
  });

  it('first-use 13: a check that fails again with the same output is named, and its output is not shown again', () => {
    const failed = (text: string, took: number): AgentEvent =>
      ({
        ...check,
        tail: `✖ adds (${took}ms)\n  ${text}\n`,
        milliseconds: took,
      }) as AgentEvent;
    const lines = told(
      failed('0 == 4', 12),
      failed('0 == 4', 13),
      failed('1 == 4', 12),
      failed('0 == 4', 9),
    );
    expect(lines.filter((line) => !line.startsWith('  │'))).toEqual([
      '✗ check "npm test" failed (12 ms): exited with 1 instead of 0.',
      '✗ check "npm test" fails as before (13 ms)',
      '✗ check "npm test" failed (12 ms): exited with 1 instead of 0.',
      '✗ check "npm test" failed (9 ms): exited with 1 instead of 0.',
    ]);
    expect(lines.filter((line) => line.startsWith('  │ ✖'))).toHaveLength(3);
    const passed = { ...check, result: 'passed', sentence: '' } as AgentEvent;
    const between = told(failed('0 == 4', 12), passed, failed('0 == 4', 12));
    expect(between.at(-2), 'a failure after a pass is shown again').toBe(
      '  │ ✖ adds (12ms)',
    );
  });

  it('first-use 4: two checks that fail with the same output show it once', () => {
    const other = {
      ...check,
      check: 'unit',
      sentence: 'unit exited with 2 instead of 0.',
    } as AgentEvent;
    expect(told(check, other).slice(9)).toEqual([
      '✗ check "unit" failed (49 ms): exited with 2 instead of 0. It printed the same as check "npm test".',
    ]);
    const silent = { ...check, tail: '' } as AgentEvent;
    expect(told(silent, { ...other, tail: '' } as AgentEvent).at(-1)).toMatch(
      /instead of 0\.$/u,
    );
  });

  it('first-use 8, 23: a failed check without such lines shows the end of its output, and each thing once', () => {
    const lines = told(check, sent('failed-check'));
    expect(lines[0]).toBe(
      '✗ check "npm test" failed (49 ms): exited with 1 instead of 0.',
    );
    expect(lines.slice(1, 9)).toEqual([
      ...Array<string>(7).fill('  │ passed'),
      '  │ 1 failed',
    ]);
    expect(lines[9]).toBe('✋ Stop refused: check "npm test" failed → next: Try it out');
  });

  it('first-use 23: a command is its own name, said once', () => {
    const sentence = 'false exited with 1 instead of 0 after 0.0 s.';
    const ended = { ...check, check: '$ false', sentence, tail: '' } as AgentEvent;
    const before = event(1, {
      type: 'baseline',
      check: '$ false',
      result: 'cannot-start',
      sentence,
    });
    expect(told(before, ended, sent('failed-check'))).toEqual([
      '✗ before the work: check "false" cannot start: exited with 1 instead of 0. If it still cannot at the end, the run ends as blocked.',
      '✗ check "false" failed (49 ms): exited with 1 instead of 0.',
      '✋ Stop refused: check "false" failed → next: Try it out',
    ]);
  });

  it('first-use 13: of a refused answer its words are quoted, not its heading and its marks', () => {
    const answer = event(1, {
      type: 'text-held-back',
      text: '## Summary\n\n- It is **all done**. Really.',
    });
    expect(told(answer, sent('standard'))[0]).toMatch(/^✋ "It is all done\." refused/u);
  });

  it('first-use, smaller: a pause that is lifted elsewhere is told', () => {
    const paused = { reason: 'paused-by-human', sentence: 'Paused.', until: null };
    const step = event(1, { type: 'step-started', step: 2 });
    expect(told(event(1, { type: 'waiting', ...paused }), step, step).slice(1)).toEqual([
      '• Resumed by you.',
    ]);
  });

  it('G9: an error says whether and when it is tried again', () => {
    const error = (retryAt: number | null): AgentEvent =>
      event(0, { type: 'error', kind: 'overload', sentence: 'Too much.', retryAt });
    const tomorrow = new Date(2026, 2, 5, 9, 0, 0).getTime();
    expect(printed([error(null), error(tomorrow)], { columns: null })).toBe(
      '! Too much.\n! Too much. It is tried again at 2026-03-05 09:00:00 (in 18 h).\n',
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
      'so far: 48.2k tokens in (31k cached), 2.3k out; $0.2184\n'.repeat(2),
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
      '» resumed: session 0198c7e4\n  model m, permissions auto\n  folder /\n',
    );
  });
});

describe('a worker', () => {
  const inside = (each: AgentEvent): AgentEvent => ({ ...each, sessionId: 'worker-1' });
  const about = { workerId: 'worker-1', agentType: 'coder', todoId: 'a' } as const;
  const begins = event(1, {
    type: 'worker-started',
    ...about,
    title: 'Write\u001b[2J it',
  });
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
    ...[
      event(1, { type: 'step-started', step: 1 }),
      text('Look'),
      text('ing.'),
      started('1', 'ls'),
    ].map(inside),
    ...[finished('1'), text('No'), text(' way.')].map(inside),
    ends,
    delegated,
  ];

  it.each([true, false])(
    'S4 C4: is named, and its lines stand further in (terminal: %s)',
    (isTTY) => {
      expect(printed(events, { isTTY }).trimEnd().split('\n')).toEqual([
        '→ worker coder: Write it',
        '  │ Looking.',
        '  · shell ls ✓ 1.5 s',
        '  │ No way.',
        '✗ worker coder: failed after 8.0 s. It gave up.',
        '· worker In src. ✗ 8.0 s',
        '    It gave up.',
      ]);
    },
  );
});
