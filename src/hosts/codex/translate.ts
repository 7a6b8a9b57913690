// Codex's hook payloads → what they ask for. Pure. Shapes of version 0.166.0; in others any field may be missing.
import type { HookAsks, StopAsked } from '../asked-call.ts';
import { shortHash } from '../asked-call.ts';
import type { HookLanguage, Payload, ToolLanguage } from '../asked-translate.ts';
import {
  compactionStarted,
  completionsAsked,
  createTranslate,
  momentBase,
  plainOf,
  recorded,
  sessionStarted,
  textOf,
  toolEnded,
  wholeList,
} from '../asked-translate.ts';

export const hostName = 'codex';
export const planTool = 'update_plan';

const tools: ToolLanguage = {
  ownTool: /^mcp__untildone__/u,
  // Commands are `Bash` here, whatever tool runs them. A namespace stands right before the name of a tool.
  access: [
    ['read', /^(?:view_image|web_search|tool_search|(?:list|read)_mcp_\w+|clock__\w+|wait|sleep)$/u],
    ['read', /^(?:request_user_input(?:_async)?|(?:get|create|update)_goal)$/u],
    // What other agents do shows in their own calls.
    ['read', /^(?:multi_agent_v\d+)?(?:\w+_agents?|send_input|send_message|followup_task)$/u],
    ['write', /^apply_patch$/u],
  ],
  planChanges: { [planTool]: wholeList('plan', 'step') },
  // A command that fails looks like any other here.
  errorOf: () => null,
  // Each agent has its own plan.
  isForeign: (tool, { agentId }) => tool === planTool && agentId !== null,
};

const refusable = completionsAsked({ [planTool]: ['plan', 'step'] });

export const codexLanguage: HookLanguage = {
  host: hostName,
  hooks: {
    Stop: ['stop', stopped],
    SubagentStop: ['other', (payload) => ({ ...stopped(payload), transcript: null })],
    PreToolUse: ['completion', (payload) => (payload.agentId === null ? refusable(payload) : null)],
    PostToolUse: ['other', toolEnded(tools)],
    // With an agent's id it is the task that another agent gave.
    UserPromptSubmit: [
      'other',
      ({ fields, agentId }) => {
        const text = textOf(fields['prompt']);
        return text === null || agentId !== null
          ? null
          : { type: 'prompt', text, speaker: { type: 'human' } };
      },
    ],
    PermissionRequest: ['other', asked],
    SessionStart: ['other', sessionStarted],
    SessionEnd: ['ending', recorded('open', { type: 'session-closed' })],
    PreCompact: ['other', compactionStarted],
    Interrupt: ['ending', interrupted],
  },
  describe({ hook, mainId, fields }) {
    const agentId = textOf(fields['agent_id']);
    // Its stop is on the record, without a plan (C4).
    const isSubagent = hook === 'SubagentStop';
    return {
      agentId,
      promptId: plainOf(fields['turn_id']),
      ...(isSubagent && {
        sessionId: `${mainId}:${shortHash(agentId ?? '').slice(0, 12)}`,
        descriptor: { kind: 'subagent', parentId: mainId },
        agent: { name: textOf(fields['agent_type']) },
      }),
    };
  },
};

export const translate = createTranslate(codexLanguage);

function stopped({ fields }: Payload): StopAsked {
  const lastText = textOf(fields['last_assistant_message']) ?? '';
  return {
    type: 'stop',
    end: lastText.trim() === '' ? 'empty' : 'normal',
    lastText,
    isContinued: fields['stop_hook_active'] === true,
    // Agents that it started are not named.
    background: null,
    blockCap: null,
    transcript: textOf(fields['transcript_path']),
  };
}

function asked(payload: Payload): HookAsks {
  const event = { ...momentBase(payload, 'side', 'activity-seen'), type: 'activity-seen' } as const;
  return { type: 'record', events: [event], asksHuman: true };
}

function interrupted(payload: Payload): HookAsks {
  const event = { ...momentBase(payload, 'side', 'interrupted'), type: 'human-aborted' } as const;
  return { type: 'record', events: [{ ...event, how: 'interrupted' }], decided: true };
}
