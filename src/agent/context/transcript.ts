// A part of the history as plain text, for the model that summarises it. Everything is quoted line by line and cut:
// tool output is strangers' text, and the request for a summary must itself fit where the conversation did not.
import type { ModelMessage } from 'ai';
import { stripTerminalControls } from '../../core/safe-text.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { isHuman, syntheticKind } from './synthetic.ts';

/** Characters of one message; decisions stand in texts, so these get more room than results. */
const textLength = 4000;
const resultLength = 1000;
/** A small budget is shared by several messages instead of being spent on one. */
const messagesPerBudget = 4;

export interface TranscriptBudget {
  readonly tokens: number;
  /** See calibrateRatio. */
  readonly ratio: number;
}

/** An earlier summary in any case, then the latest messages, as many as fit: the newest matter most. */
export function transcript(
  summary: ModelMessage | null,
  messages: readonly ModelMessage[],
  { tokens, ratio }: TranscriptBudget,
): string {
  const share = Math.floor(tokens / Math.max(1, ratio) / messagesPerBudget);
  const before = summary === null ? '' : blockOf(summary, share);
  let left = tokens - estimateTokens(before) * ratio;
  const blocks: string[] = [];
  let index = messages.length - 1;
  for (; index >= 0; index -= 1) {
    const message = messages[index];
    const block = message === undefined ? '' : blockOf(message, share);
    const cost = estimateTokens(block) * ratio;
    if (cost > left) break;
    left -= cost;
    blocks.unshift(block);
  }
  const cut = index >= 0 ? `(${index + 1} earlier messages are cut.)` : '';
  return [before, cut, ...blocks].filter((block) => block !== '').join('\n');
}

function blockOf(message: ModelMessage, share: number): string {
  const { content } = message;
  const who = message.role === 'assistant' ? 'agent' : isHuman(message) ? 'human' : 'system';
  if (typeof content === 'string') {
    return syntheticKind(message) === 'plan' ? '' : `${who}:\n${quote(content, Math.min(textLength, share))}`;
  }
  const lines = content.flatMap((part): string[] => {
    switch (part.type) {
      case 'text':
        return [`${who}:\n${quote(part.text, Math.min(textLength, share))}`];
      case 'tool-call':
        return [
          `agent calls ${part.toolName}:\n${quote(json(part.input), Math.min(resultLength, share / 2))}`,
        ];
      case 'tool-result':
        return [
          `${part.toolName} answers:\n${quote(resultText(part.output), Math.min(resultLength, share / 2))}`,
        ];
      default:
        return [];
    }
  });
  return lines.join('\n');
}

function resultText(output: {
  readonly type: string;
  readonly value?: unknown;
  readonly reason?: unknown;
}): string {
  const value = output.value ?? output.reason ?? output.type;
  return typeof value === 'string' ? value : json(value);
}

function json(value: unknown): string {
  return JSON.stringify(value) ?? '';
}

/** Head and tail: a failure stands at the end, what was asked at the beginning. */
function quote(text: string, longest: number): string {
  const plain = stripTerminalControls(text).replaceAll('<', '‹').replaceAll('>', '›');
  const half = Math.floor(longest / 2);
  const cut = plain.length <= longest ? plain : `${plain.slice(0, half)}\n…\n${plain.slice(-half)}`;
  return cut
    .split('\n')
    .map((line) => `| ${line}`)
    .join('\n');
}
