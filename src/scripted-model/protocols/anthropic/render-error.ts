// Anthropic's errors: `{type: "error", error: {type, message}}`, overload with its own status 529.
import type { FailureKind, ModelFailure } from '../../model-reply.ts';
import type { ErrorAnswer, FailureContext, WireEvent } from '../../wire.ts';

interface Shape {
  readonly status: number;
  readonly type: string;
  readonly message: (context: FailureContext) => string;
}

const SHAPES: Readonly<Record<FailureKind, Shape>> = {
  'invalid-request': {
    status: 400,
    type: 'invalid_request_error',
    message: () => 'messages: invalid request',
  },
  authentication: { status: 401, type: 'authentication_error', message: () => 'invalid x-api-key' },
  permission: {
    status: 403,
    type: 'permission_error',
    message: () => 'Your API key does not have permission.',
  },
  'unknown-model': { status: 404, type: 'not_found_error', message: ({ model }) => `model: ${model}` },
  'context-length': {
    status: 400,
    type: 'invalid_request_error',
    message: ({ inputTokens, contextWindow }) =>
      `prompt is too long: ${inputTokens} tokens > ${contextWindow} maximum`,
  },
  'rate-limit': {
    status: 429,
    type: 'rate_limit_error',
    message: () => 'This request would exceed the rate limit for your organization.',
  },
  overload: { status: 529, type: 'overloaded_error', message: () => 'Overloaded' },
  'server-error': { status: 500, type: 'api_error', message: () => 'Internal server error' },
};

function bodyOf(failure: ModelFailure, context: FailureContext): unknown {
  const shape = SHAPES[failure.kind];
  return {
    type: 'error',
    error: { type: shape.type, message: failure.message ?? shape.message(context) },
    request_id: `req_${context.requestId}`,
  };
}

export function renderAnthropicError(failure: ModelFailure, context: FailureContext): ErrorAnswer {
  const wait = failure.retryAfterSeconds;
  return {
    status: failure.status ?? SHAPES[failure.kind].status,
    headers: {
      'request-id': `req_${context.requestId}`,
      ...(wait === undefined
        ? {}
        : { 'retry-after': String(Math.ceil(wait)), 'anthropic-ratelimit-requests-remaining': '0' }),
    },
    body: failure.body ?? bodyOf(failure, context),
  };
}

export function renderAnthropicErrorEvent(failure: ModelFailure, context: FailureContext): WireEvent {
  return { event: 'error', data: bodyOf(failure, context) };
}
