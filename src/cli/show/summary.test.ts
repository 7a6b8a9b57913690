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

function todoLines(todos: readonly TodoView[], changes: Partial<RunEnded> = {}): string[] {
  return summary({ todos, outcome: 'claimed', ...changes }).filter((line) => line.startsWith('  ['));
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
    const claimed = { outcome: 'claimed', exitCode: 3, sentence: 'There is nothing to verify.' } as const;
    expect(summary({ reason: 'no-plan', ...claimed })).toEqual([
      '',
      'outcome: claimed',
      '  There is nothing to verify.',
      '1 step, 1 tool call, 4 s; 900 tokens in, 40 out',
      'next: untildone run --resume s --check "npm test"   # with the command that proves it',
    ]);
  });

  it('first-use 23: an error that was told a moment ago is not told again', () => {
    const error = 'The key was refused.';
    const sentence = `The step ended in an error. ${error}`;
    const lines = summary({ outcome: 'failed', reason: 'failed', sentence }, { error });
    expect(lines.join('\n')).not.toContain(error);
    expect(summary({ outcome: 'failed', reason: 'failed', sentence }).join('\n')).toContain(error);
  });

  it('V1: each todo is shown with its evidence or the lack of it', () => {
    const completed = { status: 'completed' } as const;
    expect(
      todoLines([
        todoView('a', 'A', { ...completed, verification: 'passed', outcome: 'Said so.' }),
        todoView('b', 'B', { ...completed, verification: 'claimed', outcome: 'Said so.' }),
        todoView('c', 'C', { ...completed, verification: 'running' }),
        todoView('d', 'D', { ...completed, verification: 'failed' }),
        todoView('e', 'E', { status: 'blocked', reason: 'No token.' }),
        todoView('f', 'F', { status: 'cancelled', reason: 'Not wanted.' }),
        todoView('g', 'G', { status: 'cancelled' }),
        todoView('h', 'H', { dropped: true }),
        todoView('i', 'I', { status: 'in_progress', verification: 'failed' }),
      ]),
    ).toEqual([
      '  [x] A → checked',
      '  [x] B → claimed, not checked: Said so.',
      '  [x] C → claimed, not checked, its check still runs',
      '  [x] D → claimed, not checked, its check failed',
      '  [!] E → blocked: No token.',
      '  [-] F → cancelled: Not wanted.',
      '  [-] G → cancelled without a reason',
      '  [ ] H → open, dropped from the list',
      '  [>] I → open, its check failed',
    ]);
  });

  it('V1: a goal check covers todos without a check of their own only when the run is done by it', () => {
    const todos = [todoView('a', 'A', { status: 'completed' })];
    expect(todoLines(todos, { outcome: 'done' })).toEqual(['  [x] A → checked by the goal check']);
    expect(todoLines(todos, { outcome: 'claimed' })).toEqual(['  [x] A → claimed, not checked']);
    expect(todoLines(todos, { outcome: 'done', reason: 'no-plan' })).toEqual([
      '  [x] A → claimed, not checked',
    ]);
  });

  it('S8: of a long plan the open todos are never among those left out', () => {
    const todos = Array.from({ length: 200 }, (_, index) =>
      todoView(`${index}`, `Todo ${index}`, { status: 'completed', verification: 'passed' }),
    ).concat([todoView('x', 'The open one'), todoView('y', 'The blocked one', { status: 'blocked' })]);
    const lines = summary({ todos, outcome: 'stagnant' });
    expect(lines).toContain('202 todos: 200 checked · 1 blocked · 1 open');
    expect(lines).toContain('  [ ] The open one → open');
    expect(lines).toContain('  [!] The blocked one → blocked without a reason');
    expect(lines).toContain('  and 162 more: 162 checked');
    expect(lines.filter((line) => line.startsWith('  ['))).toHaveLength(40);
    expect(lines.indexOf('  [x] Todo 0 → checked')).toBeLessThan(lines.indexOf('  [ ] The open one → open'));
  });

  it('T3: names the left-over todos of earlier turns, at most ten', () => {
    const leftOver = Array.from({ length: 12 }, (_, index) => `Old ${index}`);
    const lines = summary({ leftOver });
    expect(lines).toContain('left over from earlier turns: 12 todos');
    expect(lines).toContain('  [ ] Old 9');
    expect(lines).not.toContain('  [ ] Old 10');
    expect(lines).toContain('  and 2 more');
  });

  it('C4: counts the continuations by their reason', () => {
    const lines = summary({
      continuations: [
        { textKind: 'standard', count: 2 },
        { textKind: 'dropped-todos', count: 1 },
      ],
    });
    expect(lines).toContain('sent back to work 3 times: todos open (2), dropped todos (1)');
  });
});

describe('what a human needs at the end', () => {
  it('V8, first-use 8: a failed check is named, with the end of its output unless that stands above', () => {
    const failedChecks = [{ check: 'npm test', tail: 'started\n\u001b[31m2 tests\u001b[0m failed' }];
    const lines = summary({ outcome: 'stagnant', failedChecks });
    expect(lines).toContain('! check "npm test" failed');
    expect(lines).toContain('  │ 2 tests failed');
    const seen = new Map([['npm test', {} as EventOf<'check-ended'>]]);
    const again = summary({ outcome: 'stagnant', failedChecks }, { results: seen });
    expect(again).toContain('! check "npm test" failed; its output stands above');
    expect(again.join('\n')).not.toContain('2 tests failed');
  });

  it('first-use 22: the changed files are listed, with what proves them or that nothing does', () => {
    const change = { added: 12, removed: 3 };
    const files = new Map([
      ['parser.mjs', { path: 'parser.mjs', isNew: false, ...change }],
      ['a\u001b[2Jb', { path: 'a\u001b[2Jb', isNew: true, added: 1, removed: 0 }],
    ]);
    const passed = { check: 'npm test', result: 'passed', flaky: false } as EventOf<'check-ended'>;
    const results = new Map([['npm test', passed]]);
    const done = summary({}, { files, results });
    expect(done.slice(done.indexOf('2 changed files; proved by "npm test"')).slice(1, 3)).toEqual([
      '  parser.mjs +12 −3',
      '  ab +1 (new)',
    ]);
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
    expect(summary({ outcome: 'paused', reason: 'permission-pending' }).at(-1)).toBe(
      'next: untildone approve s && untildone run --resume s',
    );
  });

  it('S8: what is not kept has no command that takes it up again', () => {
    expect(summary({ outcome: 'aborted', resumeCommand: '' }).join('\n')).not.toContain('next: ');
  });

  it('V8: that a human stopped it is said once', () => {
    const sentence =
      'The human stopped the agent; only a message from the human or `untildone resume` lifts that.';
    const told = summary({ outcome: 'aborted', reason: 'latched', sentence }).join(' ');
    expect(told.match(/stopped/gu)).toHaveLength(1);
  });
});
