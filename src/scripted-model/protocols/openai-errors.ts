// OpenAI's errors, which chat completions and Responses share: one `error` object with a type and a code.
// Shapes only; which failure happens is the script's choice.
import type { FailureKind, ModelFailure } from '../model-reply.ts';
import type { ErrorAnswer, FailureContext } from '../wire.ts';

interface Shape {
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
  readonly message: (context: FailureContext) => string;
}

const SHAPES: Readonly<Record<FailureKind, Shape>> = {
  'invalid-request': {
    status: 400,
    type: 'invalid_request_error',
    code: 'invalid_value',
    message: () => 'The request is not valid.',
  },
  authentication: {
    status: 401,
    type: 'invalid_request_error',
    code: 'invalid_api_key',
    message: () =>
      'Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys.',
  },
  permission: {
    status: 403,
    type: 'invalid_request_error',
    code: 'unsupported_country_region_territory',
    message: () => 'Country, region, or territory not supported.',
  },
  'unknown-model': {
    status: 404,
    type: 'invalid_request_error',
    code: 'model_not_found',
    message: ({ model }) => `The model \`${model}\` does not exist or you do not have access to it.`,
  },
  'context-length': {
    status: 400,
    type: 'invalid_request_error',
    code: 'context_length_exceeded',
    message: ({ inputTokens, contextWindow }) =>
      `This model's maximum context length is ${contextWindow} tokens. However, your messages resulted in ${inputTokens} tokens. Please reduce the length of the messages.`,
  },
  'rate-limit': {
    status: 429,
    type: 'requests',
    code: 'rate_limit_exceeded',
    message: ({ model }) => `Rate limit reached for ${model} on requests per min (RPM).`,
  },
  overload: {
    status: 503,
    type: 'server_error',
    code: 'server_is_overloaded',
    message: () => 'Our servers are currently overloaded. Please try again later.',
  },
  'server-error': {
    status: 500,
    type: 'server_error',
    code: null,
    message: () => 'The server had an error while processing your request. Sorry about that!',
  },
};

export function openaiErrorObject(failure: ModelFailure, context: FailureContext) {
  const shape = SHAPES[failure.kind];
  return {
    message: failure.message ?? shape.message(context),
    type: shape.type,
    param: null,
    code: shape.code,
  };
}

export function renderOpenaiError(failure: ModelFailure, context: FailureContext): ErrorAnswer {
  const wait = failure.retryAfterSeconds;
  return {
    status: failure.status ?? SHAPES[failure.kind].status,
    headers: {
      'x-request-id': `req_${context.requestId}`,
      ...(wait === undefined
        ? {}
        : {
            'retry-after': String(Math.ceil(wait)),
            'retry-after-ms': String(Math.round(wait * 1000)),
            'x-ratelimit-remaining-requests': '0',
            'x-ratelimit-reset-requests': `${wait}s`,
          }),
    },
    body: failure.body ?? { error: openaiErrorObject(failure, context) },
  };
}
