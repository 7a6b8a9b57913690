// Translates the hook payloads of Gemini CLI. Reads which variables a project sets in it,
// and the tokens in its transcript. Shapes of version 0.61.0; other versions may leave
// any field out. It reads neither PreCompress, which fires before every request,
// compressed or not, nor the approval mode, which no payload has.
import * as read from '../asked-translate.ts';
import { dotEnvFiles, variablesOf } from '../project-files.ts';
import { usageIn } from '../transcript.ts';
import { nonEmptyTextOf, recordOf } from '../untrusted.ts';

export const hostName = 'gemini-cli';
/** What stands before the names of our own tools. */
export const toolPrefix = 'mcp_untildone_';
/** The host's todo tool, which only models of the second generation get. */
export const todoTool = 'write_todos';

export const geminiLanguage: read.HookLanguage = {
  host: hostName,
  hooks: {
    AfterAgent: ['stop', read.readStop],
    BeforeTool: ['completion', read.completionsAsked],
    AfterTool: ['other', read.toolEnded],
    // This hook also fires with our own text, which the record knows.
    BeforeAgent: ['other', read.readPrompt],
    SessionStart: read.sessionHooks.SessionStart,
    SessionEnd: read.sessionHooks.SessionEnd,
    // The only notification of this host: a tool waits for permission.
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
    // The text for the model is wrapped in a tag.
    resultOf: ({ tool_response }) => recordOf(tool_response)['returnDisplay'],
  },
  // The field holds all that the model said since the human spoke. `stop_hook_active`
  // does not help: it is false whenever tools were used.
  stop: { textIn: 'prompt_response', noText: '[no response text]' },
  // At the start, the text of a hook stands before the human's first words. The host
  // escapes what looks like a tag in it.
  prompt: {
    clean: (text) => text.replace(/^<hook_context>[^<]*<\/hook_context>\n\n/u, ''),
  },
  // The host does not say whether a human is there. Equal prompts differ by their time.
  describe: ({ hook, fields }) => ({
    descriptor: { headless: false },
    promptId:
      hook === 'BeforeAgent'
        ? read.plainOf(nonEmptyTextOf(fields['timestamp'])?.replaceAll(':', '.'))
        : null,
  }),
  // Hooks do not get this variable, unless a command of an agent started the host.
  agentCommand: ['GEMINI_CLI', /^1$/u],
  hookVariable: 'GEMINI_PROJECT_DIR',
  readUsage: usageIn('"tokens"', ({ type, id, tokens }) => {
    const { input, tool, output, thoughts } = recordOf(tokens);
    return type === 'gemini'
      ? { key: id, input: [input, tool], output: [output, thoughts] }
      : null;
  }),
  // The host loads the first file that it finds, and on request goes on past an .env.
  // Variables of the human's own environment win, but we cannot tell whose a variable is.
  projectVariables: (directory) => variablesOf([], dotEnvFiles(directory, '.gemini')),
};

export const geminiCli = read.createAskedHost(geminiLanguage);
