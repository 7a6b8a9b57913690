// The one argument of a tool call that tells people what it does. It looks at plain data and never fails: a tool that
// nobody knows is shown by its first text.
import { count } from '../print.ts';

/** What to show of the tools that we know, in order; other tools are searched for a name of `usual`. */
const telling: Readonly<Record<string, readonly string[]>> = {
  grep: ['pattern', 'path'],
  glob: ['pattern', 'path'],
  complete_todo: ['outcome'],
  update_todo: ['status', 'reason'],
  list_todo: ['status'],
  delegate: ['instructions'],
};
const usual = ['command', 'path', 'file', 'url', 'pattern', 'query', 'title', 'name', 'job', 'reason'];
/** Fields that hold a list of todos. */
const lists = ['todos', 'items'];

export function tellingArgument(tool: string, input: unknown): string {
  if (typeof input === 'string') return input;
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return '';
  const given = new Map(Object.entries(input));
  const known = Object.hasOwn(telling, tool) ? (telling[tool] ?? []) : [];
  const parts = known.flatMap((name) => textsOf(given.get(name)));
  if (parts.length > 0) return parts.join(' ');
  for (const name of lists) {
    const list = given.get(name);
    if (Array.isArray(list)) return count(list.length, 'todo');
  }
  const named = usual.flatMap((name) => textsOf(given.get(name)));
  return named[0] ?? [...given.values()].flatMap(textsOf)[0] ?? '';
}

function textsOf(value: unknown): string[] {
  return typeof value === 'string' && value.trim() !== '' ? [value] : [];
}
