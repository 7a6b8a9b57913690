// Translates the hook payloads of Qwen Code. Reads its list of todos, which a hook that
// we missed cannot change, and from its settings how many continuations it takes. Shapes
// of version 0.24.4; other versions may leave any field out.
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { ListedTodo } from '../../core/reconcile.ts';
import type { Environment } from '../../engine/policy.ts';
import * as read from '../asked-translate.ts';
import { dotEnvFiles, readSettings, variablesOf } from '../project-files.ts';
import { usageIn } from '../transcript.ts';
import { listOf, nonEmptyTextOf, readTodo, recordOf } from '../untrusted.ts';

export const hostName = 'qwen-code';
export const toolPrefix = 'mcp__untildone__';
/** The variable by which a human sets how many continuations the host takes. */
export const capVariable = 'QWEN_CODE_STOP_HOOK_BLOCK_CAP';

export const qwenCodeLanguage: read.HookLanguage = {
  host: hostName,
  hooks: {
    ...read.turnHooks,
    PostToolUseFailure: [
      'other',
      (payload, language) => {
        const ended = read.toolEnded(payload, language);
        if (payload.fields['is_interrupt'] !== true) return ended;
        const { events } = read.readInterruption(payload);
        // The interrupt first: a call that it cut off is no work after it.
        return { ...ended, events: [...events, ...ended.events], decided: true };
      },
    ],
    TodoCompleted: [
      'completion',
      // The host asks again when it writes the list, and then takes no answer.
      ({ fields: { phase, todo_content: title } }) =>
        phase === 'validation' ? read.completionOf(nonEmptyTextOf(title)) : null,
    ],
    ...read.sessionHooks,
    Notification: ['other', read.readNotice],
    StopFailure: ['other', read.stopFailed],
  },
  tools: {
    ownTool: new RegExp(`^${toolPrefix}`, 'u'),
    access: [
      [
        'read',
        /^(?:read_file|read_many_files|list_directory|glob|grep_search|web_fetch|web_search|lsp)$/u,
      ],
      [
        'read',
        /^(?:skill|ask_user_question|(?:enter|exit)_plan_mode|read_mcp_resource)$/u,
      ],
      ['read', /^(?:list_agents|get_goal|cron_list|zoom_image)$/u],
      ['write', /^(?:write_file|edit|notebook_edit)$/u],
      // A search for a tool is no work (V4).
      ['todo', /^tool_search$/u],
    ],
    lists: { todo_write: ['todos', 'content'] },
    // If a hook or the tool itself refused a list, the list was not written, but the host
    // reports the call as a success.
    errorOf({ fields }) {
      const shown = recordOf(fields['tool_response'])['returnDisplay'];
      const isRefused =
        fields['tool_name'] === 'todo_write' && recordOf(shown)['type'] !== 'todo_list';
      return isRefused ? (nonEmptyTextOf(shown) ?? 'The list was not written.') : null;
    },
    resultOf: ({ tool_response }) => recordOf(tool_response)['llmContent'],
  },
  stop: { noText: '[no response text]', blockCap, capsTurn: true },
  // The host also calls the hook after tools and with a continuation. Only a submitted
  // prompt is the human's.
  prompt: { textIn: 'submitted_prompt' },
  describe: ({ fields }) => ({
    // The value is `<session>########<number>`, which is no plain name.
    promptId: read.plainOf(
      nonEmptyTextOf(fields['prompt_id'])?.replace(/^.*#/u, 'prompt-'),
    ),
  }),
  // Hooks get the session's id too, but not `QWEN_CODE`.
  agentCommand: ['QWEN_CODE', /./u, 'QWEN_CODE_SESSION_ID'],
  hookVariable: 'QWEN_PROJECT_DIR',
  variables: {
    QWEN_CODE_SESSION_ID: 'host',
    [capVariable]: 'host',
    QWEN_HOME: 'anyone',
    QWEN_RUNTIME_DIR: 'anyone',
  },
  readList: ({ descriptor, sessionId }, environment) =>
    descriptor.kind === 'main'
      ? readTodoList(descriptor.driven?.id ?? sessionId, environment)
      : null,
  readUsage: usageIn('"usageMetadata"', ({ type, uuid, usageMetadata }) => {
    const { promptTokenCount: input, candidatesTokenCount: output } =
      recordOf(usageMetadata);
    return type === 'assistant' ? { key: uuid, input: [input], output: [output] } : null;
  }),
  projectVariables: (directory) =>
    variablesOf([settingsIn(projectFolder(directory))], dotEnvFiles(directory, '.qwen')),
};

export const qwenCode = read.createAskedHost(qwenCodeLanguage);

/** The host reads settings in the folder in which it was started, and in none above. */
const projectFolder = (directory: string | null) => join(directory ?? '', '.qwen');
const userFolder = ({ QWEN_HOME: moved = '', HOME: home }: Environment) =>
  isAbsolute(moved) ? moved : join(home || homedir(), '.qwen');
const settingsIn = (folder: string) => readSettings(join(folder, 'settings.json'), true);

/**
 * How many continuations the host takes: the variable wins, then the project's settings,
 * then the user's.
 */
function blockCap({ environment, descriptor }: read.Payload): number {
  const variable = environment[capVariable]?.trim();
  if (variable) return takenBlocks(Number(variable));
  const settings = [projectFolder(descriptor.directory), userFolder(environment)].map(
    settingsIn,
  );
  return takenBlocks(
    settings.map((one) => one?.['stopHookBlockingCap']).find((cap) => cap !== undefined),
  );
}

/**
 * How many continuations the host takes with this cap: one less. A cap that is no number
 * counts as eight, and one above a hundred as a hundred.
 */
export function takenBlocks(cap: unknown): number {
  const validCap = typeof cap === 'number' && cap >= 1 ? Math.floor(cap) : 8;
  return Math.min(validCap, 100) - 1;
}

/**
 * Reads the list of a session; null: it cannot be read. It has no keys, because its ids
 * are the model's own and each new list begins with 1.
 */
export function readTodoList(
  sessionId: string,
  environment: Environment,
): ListedTodo[] | null {
  const { QWEN_RUNTIME_DIR: moved = '' } = environment;
  const folder = isAbsolute(moved) ? moved : userFolder(environment);
  const file = readSettings(join(folder, 'todos', `${sessionId}.json`), false);
  return file === null ? null : listOf(file['todos']).map((todo) => readTodo(todo, null));
}
