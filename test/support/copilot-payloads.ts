// Payloads as Copilot CLI 1.0.102 wrote them, shortened; every field can be overridden.
// For tests only.

export const sessionId = 'a8ba9160-5cfd-486b-8bb5-65fdc5b72039';
export const agentId = '9a01690b-9dab-4057-b327-5f80ef016abd';

type Fields = Readonly<Record<string, unknown>>;

let count = 0;
/** Each hook call has another time. */
function shared(hook: string): Fields {
  count += 1;
  const timestamp = new Date(Date.UTC(2026, 10, 18, 0, 51, 41, count)).toISOString();
  return {
    hook_event_name: hook,
    session_id: sessionId,
    timestamp,
    cwd: '/nowhere/project',
  };
}

/** Of a call that a subagent made. */
export const insideAgent = {
  session_id: agentId,
  agent_id: agentId,
  agent_type: 'explore',
  parent_agent_id: sessionId,
};

export const startPayload = (source: string, fields: Fields = {}): Fields => ({
  ...shared('SessionStart'),
  source,
  initial_prompt: 'Do it.',
  ...fields,
});

export const promptPayload = (prompt: string, fields: Fields = {}): Fields => ({
  ...shared('UserPromptSubmit'),
  prompt,
  ...fields,
});

export const stopPayload = (fields: Fields = {}): Fields => ({
  ...shared('Stop'),
  transcript_path: `/home/me/.copilot/session-state/${sessionId}/events.jsonl`,
  stop_reason: 'end_turn',
  stop_hook_active: false,
  ...fields,
});

export const toolPayload = (
  tool: string,
  input: unknown,
  result: string,
  fields: Fields = {},
): Fields => ({
  ...shared('PostToolUse'),
  tool_name: tool,
  tool_input: input,
  tool_result: { result_type: 'success', text_result_for_llm: result },
  ...fields,
});

export const sqlPayload = (query: string, fields: Fields = {}): Fields =>
  toolPayload('sql', { description: 'todos', query }, '1 row(s) updated.', fields);

export const failurePayload = (
  tool: string,
  error: string,
  fields: Fields = {},
): Fields => ({
  ...shared('PostToolUseFailure'),
  tool_name: tool,
  tool_input: {},
  error,
  ...fields,
});

export const subagentStopPayload = (fields: Fields = {}): Fields => ({
  ...shared('SubagentStop'),
  agent_id: agentId,
  agent_type: 'explore',
  parent_agent_id: sessionId,
  transcript_path: `/home/me/.copilot/session-state/${sessionId}/events.jsonl`,
  agent_name: 'explore',
  last_assistant_message: 'sub done',
  stop_reason: 'end_turn',
  stop_hook_active: false,
  ...fields,
});

export const endPayload = (reason: string, fields: Fields = {}): Fields => ({
  ...shared('SessionEnd'),
  reason,
  ...fields,
});

export const compactPayload = (fields: Fields = {}): Fields => ({
  ...shared('PreCompact'),
  trigger: 'manual',
  custom_instructions: '',
  ...fields,
});

export const agentStarted =
  "Agent started in background with agent_id: 20ea3862-f6d9-4e5d-8979-cfa86c60b15c. You'll be notified when it completes. Tell the user you're waiting and end your response, or continue unrelated work until notified.";
export const shellStarted = '<command started in background with shellId: 0>';
export const shellNotice =
  '<system_notification>\nShell command "x" (shellId: 0) has completed successfully.\n</system_notification>';
export const agentNotice =
  '<system_notification>\nAgent "looker" (general-purpose) has finished processing and is now idle.\n</system_notification>';
