// Copilot CLI as `run --with copilot-cli` drives it: its prompt mode with a stream of JSON lines; our hooks as a plugin of this
// run alone. Its lines tell of no tokens.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DriveFact, HostDriver } from '../../engine/host-driver.ts';
import { shippedCall, shippedHook } from '../install/files.ts';
import { offeredTools, serverName } from '../install/hook-host.ts';
import { type Fields, readHostError, recordOf, textOf } from '../untrusted.ts';
import { hostName, readTodos, sessionFolder } from './host.ts';
import { copilotInstaller, hookEntries } from './install.ts';

const { title, program, howToGet } = copilotInstaller;
const modes = { 'read-only': ['--plan'], edit: ['--allow-tool', 'write'], auto: ['--allow-all'] } as const;

export const copilotDriver: HostDriver = {
  ...{ name: hostName, title, program, howToGet, takesId: true, reports: { tokens: false, cost: false } },
  tools: { pause: `${serverName}-todo_pause`, verify: `${serverName}-todo_verify` },
  permissions: {
    'read-only': 'Copilot CLI may only look and plan (its mode "plan").',
    edit: 'Copilot CLI may edit files in this folder; commands that it does not know as harmless are refused. --auto allows everything.',
    auto: 'Copilot CLI may do anything that you may: --auto allows all its tools, paths and addresses.',
  },
  // The same line begins a conversation and takes it up again.
  start({ text, id, mode, model, flags, scratch, environment }) {
    const command = shippedHook(hostName, environment, `--tools=${serverName}-`);
    writeFileSync(join(scratch, 'plugin.json'), JSON.stringify({ name: serverName, version: '1.0.0' }));
    writeFileSync(
      join(scratch, 'hooks.json'),
      JSON.stringify({ version: 1, hooks: Object.fromEntries(hookEntries(command)) }),
    );
    const [server, ...args] = shippedCall('host-commands.js');
    const tools = [...args, 'mcp', '--tools', offeredTools.join(',')];
    const servers = { [serverName]: { type: 'local', command: server, args: tools, env: {}, tools: ['*'] } };
    return {
      words: [
        ...['--no-auto-update', '--output-format', 'json', '--session-id', id ?? '', '--plugin-dir', scratch],
        ...[...modes[mode], '--allow-tool', serverName, ...(model === null ? [] : ['--model', model])],
        ...['--additional-mcp-config', JSON.stringify({ mcpServers: servers }), ...flags, '-p', text],
      ],
    };
  },
  read(line, from) {
    if (from === 'errors') return [];
    try {
      const fields = recordOf(JSON.parse(line));
      const { type, agentId } = fields;
      // What a subagent says and does is for its parent.
      const read = agentId === undefined ? readers[textOf(type) ?? ''] : undefined;
      return read?.(recordOf(fields['data']), fields) ?? [];
    } catch {
      // Safe: a line that is no JSON is for people.
      return [];
    }
  },
  readTodos: (id, environment) => readTodos(join(sessionFolder(id, environment), 'session.db')),
};

const readers: Readonly<Record<string, (data: Fields, line: Fields) => readonly DriveFact[]>> = {
  'assistant.message'({ messageId, content }) {
    const [id, text] = [textOf(messageId), textOf(content)];
    return [
      ...(id ? [{ type: 'step', id } as const] : []),
      ...(text ? [{ type: 'text', text } as const] : []),
    ];
  },
  'tool.execution_start'({ toolCallId, toolName, arguments: input }) {
    const [callId, tool] = [textOf(toolCallId), textOf(toolName)];
    return callId && tool ? [{ type: 'tool-started', callId, tool, input }] : [];
  },
  'tool.execution_complete'({ toolCallId, success, result, error }) {
    const callId = textOf(toolCallId);
    const output = textOf(recordOf(result)['content']) ?? textOf(recordOf(error)['message']) ?? '';
    return callId ? [{ type: 'tool-ended', callId, ok: success === true, output }] : [];
  },
  'assistant.turn_retry': () => [
    { type: 'retrying', sentence: 'The model did not answer; Copilot CLI tries again.', inMs: 0 },
  ],
  'session.error'({ message, statusCode }) {
    const said = textOf(message) ?? 'Copilot CLI ended with an error.';
    const read = readHostError({ message: said, status: statusCode }, 0);
    return [{ type: 'error', kind: read.type === 'error-occurred' ? read.kind : 'other', message: said }];
  },
  // The only line with the id.
  result(_data, { sessionId, exitCode }) {
    const id = textOf(sessionId);
    const end = exitCode === 0 ? 'normal' : 'error';
    return [...(id ? [{ type: 'conversation', id } as const] : []), { type: 'ended', end }];
  },
};
