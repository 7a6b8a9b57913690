// Claude Code as a host that asks: how our answers look to it, and its own list of tasks. It only reads, and what it cannot
// read it does not guess at: half a list would look like deleted todos.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { ListedTodo } from '../../core/reconcile.ts';
import type { Environment } from '../../engine/policy.ts';
import type { AskedHost, HookAnswer } from '../asked-call.ts';
import { recordOf } from '../untrusted.ts';
import { hostName, plainName, textOf, todoKeyOf, translate } from './translate.ts';

export const claudeCode: AskedHost = {
  name: hostName,
  translate,
  readList: ({ descriptor, sessionId }, environment) =>
    descriptor.kind === 'main' ? readTaskList(sessionId, environment) : null,
  render,
};

/**
 * One object, whatever the answer is. A continuation goes out as `additionalContext`: the model then gets one copy of the
 * text. With `decision: "block"` it gets two, one of them headed "blocking error" with the command line of the hook.
 */
function render(answer: HookAnswer, hook: string): object {
  const context = (text: string) => ({
    hookSpecificOutput: { hookEventName: hook, additionalContext: text },
  });
  const message = (text: string | null) => (text === null ? {} : { systemMessage: `untildone: ${text}` });
  switch (answer.type) {
    case 'nothing':
      return {};
    case 'continue':
      return { ...message(answer.message), ...context(answer.text) };
    case 'let-go':
      return message(answer.message);
    case 'refuse':
      return { decision: 'block', reason: answer.reason };
    case 'tell':
      return context(answer.text);
  }
}

/** Far beyond any list that a person or a model keeps; a folder that has more is not one. */
const mostTasks = 5000;
const mostBytes = 1_048_576;

/** One small file per task in a folder of the session. */
export function readTaskList(sessionId: string, environment: Environment): readonly ListedTodo[] | null {
  const folder = taskFolder(sessionId, environment);
  if (folder === null) return null;
  try {
    const names = readdirSync(folder).filter((name) => /^\d{1,9}\.json$/u.test(name));
    if (names.length > mostTasks) return null;
    names.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
    return names.map((name) => readTask(join(folder, name)));
  } catch {
    // Safe: no folder, or a file that is being written at this moment. The events alone hold, and the next stop looks again.
    return null;
  }
}

function readTask(path: string): ListedTodo {
  if (statSync(path).size > mostBytes) throw new Error('not a task');
  const task = recordOf(JSON.parse(readFileSync(path, 'utf8')));
  const key = todoKeyOf(task['id']);
  const [title, status, description] = ['subject', 'status', 'description'].map((name) => textOf(task[name]));
  if (key === null || !title || !status) throw new Error('not a task');
  return { key, title, status, context: description === title ? null : (description ?? null) };
}

function taskFolder(sessionId: string, environment: Environment): string | null {
  const configured = environment['CLAUDE_CONFIG_DIR'] ?? '';
  const own = join(environment['HOME'] || homedir(), '.claude');
  const home = isAbsolute(configured) ? configured : own;
  const list = environment['CLAUDE_CODE_TASK_LIST_ID'] || sessionId;
  return isAbsolute(home) && plainName.test(list) ? join(home, 'tasks', list) : null;
}
