// Claude Code's hook payloads → what they ask for, one row per hook. Pure: the same payload at the same moment gives the
// same call. It never decides whether an agent may stop. Shapes were read off version 2.1.325; every field may be missing,
// because the host changes between releases.
import { isAbsolute } from 'node:path';
import type {
  Event,
  EventOf,
  Job,
  SessionDescriptor,
  SourceKind,
  TodoChanges,
  ToolAccess,
} from '../../core/events.ts';
import { statusFromWord } from '../../core/todo.ts';
import {
  eventBase,
  type HookAsks,
  type HookCall,
  type HookMoment,
  type HookTimeout,
  type Speaker,
  type StopFacts,
  shortHash,
  type Translation,
  todoIdOf,
} from '../asked-call.ts';
import { type Fields, recordOf } from '../untrusted.ts';

export const hostName = 'claude-code';

interface Payload {
  readonly hook: string;
  readonly sessionId: string;
  readonly promptId: string | null;
  /** Set when a subagent made the call; its work happens inside the session of its parent. */
  readonly agentId: string | null;
  readonly agentType: string | null;
  readonly fields: Fields;
}

const compactionStarted = { type: 'wait-started', wait: { kind: 'compaction' } } as const;

const hookRows: Readonly<Record<string, (payload: Payload, moment: HookMoment) => HookAsks | null>> = {
  Stop: (payload, moment) => ({ type: 'stop', stop: stopFacts(payload, moment) }),
  SubagentStop: subagentStopped,
  PostToolUse: toolEnded,
  PostToolUseFailure: toolEnded,
  TaskCompleted: completion,
  UserPromptSubmit: prompted,
  SessionStart: sessionStarted,
  SessionEnd: (payload, { at }) => record(payload, at, 'open', { type: 'session-closed' }),
  PreCompact: (payload, { at }) => record(payload, at, 'side', compactionStarted),
  Notification: (payload, { at }) => record(payload, at, 'side', { type: 'activity-seen' }),
  StopFailure: stopFailed,
};
const longHooks: Readonly<Record<string, HookTimeout>> = { Stop: 'stop', TaskCompleted: 'completion' };

/** Which hooks of the host we answer and how long each may take; `init` writes exactly these. */
export const claudeCodeHooks = Object.keys(hookRows).map((hook) => ({
  hook,
  timeout: longHooks[hook] ?? 'other',
}));

/** It becomes a part of file names and of ids: anything but a plain name is refused. */
export const plainName = /^[A-Za-z0-9][\w.-]{0,79}$/u;

export function translate(value: unknown, moment: HookMoment): Translation {
  const fields = recordOf(value);
  const refuse = (sentence: string, quiet = false): Translation => ({ ok: false, quiet, sentence });
  const [hook, sessionId, promptId] = ['hook_event_name', 'session_id', 'prompt_id'].map((name) => {
    const text = textOf(fields[name]);
    return text !== null && plainName.test(text) ? text : null;
  });
  if (!hook) return refuse('The payload names no hook event.');
  if (!sessionId) return refuse('The payload names no session.');
  const readAsks = Object.hasOwn(hookRows, hook) ? hookRows[hook] : undefined;
  if (readAsks === undefined) return refuse(`There is no hook ${hook} with us.`);
  const [agentId, agentType] = [textOf(fields['agent_id']), textOf(fields['agent_type'])];
  const payload = { hook, sessionId, promptId: promptId ?? null, agentId, agentType, fields };
  const asks = readAsks(payload, moment);
  const timeout = longHooks[hook] ?? 'other';
  if (asks === null) return refuse('This call asks for nothing.', true);
  const call: HookCall = {
    ...{ hook, sessionId, promptId: payload.promptId, at: moment.at, timeout, asks },
    descriptor: describeSession(payload, moment),
    agent: {
      name: agentId === null ? agentType : null,
      // Plan mode looks and never writes: it is never continued (P26).
      canWrite: fields['permission_mode'] === 'plan' ? 'no' : 'yes',
      model: null,
      variant: null,
    },
  };
  return { ok: true, call: hook === 'SubagentStop' ? asSubagent(call, payload) : call };
}

function describeSession({ fields }: Payload, { environment, toolPrefix }: HookMoment): SessionDescriptor {
  // The agent may change its own directory; the project stays where the human started the host.
  const folders = [environment['CLAUDE_PROJECT_DIR'], textOf(fields['cwd'])];
  const toolNamed = (name: string) => (toolPrefix === null ? null : `${toolPrefix}${name}`);
  return {
    host: hostName,
    instance: hostName,
    mode: 'asked',
    kind: 'main',
    parentId: null,
    directory: folders.find((path) => path && isAbsolute(path)) ?? null,
    headless: environment['CLAUDE_CODE_ENTRYPOINT']?.startsWith('sdk') ?? false,
    immediate: false,
    everyAgentWrites: false,
    seesTools: true,
    tools: { pause: toolNamed('todo_pause'), verify: toolNamed('todo_verify') },
  };
}

/** Its todos land in its parent's list, so that its own session never has a plan; its stop is on the record (C4). */
function asSubagent(call: HookCall, { sessionId: parentId, agentId, agentType }: Payload): HookCall {
  const sessionId = `${parentId}:${shortHash(agentId ?? '').slice(0, 12)}`;
  const descriptor = { ...call.descriptor, kind: 'subagent' as const, parentId };
  return { ...call, sessionId, descriptor, agent: { ...call.agent, name: agentType } };
}

function base({ sessionId, promptId }: Payload, at: number, kind: SourceKind, detail: string) {
  return eventBase({ host: hostName, sessionId, promptId, at }, kind, detail);
}

type PlainHappening = { readonly type: 'session-closed' | 'activity-seen' } | typeof compactionStarted;

/** These carry no id of their own: what repeats within the same second is one happening. */
function record(payload: Payload, at: number, kind: SourceKind, happening: PlainHappening): HookAsks {
  const event = { ...base(payload, at, kind, `${happening.type}:${Math.floor(at / 1000)}`), ...happening };
  return { type: 'record', events: [event], receipt: null };
}

function completion({ fields }: Payload): HookAsks | null {
  const todoKey = todoKeyOf(fields['task_id']);
  return todoKey === null ? null : { type: 'complete', todoKey };
}

function sessionStarted(payload: Payload, { at }: HookMoment): HookAsks {
  const { source } = payload.fields;
  const isCompacted = source === 'compact';
  const detail = `compaction-ended:${Math.floor(at / 1000)}`;
  const wait = { kind: 'compaction', shrunk: true } as const;
  const ended: Event = { ...base(payload, at, 'side', detail), type: 'wait-ended', wait };
  const givesPlan = isCompacted || source === 'resume';
  return { type: 'open', begins: !isCompacted, events: isCompacted ? [ended] : [], givesPlan };
}

function prompted({ fields }: Payload): HookAsks | null {
  const text = textOf(fields['prompt']);
  return text === null ? null : { type: 'prompt', text, speaker: speakerOf(text.trim()) };
}

const notice = /<task-notification>([\s\S]*?)<\/task-notification>/gu;
const noticeId = /<task-id>([\w.:-]{1,80})<\/task-id>/u;

/** Our own text is told apart later, by what the record says was sent. */
function speakerOf(text: string): Speaker {
  // Commands of our plugin control us; they are not a message to the agent.
  if (/^\/untildone:[\w-]+(?:\s|$)/u.test(text)) return { type: 'command' };
  // A notice that a human's words were put behind is a human's message.
  if (!text.startsWith('<task-notification>') || text.replace(notice, '').trim() !== '')
    return { type: 'human' };
  const jobIds = Array.from(text.matchAll(notice), ([, body = '']) => noticeId.exec(body)?.[1]);
  return { type: 'notice', jobIds: jobIds.filter((id) => id !== undefined) };
}

/** Compaction ends like a subagent without a type: that is nobody's stop. */
function subagentStopped(payload: Payload, moment: HookMoment): HookAsks | null {
  if (payload.agentType === null) return null;
  return { type: 'stop', stop: { ...stopFacts(payload, moment), background: null } };
}

function stopFacts({ fields }: Payload, { environment }: HookMoment): StopFacts {
  const lastText = textOf(fields['last_assistant_message']) ?? '';
  const tasks = fields['background_tasks'];
  // 0 means none; anything that is no number leaves the host at its own eight.
  const cap = environment['CLAUDE_CODE_STOP_HOOK_BLOCK_CAP']?.trim() ?? '';
  return {
    end: lastText.trim() === '' ? 'empty' : 'normal',
    lastText,
    background: Array.isArray(tasks) ? tasks.flatMap(jobOf) : null,
    blockCap: /^\d{1,9}$/u.test(cap) ? Number(cap) || null : 8,
  };
}

function jobOf(value: unknown): Job[] {
  const task = recordOf(value);
  const id = textOf(task['id']);
  const status = textOf(task['status']) ?? 'running';
  if (id === null || (status !== 'running' && status !== 'pending')) return [];
  // Agents end by themselves and are waited for; anything else may be a server that never does.
  const kind = /agent|teammate|workflow/u.test(textOf(task['type']) ?? '') ? 'subagent' : 'shell';
  const description = textOf(task['command']) ?? textOf(task['description']) ?? id;
  return [{ id: id.slice(0, 200), kind, description: description.slice(0, 500) }];
}

/** The host's names for errors of the provider, by what they mean to us (G9). */
const errorKinds = new Map<string, EventOf<'error-occurred'>['kind']>([
  ['rate_limit', 'rate-limit'],
  ['overloaded', 'overload'],
  ['server_error', 'overload'],
]);

function stopFailed(payload: Payload, { at }: HookMoment): HookAsks {
  const { fields } = payload;
  const error = textOf(fields['error']) ?? 'unknown';
  const message = textOf(fields['error_details']) ?? textOf(fields['last_assistant_message']) ?? error;
  const failure = (part: string) => base(payload, at, 'failure', `${part}:${Math.floor(at / 1000)}`);
  const seen = { question: false, fingerprint: null, background: null, toolError: null };
  return {
    type: 'fail',
    events: [
      {
        ...failure('error'),
        type: 'error-occurred',
        kind: errorKinds.get(error) ?? 'other',
        signature: error.slice(0, 200),
        message: message.slice(0, 2000),
        retryAt: null,
      },
      { ...failure('stop'), type: 'stop-attempted', end: 'error', ...seen },
    ],
  };
}

/**
 * What each of the host's tools can do to the workspace. A name that is not here may write: work that is not seen would
 * make an honest agent look idle, and that mistake is the worse one.
 */
const toolsByAccess: Readonly<Partial<Record<ToolAccess, readonly string[]>>> = {
  read: [
    ...['Read', 'Glob', 'Grep', 'LS', 'LSP', 'NotebookRead', 'WebFetch', 'WebSearch', 'ToolSearch'],
    ...['BashOutput', 'TaskOutput', 'AskUserQuestion', 'ExitPlanMode', 'EnterPlanMode', 'Skill'],
    ...['ListMcpResourcesTool', 'ReadMcpResourceTool'],
  ],
  write: ['Write', 'Edit', 'MultiEdit', 'NotebookEdit'],
  todo: ['TaskCreate', 'TaskUpdate', 'TaskGet', 'TaskList', 'TodoWrite'],
};

const accessOf = new Map(
  Object.entries(toolsByAccess).flatMap(([access, tools]) =>
    tools.map((tool) => [tool, access as ToolAccess]),
  ),
);

/** `mcp__untildone__todo_pause`, or `mcp__plugin_<plugin>_untildone__todo_pause` in a plugin. */
const ownTool = /^mcp__(?:plugin_[\w-]+_)?untildone__/u;

/**
 * A finished tool call: the host's todo tools change the plan, ours carry a receipt, everything else is work. A call that
 * the host refused or that failed changes nothing.
 */
function toolEnded(payload: Payload, { at }: HookMoment): HookAsks {
  const { fields, agentId } = payload;
  const tool = textOf(fields['tool_name']) ?? 'unknown';
  const callId = textOf(fields['tool_use_id']) ?? shortHash(JSON.stringify(fields));
  const isOwn = ownTool.test(tool);
  const access = isOwn ? 'todo' : (accessOf.get(tool) ?? 'unknown');
  // A subagent's call is work on the parent's plan, and says nothing about where the parent's turn stands.
  const part = (name: string) => ({
    ...base(payload, at, agentId === null ? 'work' : 'side', `${callId}${name}`),
    ...{ tool: tool.slice(0, 200), access },
  });
  const failed = payload.hook === 'PostToolUseFailure';
  const ended: Event = { ...part(''), type: 'tool-ended', error: failed ? errorOf(fields) : null };
  // The host tells of a call when it is over; the engine counts starts and ends against each other.
  const work: Event[] = access === 'todo' ? [ended] : [{ ...part(':start'), type: 'tool-started' }, ended];
  // A subagent's tasks land in its parent's list, but a whole list that it writes is its own.
  const isForeign = failed || (tool === 'TodoWrite' && agentId !== null);
  const { tool: _tool, access: _access, ...change } = part(':plan');
  const changed = isForeign ? null : planChange(tool, fields, change);
  const receipt = isOwn ? findReceipt(fields['tool_response']) : null;
  return { type: 'record', events: changed === null ? work : [...work, changed], receipt };
}

type Base = ReturnType<typeof base>;

function planChange(tool: string, fields: Fields, change: Base): Event | null {
  const input = recordOf(fields['tool_input']);
  const response = recordOf(fields['tool_response']);
  if (tool === 'TaskCreate') return createdTask(recordOf(response['task']), input, change);
  if (tool === 'TaskUpdate')
    return response['success'] === true ? updatedTask(response, input, change) : null;
  return tool === 'TodoWrite' ? writtenList(response['newTodos'] ?? input['todos'], change) : null;
}

function createdTask(task: Fields, input: Fields, change: Base): Event | null {
  const key = todoKeyOf(task['id']);
  const title = textOf(task['subject']) ?? textOf(input['subject']);
  if (key === null || title === null) return null;
  const description = textOf(task['description']) ?? textOf(input['description']);
  const context = description === null || description === title ? {} : { context: description };
  const item = { id: todoIdOf(change.sessionId, key), title, hostKey: key, ...context };
  return { ...change, type: 'todos-created', actor: 'agent', items: [item] };
}

function updatedTask(response: Fields, input: Fields, change: Base): Event | null {
  const key = todoKeyOf(response['taskId'] ?? input['taskId']);
  const word = textOf(recordOf(response['statusChange'])['to']) ?? textOf(input['status']);
  const status = word === null ? null : statusFromWord(word);
  const title = textOf(input['subject']);
  const context = textOf(input['description']);
  const changes: TodoChanges = {
    ...(status === null ? {} : { status }),
    ...(title === null ? {} : { title }),
    ...(context === null ? {} : { context }),
  };
  if (key === null || Object.keys(changes).length === 0) return null;
  return { ...change, type: 'todo-updated', actor: 'agent', todoId: key, changes };
}

function writtenList(todos: unknown, change: Base): Event | null {
  if (!Array.isArray(todos)) return null;
  const items = todos.map((todo, index) => {
    const { content, status } = recordOf(todo);
    const word = textOf(status);
    const said = word === null ? {} : { status: word };
    return { content: textOf(content) ?? '', freshId: `${change.id}:${index}`, ...said };
  });
  return { ...change, type: 'plan-written', actor: 'agent', items };
}

/** Only in answers of our own tools, and there in the last line: what stands before it quotes strangers. */
function findReceipt(response: unknown): string | null {
  const line = textsOf(response).join('\n').trimEnd().split('\n').at(-1) ?? '';
  return /^receipt: (udr_[0-9a-f]{32})$/u.exec(line)?.[1] ?? null;
}

/** MCP results are a text, a list of parts, or an object that holds one of these. */
function textsOf(response: unknown): readonly string[] {
  if (typeof response === 'string') return [response];
  const parts = Array.isArray(response) ? response : recordOf(response)['content'];
  return Array.isArray(parts) ? parts.flatMap((part) => textsOf(recordOf(part)['text'])) : [];
}

/** The error's first words are all that a continuation quotes. */
function errorOf(fields: Fields): string {
  const error = textOf(fields['error']) ?? textOf(recordOf(fields['tool_response'])['error']);
  return (error ?? 'The call failed.').slice(0, 2000);
}

/**
 * How a task of the host is called with us; null: its own name is not a plain one. The host counts tasks from 1 in every
 * session, so that its number finds a todo only within its plan.
 */
export function todoKeyOf(taskId: unknown): string | null {
  const text = typeof taskId === 'number' ? String(taskId) : taskId;
  return typeof text === 'string' && /^[\w-]{1,40}$/u.test(text) ? `task-${text}` : null;
}

/** An empty text says nothing. */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
