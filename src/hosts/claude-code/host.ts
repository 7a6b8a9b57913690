// How our answers look to Claude Code; its own list of tasks, read whole or not at all: half a list would look like
// deleted todos; and what its transcript says of tokens.
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { ListedTodo } from '../../core/reconcile.ts';
import { readBytes } from '../../engine/system.ts';
import type { AskedHost, HookAnswer, HookMoment, UsedTokens } from '../asked-call.ts';
import { createFindStop, plainName, textOf } from '../asked-translate.ts';
import { readSettings, variablesOf } from '../project-files.ts';
import { amountOf, recordOf } from '../untrusted.ts';
import { claudeCodeLanguage, todoKeyOf, translate } from './translate.ts';

export const claudeCode: AskedHost = {
  translate,
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
  findStop: createFindStop(claudeCodeLanguage),
  render,
  agentCommandOf(variable) {
    // Hooks have …_harness there.
    const isAgents = /^claude-code_.*_agent$/u.test(variable('AI_AGENT') ?? '');
    return isAgents ? { sessionId: variable('CLAUDE_CODE_SESSION_ID') ?? null } : null;
  },
};

/** With `decision: "block"` the model would get two copies of a continuation, one headed "blocking error". */
function render({ text, message, refusal }: HookAnswer, hook: string): object {
  if (refusal) return { decision: 'block', reason: refusal };
  return {
    ...(message && { systemMessage: `untildone: ${message}` }),
    ...(text && { hookSpecificOutput: { hookEventName: hook, additionalContext: text } }),
  };
}

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

/** Of a transcript: a stop reads what was added since the one before, and some of it again. */
const mostTail = 8_388_608;

/** One line for each part of an answer, each with what the whole answer used. The last lines may still be unwritten. */
export function readUsage(transcript: string, since: number): readonly UsedTokens[] {
  const used = new Map<string, UsedTokens>();
  for (const line of isAbsolute(transcript) ? readTail(transcript).split('\n') : []) {
    if (!line.includes('"usage"')) continue;
    const { type, timestamp, message } = parsed(line);
    const { id, usage } = recordOf(message);
    const key = textOf(id);
    if (type !== 'assistant' || key === null || !(Date.parse(String(timestamp)) >= since)) continue;
    const tokens = (name: string) => Math.min(Math.ceil(amountOf(recordOf(usage)[name])), mostTokens);
    const input = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'].map(tokens);
    const inputTokens = input.reduce((sum, one) => sum + one, 0);
    used.set(key, { key, inputTokens, outputTokens: tokens('output_tokens') });
  }
  return [...used.values()];
}

/** More than any model takes. */
const mostTokens = 100_000_000;

function parsed(line: string) {
  try {
    return recordOf(JSON.parse(line));
  } catch {
    // Safe: the first line is cut, the last may be half written; both are counted at another stop or not at all.
    return {};
  }
}

function readTail(path: string): string {
  let descriptor: number | null = null;
  try {
    // A named pipe must not hold us until someone writes to it.
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return '';
    const bytes = Buffer.alloc(Math.min(stats.size, mostTail));
    const length = readSync(descriptor, bytes, 0, bytes.length, stats.size - bytes.length);
    return bytes.toString('utf8', 0, length);
  } catch {
    // Safe: nothing is known of what was used.
    return '';
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}
