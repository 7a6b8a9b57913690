// Codex's hook payloads → what they ask for. Pure. Shapes of version 0.166.0; in others any field may be missing.
import * as read from '../asked-translate.ts';

export const hostName = 'codex';
export const planTool = 'update_plan';

export const codexLanguage: read.HookLanguage = {
  host: hostName,
  hooks: {
    ...read.commonHooks,
    PreToolUse: ['completion', read.completionsAsked],
    PermissionRequest: ['other', read.humanAsked],
    SessionEnd: ['ending', read.sessionEnded],
    Interrupt: ['ending', read.interrupted],
  },
  tools: {
    ownTool: /^mcp__untildone__/u,
    // Commands are `Bash` here, whatever tool runs them. A namespace stands right before the name of a tool.
    access: [
      ['read', /^(?:view_image|web_search|tool_search|(?:list|read)_mcp_\w+|clock__\w+|wait|sleep)$/u],
      ['read', /^(?:request_user_input(?:_async)?|(?:get|create|update)_goal)$/u],
      // What other agents do shows in their own calls.
      ['read', /^(?:multi_agent_v\d+)?(?:\w+_agents?|send_input|send_message|followup_task)$/u],
      ['write', /^apply_patch$/u],
    ],
    // A command that fails looks like any other here.
    lists: { [planTool]: ['plan', 'step'] },
  },
  describe: ({ fields }) => ({ promptId: read.plainOf(fields['turn_id']) }),
  agentCommand: { variable: 'CODEX_THREAD_ID', session: ['CODEX_SESSION_ID', 'CODEX_THREAD_ID'] },
};
