// Plausible token counts from sizes alone: four characters a token, and a prefix that equals the previous request's
// counts as cached. It imitates no tokenizer; budgets and cache figures need only to move the right way.
import { createHash } from 'node:crypto';
import type { ModelReply, Usage } from './model-reply.ts';
import type { ModelRequest } from './model-request.ts';

const CHARACTERS_PER_TOKEN = 4;

export interface Segment {
  readonly digest: string;
  readonly tokens: number;
}

function tokensOf(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}

/** The request in cacheable pieces: tools and system first, as providers order their prefix, then each message. */
export function segmentsOf(request: ModelRequest): readonly Segment[] {
  const texts = [
    JSON.stringify(request.tools),
    request.system,
    ...request.messages.map((m) => JSON.stringify(m)),
  ];
  return texts.map((text) => ({
    digest: createHash('sha1').update(text).digest('base64url'),
    tokens: tokensOf(text),
  }));
}

export function sumTokens(segments: readonly Segment[]): number {
  return segments.reduce((sum, segment) => sum + segment.tokens, 0);
}

function sharedPrefix(previous: readonly Segment[], current: readonly Segment[]): readonly Segment[] {
  const differs = current.findIndex((segment, index) => segment.digest !== previous[index]?.digest);
  return differs < 0 ? current : current.slice(0, differs);
}

export function estimateUsage(
  segments: readonly Segment[],
  previous: readonly Segment[],
  reply: ModelReply,
): Usage {
  const thinkingTokens = tokensOf(reply.thinking ?? '');
  const calls = (reply.calls ?? []).map((call) => JSON.stringify(call)).join('');
  return {
    inputTokens: Math.max(1, sumTokens(segments)),
    cachedTokens: sumTokens(sharedPrefix(previous, segments)),
    outputTokens: Math.max(1, thinkingTokens + tokensOf(reply.text ?? '') + tokensOf(calls)),
    thinkingTokens,
  };
}
