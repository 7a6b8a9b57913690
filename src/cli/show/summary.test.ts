import { describe, expect, it } from 'vitest';
import { todoView } from '../../../test/support/sample-run.ts';
import type { EventOf, RunEnded, TodoView } from '../../agent/agent-event.ts';
import { outcomes } from '../../core/decision.ts';
import { createPage } from './page.ts';
import { createState, type ViewState } from './state.ts';
import { summaryLines } from './summary.ts';

const page = createPage({ columns: null, color: false, unicode: true });

function summary(changes: Partial<RunEnded>, known: Partial<ViewState> = {}): string[] {
  const ended: RunEnded = {
    type: 'run-ended',
    at: 0,
    sessionId: 's',
    outcome: 'done',
    reason: 'nothing-open',
    sentence: 'Nothing is open and every check passed.',
    exitCode: 0,
    todos: [],
    failedChecks: [],
    leftOver: [],
    continuations: [],
    steps: 1,
    toolCalls: 1,
    usage: { inputTokens: 900, cachedTokens: 0, outputTokens: 40, cost: null },
    milliseconds: 4000,
    resumeCommand: 'untildone run --resume s',
    ...changes,
  };
  return summaryLines(page, ended, { ...createState('run', 0), ...known });
}

function todoLines(
  todos: readonly TodoView[],
  changes: Partial<RunEnded> = {},
): string[] {
  return summary({ todos, outcome: 'claimed', ...changes }).filter((line) =>
    line.startsWith('  ['),
  );
}

describe('the summary of a run', () => {
  it.each(outcomes)(
    'V8, first-use 23: %s is one word, one sentence, no code, and one command at the end',
    (outcome) => {
      const [blank, head, sentence, next, ...rest] = summary({ outcome, exitCode: 7 });
      expect(blank).toBe('');
      expect(head).toBe(`outcome: ${outcome}`);
      expect(sentence).toBe('  Nothing is open and every check passed.');
      expect(next).toBe('1 step, 1 tool call, 4 s; 900 tokens in, 40 out');
      expect(rest).toHaveLength(1);
      expect(rest[0]).toMatch(/^next: untildone (?:why|run --resume) s\b/u);
    },
  );

  it('V1, V8: what is only claimed says with which command it could be proved', () => {
    const claimed = {
      outcome: 'claimed',
      exitCode: 3,
      sentence: 'There is nothing to verify.',
    } as const;
    expect(summary({ reason: 'no-plan', ...claimed })).toEqual([
      '',
      'outcome: claimed',
      '  There is nothing to verify.',
      '1 step, 1 tool call, 4 s; 900 tokens in, 40 out',
      'next: untildone run --resume s --check "npm test"   # with the command that proves it',
    ]);
  });

  it('V1, V8: where every check passed before and nothing changed, no mere check is advised', () => {
    const lines = summary({ outcome: 'claimed', exitCode: 3, reason: 'no-change' });
    expect(lines.join('\n')).not.toContain('npm test');
    expect(lines.at(-1)).toBe(
      'next: untildone run --resume s --check "a check that fails before the work"   # only such a check would show it',
    );
  });

  it('first-use 23: an error that was told a moment ago is not told again', () => {
    const error = 'The key was refused.';
    const sentence = `The step ended in an error. ${error}`;
    const lines = summary({ outcome: 'failed', reason: 'failed', sentence }, { error });
    expect(lines.join('\n')).not.toContain(error);
    expect(
      summary({ outcome: 'failed', reason: 'failed', sentence }).join('\n'),
    ).toContain(error);
  });

  it('V1: each todo that is not proved is named, with the reason or the agent’s own words', () => {
    const completed = { status: 'completed' } as const;
    expect(
      todoLines([
        todoView('a', 'A', { ...completed, verification: 'passed', outcome: 'Said so.' }),
        todoView('b', 'B', {
          ...completed,
          verification: 'claimed',
          outcome: 'Said so.',
        }),
        todoView('c', 'C', { ...completed, verification: 'running' }),
        todoView('d', 'D', { ...completed, verification: 'failed' }),
        todoView('e', 'E', { status: 'blocked', reason: 'No token.' }),
        todoView('f', 'F', { status: 'cancelled', reason: 'Not wanted.' }),
        todoView('g', 'G', { status: 'cancelled' }),
        todoView('h', 'H', { dropped: true }),
        todoView('i', 'I', { status: 'in_progress', verification: 'failed' }),
      ]),
    ).toEqual([
      '  [x] B (claimed) → Said so.',
      '  [x] C (check runs)',
      '  [x] D (check failed)',
      '  [!] E → No token.',
      '  [-] F → Not wanted.',
      '  [-] G → no reason given',
      '  [ ] H (dropped)',
      '  [>] I (check failed)',
    ]);
  });

  it('V1: a goal check covers todos without a check of their own only when the run is done by it', () => {
    const todos = [todoView('a', 'A', { status: 'completed' })];
    expect(todoLines(todos, { outcome: 'done' })).toEqual([]);
    expect(summary({ todos, outcome: 'done' })).toContain(
      '1 todo: 1 checked by the goal check',
    );
    expect(todoLines(todos, { outcome: 'claimed' })).toEqual(['  [x] A (claimed)']);
    expect(todoLines(todos, { outcome: 'done', reason: 'no-plan' })).toEqual([
      '  [x] A (claimed)',
    ]);
  });

  it('first-use 23: what the sentence says is not said again by a count', () => {
    const todos = [todoView('a', 'A', { status: 'completed' })];
    const told = (outcome: 'claimed' | 'stagnant') =>
      summary({ todos, outcome }).join('\n');
    expect(told('claimed')).not.toContain('1 todo:');
    expect(told('stagnant')).toContain('1 todo: 1 claimed, not checked');
  });

  it('S8: of a long plan the open todos are never among those left out', () => {
    const todos = Array.from({ length: 200 }, (_, index) =>
      todoView(`${index}`, `Todo ${index}`, {
        status: 'completed',
        verification: 'passed',
      }),
    ).concat(
      Array.from({ length: 50 }, (_, index) =>
        todoView(`c${index}`, `Said ${index}`, { status: 'completed' }),
      ),
      [
        todoView('x', 'The open one'),
        todoView('y', 'The blocked one', { status: 'blocked' }),
      ],
    );
    const lines = summary({ todos, outcome: 'stagnant' });
    expect(lines).toContain(
      '252 todos: 200 checked · 50 claimed, not checked · 1 blocked · 1 open',
    );
    expect(lines).toContain('  [ ] The open one');
    expect(lines).toContain('  [!] The blocked one → no reason given');
    expect(lines).toContain('  and 12 more: 12 claimed, not checked');
    expect(lines.filter((line) => line.startsWith('  ['))).toHaveLength(40);
    expect(lines.indexOf('  [x] Said 0 (claimed)')).toBeLessThan(
      lines.indexOf('  [ ] The open one'),
    );
  });

  it('T3: names the left-over todos of earlier turns, at most ten', () => {
    const leftOver = Array.from({ length: 12 }, (_, index) => `Old ${index}`);
    const lines = summary({ leftOver });
    expect(lines).toContain('left over from earlier turns: 12 todos');
    expect(lines).toContain('  [ ] Old 9');
    expect(lines).not.toContain('  [ ] Old 10');
    expect(lines).toContain('  and 2 more');
  });

  it('C4: says how often it was sent back; why stood above each time', () => {
    const lines = summary({
      continuations: [
        { textKind: 'standard', count: 2 },
        { textKind: 'dropped-todos', count: 1 },
      ],
    });
    expect(lines).toContain(
      '1 step, 1 tool call, sent back 3 times, 4 s; 900 tokens in, 40 out',
    );
  });
});

describe('what a human needs at the end', () => {
  it('V8, first-use 8: a failed check is named, with the end of its output unless that stands above', () => {
    const failedChecks = [
      { check: 'npm test', tail: 'started\n\u001b[31m2 tests\u001b[0m failed' },
    ];
    const lines = summary({ outcome: 'stagnant', failedChecks });
    expect(lines).toContain('! check "npm test" failed');
    expect(lines).toContain('  │ 2 tests failed');
    const seen = new Map([['npm test', {} as EventOf<'check-ended'>]]);
    const again = summary({ outcome: 'stagnant', failedChecks }, { results: seen });
    expect(again).toContain('! check "npm test" failed; its output is above');
    expect(again.join('\n')).not.toContain('2 tests failed');
  });

  it('first-use 22: the changed files are listed, with what proves them or that nothing does', () => {
    const change = { added: 12, removed: 3 };
    const files = new Map([
      ['parser.mjs', { path: 'parser.mjs', isNew: false, ...change }],
      ['a\u001b[2Jb', { path: 'a\u001b[2Jb', isNew: true, added: 1, removed: 0 }],
    ]);
    const passed = {
      check: 'npm test',
      result: 'passed',
      flaky: false,
    } as EventOf<'check-ended'>;
    const results = new Map([['npm test', passed]]);
    const done = summary({}, { files, results });
    expect(
      done.slice(done.indexOf('2 changed files; proved by "npm test"')).slice(1, 3),
    ).toEqual(['  parser.mjs +12 −3', '  ab +1 (new)']);
    expect(summary({ outcome: 'stagnant' }, { files, results })).toContain(
      '2 changed files; passed so far: "npm test"',
    );
    expect(summary({ outcome: 'claimed' }, { files })).toContain(
      '2 changed files; no check passed in this run',
    );
  });

  it('S8: finished work says how to see why, what is open how to go on, a permission how to answer', () => {
    expect(summary({ outcome: 'done' }).at(-1)).toBe('next: untildone why s');
    expect(summary({ outcome: 'aborted' }).at(-1)).toBe('next: untildone run --resume s');
    expect(summary({ outcome: 'failed', reason: 'failed' }).at(-1)).toBe(
      'next: untildone run --resume s',
    );
    expect(summary({ outcome: 'paused', reason: 'permission-pending' }).at(-1)).toBe(
      'next: untildone approve s && untildone run --resume s',
    );
  });

  it.each([
    ['stagnant', 'stagnant', '"what to change"   # it needs your words'],
    ['exhausted', 'max-continuations', '"go on"   # your words give it a new budget'],
    ['blocked', 'all-blocked', '"how to get past it"   # it needs your words'],
    [
      'blocked',
      'check-cannot-start',
      '--check "npm test"   # with a command that can start',
    ],
    ['paused', 'repeated-question', '"your answer"   # it waits for your words'],
    ['paused', 'paused-by-model', '"your answer"   # it waits for your words'],
    [
      'paused',
      'plan-not-resumed',
      '"finish what is left over"   # your words take it up',
    ],
  ] as const)(
    'first-use 23: %s (%s) says which words take it up again',
    (outcome, reason, rest) => {
      expect(summary({ outcome, reason }).at(-1)).toBe(
        `next: untildone run --resume s ${rest}`,
      );
    },
  );

  it('first-use 8: a check that cannot start is named; what it printed stands above', () => {
    const broken = {
      check: '$ nosuch',
      result: 'cannot-start',
    } as EventOf<'check-ended'>;
    const ended = {
      outcome: 'blocked',
      reason: 'check-cannot-start',
      sentence: 'nosuch exited with 127.',
    } as const;
    expect(summary(ended)[2]).toBe('  nosuch exited with 127.');
    expect(summary(ended, { results: new Map([['$ nosuch', broken]]) })[2]).toBe(
      '  Nothing is open, but check "nosuch" cannot start; see above.',
    );
  });

  it('first-use 23: where the model never answered, nothing is counted', () => {
    const usage = { inputTokens: 0, cachedTokens: 0, outputTokens: 0, cost: null };
    expect(summary({ outcome: 'failed', usage, toolCalls: 0 })).toHaveLength(4);
  });

  it('S8: what is not kept has no command that takes it up again', () => {
    expect(summary({ outcome: 'aborted', resumeCommand: '' }).join('\n')).not.toContain(
      'next: ',
    );
  });

  it('V8: that a human stopped it is said once', () => {
    const sentence =
      'The human stopped the agent; only a message from the human or `untildone resume` lifts that.';
    const told = summary({ outcome: 'aborted', reason: 'aborted', sentence }).join(' ');
    expect(told.match(/stopped/giu)).toHaveLength(1);
    expect(told).toContain('Stopped by you');
  });
});
