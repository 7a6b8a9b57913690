// Gemini generateContent: what Gemini CLI and the AI SDK's Google models speak.
import type { Wire } from '../../wire.ts';
import { parseGeminiRequest } from './parse-request.ts';
import { renderGeminiError, renderGeminiErrorEvent } from './render-error.ts';
import { streamGeminiReply, wholeGeminiReply } from './render-reply.ts';

export const geminiWire: Wire = {
  protocol: 'gemini',
  parseRequest: parseGeminiRequest,
  streamReply: streamGeminiReply,
  wholeReply: wholeGeminiReply,
  renderError: renderGeminiError,
  renderErrorEvent: renderGeminiErrorEvent,
  renderTokenCount: (tokens) => ({ totalTokens: tokens }),
};
