// Claude Code's hook payloads → what they ask for. Pure. Shapes of version 2.1.325; in others any field may be missing.
import type { Event } from '../../core/events.ts';
import { statusFromWord } from '../../core/todo.ts';
import { type Speaker, todoIdOf } from '../asked-call.ts';
import * as read from '../asked-translate.ts';
import { recordOf } from '../untrusted.ts';

const { textOf } = read;
export const hostName = 'claude-code';

export const claudeCodeLanguage: read.HookLanguage = {
  host: hostName,
  hooks: {
    ...read.commonHooks,
    // Compaction ends like a subagent without a type: that is nobody's stop.
    SubagentStop: [
      'other',
      (payload, language) => (payload.agent.name === null ? null : read.subagentStopped(payload, language)),
    ],
    PostToolUseFailure: ['other', read.toolEnded],
    TaskCompleted: [
      'completion',
      ({ fields }) => {
        const key = todoKeyOf(fields['task_id']);
        return key === null ? null : { type: 'complete', todos: [key] };
      },
    ],
    Notification: ['other', read.notified],
    StopFailure: ['other', read.stopFailed],
  },
  tools: {
    // `mcp__untildone__todo_pause`, or `mcp__plugin_<plugin>_untildone__todo_pause` in a plugin.
    ownTool: /^mcp__(?:plugin_[\w-]+_)?untildone__/u,
    access: [
      [
        'read',
        /^(?:Read|Glob|Grep|LS|LSP|NotebookRead|WebFetch|WebSearch|ToolSearch|BashOutput|TaskOutput)$/u,
      ],
      [
        'read',
        /^(?:AskUserQuestion|(?:Enter|Exit)PlanMode|Skill|ListMcpResourcesTool|ReadMcpResourceTool)$/u,
      ],
      ['write', /^(?:Write|Edit|MultiEdit|NotebookEdit)$/u],
      ['todo', /^Task(?:Get|List)$/u],
    ],
    lists: { TodoWrite: ['todos', 'content', 'newTodos'] },
    // A subagent's tasks land in its parent's list.
    planChanges: { TaskCreate: taskCreated, TaskUpdate: taskUpdated },
  },
  stop: {
    blockCap({ CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: cap = '' }) {
      // 0: none; what is no number leaves the host at its eight.
      return /^\d{1,9}$/u.test(cap.trim()) ? Number(cap) || null : 8;
    },
  },
  prompt: { speakerOf },
  describe({ fields }, { environment }) {
    return {
      // The agent may change its directory; the project stays where the human started the host.
      directory: environment['CLAUDE_PROJECT_DIR'],
      descriptor: { headless: environment['CLAUDE_CODE_ENTRYPOINT']?.startsWith('sdk') ?? false },
      // Also of the main one.
      ...(textOf(fields['agent_id']) === null && { agent: { name: textOf(fields['agent_type']) } }),
    };
  },
  // Hooks have …_harness there.
  agentCommand: {
    ...{ variable: 'AI_AGENT', value: /^claude-code_.*_agent$/u },
    session: ['CLAUDE_CODE_SESSION_ID'],
  },
};

const notice = /<task-notification>([\s\S]*?)<\/task-notification>/gu;
const noticeId = /<task-id>([\w.:-]{1,80})<\/task-id>/u;

function speakerOf(text: string): Speaker {
  if (/^\/untildone:[\w-]+(?:\s|$)/u.test(text)) return { type: 'command' };
  // With a human's words behind it, it is a human's message.
  if (!text.startsWith('<task-notification>') || text.replace(notice, '').trim() !== '')
    return { type: 'human' };
  const jobIds = Array.from(text.matchAll(notice), ([, body = '']) => noticeId.exec(body)?.[1]);
  return { type: 'notice', jobIds: jobIds.filter((id) => id !== undefined) };
}

function taskCreated(...[base, input, response]: Parameters<read.PlanChange>): Event | null {
  const task = recordOf(response['task']);
  const key = todoKeyOf(task['id']);
  const title = textOf(task['subject']) ?? textOf(input['subject']);
  if (key === null || title === null) return null;
  const said = textOf(task['description']) ?? textOf(input['description']) ?? title;
  const id = todoIdOf(base.sessionId, key);
  const item = { id, title, hostKey: key, context: said === title ? undefined : said };
  return { ...base, type: 'todos-created', items: [item] };
}

function taskUpdated(...[base, input, response]: Parameters<read.PlanChange>): Event | null {
  const todoId = todoKeyOf(response['taskId'] ?? input['taskId']);
  const word = textOf(recordOf(response['statusChange'])['to']) ?? textOf(input['status']);
  const status = statusFromWord(word ?? '') ?? undefined;
  const title = textOf(input['subject']) ?? undefined;
  const context = textOf(input['description']) ?? undefined;
  const isRefused = response['success'] !== true || (status ?? title ?? context) === undefined;
  if (todoId === null || isRefused) return null;
  return { ...base, type: 'todo-updated', todoId, changes: { status, title, context } };
}

/** The host counts its tasks from 1 in every session; null: this is none of its names. */
export function todoKeyOf(taskId: unknown): string | null {
  const text = typeof taskId === 'number' ? String(taskId) : taskId;
  return typeof text === 'string' && /^[\w-]{1,40}$/u.test(text) ? `task-${text}` : null;
}
