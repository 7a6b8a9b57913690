// OpenAI Responses: what Codex and the AI SDK's default OpenAI models speak.
import type { Wire } from '../../wire.ts';
import { openaiErrorObject, renderOpenaiError } from '../openai-errors.ts';
import { parseResponsesRequest } from './parse-request.ts';
import { wholeResponsesReply } from './render-reply.ts';
import { streamResponsesReply } from './stream-reply.ts';

export const openaiResponsesWire: Wire = {
  protocol: 'openai-responses',
  parseRequest: parseResponsesRequest,
  streamReply: streamResponsesReply,
  wholeReply: wholeResponsesReply,
  renderError: renderOpenaiError,
  renderErrorEvent: (failure, context) => ({
    event: 'error',
    data: { type: 'error', sequence_number: 0, error: openaiErrorObject(failure, context) },
  }),
  renderTokenCount: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
};
