import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aTodo } from '../../test/support/builders.ts';
import { priorities, type Todo } from '../core/todo.ts';
import { formatPlan } from './line-text.ts';
import { parsePlanFile } from './plan-file.ts';

describe('a plan as a task list', () => {
  it('T1: writes boxes, priorities, reasons, criteria and checks, and nests what stands below another todo', () => {
    const todos = [
      aTodo({
        title: 'Write the parser',
        status: 'completed',
        priority: 'high',
        checks: ['$ npm test', 'unit'],
      }),
      aTodo({
        title: 'Lexer',
        context: 'Write the parser',
        status: 'in_progress',
        completionCriteria: 'it lexes',
      }),
      aTodo({ title: 'Gone', status: 'cancelled', reason: 'not needed' }),
      aTodo({
        title: 'Publish',
        status: 'blocked',
        reason: 'needs\na key',
        context: 'after the review',
      }),
      aTodo({ title: 'Say !high', checks: ['my check'] }),
    ];
    expect(formatPlan(todos)).toBe(
      [
        '- [x] Write the parser !high',
        '  - check: `npm test`',
        '  - check: unit',
        '  - [ ] Lexer',
        '    - done when: it lexes',
        '- [ ] Publish',
        '  - context: after the review',
        '  - blocked: needs a key',
        '- [ ] Say !high !medium',
        '  - check: "my check"',
        '',
      ].join('\n'),
    );
    expect(formatPlan([])).toBe('');
  });

  it('T1: the example of docs/plan-files.md is exported as printed there', () => {
    const page = readFileSync(
      new URL('../../docs/plan-files.md', import.meta.url),
      'utf8',
    );
    const result = parsePlanFile(/```markdown\n(.*?)```/s.exec(page)?.[1] ?? '');
    const todos = (result.ok ? result.plan.items : []).map((item) => {
      const unchecked = item.blocked === null ? 'pending' : 'blocked';
      return aTodo({
        ...item,
        priority: item.priority ?? 'medium',
        status: item.checked ? 'completed' : unchecked,
        reason: item.blocked,
      });
    });
    expect(todos).toHaveLength(4);
    expect(page).toContain(`plan-PLAN.md\n${formatPlan(todos)}\`\`\``);
  });

  it('T1: lets no control character through', () => {
    const text = formatPlan([
      aTodo({ title: 'a\u001b[31mb\u202e', checks: ['$ echo \u001b]0;x\u0007y'] }),
    ]);
    expect(text).toBe('- [ ] ab\n  - check: `echo y`\n');
  });

  it('T1: what is written reads back as the same todos', () => {
    const words = fc
      .array(
        fc.constantFrom(
          'a',
          'Über',
          '🎉',
          '`',
          '``',
          '<!--',
          '-->',
          '*',
          '_',
          '[x]',
          '[ ]',
          '- ',
          '#',
          '>',
          '!high',
          'check:',
          '\\',
          '|',
          '1.',
          '---',
          '&lt;',
          '<b>',
          '"',
        ),
        { minLength: 1, maxLength: 5 },
      )
      .map((parts) => parts.join(' ').replace(/\s+/g, ' ').trim());
    const todo = fc
      .record({
        title: words,
        status: fc.constantFrom('pending', 'completed', 'blocked'),
        priority: fc.constantFrom(...priorities),
        reason: words,
        context: fc.option(words),
        completionCriteria: fc.option(words),
        checks: fc.subarray(['$ npm test', 'unit', '$ echo `a`', 'two words', '$ make']),
      })
      .map((fields) => aTodo(fields as Partial<Todo>));
    fc.assert(
      fc.property(fc.array(todo, { maxLength: 6 }), (todos) => {
        const result = parsePlanFile(formatPlan(todos));
        if (!result.ok) throw new Error(JSON.stringify(result.problems));
        const read = result.plan.items.map(
          ({ line: _line, boxOffset: _offset, ...item }) => ({
            ...item,
            priority: item.priority ?? 'medium',
          }),
        );
        expect(read).toEqual(
          todos.map(
            ({
              title,
              context,
              completionCriteria,
              priority,
              status,
              reason,
              checks,
            }) => ({
              title,
              context,
              completionCriteria,
              priority,
              checks,
              checked: status === 'completed',
              blocked: status === 'blocked' ? reason : null,
            }),
          ),
        );
      }),
      { numRuns: 500 },
    );
  });
});
