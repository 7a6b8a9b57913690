// Which kind of failure the facts of an error describe: an ordered list, the first that fits wins. The order matters
// where providers reuse a status: a wrong key is a 400 at Google, a spent balance is a 429 at OpenAI.
import type { ErrorFacts } from './error-facts.ts';

export type ErrorKind =
  | 'aborted'
  | 'overflow'
  | 'auth'
  | 'refusal'
  | 'rate-limit'
  | 'overload'
  | 'unknown-model'
  | 'network'
  | 'server'
  | 'bad-request'
  | 'other';

const overflow =
  /prompt is too long|maximum context length|context[ _](?:length|window|size|limit)|exceeds? the (?:available )?context|input token count.*exceeds|input is too long|too many (?:input )?tokens|longer than the maximum model length|request too large/i;
const badKey =
  /api key (?:not valid|not found|expired)|(?:invalid|incorrect|missing|no|bad) (?:x-)?api[- ]key|unauthorized|credit balance|insufficient (?:quota|balance|credits)|billing hard limit/i;
const refusal =
  /content[ _-](?:policy|filter|management)|usage polic|safety (?:system|filter)|responsible ai|prohibited/i;
const overloaded = /overloaded|over capacity|at capacity|temporarily unavailable/i;
const noModel =
  /model[^.]{0,120}(?:not (?:found|exist|supported|available)|does not exist|unknown|isn't available)|(?:no such|unknown|invalid) model|not found, try pulling/i;

interface Choice {
  readonly kind: ErrorKind;
  readonly fits: (facts: ErrorFacts) => boolean;
}

const choices: readonly Choice[] = [
  {
    kind: 'aborted',
    fits: ({ names, message }) =>
      has(names, 'AbortError', 'ResponseAborted') || /^AbortError\b/.test(message),
  },
  {
    kind: 'overflow',
    fits: (facts) =>
      facts.status === 413 ||
      has(facts.codes, 'context_length_exceeded', 'exceed_context_size_error', 'request_too_large') ||
      (isRequestFault(facts) && overflow.test(facts.message)),
  },
  {
    kind: 'auth',
    fits: (facts) =>
      [401, 402, 403].includes(facts.status ?? 0) ||
      has(facts.names, 'AI_LoadAPIKeyError', 'AI_LoadSettingError') ||
      has(facts.codes, 'invalid_api_key', 'authentication_error', 'permission_error', 'API_KEY_INVALID') ||
      isSpent(facts) ||
      (facts.status === 400 && badKey.test(facts.message)),
  },
  {
    kind: 'refusal',
    fits: (facts) =>
      has(facts.codes, 'content_filter', 'content_policy_violation', 'invalid_prompt') ||
      (facts.status === 400 && refusal.test(facts.message)),
  },
  {
    kind: 'rate-limit',
    fits: ({ status, codes }) =>
      status === 429 || has(codes, 'rate_limit_error', 'rate_limit_exceeded', 'RESOURCE_EXHAUSTED'),
  },
  {
    kind: 'overload',
    fits: (facts) =>
      facts.status === 529 ||
      facts.status === 503 ||
      has(facts.codes, 'overloaded_error', 'server_is_overloaded', 'UNAVAILABLE') ||
      (facts.isProviderError && overloaded.test(facts.message)),
  },
  {
    kind: 'unknown-model',
    fits: (facts) =>
      has(facts.names, 'AI_NoSuchModelError', 'AI_NoSuchProviderError') ||
      has(facts.codes, 'model_not_found') ||
      (facts.status === 404 && facts.isProviderError) ||
      (facts.status === 400 && noModel.test(facts.message)),
  },
  { kind: 'server', fits: ({ status }) => status === 408 || (status !== null && status >= 500) },
  { kind: 'bad-request', fits: ({ status }) => status !== null },
  {
    kind: 'network',
    fits: (facts) =>
      facts.networkCode !== null ||
      has(facts.names, 'TimeoutError') ||
      /^TimeoutError|cannot connect to api|fetch failed|failed to process successful response/i.test(
        facts.message,
      ),
  },
  {
    kind: 'server',
    fits: ({ names, isProviderError }) =>
      isProviderError ||
      has(
        names,
        'AI_JSONParseError',
        'AI_TypeValidationError',
        'AI_InvalidResponseDataError',
        'AI_InvalidStreamPartError',
        'AI_EmptyResponseBodyError',
        'AI_NoOutputGeneratedError',
        'AI_NoContentGeneratedError',
      ),
  },
  {
    kind: 'bad-request',
    fits: ({ names }) =>
      has(
        names,
        'AI_InvalidPromptError',
        'AI_InvalidArgumentError',
        'AI_UnsupportedFunctionalityError',
        'AI_MessageConversionError',
      ),
  },
];

export function errorKind(facts: ErrorFacts): ErrorKind {
  return choices.find(({ fits }) => fits(facts))?.kind ?? 'other';
}

/** The provider will not change its mind by waiting: somebody has to pay. */
export function isSpent({ codes, status, message }: ErrorFacts): boolean {
  return (
    status === 402 ||
    has(codes, 'insufficient_quota', 'billing_hard_limit_reached', 'billing_error') ||
    (status === 400 && /credit balance/i.test(message))
  );
}

/** A stream that breaks off with such a message carries no status. */
function isRequestFault({ status, isProviderError }: ErrorFacts): boolean {
  return status === null ? isProviderError : status < 500;
}

function has(found: readonly string[], ...wanted: readonly string[]): boolean {
  return wanted.some((each) => found.includes(each));
}
