// Claude Code's hook payloads → what they ask for. Pure. Shapes of version 2.1.325; in others any field may be missing.
import type { Event } from '../../core/events.ts';
import { statusFromWord } from '../../core/todo.ts';
import type { Speaker, StopAsked } from '../asked-call.ts';
import { shortHash, todoIdOf } from '../asked-call.ts';
import type { HookLanguage, Payload, PlanChange, ToolLanguage } from '../asked-translate.ts';
import {
  compactionStarted,
  createTranslate,
  jobsIn,
  notified,
  recorded,
  sessionStarted,
  stopFailed,
  textOf,
  toolEnded,
  wholeList,
} from '../asked-translate.ts';
import { recordOf } from '../untrusted.ts';

export const hostName = 'claude-code';

/** `mcp__untildone__todo_pause`, or `mcp__plugin_<plugin>_untildone__todo_pause` in a plugin. */
const ownTool = /^mcp__(?:plugin_[\w-]+_)?untildone__/u;

const tools: ToolLanguage = {
  ownTool,
  access: [
    ['read', /^(?:Read|Glob|Grep|LS|LSP|NotebookRead|WebFetch|WebSearch|ToolSearch|BashOutput|TaskOutput)$/u],
    ['read', /^(?:AskUserQuestion|(?:Enter|Exit)PlanMode|Skill|ListMcpResourcesTool|ReadMcpResourceTool)$/u],
    ['write', /^(?:Write|Edit|MultiEdit|NotebookEdit)$/u],
    ['todo', /^Task(?:Get|List)$/u],
  ],
  planChanges: { TaskCreate: taskCreated, TaskUpdate: taskUpdated, TodoWrite: listWritten },
  errorOf({ hook, fields }) {
    const said = textOf(fields['error']) ?? textOf(recordOf(fields['tool_response'])['error']);
    return hook === 'PostToolUseFailure' ? (said ?? 'The call failed.') : null;
  },
  // A subagent's tasks land in its parent's list, but a whole list that it writes is its own.
  isForeign: (tool, { agentId }) => tool === 'TodoWrite' && agentId !== null,
};

export const claudeCodeLanguage: HookLanguage = {
  host: hostName,
  hooks: {
    Stop: ['stop', stopped],
    // Compaction ends like a subagent without a type: that is nobody's stop.
    SubagentStop: [
      'other',
      (payload) =>
        payload.agent.name === null ? null : { ...stopped(payload), background: null, transcript: null },
    ],
    PostToolUse: ['other', toolEnded(tools)],
    PostToolUseFailure: ['other', toolEnded(tools)],
    TaskCompleted: [
      'completion',
      ({ fields }) => {
        const key = todoKeyOf(fields['task_id']);
        return key === null ? null : { type: 'complete', todos: [key] };
      },
    ],
    UserPromptSubmit: [
      'other',
      ({ fields }) => {
        const text = textOf(fields['prompt']);
        return text === null ? null : { type: 'prompt', text, speaker: speakerOf(text.trim()) };
      },
    ],
    SessionStart: ['other', sessionStarted],
    SessionEnd: ['other', recorded('open', { type: 'session-closed' })],
    PreCompact: ['other', compactionStarted],
    Notification: ['other', notified],
    StopFailure: ['other', stopFailed],
  },
  describe({ hook, mainId, fields }, { environment }) {
    const [agentId, agentType] = [textOf(fields['agent_id']), textOf(fields['agent_type'])];
    // Its todos land in its parent's list: its session has no plan, but its stop is on the record (C4).
    const isSubagent = hook === 'SubagentStop';
    return {
      agentId,
      ...(isSubagent && { sessionId: `${mainId}:${shortHash(agentId ?? '').slice(0, 12)}` }),
      // The agent may change its directory; the project stays where the human started the host.
      directory: environment['CLAUDE_PROJECT_DIR'],
      descriptor: {
        ...(isSubagent && { kind: 'subagent', parentId: mainId }),
        headless: environment['CLAUDE_CODE_ENTRYPOINT']?.startsWith('sdk') ?? false,
      },
      agent: { name: isSubagent || agentId === null ? agentType : null },
    };
  },
};

export const translate = createTranslate(claudeCodeLanguage);

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

function stopped({ fields, environment }: Payload): StopAsked {
  const lastText = textOf(fields['last_assistant_message']) ?? '';
  // 0: none; what is no number leaves the host at its eight.
  const cap = environment['CLAUDE_CODE_STOP_HOOK_BLOCK_CAP']?.trim() ?? '';
  return {
    type: 'stop',
    end: lastText.trim() === '' ? 'empty' : 'normal',
    lastText,
    isContinued: fields['stop_hook_active'] === true,
    background: jobsIn(fields['background_tasks']),
    blockCap: /^\d{1,9}$/u.test(cap) ? Number(cap) || null : 8,
    transcript: textOf(fields['transcript_path']),
  };
}

function taskCreated(...[base, input, response]: Parameters<PlanChange>): Event | null {
  const task = recordOf(response['task']);
  const key = todoKeyOf(task['id']);
  const title = textOf(task['subject']) ?? textOf(input['subject']);
  if (key === null || title === null) return null;
  const said = textOf(task['description']) ?? textOf(input['description']) ?? title;
  const id = todoIdOf(base.sessionId, key);
  const item = { id, title, hostKey: key, context: said === title ? undefined : said };
  return { ...base, type: 'todos-created', items: [item] };
}

function taskUpdated(...[base, input, response]: Parameters<PlanChange>): Event | null {
  const todoId = todoKeyOf(response['taskId'] ?? input['taskId']);
  const word = textOf(recordOf(response['statusChange'])['to']) ?? textOf(input['status']);
  const status = statusFromWord(word ?? '') ?? undefined;
  const title = textOf(input['subject']) ?? undefined;
  const context = textOf(input['description']) ?? undefined;
  const isRefused = response['success'] !== true || (status ?? title ?? context) === undefined;
  if (todoId === null || isRefused) return null;
  return { ...base, type: 'todo-updated', todoId, changes: { status, title, context } };
}

function listWritten(...[base, input, response]: Parameters<PlanChange>): Event | null {
  const todos = response['newTodos'] ?? input['todos'];
  return wholeList('todos', 'content')(base, { todos }, response);
}

/** The host counts its tasks from 1 in every session; null: this is none of its names. */
export function todoKeyOf(taskId: unknown): string | null {
  const text = typeof taskId === 'number' ? String(taskId) : taskId;
  return typeof text === 'string' && /^[\w-]{1,40}$/u.test(text) ? `task-${text}` : null;
}
