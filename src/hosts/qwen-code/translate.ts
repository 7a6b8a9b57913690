// Qwen Code's hook payloads → what they ask for. Pure. Shapes of version 0.24.4; in others any field may be missing.
import type { HookAsks, StopAsked } from '../asked-call.ts';
import { shortHash } from '../asked-call.ts';
import type { HookLanguage, Payload, ToolLanguage } from '../asked-translate.ts';
import {
  compactionStarted,
  createTranslate,
  jobsIn,
  momentBase,
  notified,
  plainOf,
  recorded,
  sessionStarted,
  stopFailed,
  textOf,
  toolEnded,
  wholeList,
} from '../asked-translate.ts';
import { recordOf } from '../untrusted.ts';

export const hostName = 'qwen-code';
export const toolPrefix = 'mcp__untildone__';
export const capVariable = 'QWEN_CODE_STOP_HOOK_BLOCK_CAP';

const tools: ToolLanguage = {
  ownTool: new RegExp(`^${toolPrefix}`, 'u'),
  access: [
    ['read', /^(?:read_file|read_many_files|list_directory|glob|grep_search|web_fetch|web_search|lsp)$/u],
    ['read', /^(?:tool_search|skill|ask_user_question|(?:enter|exit)_plan_mode|read_mcp_resource)$/u],
    ['read', /^(?:list_agents|get_goal|cron_list|zoom_image)$/u],
    ['write', /^(?:write_file|edit|notebook_edit)$/u],
  ],
  planChanges: { todo_write: wholeList('todos', 'content') },
  errorOf({ hook, fields }) {
    const said = textOf(fields['error']);
    if (hook === 'PostToolUseFailure') return said ?? 'The call failed.';
    // A list that a hook or the tool itself refused was not written, although the call is told as a success.
    const shown = recordOf(fields['tool_response'])['returnDisplay'];
    const isRefused = fields['tool_name'] === 'todo_write' && recordOf(shown)['type'] !== 'todo_list';
    return isRefused ? (textOf(shown) ?? 'The list was not written.') : null;
  },
  ownResult: (response) => response['llmContent'],
  isForeign: (_tool, { agentId }) => agentId !== null,
};
const ended = toolEnded(tools);

export const qwenCodeLanguage: HookLanguage = {
  host: hostName,
  hooks: {
    Stop: ['stop', stopped],
    SubagentStop: ['other', (payload) => ({ ...stopped(payload), background: null, transcript: null })],
    PostToolUse: ['other', ended],
    PostToolUseFailure: ['other', callFailed],
    TodoCompleted: [
      'completion',
      // It asks once more when the list is written, and then takes no answer.
      ({ fields: { phase, todo_content: title } }) =>
        phase === 'validation' && textOf(title) ? { type: 'complete', todos: [String(title)] } : null,
    ],
    // Also called after tools and with a continuation: only what somebody submitted is theirs.
    UserPromptSubmit: [
      'other',
      ({ fields }) => {
        const text = textOf(fields['submitted_prompt']);
        return text === null ? null : { type: 'prompt', text, speaker: { type: 'human' } };
      },
    ],
    SessionStart: ['other', sessionStarted],
    SessionEnd: ['other', recorded('open', { type: 'session-closed' })],
    PreCompact: ['other', compactionStarted],
    Notification: ['other', notified],
    StopFailure: ['other', stopFailed],
  },
  describe({ hook, mainId, fields }) {
    const [agentId, agentType] = [textOf(fields['agent_id']), textOf(fields['agent_type'])];
    const isSubagent = hook === 'SubagentStop';
    return {
      agentId,
      // `<session>########<number>`, which is no plain name.
      promptId: plainOf(textOf(fields['prompt_id'])?.replace(/^.*#/u, 'prompt-')),
      ...(isSubagent && { sessionId: `${mainId}:${shortHash(agentId ?? '').slice(0, 12)}` }),
      descriptor: { ...(isSubagent && { kind: 'subagent', parentId: mainId }) },
      agent: { name: isSubagent ? agentType : null },
    };
  },
};

export const translate = createTranslate(qwenCodeLanguage);

function callFailed(payload: Payload): HookAsks | null {
  const asks = ended(payload);
  if (payload.fields['is_interrupt'] !== true || asks?.type !== 'record') return asks;
  const aborted = {
    ...momentBase(payload, 'side', 'aborted'),
    type: 'human-aborted',
    how: 'interrupted',
  } as const;
  return { ...asks, events: [...asks.events, aborted], decided: true };
}

function stopped({ fields, environment }: Payload): StopAsked {
  const said = textOf(fields['last_assistant_message']) ?? '';
  // Its own words for an empty answer.
  const lastText = said === '[no response text]' ? '' : said;
  return {
    type: 'stop',
    end: lastText.trim() === '' ? 'empty' : 'normal',
    lastText,
    isContinued: fields['stop_hook_active'] === true,
    background: jobsIn(fields['background_tasks']),
    blockCap: takenBlocks(Number(environment[capVariable]?.trim() || Number.NaN)),
    capsTurn: true,
    transcript: textOf(fields['transcript_path']),
  };
}

/** With a cap of 8 it takes seven. What is no number leaves it at eight; more than a hundred is a hundred. */
export function takenBlocks(cap: unknown): number {
  const given = typeof cap === 'number' && cap >= 1 ? Math.floor(cap) : 8;
  return Math.min(given, 100) - 1;
}
