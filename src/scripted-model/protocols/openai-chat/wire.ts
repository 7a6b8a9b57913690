// OpenAI chat completions: also what Ollama, LM Studio, vLLM, OpenCode, Qwen Code, Copilot CLI and pi speak.
import type { Wire } from '../../wire.ts';
import { openaiErrorObject, renderOpenaiError } from '../openai-errors.ts';
import { parseChatRequest } from './parse-request.ts';
import { streamChatReply, wholeChatReply } from './render-reply.ts';

export const openaiChatWire: Wire = {
  protocol: 'openai-chat',
  parseRequest: parseChatRequest,
  streamReply: streamChatReply,
  wholeReply: wholeChatReply,
  renderError: renderOpenaiError,
  renderErrorEvent: (failure, context) => ({ data: { error: openaiErrorObject(failure, context) } }),
  renderTokenCount: (tokens) => ({ input_tokens: tokens }),
};
