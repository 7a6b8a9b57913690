// Codex as `run --with codex` drives it: `codex exec` with a stream of JSON lines, our hooks and tools for this run alone.
import { randomUUID } from 'node:crypto';
import type { DriveFact, HostDriver } from '../../engine/host-driver.ts';
import { shippedCall, shippedHook } from '../install/files.ts';
import { offeredTools, serverName } from '../install/hook-host.ts';
import { writeValue } from '../install/toml-text.ts';
import { amountOf, type Fields, listOf, readHostError, recordOf, textOf } from '../untrusted.ts';
import { hostName, planTool } from './host.ts';
import { codexHooks, codexInstaller, hookGroup, serverRights, toolPrefix, trustEntry } from './install.ts';

const { title, program, howToGet } = codexInstaller;
const modes = {
  'read-only': ['-s', 'read-only'],
  edit: ['-s', 'workspace-write'],
  auto: ['--dangerously-bypass-approvals-and-sandbox'],
} as const;
/** Where the host says that words of the command line come from. */
const flagsFile = '/<session-flags>/config.toml';

export const codexDriver: HostDriver = {
  ...{ name: hostName, title, program, howToGet, takesId: false, reports: { tokens: true, cost: false } },
  tools: { pause: `${toolPrefix}todo_pause`, verify: `${toolPrefix}todo_verify` },
  permissions: {
    'read-only': 'Codex may only look (its sandbox "read-only").',
    edit: 'Codex may write in this folder, and its commands reach no network (its sandbox "workspace-write"). --auto allows everything.',
    auto: 'Codex may do anything that you may: --auto switches its sandbox and its approvals off.',
  },
  start({ text, id, isNew, mode, model, flags, environment }) {
    const command = shippedHook(hostName, environment, `--tools=${toolPrefix}`);
    const [server, ...args] = shippedCall('host-commands.js');
    const settings = {
      ...Object.fromEntries(codexHooks.map((one) => [`hooks.${one.hook}`, [hookGroup(one, command)]])),
      'hooks.state': Object.fromEntries(codexHooks.map((one) => trustEntry(one, command, flagsFile))),
      [`tools.${planTool}.enabled`]: true,
      [`mcp_servers.${serverName}`]: {
        ...{ command: server, args: [...args, 'mcp', '--tools', offeredTools.join(',')] },
        ...serverRights,
      },
    };
    const words = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${writeValue(value)}`]);
    return {
      words: [
        ...['exec', '--json', '--skip-git-repo-check', ...modes[mode]],
        ...(model === null ? [] : ['-m', model]),
        // Its own options stand before `resume`, which has others.
        ...[...words, ...flags, ...(isNew || id === null ? [] : ['resume', id]), '-'],
      ],
      input: text,
    };
  },
  read(line, from) {
    if (from === 'errors')
      return /no rollout found for thread id/u.test(line) ? [{ type: 'unknown-conversation' }] : [];
    try {
      return readLine(recordOf(JSON.parse(line)));
    } catch {
      // Safe: a line that is no JSON is for people.
      return [];
    }
  },
};

/** Answers of the model are not told: what begins behind the end of a call or a text is another one. */
let isAnswering = false;

function readLine({ type, thread_id, item, usage, error, message }: Fields): readonly DriveFact[] {
  const id = textOf(thread_id);
  switch (type) {
    case 'thread.started':
      return id === null ? [] : [{ type: 'conversation', id }];
    case 'item.started':
    case 'item.updated':
    case 'item.completed':
      return readItem(recordOf(item), type === 'item.completed');
    // "Reconnecting... 2/5 (…)"; what it gives up on comes again as the end.
    case 'error':
      return /^Reconnecting/u.test(textOf(message) ?? '')
        ? [{ type: 'retrying', sentence: `Codex: ${message}`, inMs: 0 }]
        : [];
    case 'turn.completed':
      return [
        { type: 'usage', of: 'conversation', tokens: tokensOf(recordOf(usage)), cost: null },
        { type: 'ended', end: 'normal' },
      ];
    case 'turn.failed': {
      const said = textOf(recordOf(error)['message']) ?? 'unknown';
      const read = readHostError({ message: said, status: Number(/status (\d{3})/u.exec(said)?.[1]) }, 0);
      const kind = read.type === 'error-occurred' ? read.kind : 'other';
      return [
        { type: 'error', kind, message: said },
        { type: 'ended', end: 'error' },
      ];
    }
    default:
      return [];
  }
}

const calls = /^(?:command_execution|mcp_tool_call|file_change|web_search|collab_tool_call)$/u;

function readItem(item: Fields, isOver: boolean): readonly DriveFact[] {
  const { type, id, items, text, command, tool, exit_code, status, aggregated_output } = item;
  const [callId, kind] = [textOf(id) ?? '', textOf(type) ?? ''];
  if (kind === 'todo_list') {
    const todos = listOf(items)
      .map(recordOf)
      .map(({ text: title, completed }) => ({
        ...{ key: null, title: textOf(title) ?? '', status: completed === true ? 'completed' : 'pending' },
      }));
    return [{ type: 'todos', todos }];
  }
  if (kind !== 'agent_message' && !calls.test(kind)) return [];
  const step: DriveFact[] = isAnswering ? [] : [{ type: 'step', id: randomUUID() }];
  isAnswering = !isOver;
  if (kind === 'agent_message') return [...step, { type: 'text', text: textOf(text) ?? '' }];
  const name = textOf(tool) ?? (kind === 'command_execution' ? 'Bash' : kind);
  const call = {
    callId,
    tool: name,
    input: command === undefined ? (item['arguments'] ?? item['changes']) : { command },
  };
  if (!isOver) return [...step, { type: 'tool-started', ...call }];
  const ok = status !== 'failed' && (exit_code ?? 0) === 0;
  return [...step, { type: 'tool-ended', ...call, ok, output: textOf(aggregated_output) ?? '' }];
}

function tokensOf(usage: Fields) {
  const of = (name: string) => Math.round(amountOf(usage[name]));
  return {
    ...{ inputTokens: of('input_tokens'), cachedTokens: of('cached_input_tokens') },
    outputTokens: of('output_tokens'),
  };
}
