// Drives OpenCode for `run --with opencode`: `opencode run` with JSON lines, and our
// plugin for this run alone.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { HostDriver } from '../../engine/host-driver.ts';
import {
  conversationOf,
  createLineReader,
  joinSpokenText,
  type Readers,
  unknownIf,
} from '../driver.ts';
import { shippedFolder } from '../install/files.ts';
import { listOf, readHostError, recordOf, textOf } from '../untrusted.ts';
import { opencodeInstaller } from './install.ts';
import { hostTodoTool, readTodos, usageOf } from './translate.ts';

const { name, title, program, howToGet } = opencodeInstaller;
const modes = { 'read-only': ['--agent', 'plan'], edit: [], auto: ['--auto'] } as const;

/** The settings for one run: those in the human's own variable, with our plugin. */
function withPlugin(configured = '{}'): string {
  const ours = pathToFileURL(join(shippedFolder(), 'server.js')).href;
  try {
    const config = recordOf(JSON.parse(configured));
    return JSON.stringify({ ...config, plugin: [...listOf(config['plugin']), ours] });
  } catch {
    // Safe: the host could not read it either.
    return JSON.stringify({ plugin: [ours] });
  }
}

const readers: Readers = {
  step_start: ({ sessionID, part }) => [
    ...conversationOf(sessionID),
    { type: 'step', id: textOf(recordOf(part)['messageID']) ?? '' },
  ],
  text: ({ part }) => joinSpokenText(recordOf(part)['text']),
  tool_use({ part }) {
    const { tool, callID, state } = recordOf(part);
    const { status, input, output, error } = recordOf(state);
    const callId = textOf(callID);
    const named = textOf(tool) ?? 'unknown';
    const todos = recordOf(input)['todos'];
    if (callId === null) return [];
    const ended = {
      type: 'tool-ended',
      callId,
      tool: named,
      input,
      ok: status !== 'error',
    } as const;
    const listed = named === hostTodoTool && Array.isArray(todos) && ended.ok;
    return [
      { ...ended, output: textOf(error) ?? textOf(output) ?? '' },
      ...(listed ? [{ type: 'todos', todos: readTodos(todos) } as const] : []),
    ];
  },
  step_finish(line) {
    const part = recordOf(line['part']);
    const { inputTokens, outputTokens, cost } = usageOf(part);
    const cachedTokens = Number(recordOf(recordOf(part['tokens'])['cache'])['read']) || 0;
    const tokens = { inputTokens, cachedTokens, outputTokens };
    return [{ type: 'usage', of: 'step', id: textOf(part['id']) ?? '', tokens, cost }];
  },
  // If the first call fails, no step begins.
  error({ sessionID, error }) {
    const read = readHostError(error, 0);
    // The cause is our own signal, or the way in which the plugin lets the host exit.
    if (read.type === 'human-aborted') return conversationOf(sessionID);
    return [
      ...conversationOf(sessionID),
      { type: 'error', kind: read.kind, message: read.message },
    ];
  },
};

export const opencodeDriver: HostDriver = {
  name,
  title,
  program,
  howToGet,
  takesId: false,
  endsByExit: true,
  reports: { tokens: true, cost: true },
  tools: { pause: 'todo_pause', verify: 'todo_verify' },
  permissions: {
    'read-only': 'OpenCode may only look (its agent "plan").',
    edit: 'OpenCode may do what its settings allow, by default any command; what they want asked is refused. --auto allows that too.',
    auto: 'OpenCode may do anything that you may: --auto allows what its settings want asked.',
  },
  // The text comes on standard input: as an argument it would reach the model in quotes.
  start: ({ text, id, mode, model, flags, environment }) => ({
    words: [
      'run',
      '--format',
      'json',
      ...(id === null ? [] : ['-s', id]),
      ...modes[mode],
      ...(model === null ? [] : ['-m', model]),
      ...flags,
    ],
    variables: {
      OPENCODE_CONFIG_CONTENT: withPlugin(environment['OPENCODE_CONFIG_CONTENT']),
    },
    input: text,
  }),
  createReader: () => createLineReader(readers, unknownIf(/session not found/iu)),
};
