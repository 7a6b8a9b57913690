// Reads Claude Code's own list: one small file per task in a folder of the session. It only reads, and what it
// cannot read it does not guess at: half a list would look like deleted todos.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { ListedTodo } from '../hook/hook-request.ts';
import { recordOf, textOf } from './payload.ts';
import { todoKeyOf } from './todo-key.ts';

/** Far beyond any list that a person or a model keeps; a folder that has more is not one. */
const mostTasks = 5000;
const mostBytes = 1_048_576;
const plainName = /^[A-Za-z0-9][\w.-]{0,79}$/u;

export function readTaskList(
  sessionId: string,
  environment: Readonly<Record<string, string | undefined>>,
): readonly ListedTodo[] | null {
  const folder = taskFolder(sessionId, environment);
  if (folder === null) return null;
  try {
    const names = readdirSync(folder).filter((name) => /^\d{1,9}\.json$/u.test(name));
    if (names.length > mostTasks) return null;
    names.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
    return names.map((name) => readTask(join(folder, name)));
  } catch {
    // No folder, or a file that is being written at this moment: the events alone hold, and the next stop looks again.
    return null;
  }
}

function readTask(path: string): ListedTodo {
  if (statSync(path).size > mostBytes) throw new Error('not a task');
  const task = recordOf(JSON.parse(readFileSync(path, 'utf8')));
  const key = todoKeyOf(task['id']);
  const title = textOf(task['subject']);
  const status = textOf(task['status']);
  if (key === null || title === null || status === null) throw new Error('not a task');
  const description = textOf(task['description']);
  return { key, title, status, context: description === title ? null : description };
}

function taskFolder(
  sessionId: string,
  environment: Readonly<Record<string, string | undefined>>,
): string | null {
  const configured = environment['CLAUDE_CONFIG_DIR'];
  const home = configured !== undefined && isAbsolute(configured) ? configured : homeFolder(environment);
  const list = environment['CLAUDE_CODE_TASK_LIST_ID'] || sessionId;
  return home !== null && plainName.test(list) ? join(home, 'tasks', list) : null;
}

function homeFolder(environment: Readonly<Record<string, string | undefined>>): string | null {
  const home = environment['HOME'] || homedir();
  return isAbsolute(home) ? join(home, '.claude') : null;
}
