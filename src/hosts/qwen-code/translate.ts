// Qwen Code's hook payloads → what they ask for. Pure. Shapes of version 0.24.4; in others any field may be missing.
import * as read from '../asked-translate.ts';
import { recordOf } from '../untrusted.ts';

export const hostName = 'qwen-code';
export const toolPrefix = 'mcp__untildone__';
export const capVariable = 'QWEN_CODE_STOP_HOOK_BLOCK_CAP';

export const qwenCodeLanguage: read.HookLanguage = {
  host: hostName,
  hooks: {
    ...read.commonHooks,
    PostToolUseFailure: [
      'other',
      (payload, language) => {
        const ended = read.toolEnded(payload, language);
        if (payload.fields['is_interrupt'] !== true) return ended;
        const { events } = read.interrupted(payload);
        return { ...ended, events: [...ended.events, ...events], decided: true };
      },
    ],
    TodoCompleted: [
      'completion',
      // It asks once more when the list is written, and then takes no answer.
      ({ fields: { phase, todo_content: title } }) =>
        phase === 'validation' && read.textOf(title) ? { type: 'complete', todos: [String(title)] } : null,
    ],
    Notification: ['other', read.notified],
    StopFailure: ['other', read.stopFailed],
  },
  tools: {
    ownTool: new RegExp(`^${toolPrefix}`, 'u'),
    access: [
      ['read', /^(?:read_file|read_many_files|list_directory|glob|grep_search|web_fetch|web_search|lsp)$/u],
      ['read', /^(?:tool_search|skill|ask_user_question|(?:enter|exit)_plan_mode|read_mcp_resource)$/u],
      ['read', /^(?:list_agents|get_goal|cron_list|zoom_image)$/u],
      ['write', /^(?:write_file|edit|notebook_edit)$/u],
    ],
    lists: { todo_write: ['todos', 'content'] },
    // A list that a hook or the tool itself refused was not written, although the call is told as a success.
    errorOf({ fields }) {
      const shown = recordOf(fields['tool_response'])['returnDisplay'];
      const isRefused = fields['tool_name'] === 'todo_write' && recordOf(shown)['type'] !== 'todo_list';
      return isRefused ? (read.textOf(shown) ?? 'The list was not written.') : null;
    },
    resultOf: ({ tool_response }) => recordOf(tool_response)['llmContent'],
  },
  stop: {
    noText: '[no response text]',
    blockCap: ({ [capVariable]: cap }) => takenBlocks(Number(cap?.trim() || Number.NaN)),
    capsTurn: true,
  },
  // The hook is also called after tools and with a continuation: only what somebody submitted is theirs.
  prompt: { textIn: 'submitted_prompt' },
  describe: ({ fields }) => ({
    // `<session>########<number>`, which is no plain name.
    promptId: read.plainOf(read.textOf(fields['prompt_id'])?.replace(/^.*#/u, 'prompt-')),
  }),
  // Hooks have the session's id, but not the first.
  agentCommand: { variable: 'QWEN_CODE', session: ['QWEN_CODE_SESSION_ID'] },
};

/** With a cap of 8 it takes seven. What is no number leaves it at eight; more than a hundred is a hundred. */
export function takenBlocks(cap: unknown): number {
  const given = typeof cap === 'number' && cap >= 1 ? Math.floor(cap) : 8;
  return Math.min(given, 100) - 1;
}
