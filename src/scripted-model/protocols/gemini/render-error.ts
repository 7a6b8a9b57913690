// Gemini's errors: a code, a message and a status word. The wait after a rate limit is in the body (RetryInfo), not
// in a header, and a wrong key is a 400.
import type { FailureKind, ModelFailure } from '../../model-reply.ts';
import type { ErrorAnswer, FailureContext, WireEvent } from '../../wire.ts';

interface Shape {
  readonly code: number;
  readonly status: string;
  readonly message: (context: FailureContext) => string;
}

const SHAPES: Readonly<Record<FailureKind, Shape>> = {
  'invalid-request': {
    code: 400,
    status: 'INVALID_ARGUMENT',
    message: () => 'Request contains an invalid argument.',
  },
  authentication: {
    code: 400,
    status: 'INVALID_ARGUMENT',
    message: () => 'API key not valid. Please pass a valid API key.',
  },
  permission: {
    code: 403,
    status: 'PERMISSION_DENIED',
    message: () => 'The caller does not have permission',
  },
  'unknown-model': {
    code: 404,
    status: 'NOT_FOUND',
    message: ({ model }) =>
      `models/${model} is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.`,
  },
  'context-length': {
    code: 400,
    status: 'INVALID_ARGUMENT',
    message: ({ inputTokens, contextWindow }) =>
      `The input token count (${inputTokens}) exceeds the maximum number of tokens allowed (${contextWindow}).`,
  },
  'rate-limit': {
    code: 429,
    status: 'RESOURCE_EXHAUSTED',
    message: () => 'You exceeded your current quota, please check your plan and billing details.',
  },
  overload: {
    code: 503,
    status: 'UNAVAILABLE',
    message: () => 'The model is overloaded. Please try again later.',
  },
  'server-error': { code: 500, status: 'INTERNAL', message: () => 'An internal error has occurred.' },
};

function detailsOf(failure: ModelFailure): readonly unknown[] {
  if (failure.kind === 'authentication') {
    return [
      {
        '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
        reason: 'API_KEY_INVALID',
        domain: 'googleapis.com',
        metadata: { service: 'generativelanguage.googleapis.com' },
      },
    ];
  }
  if (failure.retryAfterSeconds === undefined) return [];
  return [
    { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${failure.retryAfterSeconds}s` },
  ];
}

function bodyOf(failure: ModelFailure, context: FailureContext): unknown {
  const shape = SHAPES[failure.kind];
  const details = detailsOf(failure);
  return {
    error: {
      code: failure.status ?? shape.code,
      message: failure.message ?? shape.message(context),
      status: shape.status,
      ...(details.length > 0 ? { details } : {}),
    },
  };
}

export function renderGeminiError(failure: ModelFailure, context: FailureContext): ErrorAnswer {
  return {
    status: failure.status ?? SHAPES[failure.kind].code,
    headers: {},
    body: failure.body ?? bodyOf(failure, context),
  };
}

export function renderGeminiErrorEvent(failure: ModelFailure, context: FailureContext): WireEvent {
  return { data: bodyOf(failure, context) };
}
