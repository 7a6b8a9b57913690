// Drives Codex for `run --with codex`: `codex exec` with a stream of JSON lines, our
// hooks and tools for this run alone.
import { randomUUID } from 'node:crypto';
import type { DriveFact, HostDriver } from '../../engine/host-driver.ts';
import * as driver from '../driver.ts';
import { shippedHook } from '../install/files.ts';
import { serverName } from '../install/hook-host.ts';
import { writeValue } from '../install/toml-text.ts';
import { type Fields, listOf, recordOf, textOf } from '../untrusted.ts';
import { codexLanguage, hostName, planTool } from './host.ts';
import {
  codexHooks,
  codexInstaller,
  hookGroup,
  serverRights,
  toolPrefix,
  trustEntry,
} from './install.ts';

const { title, program, howToGet } = codexInstaller;
const modes = {
  'read-only': ['-s', 'read-only'],
  edit: ['-s', 'workspace-write'],
  auto: ['--dangerously-bypass-approvals-and-sandbox'],
} as const;
/** The file name that Codex gives to settings from `-c`; part of its trust keys. */
const flagsFile = '/<session-flags>/config.toml';

const readers: driver.Readers = {
  'thread.started': ({ thread_id }) => driver.conversationOf(thread_id),
  // "Reconnecting... 2/5 (…)". If it gives up, the same error comes again at the end.
  error: ({ message }) =>
    /^Reconnecting/u.test(textOf(message) ?? '')
      ? [{ type: 'retrying', sentence: `Codex: ${message}`, inMs: 0 }]
      : [],
  'turn.completed': ({ usage }) => [
    {
      type: 'usage',
      of: 'conversation',
      tokens: driver.tokensOf(usage, 'cached_input_tokens'),
      cost: null,
    },
    { type: 'ended', end: 'normal' },
  ],
  'turn.failed'({ error }) {
    const message = textOf(recordOf(error)['message']) ?? 'unknown';
    const status = Number(/status (\d{3})/u.exec(message)?.[1]);
    return [driver.describeFailure(message, status), { type: 'ended', end: 'error' }];
  },
};

/**
 * Codex does not say when a model call begins, so the first item after a finished one
 * starts a step.
 */
function createItemReaders(): driver.Readers {
  let isAnswering = false;
  const readNext = (isOver: boolean) => (line: Fields) => {
    const facts = readItem(recordOf(line['item']), isOver);
    const isPartOfStep = facts.some(({ type }) => type !== 'todos');
    if (!isPartOfStep) return facts;
    const step: DriveFact[] = isAnswering ? [] : [{ type: 'step', id: randomUUID() }];
    isAnswering = !isOver;
    return [...step, ...facts];
  };
  return {
    'item.started': readNext(false),
    'item.updated': readNext(false),
    'item.completed': readNext(true),
  };
}

const calls =
  /^(?:command_execution|mcp_tool_call|file_change|web_search|collab_tool_call)$/u;

function readItem(item: Fields, isOver: boolean): driver.Facts {
  const { type, id, items, text, command, tool, exit_code, status, aggregated_output } =
    item;
  const kind = textOf(type) ?? '';
  if (kind === 'todo_list') {
    const todos = listOf(items).map((one) => {
      const { text: title, completed } = recordOf(one);
      return {
        key: null,
        title: textOf(title) ?? '',
        status: completed === true ? 'completed' : 'pending',
      };
    });
    return [{ type: 'todos', todos }];
  }
  if (kind !== 'agent_message' && !calls.test(kind)) return [];
  if (kind === 'agent_message') return [{ type: 'text', text: textOf(text) ?? '' }];
  const call = {
    callId: textOf(id) ?? '',
    tool: textOf(tool) ?? (kind === 'command_execution' ? 'Bash' : kind),
    input: command === undefined ? (item['arguments'] ?? item['changes']) : { command },
  };
  if (!isOver) return [{ type: 'tool-started', ...call }];
  const ok = status !== 'failed' && (exit_code ?? 0) === 0;
  return [{ type: 'tool-ended', ...call, ok, output: textOf(aggregated_output) ?? '' }];
}

export const codexDriver: HostDriver = {
  name: hostName,
  title,
  program,
  howToGet,
  takesId: false,
  reports: { tokens: true, cost: false },
  tools: { pause: `${toolPrefix}todo_pause`, verify: `${toolPrefix}todo_verify` },
  permissions: {
    'read-only': 'Codex may only look (its sandbox "read-only").',
    edit: 'Codex may write in this folder, and its commands reach no network (its sandbox "workspace-write"). --auto allows everything.',
    auto: 'Codex may do anything that you may: --auto switches its sandbox and its approvals off.',
  },
  start({ text, id, isNew, mode, model, flags, environment }) {
    const command = shippedHook(codexLanguage, environment, `--tools=${toolPrefix}`);
    const settings = {
      ...Object.fromEntries(
        codexHooks.map((one) => [`hooks.${one.hook}`, [hookGroup(one, command)]]),
      ),
      'hooks.state': Object.fromEntries(
        codexHooks.map((one) => trustEntry(one, command, flagsFile)),
      ),
      [`tools.${planTool}.enabled`]: true,
      [`mcp_servers.${serverName}`]: { ...driver.ourServer(), ...serverRights },
    };
    const words = Object.entries(settings).flatMap(([key, value]) => [
      '-c',
      `${key}=${writeValue(value)}`,
    ]);
    return {
      words: [
        'exec',
        '--json',
        '--skip-git-repo-check',
        ...modes[mode],
        ...(model === null ? [] : ['-m', model]),
        // Options of `exec` stand before `resume`, which has others.
        ...words,
        ...flags,
        ...(isNew || id === null ? [] : ['resume', id]),
        '-',
      ],
      input: text,
    };
  },
  createReader: () =>
    driver.createLineReader(
      { ...readers, ...createItemReaders() },
      driver.unknownIf(/no rollout found for thread id/u),
    ),
};
