// Gemini CLI's hook payloads → what they ask for. Pure. Shapes of version 0.61.0; in others any field may be missing. Not read:
// PreCompress, which fires before every request, whether it compresses or not, and the approval mode, which no payload has.
import type { StopAsked } from '../asked-call.ts';
import type { HookLanguage, Payload, ToolLanguage } from '../asked-translate.ts';
import {
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
import { recordOf } from '../untrusted.ts';

export const hostName = 'gemini-cli';
/** Before the names of our own tools. */
export const toolPrefix = 'mcp_untildone_';
/** Only models of the second generation have it. */
export const todoTool = 'write_todos';
/** Where its list is, and the words of a todo in it. */
const todoList = ['todos', 'description'] as const;

const tools: ToolLanguage = {
  ownTool: new RegExp(`^${toolPrefix}`, 'u'),
  access: [
    [
      'read',
      /^(?:read_(?:file|many_files|mcp_resource|background_output)|glob|grep_search|get_internal_docs)$/u,
    ],
    ['read', /^(?:list_(?:directory|mcp_resources|background_processes)|web_fetch|google_web_search)$/u],
    ['read', /^(?:ask_user|(?:enter|exit)_plan_mode|activate_skill|update_topic|complete_task)$/u],
    ['write', /^(?:write_file|replace)$/u],
    ['todo', /^tracker_/u],
  ],
  planChanges: { [todoTool]: wholeList(...todoList) },
  errorOf: ({ fields }) => {
    const { error } = recordOf(fields['tool_response']);
    return error === undefined ? null : (textOf(recordOf(error)['message']) ?? 'The call failed.');
  },
  // What the model gets is wrapped in a tag.
  ownResult: ({ returnDisplay }) => returnDisplay,
};

export const geminiLanguage: HookLanguage = {
  host: hostName,
  hooks: {
    AfterAgent: ['stop', stopped],
    BeforeTool: ['completion', completionsAsked({ [todoTool]: todoList })],
    AfterTool: ['other', toolEnded(tools)],
    // It also fires with our own text, which the record knows.
    BeforeAgent: [
      'other',
      ({ fields }) => {
        const text = textOf(fields['prompt']);
        if (text === null) return null;
        return { type: 'prompt', text: text.replace(givenContext, ''), speaker: { type: 'human' } };
      },
    ],
    SessionStart: ['other', sessionStarted],
    SessionEnd: ['other', recorded('open', { type: 'session-closed' })],
    // Of one kind: a tool waits for permission.
    Notification: [
      'other',
      (payload) => ({
        ...{ type: 'record', asksHuman: true },
        events: [{ ...momentBase(payload, 'side', 'activity-seen'), type: 'activity-seen' }],
      }),
    ],
  },
  // Nobody tells whether a human is there. What was said twice differs by its time.
  describe: ({ hook, fields }) => ({
    descriptor: { headless: false },
    promptId: hook === 'BeforeAgent' ? plainOf(textOf(fields['timestamp'])?.replaceAll(':', '.')) : null,
  }),
};

export const translate = createTranslate(geminiLanguage);

/** What a hook said at the start stands before the human's first words. The host escapes what looks like a tag in it. */
const givenContext = /^<hook_context>[^<]*<\/hook_context>\n\n/u;

/** `prompt_response` is all that the model said since the human did; `stop_hook_active` is false whenever tools were used. */
function stopped({ fields }: Payload): StopAsked {
  const said = textOf(fields['prompt_response']) ?? '';
  const lastText = said === '[no response text]' ? '' : said.trim();
  return {
    type: 'stop',
    end: lastText === '' ? 'empty' : 'normal',
    lastText,
    isContinued: fields['stop_hook_active'] === true,
    background: null,
    blockCap: null,
    transcript: textOf(fields['transcript_path']),
  };
}
