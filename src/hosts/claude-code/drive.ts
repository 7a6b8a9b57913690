// Claude Code as `run --with claude-code` drives it: its print mode with a stream of JSON lines, our hooks and tools for
// this run alone.
import type { DriveFact, HostDriver } from '../../engine/host-driver.ts';
import { hooksOf } from '../asked-translate.ts';
import { shippedCall, shippedHook } from '../install/files.ts';
import { allTools, offeredTools, serverName } from '../install/hook-host.ts';
import { amountOf, type Fields, listOf, readHostError, recordOf, textOf } from '../untrusted.ts';
import { readTaskList } from './host.ts';
import { claudeCodeInstaller, hookElement, switches, toolPrefix } from './install.ts';
import { claudeCodeLanguage, hostName } from './translate.ts';

const { title, program, howToGet } = claudeCodeInstaller;
const modes = {
  'read-only': ['--permission-mode', 'plan'],
  edit: ['--permission-mode', 'acceptEdits'],
  auto: ['--dangerously-skip-permissions'],
} as const;

export const claudeCodeDriver: HostDriver = {
  ...{ name: hostName, title, program, howToGet, takesId: true, reports: { tokens: true, cost: true } },
  tools: { pause: `${toolPrefix}todo_pause`, verify: `${toolPrefix}todo_verify` },
  permissions: {
    'read-only': 'Claude Code may only look (its mode "plan").',
    edit: 'Claude Code may edit files in this folder; commands run as its own settings allow (its mode "acceptEdits"). --auto allows everything.',
    auto: 'Claude Code may do anything that you may: --auto switches its permissions off.',
  },
  start({ text, id, isNew, mode, model, flags, environment }) {
    const command = shippedHook(hostName, environment, `--tools=${toolPrefix}`);
    const hooks = hooksOf(claudeCodeLanguage).map(({ hook, timeout }) => [
      hook,
      [hookElement(command, timeout)],
    ]);
    const [server, ...args] = shippedCall('host-commands.js');
    const tools = [...args, 'mcp', '--tools', offeredTools.join(',')];
    const servers = { [serverName]: { type: 'stdio', command: server, args: tools, alwaysLoad: true } };
    return {
      words: [
        ...[
          '-p',
          '--output-format',
          'stream-json',
          '--verbose',
          isNew ? '--session-id' : '--resume',
          id ?? '',
        ],
        ...[...modes[mode], ...(model === null ? [] : ['--model', model])],
        ...['--settings', JSON.stringify({ hooks: Object.fromEntries(hooks) })],
        ...['--mcp-config', JSON.stringify({ mcpServers: servers })],
        ...['--allowedTools', allTools.map((tool) => toolPrefix + tool).join(','), ...flags],
      ],
      // What the human set is theirs.
      variables: Object.fromEntries(Object.entries(switches).filter(([name]) => !environment[name])),
      input: text,
    };
  },
  read(line, from) {
    if (from === 'errors') return [];
    try {
      const fields = recordOf(JSON.parse(line));
      return readers[textOf(fields['type']) ?? '']?.(fields) ?? [];
    } catch {
      // Safe: a line that is no JSON is for people.
      return [];
    }
  },
  readTodos: readTaskList,
};

const readers: Readonly<Record<string, (line: Fields) => readonly DriveFact[]>> = {
  system({ subtype, session_id, attempt, max_retries, retry_delay_ms, error_status }) {
    const id = textOf(session_id);
    if (subtype === 'init') return id === null ? [] : [{ type: 'conversation', id }];
    if (subtype !== 'api_retry') return [];
    const sentence = `The model did not answer (${error_status ?? 'no connection'}); Claude Code tries again, ${attempt} of ${max_retries}.`;
    return [{ type: 'retrying', sentence, inMs: amountOf(retry_delay_ms) }];
  },
  assistant({ message, parent_tool_use_id }) {
    const { id, content, usage, model } = recordOf(message);
    const step = textOf(id);
    // What it says in the model's place, such as an error.
    if (step === null || model === '<synthetic>') return [];
    const tokens = tokensOf(usage);
    return [
      { type: 'step', id: step },
      // What a subagent says is for its parent.
      ...listOf(content)
        .map(recordOf)
        .flatMap((part) => factsOf(part, parent_tool_use_id === null)),
      { type: 'usage', of: 'step', id: step, tokens, cost: null },
    ];
  },
  user({ message }) {
    const parts = listOf(recordOf(message)['content']).map(recordOf);
    return parts.flatMap(({ type, tool_use_id, is_error, content }): DriveFact[] => {
      const callId = textOf(tool_use_id);
      const output =
        textOf(content) ??
        listOf(content)
          .map((part) => textOf(recordOf(part)['text']))
          .join('\n');
      return type !== 'tool_result' || callId === null
        ? []
        : [{ type: 'tool-ended', callId, ok: is_error !== true, output }];
    });
  },
  result(line) {
    const { subtype, is_error, terminal_reason, result, usage, total_cost_usd, api_error_status, errors } =
      line;
    const said = listOf(errors).map(textOf).join(' ') || textOf(result) || '';
    if (/^No conversation found/u.test(said)) return [{ type: 'unknown-conversation' }];
    const cost = typeof total_cost_usd === 'number' ? amountOf(total_cost_usd) : null;
    const used: DriveFact[] = [
      { type: 'usage', of: 'start', tokens: tokensOf(usage), cost: null },
      { type: 'usage', of: 'conversation', tokens: null, cost },
    ];
    if (/^aborted/u.test(textOf(terminal_reason) ?? ''))
      return [...used, { type: 'ended', end: 'cancelled' }];
    // On errors of the model its subtype is "success".
    if (is_error !== true && subtype === 'success')
      return [...used, { type: 'ended', end: said === '' ? 'empty' : 'normal', text: said }];
    const read = readHostError({ message: said || String(subtype), status: api_error_status }, 0);
    const kind = read.type === 'error-occurred' ? read.kind : 'other';
    return [
      ...used,
      { type: 'error', kind, message: said || String(subtype) },
      { type: 'ended', end: 'error' },
    ];
  },
};

function factsOf({ type, text, id, name, input }: Fields, isMain: boolean): DriveFact[] {
  const [said, callId, tool] = [textOf(text), textOf(id), textOf(name)];
  if (type === 'text' && isMain && said) return [{ type: 'text', text: said }];
  return type === 'tool_use' && callId !== null && tool !== null
    ? [{ type: 'tool-started', callId, tool, input }]
    : [];
}

function tokensOf(usage: unknown) {
  const of = (name: string) => Math.round(amountOf(recordOf(usage)[name]));
  const cachedTokens = of('cache_read_input_tokens');
  const inputTokens = of('input_tokens') + of('cache_creation_input_tokens') + cachedTokens;
  return { inputTokens, cachedTokens, outputTokens: of('output_tokens') };
}
