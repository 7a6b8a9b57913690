// How our answers look to Claude Code; its own list of tasks, read whole or not at all: half a list would look like
// deleted todos; and what its transcript says of tokens.
import { readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { ListedTodo } from '../../core/reconcile.ts';
import { readBytes } from '../../engine/system.ts';
import type { AskedHost, HookMoment } from '../asked-call.ts';
import { createAskedHost, plainName, renderBlock, textOf } from '../asked-translate.ts';
import { readSettings, variablesOf } from '../project-files.ts';
import { usageIn } from '../transcript.ts';
import { recordOf } from '../untrusted.ts';
import { claudeCodeLanguage, todoKeyOf } from './translate.ts';

/** One line for each part of an answer, each with what the whole answer used. */
export const readUsage = usageIn('"usage"', ({ type, message }) => {
  const { id, usage } = recordOf(message);
  const used = recordOf(usage);
  const input = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'];
  if (type !== 'assistant') return null;
  return { key: id, input: input.map((name) => used[name]), output: [used['output_tokens']] };
});

const shared = createAskedHost(claudeCodeLanguage);

export const claudeCode: AskedHost = {
  ...shared,
  translate: (payload, moment) =>
    // Copilot CLI runs the hooks of `.claude` too, in folders that it trusts; it has an adapter of its own.
    moment.environment['COPILOT_PROJECT_DIR']
      ? { ok: false, sentence: null }
      : shared.translate(payload, moment),
  readList: ({ descriptor, sessionId }, environment) =>
    descriptor.kind === 'main' ? readTaskList(sessionId, environment) : null,
  readUsage,
  projectVariables({ descriptor: { directory } }, { CLAUDE_PROJECT_DIR: project }) {
    const folders = new Set([directory, project].filter((folder) => folder && isAbsolute(folder)));
    const files = ['settings.json', 'settings.local.json'];
    return variablesOf(
      [...folders].flatMap((folder) =>
        files.map((file) => readSettings(join(folder ?? '', '.claude', file), false)),
      ),
    );
  },
  // With `decision: "block"` the model would get two copies of a continuation, one headed "blocking error".
  render: (answer, hook) => renderBlock(answer, hook, false),
};

/** Far beyond any honest list. */
const mostTasks = 5000;
const mostBytes = 1_048_576;

export function readTaskList(sessionId: string, environment: HookMoment['environment']) {
  const configured = environment['CLAUDE_CONFIG_DIR'] ?? '';
  const own = join(environment['HOME'] || homedir(), '.claude');
  const home = isAbsolute(configured) ? configured : own;
  const list = environment['CLAUDE_CODE_TASK_LIST_ID'] || sessionId;
  if (!isAbsolute(home) || !plainName.test(list)) return null;
  const folder = join(home, 'tasks', list);
  try {
    const names = readdirSync(folder).filter((name) => /^\d{1,9}\.json$/u.test(name));
    if (names.length > mostTasks) return null;
    names.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
    return names.map((name) => readTask(join(folder, name)));
  } catch {
    // Safe: no folder, or a file that is just being written. The next stop looks again.
    return null;
  }
}

function readTask(path: string): ListedTodo {
  const file = readBytes(path, mostBytes);
  const task = recordOf(file.ok && JSON.parse(file.bytes.toString()));
  const key = todoKeyOf(task['id']);
  const [title, status, description] = ['subject', 'status', 'description'].map((name) => textOf(task[name]));
  if (key === null || !title || !status) throw new Error('not a task');
  return { key, title, status, context: description === title ? null : (description ?? null) };
}
