// Claude Code's hook payloads → what they ask for. Pure. Shapes of version 2.1.325; in others any field may be missing.
import { isAbsolute } from 'node:path';
import type { Event, EventOf, Job, SourceKind, ToolAccess } from '../../core/events.ts';
import { unknownAgent, unknownHost } from '../../core/state.ts';
import { statusFromWord } from '../../core/todo.ts';
import type { HookAsks, HookCall, HookMoment, HookTimeout, Speaker, StopAsked } from '../asked-call.ts';
import { eventBase, findReceipt, shortHash, type Translation, todoIdOf } from '../asked-call.ts';
import { type Fields, recordOf } from '../untrusted.ts';

export const hostName = 'claude-code';

interface Payload extends Omit<HookCall, 'asks'>, Pick<HookMoment, 'environment'> {
  /** Of the subagent that made the call, inside the session of its parent. */
  readonly agentId: string | null;
  readonly fields: Fields;
}

const hookRows = new Map(
  Object.entries<(payload: Payload) => HookAsks | null>({
    Stop: stopped,
    // Compaction ends like a subagent without a type: that is nobody's stop.
    SubagentStop: (payload) =>
      payload.agent.name === null ? null : { ...stopped(payload), background: null, transcript: null },
    PostToolUse: toolEnded,
    PostToolUseFailure: toolEnded,
    TaskCompleted({ fields }) {
      const todoKey = todoKeyOf(fields['task_id']);
      return todoKey === null ? null : { type: 'complete', todoKey };
    },
    UserPromptSubmit({ fields }) {
      const text = textOf(fields['prompt']);
      return text === null ? null : { type: 'prompt', text, speaker: speakerOf(text.trim()) };
    },
    SessionStart: sessionStarted,
    SessionEnd: recorded('open', { type: 'session-closed' }),
    PreCompact: recorded('side', { type: 'wait-started', wait: { kind: 'compaction' } }),
    Notification: notified,
    StopFailure: stopFailed,
  }),
);

const timeoutOf = (hook: string): HookTimeout =>
  hook === 'Stop' ? 'stop' : hook === 'TaskCompleted' ? 'completion' : 'other';

/** `init` writes exactly these. */
export const claudeCodeHooks = Array.from(hookRows.keys(), (hook) => ({ hook, timeout: timeoutOf(hook) }));

/** It becomes a part of file names and of ids. */
export const plainName = /^[A-Za-z0-9][\w.-]{0,79}$/u;

export function translate(value: unknown, { at, environment, toolPrefix }: HookMoment): Translation {
  const fields = recordOf(value);
  const refuse = (sentence: string | null): Translation => ({ ok: false, sentence });
  const plain = (name: string) => plainName.exec(textOf(fields[name]) ?? '')?.[0] ?? null;
  const [hook, mainId, promptId] = [plain('hook_event_name'), plain('session_id'), plain('prompt_id')];
  if (hook === null) return refuse('The payload names no hook event.');
  if (mainId === null) return refuse('The payload names no session.');
  const readAsks = hookRows.get(hook);
  if (readAsks === undefined) return refuse(`untildone has no hook ${hook}.`);
  const [agentId, agentType] = [textOf(fields['agent_id']), textOf(fields['agent_type'])];
  // Its todos land in its parent's list: its session has no plan, but its stop is on the record (C4).
  const isSubagent = hook === 'SubagentStop';
  // The agent may change its directory; the project stays where the human started the host.
  const folders = [environment['CLAUDE_PROJECT_DIR'], textOf(fields['cwd'])];
  const toolNamed = (name: string) => (toolPrefix === null ? null : `${toolPrefix}${name}`);
  const call: Omit<HookCall, 'asks'> = {
    hook,
    promptId,
    at,
    timeout: timeoutOf(hook),
    sessionId: isSubagent ? `${mainId}:${shortHash(agentId ?? '').slice(0, 12)}` : mainId,
    descriptor: {
      ...unknownHost,
      host: hostName,
      instance: hostName,
      kind: isSubagent ? 'subagent' : 'main',
      parentId: isSubagent ? mainId : null,
      directory: folders.find((path) => path && isAbsolute(path)) ?? null,
      headless: environment['CLAUDE_CODE_ENTRYPOINT']?.startsWith('sdk') ?? false,
      tools: { pause: toolNamed('todo_pause'), verify: toolNamed('todo_verify') },
    },
    agent: {
      ...unknownAgent,
      name: isSubagent || agentId === null ? agentType : null,
      // Plan mode looks and never writes: it is never continued (P26).
      canWrite: fields['permission_mode'] === 'plan' ? 'no' : 'yes',
    },
  };
  const asks = readAsks({ ...call, agentId, environment, fields });
  return asks === null ? refuse(null) : { ok: true, call: { ...call, asks } };
}

/** For what has no id: what repeats within the same second is one happening. */
const momentBase = (payload: Payload, kind: SourceKind, name: string) =>
  eventBase(payload, kind, `${name}:${Math.floor(payload.at / 1000)}`);

type Plain = { type: 'session-closed' } | Pick<EventOf<'wait-started'>, 'type' | 'wait'>;
function recorded(kind: SourceKind, plain: Plain) {
  return (payload: Payload): HookAsks => {
    const event = { ...momentBase(payload, kind, plain.type), ...plain };
    return { type: 'record', events: [event] };
  };
}

/** Others of its kinds tell of an idle session, or of what is over. */
const humanIsAsked = /^(?:(?:worker_)?permission_prompt|elicitation_dialog|agent_needs_input)$/u;

function notified(payload: Payload): HookAsks {
  const event = { ...momentBase(payload, 'side', 'activity-seen'), type: 'activity-seen' } as const;
  const kind = textOf(payload.fields['notification_type']) ?? '';
  return { type: 'record', events: [event], ...(humanIsAsked.test(kind) && { asksHuman: true }) };
}

function sessionStarted(payload: Payload): HookAsks {
  const { source } = payload.fields;
  const isCompacted = source === 'compact';
  const wait = { kind: 'compaction', shrunk: true } as const;
  const ended: Event = { ...momentBase(payload, 'side', 'compaction-ended'), type: 'wait-ended', wait };
  const givesPlan = isCompacted || source === 'resume';
  return { type: 'open', begins: !isCompacted, events: isCompacted ? [ended] : [], givesPlan };
}

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
  const tasks = fields['background_tasks'];
  // 0: none; what is no number leaves the host at its eight.
  const cap = environment['CLAUDE_CODE_STOP_HOOK_BLOCK_CAP']?.trim() ?? '';
  return {
    type: 'stop',
    end: lastText.trim() === '' ? 'empty' : 'normal',
    lastText,
    isContinued: fields['stop_hook_active'] === true,
    background: Array.isArray(tasks) ? tasks.flatMap(jobOf) : null,
    blockCap: /^\d{1,9}$/u.test(cap) ? Number(cap) || null : 8,
    transcript: textOf(fields['transcript_path']),
  };
}

function jobOf(value: unknown): Job[] {
  const task = recordOf(value);
  const id = textOf(task['id']);
  if (id === null || !['running', 'pending'].includes(textOf(task['status']) ?? 'running')) return [];
  // Agents end by themselves and are waited for; anything else may be a server that never does.
  const kind = /agent|teammate|workflow/u.test(textOf(task['type']) ?? '') ? 'subagent' : 'shell';
  const description = textOf(task['command']) ?? textOf(task['description']) ?? id;
  return [{ id: id.slice(0, 200), kind, description: description.slice(0, 500) }];
}

function stopFailed(payload: Payload): HookAsks {
  const { fields } = payload;
  const error = textOf(fields['error']) ?? 'unknown';
  const said = textOf(fields['error_details']) ?? textOf(fields['last_assistant_message']) ?? error;
  const isOverload = error === 'overloaded' || error === 'server_error';
  const kind = error === 'rate_limit' ? 'rate-limit' : isOverload ? 'overload' : 'other';
  const words = { signature: error.slice(0, 200), message: said.slice(0, 2000) };
  const seen = { question: false, fingerprint: null, background: null, toolError: null };
  const events: Event[] = [
    { ...momentBase(payload, 'failure', 'error'), type: 'error-occurred', kind, ...words, retryAt: null },
    { ...momentBase(payload, 'failure', 'stop'), type: 'stop-attempted', end: 'error', ...seen },
  ];
  return { type: 'record', events, decided: true };
}

/** `mcp__untildone__todo_pause`, or `mcp__plugin_<plugin>_untildone__todo_pause` in a plugin. */
const ownTool = /^mcp__(?:plugin_[\w-]+_)?untildone__/u;

/** Any other may write: to overlook work would make an honest agent look idle, the worse mistake. */
const accessByTool: readonly (readonly [ToolAccess, RegExp])[] = [
  ['read', /^(?:Read|Glob|Grep|LS|LSP|NotebookRead|WebFetch|WebSearch|ToolSearch|BashOutput|TaskOutput)$/u],
  ['read', /^(?:AskUserQuestion|(?:Enter|Exit)PlanMode|Skill|ListMcpResourcesTool|ReadMcpResourceTool)$/u],
  ['write', /^(?:Write|Edit|MultiEdit|NotebookEdit)$/u],
  ['todo', /^(?:TaskCreate|TaskUpdate|TaskGet|TaskList|TodoWrite)$/u],
  ['todo', ownTool],
];

/** The host's todo tools change the plan, ours carry a receipt, everything else is work. */
function toolEnded(payload: Payload): HookAsks {
  const { fields, agentId } = payload;
  const tool = textOf(fields['tool_name']) ?? 'unknown';
  const callId = textOf(fields['tool_use_id']) ?? shortHash(JSON.stringify(fields));
  const access = accessByTool.find(([, names]) => names.test(tool))?.[0] ?? 'unknown';
  // A subagent's call is work on its parent's plan, and says nothing of the parent's turn.
  const part = (name: string) => eventBase(payload, agentId === null ? 'work' : 'side', `${callId}${name}`);
  const made = { tool: tool.slice(0, 200), access };
  const failed = payload.hook === 'PostToolUseFailure';
  const response = recordOf(fields['tool_response']);
  const said = textOf(fields['error']) ?? textOf(response['error']) ?? 'The call failed.';
  const error = failed ? said.slice(0, 2000) : null;
  const ended = { ...part(''), ...made, type: 'tool-ended', error } as const;
  // We hear of a call when it is over; the engine counts starts against ends.
  const started = { ...part(':start'), ...made, type: 'tool-started' } as const;
  // A subagent's tasks land in its parent's list, but a whole list that it writes is its own.
  const isForeign = failed || (tool === 'TodoWrite' && agentId !== null);
  const change = { ...part(':plan'), actor: 'agent' } as const;
  const readChange = isForeign ? undefined : planChanges.get(tool);
  const changed = readChange?.(change, recordOf(fields['tool_input']), response) ?? null;
  const events: Event[] = [...(access === 'todo' ? [] : [started]), ended, ...(changed ? [changed] : [])];
  const receipt = ownTool.test(tool) ? findReceipt(fields['tool_response']) : null;
  return { type: 'record', events, decided: receipt !== null, receipt };
}

type Base = ReturnType<typeof eventBase> & { readonly actor: 'agent' };
const planChanges = new Map(
  Object.entries<(base: Base, input: Fields, response: Fields) => Event | null>({
    TaskCreate(base, input, response) {
      const task = recordOf(response['task']);
      const key = todoKeyOf(task['id']);
      const title = textOf(task['subject']) ?? textOf(input['subject']);
      if (key === null || title === null) return null;
      const said = textOf(task['description']) ?? textOf(input['description']) ?? title;
      const id = todoIdOf(base.sessionId, key);
      const item = { id, title, hostKey: key, context: said === title ? undefined : said };
      return { ...base, type: 'todos-created', items: [item] };
    },
    TaskUpdate(base, input, response) {
      const todoId = todoKeyOf(response['taskId'] ?? input['taskId']);
      const word = textOf(recordOf(response['statusChange'])['to']) ?? textOf(input['status']);
      const status = statusFromWord(word ?? '') ?? undefined;
      const title = textOf(input['subject']) ?? undefined;
      const context = textOf(input['description']) ?? undefined;
      const isRefused = response['success'] !== true || (status ?? title ?? context) === undefined;
      if (todoId === null || isRefused) return null;
      return { ...base, type: 'todo-updated', todoId, changes: { status, title, context } };
    },
    TodoWrite(base, input, response) {
      const todos = response['newTodos'] ?? input['todos'];
      if (!Array.isArray(todos)) return null;
      const items = todos.map(recordOf).map(({ content, status }, index) => ({
        content: textOf(content) ?? '',
        status: textOf(status) ?? undefined,
        freshId: `${base.id}:${index}`,
      }));
      return { ...base, type: 'plan-written', items };
    },
  }),
);

/** The host counts its tasks from 1 in every session; null: this is none of its names. */
export function todoKeyOf(taskId: unknown): string | null {
  const text = typeof taskId === 'number' ? String(taskId) : taskId;
  return typeof text === 'string' && /^[\w-]{1,40}$/u.test(text) ? `task-${text}` : null;
}

export const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);
