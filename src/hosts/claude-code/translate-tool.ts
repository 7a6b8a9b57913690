// A finished tool call as events: the host's todo tools change the plan, ours carry a receipt, everything else is
// work. A call that the host refused or that failed changes nothing.
import type { Event, TodoChanges } from '../../core/events.ts';
import { statusFromWord } from '../../core/todo.ts';
import { eventKey, shortHash, todoIdOf } from '../hook/event-key.ts';
import { type ClaudePayload, listOf, recordOf, textOf } from './payload.ts';
import { todoKeyOf } from './todo-key.ts';
import { isOwnTool, toolAccess } from './tool-access.ts';

export interface ToolCallRead {
  readonly events: readonly Event[];
  /** What binds a call of our own tools to this session. */
  readonly receipt: string | null;
}

/** The error's first words are all that a continuation quotes. */
const longestError = 2000;

export function translateTool(payload: ClaudePayload, at: number): ToolCallRead {
  const { fields, session_id: sessionId } = payload;
  const tool = textOf(fields['tool_name']) ?? 'unknown';
  const callId = textOf(fields['tool_use_id']) ?? shortHash(JSON.stringify(fields));
  const failed = payload.hook_event_name === 'PostToolUseFailure';
  const origin = { host: 'claude-code', sessionId, promptId: payload.prompt_id };
  // A subagent's call is work on the parent's plan, and says nothing about where the parent's turn stands.
  const kind = payload.agent_id === null ? 'work' : 'side';
  const base = (part: string) => ({ id: eventKey(origin, kind, `${callId}${part}`), sessionId, at });
  const call = { tool: tool.slice(0, 200), access: toolAccess(tool) };
  // The host tells of a call when it is over; the engine counts starts and ends against each other.
  const started: Event = { ...base(':start'), type: 'tool-started', ...call };
  const error = failed ? errorOf(fields) : null;
  const ended: Event = { ...base(''), type: 'tool-ended', ...call, error };
  // A subagent's tasks land in its parent's list, but a whole list that it writes is its own.
  const isForeign = failed || (tool === 'TodoWrite' && payload.agent_id !== null);
  const change = isForeign ? null : planChange(tool, fields, sessionId, base(':plan'));
  const work = call.access === 'todo' ? [ended] : [started, ended];
  return {
    events: change === null ? work : [...work, change],
    receipt: isOwnTool(tool) ? findReceipt(fields['tool_response']) : null,
  };
}

type Base = Pick<Event, 'id' | 'sessionId' | 'at'>;

function planChange(
  tool: string,
  fields: ClaudePayload['fields'],
  sessionId: string,
  base: Base,
): Event | null {
  const input = recordOf(fields['tool_input']);
  const response = recordOf(fields['tool_response']);
  switch (tool) {
    case 'TaskCreate':
      return createdTask(recordOf(response['task']), input, sessionId, base);
    case 'TaskUpdate':
      return response['success'] === true ? updatedTask(response, input, base) : null;
    case 'TodoWrite':
      return writtenList(response['newTodos'] ?? input['todos'], base);
    default:
      return null;
  }
}

function createdTask(
  task: Readonly<Record<string, unknown>>,
  input: Readonly<Record<string, unknown>>,
  sessionId: string,
  base: Base,
): Event | null {
  const key = todoKeyOf(task['id']);
  const title = textOf(task['subject']) ?? textOf(input['subject']);
  if (key === null || title === null) return null;
  const description = textOf(task['description']) ?? textOf(input['description']);
  const context = description === null || description === title ? {} : { context: description };
  const item = { id: todoIdOf(sessionId, key), title, hostKey: key, ...context };
  return { ...base, type: 'todos-created', actor: 'agent', items: [item] };
}

function updatedTask(
  response: Readonly<Record<string, unknown>>,
  input: Readonly<Record<string, unknown>>,
  base: Base,
): Event | null {
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
  return { ...base, type: 'todo-updated', actor: 'agent', todoId: key, changes };
}

function writtenList(todos: unknown, base: Base): Event | null {
  if (!Array.isArray(todos)) return null;
  const items = todos.map((todo, index) => {
    const { content, status } = recordOf(todo);
    const word = textOf(status);
    return {
      content: textOf(content) ?? '',
      freshId: `${base.id}:${index}`,
      ...(word === null ? {} : { status: word }),
    };
  });
  return { ...base, type: 'plan-written', actor: 'agent', items };
}

/** Only in answers of our own tools, and there in the last line: what stands before it quotes strangers. */
function findReceipt(response: unknown): string | null {
  const line = textsOf(response).join('\n').trimEnd().split('\n').at(-1) ?? '';
  return /^receipt: (udr_[0-9a-f]{32})$/u.exec(line)?.[1] ?? null;
}

/** MCP results are a text, a list of parts, or an object that holds one of these. */
function textsOf(response: unknown): readonly string[] {
  if (typeof response === 'string') return [response];
  if (Array.isArray(response)) return response.flatMap((part) => textsOf(recordOf(part)['text']));
  return listOf(recordOf(response)['content']).flatMap((part) => textsOf(recordOf(part)['text']));
}

function errorOf(fields: ClaudePayload['fields']): string {
  const error = textOf(fields['error']) ?? textOf(recordOf(fields['tool_response'])['error']);
  return (error ?? 'The call failed.').slice(0, longestError);
}
