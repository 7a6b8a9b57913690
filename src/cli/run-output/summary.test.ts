import { describe, expect, it } from 'vitest';
import { todoView } from '../../../test/support/sample-run.ts';
import type { RunEnded, TodoView } from '../../agent/agent-event.ts';
import { outcomes } from '../../core/decision.ts';
import { createPage } from './page.ts';
import { summaryLines } from './summary.ts';

const page = createPage({ columns: null, color: false, unicode: true });

function summary(changes: Partial<RunEnded>): string[] {
  return summaryLines(page, {
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
  });
}

function todoLines(todos: readonly TodoView[], changes: Partial<RunEnded> = {}): string[] {
  return summary({ todos, outcome: 'claimed', ...changes }).filter((line) => line.startsWith('  ['));
}

describe('the summary of a run', () => {
  it.each(outcomes)('V8: says what the outcome %s means', (outcome) => {
    const [blank, head, sentence, meaning] = summary({ outcome, exitCode: 7, todos: [todoView('a', 'A')] });
    expect(blank).toBe('');
    expect(head).toBe(`outcome: ${outcome} (nothing-open, exit code 7)`);
    expect(sentence).toBe('  Nothing is open and every check passed.');
    expect(meaning).toMatch(/^ {2}\S.{20,}\.$/);
  });

  it('V1, V8: where every check passed before and nothing changed, no mere check is advised', () => {
    const lines = summary({ outcome: 'claimed', exitCode: 3, reason: 'no-change' }).join('\n');
    expect(lines).not.toContain('A check would show it');
    expect(lines).toContain('a check that fails before it would show it: --check CMD, also with --resume.');
  });

  it('V1, V8: an answer without a plan is claimed, and how it could be done is said', () => {
    const claimed = { outcome: 'claimed', exitCode: 3, sentence: 'There is nothing to verify.' } as const;
    expect(summary({ reason: 'no-plan', ...claimed, resumeCommand: '' })).toEqual([
      '',
      'outcome: claimed (no-plan, exit code 3)',
      '  There is nothing to verify.',
      "  Part of it rests on the agent's word. A check would show it: --check CMD, also with --resume.",
      'no continuations',
      '1 step, 1 tool call, 4 s',
      '900 tokens in, 40 out',
    ]);
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
    expect(lines).toContain('3 continuations: todos open (2), dropped todos (1)');
  });
});

describe('what a human needs at the end', () => {
  it('V8: a check on the whole work that failed is named with what it expected', () => {
    const failedChecks = [{ check: 'npm test', tail: 'npm test ended with exit code 1.\n2 tests failed' }];
    expect(summary({ outcome: 'stagnant', failedChecks }).join('\n')).toContain(
      'check npm test failed: npm test ended with exit code 1.',
    );
  });

  it('S8: finished work needs no command that takes it up again', () => {
    expect(summary({ outcome: 'done' }).join('\n')).not.toContain('resume with');
    expect(summary({ outcome: 'claimed' }).join('\n')).toContain('resume with: ');
  });

  it('S8: what is not kept has no command that takes it up again', () => {
    expect(summary({ outcome: 'aborted', resumeCommand: '' }).join('\n')).not.toContain('resume with');
  });

  it('V8: that a human stopped it is said once', () => {
    const sentence =
      'The human stopped the agent; only a message from the human or `untildone resume` lifts that.';
    const told = summary({ outcome: 'aborted', reason: 'latched', sentence }).join(' ');
    expect(told.match(/stopped/gu)).toHaveLength(1);
  });
});
