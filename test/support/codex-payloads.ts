// Payloads as Codex 0.166.0 wrote them, shortened; every field can be overridden. For
// tests only. That of PermissionRequest follows the schema in the program: headless it
// asks nobody.

type Fields = Readonly<Record<string, unknown>>;

export const codexSession = '01a1ec23-e9d7-7e73-8b94-75b93734f855';
export const codexTurn = '01a1ec23-e9f8-7d01-80a1-de15b9cf0447';
export const codexAgent = {
  agent_id: '01a1ec24-fb82-76d3-8925-03ae9b108832',
  agent_type: 'default',
};

const opened = {
  session_id: codexSession,
  transcript_path:
    '/home/me/.codex/sessions/2026/11/18/rollout-2026-11-18T00-52-19-01a1ec23.jsonl',
  cwd: '/nowhere/project',
};
const shared = { ...opened, model: 'gpt-6-sol', permission_mode: 'bypassPermissions' };
const inTurn = { ...shared, turn_id: codexTurn };

export const codexStart = (source: string): Fields => ({
  ...shared,
  hook_event_name: 'SessionStart',
  source,
});
export const codexEnd: Fields = {
  ...opened,
  hook_event_name: 'SessionEnd',
  reason: 'other',
};
export const codexInterrupt: Fields = { ...inTurn, hook_event_name: 'Interrupt' };
export const codexCompaction: Fields = {
  ...inTurn,
  hook_event_name: 'PreCompact',
  trigger: 'auto',
};
export const codexPermission: Fields = {
  ...inTurn,
  hook_event_name: 'PermissionRequest',
  permission_mode: 'default',
  tool_name: 'Bash',
  tool_input: { command: 'rm -rf build', description: null },
};

export const codexPrompt = (prompt: string, fields: Fields = {}): Fields => ({
  ...inTurn,
  hook_event_name: 'UserPromptSubmit',
  prompt,
  ...fields,
});

export const codexStop = (fields: Fields = {}): Fields => ({
  ...inTurn,
  hook_event_name: 'Stop',
  stop_hook_active: false,
  last_assistant_message: 'All done!',
  ...fields,
});

/** Of code mode its name is `exec-…`; else the model's own. */
const callId = 'exec-c83c3e76-8178-4cde-b2cb-0dacbfbb033f';

export const codexTool = (
  tool_name: string,
  input: unknown,
  response: unknown,
  fields: Fields = {},
): Fields => ({
  ...inTurn,
  hook_event_name: 'PostToolUse',
  tool_name,
  tool_input: input,
  tool_response: response,
  tool_use_id: callId,
  ...fields,
});

type Step = Readonly<{ step: string; status: string }>;
export const codexPlan = (plan: readonly Step[], fields: Fields = {}): Fields =>
  codexTool('update_plan', { plan }, 'Plan updated', fields);
export const codexPlanBefore = (plan: readonly Step[], fields: Fields = {}): Fields => ({
  ...inTurn,
  hook_event_name: 'PreToolUse',
  tool_name: 'update_plan',
  tool_input: { plan },
  tool_use_id: callId,
  ...fields,
});
