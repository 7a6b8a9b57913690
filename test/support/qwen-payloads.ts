// Payloads as Qwen Code 0.24.4 wrote them, shortened; every field can be overridden. For
// tests only.

export const qwenSession = '4daea7ef-ab83-43f4-8d50-7b479b924c74';

type Fields = Readonly<Record<string, unknown>>;

const shared = {
  session_id: qwenSession,
  transcript_path: `/home/me/.qwen/projects/-project/chats/${qwenSession}.jsonl`,
  cwd: '/nowhere/project',
  timestamp: '2026-11-18T00:54:54.288Z',
  permission_mode: 'yolo',
};
const prompted = { ...shared, prompt_id: `${qwenSession}########0` };

export const qwenStart = (source: string): Fields => ({
  ...shared,
  hook_event_name: 'SessionStart',
  source,
  model: 'fake',
});

export function qwenStop(fields: Fields = {}): Fields {
  return {
    ...prompted,
    hook_event_name: 'Stop',
    stop_hook_active: false,
    last_assistant_message: 'I am done.',
    background_tasks: [],
    crons: [],
    context_usage: 0.06063,
    context_limit: 200_000,
    input_tokens: 12_126,
    ...fields,
  };
}

/** As a background agent shows in a stop. */
export const qwenAgent = (id: string, status = 'running'): Fields => ({
  id,
  status,
  agent_type: 'general-purpose',
  started_at: '2026-11-18T00:55:35.071Z',
  description: 'look around',
});

export function qwenSubagentStop(id: string): Fields {
  const { context_usage, context_limit, input_tokens, ...stop } = qwenStop({
    hook_event_name: 'SubagentStop',
    agent_id: id,
    agent_type: 'general-purpose',
    agent_transcript_path: `/home/me/.qwen/projects/-project/subagents/${qwenSession}/agent-${id}.jsonl`,
    last_assistant_message: 'looked',
    background_tasks: [qwenAgent(id)],
  });
  return stop;
}

/** What a person wrote. */
export const qwenPrompt = (text: string): Fields => ({
  ...qwenContinued(text),
  submitted_prompt: text,
});

/**
 * What the host sends to the model by itself: nothing after a tool call, and the reason
 * of a stop that was blocked.
 */
export const qwenContinued = (prompt: string): Fields => ({
  ...prompted,
  hook_event_name: 'UserPromptSubmit',
  prompt,
});

const call = (id: string) => ({
  tool_use_id: `toolu_${id}`,
  tool_call_id: `call_${id}`,
  duration_ms: 31,
});

export function qwenTool(
  tool: string,
  id: string,
  input: object,
  returnDisplay: unknown,
): Fields {
  return {
    ...prompted,
    hook_event_name: 'PostToolUse',
    tool_name: tool,
    tool_input: input,
    tool_response: { llmContent: 'It was done.', returnDisplay },
    ...call(id),
  };
}

export type QwenTodo = Readonly<{ id: string; content: string; status: string }>;

export function qwenWrite(todos: readonly QwenTodo[], id: string): Fields {
  const planId = 'de7e6dff-09df-4426-926d-81c8e653a670';
  const shown = {
    type: 'todo_list',
    planId,
    todos,
    changes: { created: todos, completed: [] },
  };
  return qwenTool('todo_write', id, { todos }, shown);
}

/** A write that a hook refused: the host tells of it as of any other. */
export const qwenRefusedWrite = (todos: readonly QwenTodo[], id: string): Fields =>
  qwenTool('todo_write', id, { todos }, 'Todo completion blocked: the check failed');

export function qwenFailure(tool: string, id: string, fields: Fields = {}): Fields {
  return {
    ...prompted,
    hook_event_name: 'PostToolUseFailure',
    ...call(id),
    tool_name: tool,
    tool_input: { command: 'false', description: 'Run a command' },
    error:
      'Command: false\nDirectory: (root)\nOutput: (empty)\nError: (none)\nExit Code: 1',
    is_interrupt: false,
    ...fields,
  };
}

export function qwenCompleted(
  title: string,
  phase: 'validation' | 'postWrite' = 'validation',
): Fields {
  return {
    ...prompted,
    hook_event_name: 'TodoCompleted',
    todo_id: '1',
    todo_content: title,
    previous_status: 'pending',
    all_todos: [{ id: '1', content: title, status: 'completed' }],
    phase,
  };
}

export const qwenNotification = (kind: string): Fields => ({
  ...shared,
  hook_event_name: 'Notification',
  notification_type: kind,
  message: 'Qwen Code needs your permission to use edit',
  title: 'Permission needed',
});
