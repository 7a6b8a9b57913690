// Gemini CLI's hook payloads → what they ask for; which variables a project sets in it,
// and what its transcript says of tokens. Shapes of version 0.61.0; in others any field
// may be missing. Not read: PreCompress, which fires before every request, whether it
// compresses or not, and the approval mode, which no payload has.
import * as read from '../asked-translate.ts';
import { dotEnvFiles, variablesOf } from '../project-files.ts';
import { usageIn } from '../transcript.ts';
import { nonEmptyTextOf, recordOf } from '../untrusted.ts';

export const hostName = 'gemini-cli';
/** Before the names of our own tools. */
export const toolPrefix = 'mcp_untildone_';
/** Only models of the second generation have it. */
export const todoTool = 'write_todos';

export const geminiLanguage: read.HookLanguage = {
  host: hostName,
  hooks: {
    AfterAgent: ['stop', read.stopped],
    BeforeTool: ['completion', read.completionsAsked],
    AfterTool: ['other', read.toolEnded],
    // It also fires with our own text, which the record knows.
    BeforeAgent: ['other', read.prompted],
    SessionStart: read.sessionHooks.SessionStart,
    SessionEnd: read.sessionHooks.SessionEnd,
    // Of one kind: a tool waits for permission.
    Notification: ['other', read.humanAsked],
  },
  tools: {
    ownTool: new RegExp(`^${toolPrefix}`, 'u'),
    access: [
      [
        'read',
        /^(?:read_(?:file|many_files|mcp_resource|background_output)|glob|grep_search)$/u,
      ],
      [
        'read',
        /^(?:list_(?:directory|mcp_resources|background_processes)|web_fetch|google_web_search)$/u,
      ],
      [
        'read',
        /^(?:ask_user|(?:enter|exit)_plan_mode|activate_skill|update_topic|complete_task)$/u,
      ],
      ['read', /^get_internal_docs$/u],
      ['write', /^(?:write_file|replace)$/u],
      ['todo', /^tracker_/u],
    ],
    lists: { [todoTool]: ['todos', 'description'] },
    errorOf({ fields }) {
      const { error } = recordOf(fields['tool_response']);
      return error === undefined
        ? null
        : (nonEmptyTextOf(recordOf(error)['message']) ?? 'The call failed.');
    },
    // What the model gets is wrapped in a tag.
    resultOf: ({ tool_response }) => recordOf(tool_response)['returnDisplay'],
  },
  // All that the model said since the human did; `stop_hook_active` is false whenever
  // tools were used.
  stop: { textIn: 'prompt_response', noText: '[no response text]' },
  // What a hook said at the start stands before the human's first words. The host escapes
  // what looks like a tag in it.
  prompt: {
    clean: (text) => text.replace(/^<hook_context>[^<]*<\/hook_context>\n\n/u, ''),
  },
  // Nobody tells whether a human is there. What was said twice differs by its time.
  describe: ({ hook, fields }) => ({
    descriptor: { headless: false },
    promptId:
      hook === 'BeforeAgent'
        ? read.plainOf(nonEmptyTextOf(fields['timestamp'])?.replaceAll(':', '.'))
        : null,
  }),
  // Hooks do not have it, unless an agent's command started the host.
  agentCommand: ['GEMINI_CLI', /^1$/u],
  hookVariable: 'GEMINI_PROJECT_DIR',
  readUsage: usageIn('"tokens"', ({ type, id, tokens }) => {
    const { input, tool, output, thoughts } = recordOf(tokens);
    return type === 'gemini'
      ? { key: id, input: [input, tool], output: [output, thoughts] }
      : null;
  }),
  // It loads the first that it finds; told to, it goes on past an .env. What the human's
  // own environment sets stays, but nobody can tell from here whose it is.
  projectVariables: (directory) => variablesOf([], dotEnvFiles(directory, '.gemini')),
};

export const geminiCli = read.createAskedHost(geminiLanguage);
