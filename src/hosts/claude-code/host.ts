// Translates the hook payloads of Claude Code and our answers. Reads its list of tasks,
// whole or not at all (half a list would look like deleted todos), and the tokens in its
// transcript. Shapes of version 2.1.325; other versions may leave any field out.
import { readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Event } from '../../core/events.ts';
import type { ListedTodo } from '../../core/reconcile.ts';
import { oneLine } from '../../core/safe-text.ts';
import { statusFromWord } from '../../core/todo.ts';
import type { Environment } from '../../engine/policy.ts';
import { type Speaker, todoIdOf } from '../asked-call.ts';
import * as read from '../asked-translate.ts';
import { readSettings, variablesOf } from '../project-files.ts';
import { usageIn } from '../transcript.ts';
import { nonEmptyTextOf, recordOf } from '../untrusted.ts';

export const hostName = 'claude-code';

/** Each part of an answer is a line of its own with the tokens of the whole answer. */
export const readUsage = usageIn('"usage"', ({ type, message }) => {
  const { id, usage } = recordOf(message);
  const used = recordOf(usage);
  const input = [
    'input_tokens',
    'cache_creation_input_tokens',
    'cache_read_input_tokens',
  ];
  if (type !== 'assistant') return null;
  return {
    key: id,
    input: input.map((name) => used[name]),
    output: [used['output_tokens']],
  };
});

export const claudeCodeLanguage: read.HookLanguage = {
  host: hostName,
  hooks: {
    ...read.turnHooks,
    // Compaction ends like a subagent without a type: no agent stopped.
    SubagentStop: [
      'other',
      (payload, language) =>
        payload.agent.name === null ? null : read.subagentStopped(payload, language),
    ],
    PostToolUseFailure: ['other', read.toolEnded],
    TaskCompleted: [
      'completion',
      ({ fields }) => read.completionOf(todoKeyOf(fields['task_id'])),
    ],
    ...read.sessionHooks,
    Notification: ['other', read.readNotice],
    StopFailure: ['other', read.stopFailed],
  },
  tools: {
    // `mcp__untildone__todo_pause`, or `mcp__plugin_<plugin>_untildone__todo_pause` in a
    // plugin.
    ownTool: /^mcp__(?:plugin_[\w-]+_)?untildone__/u,
    access: [
      [
        'read',
        /^(?:Read|Glob|Grep|LS|LSP|NotebookRead|WebFetch|WebSearch|BashOutput|TaskOutput)$/u,
      ],
      ['read', /^(?:AskUserQuestion|(?:Enter|Exit)PlanMode|Skill)$/u],
      ['read', /^(?:ListMcpResourcesTool|ReadMcpResourceTool)$/u],
      ['write', /^(?:Write|Edit|MultiEdit|NotebookEdit)$/u],
      // A search for a tool is no work either (V4).
      ['todo', /^(?:Task(?:Get|List)|ToolSearch)$/u],
    ],
    lists: { TodoWrite: ['todos', 'content', 'newTodos'] },
    // A subagent's tasks land in its parent's list.
    planChanges: { TaskCreate: taskCreated, TaskUpdate: taskUpdated },
  },
  stop: {
    blockCap({ environment: { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: cap = '' } }) {
      // 0 means no cap. What is no number leaves the host at its cap of eight.
      return /^\d{1,9}$/u.test(cap.trim()) ? Number(cap) || null : 8;
    },
  },
  prompt: { speakerOf },
  describe: ({ fields }, { environment }) => ({
    // The agent may change its directory, but the project stays where the human started
    // the host.
    directory: environment['CLAUDE_PROJECT_DIR'],
    descriptor: {
      headless: environment['CLAUDE_CODE_ENTRYPOINT']?.startsWith('sdk') ?? false,
    },
    // The main agent may have a type too, but no id.
    agentName:
      nonEmptyTextOf(fields['agent_id']) === null
        ? nonEmptyTextOf(fields['agent_type'])
        : null,
  }),
  // In hooks the value ends in `_harness`.
  agentCommand: ['AI_AGENT', /^claude-code_.*_agent$/u, 'CLAUDE_CODE_SESSION_ID'],
  // Copilot CLI runs the hooks of `.claude`, in folders that it trusts.
  foreignVariable: 'COPILOT_PROJECT_DIR',
  hookVariable: 'CLAUDE_PROJECT_DIR',
  variables: {
    CLAUDE_CODE_SESSION_ID: 'host',
    CLAUDE_CODE_ENTRYPOINT: 'host',
    CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: 'host',
    CLAUDE_CODE_TASK_LIST_ID: 'anyone',
    CLAUDE_CONFIG_DIR: 'anyone',
  },
  readList: ({ descriptor, sessionId }, environment) =>
    descriptor.kind === 'main' ? readTaskList(sessionId, environment) : null,
  readUsage,
  projectVariables(directory, { CLAUDE_PROJECT_DIR: project }) {
    const folders = [...new Set([directory ?? '', project ?? ''])].filter(isAbsolute);
    const files = folders.flatMap((folder) =>
      ['settings.json', 'settings.local.json'].map((name) =>
        join(folder, '.claude', name),
      ),
    );
    return variablesOf(files.map((file) => readSettings(file, false)));
  },
  // With `decision: "block"` the model would get two copies of a continuation, one headed
  // "blocking error".
  render: (answer, hook) => read.renderBlock(answer, hook, false),
};

export const claudeCode = read.createAskedHost(claudeCodeLanguage);

const notice = /<task-notification>([\s\S]*?)<\/task-notification>/gu;
const noticeId = /<task-id>([\w.:-]{1,80})<\/task-id>/u;

function speakerOf(text: string): Speaker {
  const [, command, words = ''] = /^\/untildone:([\w-]+)(?:\s+(.*))?$/su.exec(text) ?? [];
  if (command === 'pause')
    return { type: 'command', pauses: { reason: oneLine(words, 300) || null } };
  if (command !== undefined) return { type: 'command' };
  // With a human's words behind it, a notice is a human's message.
  if (!text.startsWith('<task-notification>') || text.replace(notice, '').trim() !== '')
    return { type: 'human' };
  const jobIds = Array.from(
    text.matchAll(notice),
    ([, body = '']) => noticeId.exec(body)?.[1],
  );
  return { type: 'notice', jobIds: jobIds.filter((id) => id !== undefined) };
}

function taskCreated(
  ...[base, input, response]: Parameters<read.PlanChange>
): Event | null {
  const task = recordOf(response['task']);
  const key = todoKeyOf(task['id']);
  const title = nonEmptyTextOf(task['subject']) ?? nonEmptyTextOf(input['subject']);
  if (key === null || title === null) return null;
  const description =
    nonEmptyTextOf(task['description']) ?? nonEmptyTextOf(input['description']) ?? title;
  const id = todoIdOf(base.sessionId, key);
  const item = {
    id,
    title,
    hostKey: key,
    context: description === title ? undefined : description,
  };
  return { ...base, type: 'todos-created', items: [item] };
}

function taskUpdated(
  ...[base, input, response]: Parameters<read.PlanChange>
): Event | null {
  const todoId = todoKeyOf(response['taskId'] ?? input['taskId']);
  const word =
    nonEmptyTextOf(recordOf(response['statusChange'])['to']) ??
    nonEmptyTextOf(input['status']);
  const status = statusFromWord(word ?? '') ?? undefined;
  const title = nonEmptyTextOf(input['subject']) ?? undefined;
  const context = nonEmptyTextOf(input['description']) ?? undefined;
  const isRefused =
    response['success'] !== true || (status ?? title ?? context) === undefined;
  if (todoId === null || isRefused) return null;
  return { ...base, type: 'todo-updated', todoId, changes: { status, title, context } };
}

/**
 * The key of a task, which the host counts from 1 in every session; null: this is no id
 * of a task.
 */
export function todoKeyOf(taskId: unknown): string | null {
  const text = typeof taskId === 'number' ? String(taskId) : taskId;
  return typeof text === 'string' && /^[\w-]{1,40}$/u.test(text) ? `task-${text}` : null;
}

/** Reads the list of tasks of a session; null: it cannot be read as a whole. */
export function readTaskList(sessionId: string, environment: Environment) {
  const configured = environment['CLAUDE_CONFIG_DIR'] ?? '';
  const defaultHome = join(environment['HOME'] || homedir(), '.claude');
  const home = isAbsolute(configured) ? configured : defaultHome;
  const list = environment['CLAUDE_CODE_TASK_LIST_ID'] || sessionId;
  if (!isAbsolute(home) || !read.plainName.test(list)) return null;
  const folder = join(home, 'tasks', list);
  try {
    const names = readdirSync(folder).filter((name) => /^\d{1,9}\.json$/u.test(name));
    // More tasks than any honest list has.
    if (names.length > 5000) return null;
    names.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
    return names.map((name) => readTask(join(folder, name)));
  } catch {
    // Safe: there is no folder, or a file is just being written. The next stop looks
    // again.
    return null;
  }
}

function readTask(path: string): ListedTodo {
  const task = readSettings(path, false) ?? {};
  const key = todoKeyOf(task['id']);
  const [title, status, description] = ['subject', 'status', 'description'].map((name) =>
    nonEmptyTextOf(task[name]),
  );
  if (key === null || !title || !status) throw new Error('not a task');
  return {
    key,
    title,
    status,
    context: description === title ? null : (description ?? null),
  };
}
