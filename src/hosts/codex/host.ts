// Translates the hook payloads of Codex and our answers, and reads the tokens in its
// transcript. Shapes of version 0.166.0; other versions may leave any field out.
import * as read from '../asked-translate.ts';
import { usageIn } from '../transcript.ts';
import { recordOf } from '../untrusted.ts';

export const hostName = 'codex';
export const planTool = 'update_plan';

export const codexLanguage: read.HookLanguage = {
  host: hostName,
  hooks: {
    ...read.turnHooks,
    PreToolUse: ['completion', read.completionsAsked],
    ...read.sessionHooks,
    PermissionRequest: ['other', read.humanAsked],
    SessionEnd: ['ending', read.sessionEnded],
    Interrupt: ['ending', read.readInterruption],
  },
  tools: {
    ownTool: /^mcp__untildone__/u,
    // Payloads name every command `Bash`, whichever tool runs it. A namespace stands
    // right before the name of a tool.
    access: [
      [
        'read',
        /^(?:view_image|web_search|(?:list|read)_mcp_\w+|clock__\w+|wait|sleep)$/u,
      ],
      ['read', /^(?:request_user_input(?:_async)?|(?:get|create|update)_goal)$/u],
      // The work of other agents shows in their own calls.
      [
        'read',
        /^(?:multi_agent_v\d+)?(?:\w+_agents?|send_input|send_message|followup_task)$/u,
      ],
      ['write', /^apply_patch$/u],
      // A search for a tool is no work (V4).
      ['todo', /^tool_search$/u],
    ],
    // No `errorOf`: Codex's payload does not show that a command failed.
    lists: { [planTool]: ['plan', 'step'] },
  },
  prompt: { hasTasks: true },
  describe: ({ fields }) => ({ promptId: read.plainOf(fields['turn_id']) }),
  agentCommand: ['CODEX_THREAD_ID', /./u, 'CODEX_SESSION_ID', 'CODEX_THREAD_ID'],
  render(answer, hook) {
    const { refusal } = answer;
    if (!refusal)
      return read.renderBlock(answer, hook, /^(?:Subagent)?Stop$/u.test(hook));
    const denied = { permissionDecision: 'deny', permissionDecisionReason: refusal };
    return { hookSpecificOutput: { hookEventName: hook, ...denied } };
  },
  // No `readList`: the list is what the last `update_plan` call wrote.
  tellsUsageLate: true,
  readUsage: usageIn('"token_count"', ({ payload }) => {
    const { type, info } = recordOf(payload);
    const { total_token_usage, last_token_usage } = recordOf(info);
    const total = recordOf(total_token_usage);
    const last = recordOf(last_token_usage);
    if (type !== 'token_count' || typeof total['total_tokens'] !== 'number') return null;
    // The same sum again is the same call, reported with newer rate limits.
    const key = `total-${total['total_tokens']}`;
    return { key, input: [last['input_tokens']], output: [last['output_tokens']] };
  }),
};

export const codex = read.createAskedHost(codexLanguage);
