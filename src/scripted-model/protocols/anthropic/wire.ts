// Anthropic Messages: what Claude Code and the AI SDK's Anthropic models speak.
import type { Wire } from '../../wire.ts';
import { parseAnthropicRequest } from './parse-request.ts';
import { renderAnthropicError, renderAnthropicErrorEvent } from './render-error.ts';
import { streamAnthropicReply, wholeAnthropicReply } from './render-reply.ts';

export const anthropicWire: Wire = {
  protocol: 'anthropic',
  parseRequest: parseAnthropicRequest,
  streamReply: streamAnthropicReply,
  wholeReply: wholeAnthropicReply,
  renderError: renderAnthropicError,
  renderErrorEvent: renderAnthropicErrorEvent,
  renderTokenCount: (tokens) => ({ input_tokens: tokens }),
};
