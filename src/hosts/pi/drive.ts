// Drives pi for `run --with pi`: its JSON mode, with our extension for this run alone.
import type { HostDriver } from '../../engine/host-driver.ts';
import { todoToolsFor } from '../../tools/todo-tools.ts';
import {
  conversationOf,
  createLineReader,
  joinSpokenText,
  type Readers,
  toolStarted,
} from '../driver.ts';
import { shippedCall } from '../install/files.ts';
import { amountOf, listOf, recordOf, textOf } from '../untrusted.ts';
import { piInstaller } from './install.ts';
import { readCall, readMessage, readTurn } from './translate.ts';

const { name, title, program, howToGet } = piInstaller;
const ours = todoToolsFor('agent').map((tool) => tool.name);
const looks = ['read', 'grep', 'find', 'ls', ...ours];
const modes = { 'read-only': looks, edit: [...looks, 'edit', 'write'], auto: null };

const readers: Readers = {
  session: ({ id }) => conversationOf(id),
  message_end({ message }) {
    const read = readMessage(message);
    const { timestamp, usage, stopReason } = recordOf(message);
    // A call of the model that failed is no answer.
    if (read?.role !== 'assistant' || stopReason === 'error') return [];
    const { input, output, cacheRead, cacheWrite, cost } = recordOf(usage);
    const cachedTokens = amountOf(cacheRead);
    const inputTokens = amountOf(input) + amountOf(cacheWrite) + cachedTokens;
    const tokens = { inputTokens, cachedTokens, outputTokens: amountOf(output) };
    const id = String(timestamp);
    return [
      { type: 'step', id },
      ...joinSpokenText(read.text),
      { type: 'usage', of: 'step', id, tokens, cost: amountOf(recordOf(cost)['total']) },
    ];
  },
  tool_execution_start(line) {
    const read = readCall(line);
    return toolStarted(read?.callId, read?.call.tool, line['args']);
  },
  tool_execution_end(line) {
    const read = readCall(line);
    if (read === null) return [];
    const output =
      read.error ??
      readMessage({ role: 'user', ...recordOf(line['result']) })?.text ??
      '';
    return [
      {
        type: 'tool-ended',
        callId: read.callId,
        tool: read.call.tool,
        ok: read.error === null,
        output,
      },
    ];
  },
  auto_retry_start({ attempt, maxAttempts, delayMs, errorMessage }) {
    const sentence = `The model did not answer (${textOf(errorMessage) ?? 'no connection'}); pi tries again, ${attempt} of ${maxAttempts}.`;
    return [{ type: 'retrying', sentence, inMs: amountOf(delayMs) }];
  },
  agent_end({ messages, willRetry }) {
    const message = listOf(messages).findLast(
      (one) => recordOf(one)['role'] === 'assistant',
    );
    if (willRetry === true || message === undefined) return [];
    const { end, error } = readTurn({ message }, 0);
    const ended = { type: 'ended', end } as const;
    if (error?.type !== 'error-occurred') return [ended];
    return [{ type: 'error', kind: error.kind, message: error.message }, ended];
  },
};

export const piDriver: HostDriver = {
  name,
  title,
  program,
  howToGet,
  takesId: true,
  reports: { tokens: true, cost: true },
  tools: { pause: 'todo_pause', verify: 'todo_verify' },
  permissions: {
    'read-only': 'pi may only look (its tools read, grep, find and ls).',
    edit: 'pi may look and edit files, wherever you may; it runs no commands, since it has no permissions of its own. --auto allows them.',
    auto: 'pi may do anything that you may: --auto leaves it all of its tools.',
  },
  start({ text, id, mode, model, flags }) {
    const [, extension] = shippedCall('pi-extension.js');
    const tools = modes[mode];
    return {
      // The same words begin a session and take it up again.
      words: [
        '--mode',
        'json',
        '--session-id',
        id ?? '',
        '--extension',
        extension,
        ...(tools === null ? [] : ['--tools', tools.join(',')]),
        ...(model === null ? [] : ['--model', model]),
        ...flags,
        '-p',
      ],
      input: text,
    };
  },
  createReader: () => createLineReader(readers),
};
