// Drives Copilot CLI for `run --with copilot-cli`: its prompt mode with a stream of JSON
// lines, and our hooks as a plugin of this run alone. Its lines report no tokens.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HostDriver } from '../../engine/host-driver.ts';
import * as driver from '../driver.ts';
import { shippedHook } from '../install/files.ts';
import { serverName } from '../install/hook-host.ts';
import { recordOf, textOf } from '../untrusted.ts';
import { copilotLanguage, hostName, readTodos, sessionFolder } from './host.ts';
import { copilotInstaller, hookEntries } from './install.ts';

const { title, program, howToGet } = copilotInstaller;
const modes = {
  'read-only': ['--plan'],
  edit: ['--allow-tool', 'write'],
  auto: ['--allow-all'],
} as const;

const readers: driver.Readers = {
  'assistant.message'({ messageId, content }) {
    const id = textOf(messageId);
    return [
      ...(id ? [{ type: 'step', id } as const] : []),
      ...driver.joinSpokenText(content),
    ];
  },
  'tool.execution_start': ({ toolCallId, toolName, arguments: input }) =>
    driver.toolStarted(toolCallId, toolName, input),
  'tool.execution_complete'({ toolCallId, success, result, error }) {
    const output =
      textOf(recordOf(result)['content']) ?? textOf(recordOf(error)['message']);
    return driver.toolEnded(toolCallId, success === true, output);
  },
  'assistant.turn_retry': () => [
    {
      type: 'retrying',
      sentence: 'The model did not answer; Copilot CLI tries again.',
      inMs: 0,
    },
  ],
  'session.error': ({ message, statusCode }) => [
    driver.describeFailure(
      textOf(message) ?? 'Copilot CLI ended with an error.',
      statusCode,
    ),
  ],
  // Only this line holds the id.
  result: ({ sessionId, exitCode }) => [
    ...driver.conversationOf(sessionId),
    { type: 'ended', end: exitCode === 0 ? 'normal' : 'error' },
  ],
};

export const copilotDriver: HostDriver = {
  name: hostName,
  title,
  program,
  howToGet,
  takesId: true,
  reports: { tokens: false, cost: false },
  tools: { pause: `${serverName}-todo_pause`, verify: `${serverName}-todo_verify` },
  permissions: {
    'read-only': 'Copilot CLI may only look and plan (its mode "plan").',
    edit: 'Copilot CLI may edit files in this folder; commands that it does not know as harmless are refused. --auto allows everything.',
    auto: 'Copilot CLI may do anything that you may: --auto allows all its tools, paths and addresses.',
  },
  // The same words begin a conversation and take it up again.
  start({ text, id, mode, model, flags, scratch, environment }) {
    const command = shippedHook(copilotLanguage, environment, `--tools=${serverName}-`);
    writeFileSync(
      join(scratch, 'plugin.json'),
      JSON.stringify({ name: serverName, version: '1.0.0' }),
    );
    const hooks = { version: 1, hooks: Object.fromEntries(hookEntries(command)) };
    writeFileSync(join(scratch, 'hooks.json'), JSON.stringify(hooks));
    const servers = {
      [serverName]: { type: 'local', ...driver.ourServer(), env: {}, tools: ['*'] },
    };
    return {
      words: [
        '--no-auto-update',
        '--output-format',
        'json',
        '--session-id',
        id ?? '',
        '--plugin-dir',
        scratch,
        ...modes[mode],
        '--allow-tool',
        serverName,
        ...(model === null ? [] : ['--model', model]),
        '--additional-mcp-config',
        JSON.stringify({ mcpServers: servers }),
        ...flags,
        '-p',
        text,
      ],
    };
  },
  // The words and calls of a subagent are for its parent.
  createReader: () =>
    driver.createLineReader(readers, undefined, (line) =>
      line['agentId'] === undefined ? { ...recordOf(line['data']), ...line } : {},
    ),
  readTodos: (id, environment) =>
    readTodos(join(sessionFolder(id, environment), 'session.db')),
};
