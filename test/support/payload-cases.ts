// Payloads as Claude Code 2.1.325 wrote them, shortened; every field can be overridden.
// For tests only.

export const sessionId = 'dfe1636e-49cc-4ea2-95e5-b1e1e5c9f9d2';
export const promptId = '77616aa1-2b4c-4289-adfb-cdde71eb0676';

type Fields = Readonly<Record<string, unknown>>;

const shared = {
  session_id: sessionId,
  transcript_path: '/home/me/.claude/projects/-project/dfe1636e.jsonl',
  cwd: '/nowhere/project',
  prompt_id: promptId,
};
const attended = { ...shared, permission_mode: 'default', effort: { level: 'medium' } };

export function stopPayload(fields: Fields = {}): Fields {
  return {
    ...attended,
    hook_event_name: 'Stop',
    stop_hook_active: false,
    last_assistant_message: 'I am done.',
    background_tasks: [],
    session_crons: [],
    ...fields,
  };
}

export function promptPayload(prompt: string, fields: Fields = {}): Fields {
  return {
    ...shared,
    permission_mode: 'default',
    hook_event_name: 'UserPromptSubmit',
    prompt,
    ...fields,
  };
}

export function toolPayload(
  tool: string,
  callId: string,
  input: unknown,
  response: unknown,
  fields: Fields = {},
): Fields {
  return {
    ...attended,
    hook_event_name: 'PostToolUse',
    tool_name: tool,
    tool_input: input,
    tool_response: response,
    tool_use_id: callId,
    duration_ms: 77,
    ...fields,
  };
}

export function createPayload(id: string, subject: string, fields: Fields = {}): Fields {
  const task = { id, subject, description: subject };
  return toolPayload(
    'TaskCreate',
    `create-${id}`,
    { subject, description: subject },
    { task },
    fields,
  );
}

export function updatePayload(
  id: string,
  status: string,
  callId: string,
  fields: Fields = {},
): Fields {
  const response = {
    success: true,
    taskId: id,
    updatedFields: ['status'],
    statusChange: { from: 'pending', to: status },
  };
  return toolPayload('TaskUpdate', callId, { taskId: id, status }, response, fields);
}

export function completedPayload(id: string, subject: string): Fields {
  return {
    ...shared,
    hook_event_name: 'TaskCompleted',
    task_id: id,
    task_subject: subject,
    task_description: subject,
  };
}

export function startPayload(source: string, fields: Fields = {}): Fields {
  return { ...shared, hook_event_name: 'SessionStart', source, ...fields };
}

export function notification(taskId: string): string {
  return `<task-notification>\n<task-id>${taskId}</task-id>\n<tool-use-id>call_1</tool-use-id>\n<status>completed</status>\n<summary>Background command "sleep 4" completed</summary>\n</task-notification>`;
}
