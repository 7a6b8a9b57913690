// How each vendor reports a failure.
import type { ModelFailure, Protocol, WireEvent } from './model.ts';

/**
 * Status, the vendor's word (OpenAI: a type and perhaps a code), a colon, what it says.
 */
const anthropic = {
  'invalid-request': '400 invalid_request_error: messages: invalid request',
  authentication: '401 authentication_error: invalid x-api-key',
  permission: '403 permission_error: Your API key does not have permission.',
  'unknown-model': '404 not_found_error: model: {model}',
  'context-length':
    '400 invalid_request_error: prompt is too long: {inputTokens} tokens > {contextWindow} maximum',
  'rate-limit':
    '429 rate_limit_error: This request would exceed the rate limit for your organization.',
  overload: '529 overloaded_error: Overloaded',
  'server-error': '500 api_error: Internal server error',
};

export type FailureKind = keyof typeof anthropic;
type Shapes = Readonly<Record<FailureKind, string>>;

const openai: Shapes = {
  'invalid-request': '400 invalid_request_error invalid_value: The request is not valid.',
  authentication:
    '401 invalid_request_error invalid_api_key: Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys.',
  permission:
    '403 invalid_request_error unsupported_country_region_territory: Country, region, or territory not supported.',
  'unknown-model':
    '404 invalid_request_error model_not_found: The model `{model}` does not exist or you do not have access to it.',
  'context-length':
    "400 invalid_request_error context_length_exceeded: This model's maximum context length is {contextWindow} tokens. However, your messages resulted in {inputTokens} tokens. Please reduce the length of the messages.",
  'rate-limit':
    '429 requests rate_limit_exceeded: Rate limit reached for {model} on requests per min (RPM).',
  overload:
    '503 server_error server_is_overloaded: Our servers are currently overloaded. Please try again later.',
  'server-error':
    '500 server_error: The server had an error while processing your request. Sorry about that!',
};

const gemini: Shapes = {
  'invalid-request': '400 INVALID_ARGUMENT: Request contains an invalid argument.',
  authentication: '400 INVALID_ARGUMENT: API key not valid. Please pass a valid API key.',
  permission: '403 PERMISSION_DENIED: The caller does not have permission',
  'unknown-model':
    '404 NOT_FOUND: models/{model} is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.',
  'context-length':
    '400 INVALID_ARGUMENT: The input token count ({inputTokens}) exceeds the maximum number of tokens allowed ({contextWindow}).',
  'rate-limit':
    '429 RESOURCE_EXHAUSTED: You exceeded your current quota, please check your plan and billing details.',
  overload: '503 UNAVAILABLE: The model is overloaded. Please try again later.',
  'server-error': '500 INTERNAL: An internal error has occurred.',
};

const invalidKey = {
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason: 'API_KEY_INVALID',
  domain: 'googleapis.com',
  metadata: { service: 'generativelanguage.googleapis.com' },
};

type Facts = Readonly<{
  requestId: string;
  model: string;
  inputTokens: number;
  contextWindow: number;
}>;
/** `event`: inside a stream that has already begun. */
export type Report = Readonly<{
  status: number;
  body: unknown;
  headers: Record<string, string>;
  event: WireEvent;
}>;

export const openaiError = (
  message: string,
  type: string,
  code: string | null = null,
) => ({
  error: { message, type, param: null, code },
});

export function reportFailure(
  protocol: Protocol,
  failure: ModelFailure,
  facts: Facts,
): Report {
  const { kind, retryAfterSeconds: wait } = failure;
  const shapes = { anthropic, gemini, 'openai-chat': openai, 'openai-responses': openai }[
    protocol
  ];
  const [, usual, word = '', says = ''] = /^(\d+) (.+?): (.+)$/.exec(shapes[kind]) ?? [];
  const filled = says.replace(/\{(\w+)\}/g, (_, name) =>
    String(facts[name as keyof Facts]),
  );
  const { status = Number(usual), message = filled } = failure;
  if (protocol === 'gemini') {
    // Gemini names the wait in no header.
    const retry = {
      '@type': 'type.googleapis.com/google.rpc.RetryInfo',
      retryDelay: `${wait}s`,
    };
    const waiting = wait === undefined ? undefined : [retry];
    const details = kind === 'authentication' ? [invalidKey] : waiting;
    const body = { error: { code: status, message, status: word, details } };
    return { status, body, headers: {}, event: { data: body } };
  }
  const id = `req_${facts.requestId}`;
  const waiting = wait !== undefined && { 'retry-after': String(Math.ceil(wait)) };
  if (protocol === 'anthropic') {
    const body = { type: 'error', error: { type: word, message }, request_id: id };
    const limits = waiting && {
      ...waiting,
      'anthropic-ratelimit-requests-remaining': '0',
    };
    return {
      status,
      body,
      headers: { 'request-id': id, ...limits },
      event: { event: 'error', data: body },
    };
  }
  const [type = '', code] = word.split(' ');
  const body = openaiError(message, type, code);
  const limits = wait !== undefined && {
    ...waiting,
    'retry-after-ms': String(Math.round(wait * 1000)),
    'x-ratelimit-remaining-requests': '0',
    'x-ratelimit-reset-requests': `${wait}s`,
  };
  const numbered = {
    event: 'error',
    data: { type: 'error', sequence_number: 0, ...body },
  };
  const event = protocol === 'openai-chat' ? { data: body } : numbered;
  return { status, body, headers: { 'x-request-id': id, ...limits }, event };
}
