import { describe, expect, it } from 'vitest';
import { tellingArgument } from './telling-argument.ts';

describe('the most telling argument', () => {
  it.each([
    ['shell', { timeoutSeconds: 5, command: 'npm test' }, 'npm test'],
    ['edit_file', { oldText: 'a', newText: 'b', path: 'src/a.ts' }, 'src/a.ts'],
    ['grep', { path: 'src', pattern: 'foo' }, 'foo src'],
    ['todo_write', { todos: [1, 2] }, '2 todos'],
    ['create_todo', { items: [1] }, '1 todo'],
    ['complete_todo', { todoId: 'uuid', outcome: 'Moved.' }, 'Moved.'],
    ['update_todo', { todoId: 'uuid', status: 'blocked', reason: 'No token.' }, 'blocked No token.'],
    ['unknown', { size: 3, note: 'hello' }, 'hello'],
    ['unknown', 'as text', 'as text'],
    ['constructor', { path: 'a' }, 'a'],
    ['unknown', { path: '  ' }, ''],
    ['unknown', null, ''],
    ['unknown', [1], ''],
  ])('of %s with %j is %j', (tool, input, expected) => {
    expect(tellingArgument(tool, input)).toBe(expected);
  });
});
