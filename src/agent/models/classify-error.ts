// Turns whatever a call to a model throws or streams into one value (G9): what kind of failure, the same signature for
// the same cause, what to tell the human, whether and when to try again. Errors are read by shape, not by class: they
// cross chunks and come wrapped. It performs nothing, and nothing that could be a key leaves it.
import { oneLine } from '../../core/safe-text.ts';
import type { ModelFacts } from './resolve-model.ts';
import { retryAt } from './retry-plan.ts';

export interface ClassifiedError {
  readonly kind: ErrorKind;
  /** Same cause, same text; what opens the circuit. */
  readonly signature: string;
  readonly sentence: string;
  readonly retryable: boolean;
  readonly retryAt: number | null;
}

/** The SDK's own `isRetryable` goes by the status alone, and a spent balance is a 429: the kind is what counts. */
const retried: readonly ErrorKind[] = ['rate-limit', 'overload', 'server', 'network', 'other'];

export function classifyError(
  error: unknown,
  { now, about }: { readonly now: number; readonly about: ModelFacts },
): ClassifiedError {
  const facts = errorFacts(error);
  const kind = kindOf(facts);
  const retryable = retried.includes(kind) && !(kind === 'network' && isCertificate(facts.networkCode));
  return {
    kind,
    signature: signatureOf(kind, facts),
    sentence: (sentences[kind] as Sentence)(facts, about),
    retryable,
    retryAt: retryable ? retryAt(facts, now) : null,
  };
}

type Fields = Readonly<Record<string, unknown>>;

const networkCodes =
  /^(?:E[A-Z]+|EAI_\w+|UND_ERR_\w+|CERT_\w+|\w*(?:CERT|SIGNATURE)\w*|Connection\w+|FailedToOpenSocket)$/;

export type ErrorFacts = ReturnType<typeof errorFacts>;

export function errorFacts(error: unknown) {
  const chain = causesOf(error);
  const answered = chain.find(({ statusCode }) => typeof statusCode === 'number') ?? chain[0] ?? {};
  const { statusCode: status, responseHeaders } = answered;
  const data = answered['data'] ?? parsed(answered['responseBody']);
  const details = field(field(data, 'error'), 'details') ?? field(data, 'details');
  const detailed = (key: string) => (Array.isArray(details) ? details.map((each) => field(each, key)) : []);
  const coded = [answered, data, field(data, 'error')];
  const codes = coded.flatMap((each) => ['type', 'code', 'status'].map((key) => field(each, key)));
  const headers = Object.entries(isFields(responseHeaders) ? responseHeaders : {});
  // A retry error only counts attempts; the last error says what happened.
  const speaking = chain.find(({ lastError, message }) => lastError === undefined && isText(message));
  return {
    status: typeof status === 'number' && status >= 400 ? status : null,
    headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), String(value)])),
    names: chain.map(({ name }) => name).filter(isText),
    /** Words by which providers tell errors apart: overloaded_error, context_length_exceeded, RESOURCE_EXHAUSTED. */
    codes: [...codes, ...detailed('reason')].filter(isText).filter((code) => code !== 'error'),
    networkCode:
      chain
        .map(({ code }) => code)
        .filter(isText)
        .find((code) => networkCodes.test(code)) ?? null,
    message: isText(error) ? error : String(speaking?.['message'] ?? ''),
    isProviderError: data !== undefined,
    retryDelay: detailed('retryDelay').find((delay) => delay !== undefined),
  };
}

/** RetryError hides the real one in `lastError`, most others in `cause`. More than eight are a cycle. */
function causesOf(error: unknown): Fields[] {
  const chain: Fields[] = [];
  let current = error;
  while (isFields(current) && chain.length < 8 && !chain.includes(current)) {
    chain.push(current);
    current = current['lastError'] ?? current['cause'];
  }
  return chain;
}

function parsed(text: unknown): unknown {
  try {
    const value: unknown = isText(text) ? JSON.parse(text) : undefined;
    return isFields(value) ? value : undefined;
  } catch {
    // Safe: a page instead of JSON is itself a fact, told by isProviderError.
    return undefined;
  }
}

function field(value: unknown, key: string): unknown {
  return isFields(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

const always = (): boolean => true;
const fromProvider = ({ isProviderError }: ErrorFacts): boolean => isProviderError;
const spentCodes = ['insufficient_quota', 'billing_hard_limit_reached', 'billing_error'];
const keyCodes = ['invalid_api_key', 'authentication_error', 'permission_error', 'API_KEY_INVALID'];
const authSigns = [401, 402, 403, 'AI_LoadAPIKeyError', 'AI_LoadSettingError', ...keyCodes, ...spentCodes];
/** Errors of the AI SDK about an answer, and about a request. */
const badAnswer =
  /^AI_(?:JSONParse|TypeValidation|InvalidResponseData|InvalidStreamPart|EmptyResponseBody|NoOutputGenerated|NoContentGenerated)Error$/;
const badRequest = /^AI_(?:InvalidPrompt|InvalidArgument|UnsupportedFunctionality|MessageConversion)Error$/;
const hasName = (pattern: RegExp) => (facts: ErrorFacts) => facts.names.some((name) => pattern.test(name));

/**
 * A kind fits by one of its signs (a status, the name of an error, a code of a provider), or by its words where these
 * count: by default with a status of 400. The first row that fits wins, since providers reuse statuses: a wrong key is
 * a 400 at Google, a spent balance a 429 at OpenAI.
 */
const rows: readonly (readonly [
  kind: ErrorKind,
  signs: readonly (string | number)[],
  words?: RegExp,
  when?: (facts: ErrorFacts) => boolean,
])[] = [
  ['aborted', ['AbortError', 'ResponseAborted'], /^AbortError\b/, always],
  [
    'overflow',
    [413, 'context_length_exceeded', 'exceed_context_size_error', 'request_too_large'],
    /prompt is too long|maximum context length|context[ _](?:length|window|size|limit)|exceeds? the (?:available )?context|input token count.*exceeds|input is too long|too many (?:input )?tokens|longer than the maximum model length|request too large/i,
    // A stream that breaks off with such a message carries no status.
    ({ status, isProviderError }) => (status === null ? isProviderError : status < 500),
  ],
  [
    'auth',
    authSigns,
    /api key (?:not valid|not found|expired)|(?:invalid|incorrect|missing|no|bad) (?:x-)?api[- ]key|unauthorized|credit balance|insufficient (?:quota|balance|credits)|billing hard limit/i,
  ],
  [
    'refusal',
    ['content_filter', 'content_policy_violation', 'invalid_prompt'],
    /content[ _-](?:policy|filter|management)|usage polic|safety (?:system|filter)|responsible ai|prohibited/i,
  ],
  ['rate-limit', [429, 'rate_limit_error', 'rate_limit_exceeded', 'RESOURCE_EXHAUSTED']],
  [
    'overload',
    [503, 529, 'overloaded_error', 'server_is_overloaded', 'UNAVAILABLE'],
    /overloaded|over capacity|at capacity|temporarily unavailable/i,
    fromProvider,
  ],
  [
    'unknown-model',
    ['AI_NoSuchModelError', 'AI_NoSuchProviderError', 'model_not_found'],
    /model[^.]{0,120}(?:not (?:found|exist|supported|available)|does not exist|unknown|isn't available)|(?:no such|unknown|invalid) model|not found, try pulling/i,
  ],
  ['unknown-model', [], /^/, ({ status, isProviderError }) => status === 404 && isProviderError],
  ['server', [408], /^/, ({ status }) => (status ?? 0) >= 500],
  ['bad-request', [], /^/, ({ status }) => status !== null],
  ['network', ['TimeoutError'], /^/, ({ networkCode }) => networkCode !== null],
  [
    'network',
    [],
    /^TimeoutError|cannot connect to api|fetch failed|failed to process successful response/i,
    always,
  ],
  ['server', [], /^/, (facts) => hasName(badAnswer)(facts) || fromProvider(facts)],
  ['bad-request', [], /^/, hasName(badRequest)],
];

function kindOf(facts: ErrorFacts): ErrorKind {
  const { status, names, codes, message } = facts;
  const found = [status, ...names, ...codes];
  const row = rows.find(([, signs, words, when = () => status === 400]) => {
    return signs.some((sign) => found.includes(sign)) || (words?.test(message) && when(facts));
  });
  return row?.[0] ?? 'other';
}

function isCertificate(code: string | null): boolean {
  return code !== null && /CERT|SIGNATURE/.test(code);
}

type Sentence = (facts: ErrorFacts, about: ModelFacts) => string;
type ErrorKind = keyof typeof sentences;

const sentences = {
  aborted: () => 'The call to the model was ended.',
  'rate-limit': (_, { label }) =>
    `${label} limits how often it may be called; the agent goes on when the limit resets.`,
  overload: (_, { label }) => `${label} is overloaded; the agent goes on when it answers again.`,
  overflow: (_, { label }) => `The conversation no longer fits into the context of ${label}.`,
  auth: authSentence,
  'unknown-model': (_, { label, address, provider, modelId }) =>
    `${label} is not known at ${address}: ${provider === 'ollama' ? `fetch it with "ollama pull ${modelId}"` : 'check its name'}, or choose another with --model.`,
  network: networkSentence,
  refusal: (facts, { label }) => `${label} refuses this request by its content rules${said(facts)}.`,
  server: (facts, { label }) =>
    facts.status === null
      ? `The answer of ${label} cannot be read: it broke off or is malformed.`
      : `${label} failed on its side (status ${facts.status})${said(facts)}.`,
  'bad-request': (facts, { label, address, provider }) =>
    facts.status === 404
      ? `${address} does not know this kind of request: check the address, or set models.${provider}.api to "chat" if it speaks chat completions only.`
      : `${label} does not accept the request${facts.status === null ? '' : ` (status ${facts.status})`}${said(facts)}.`,
  other: (facts, { label }) => `The call to ${label} failed${said(facts)}.`,
} satisfies Record<string, Sentence>;

function authSentence(facts: ErrorFacts, { label, address, provider, keyVariable }: ModelFacts): string {
  const { status, codes, message } = facts;
  const isSpent = status === 402 || codes.some((code) => spentCodes.includes(code));
  if (isSpent || (status === 400 && /credit balance/i.test(message)))
    return `The account behind ${keyVariable ?? label} has no credit left: check its billing.`;
  if (keyVariable === null)
    return `${address} wants a key: name the variable that holds it in models.${provider}.apiKeyEnv.`;
  if (status === 403)
    return `The key in ${keyVariable} may not use ${label}: check its permissions, or choose another model with --model.`;
  return `The key in ${keyVariable} was refused by ${address}: check it and set it again.`;
}

const nothingListens = 'nothing listens there; start the server or correct its address';
const brokeOff = 'the connection broke off';
const unreachable: Readonly<Record<string, string>> = {
  ECONNREFUSED: nothingListens,
  ConnectionRefused: nothingListens,
  ENOTFOUND: 'its name cannot be found; check the network and the address',
  EAI_AGAIN: 'its name cannot be looked up; check the network',
  ENETUNREACH: 'there is no network',
  EHOSTUNREACH: 'there is no way to it; check the network',
  ECONNRESET: brokeOff,
  EPIPE: brokeOff,
  UND_ERR_SOCKET: brokeOff,
};

function networkSentence({ networkCode, names, message }: ErrorFacts, { address }: ModelFacts): string {
  const code = networkCode ?? '';
  if (names.includes('TimeoutError') || /TIMEOUT|ETIMEDOUT/.test(code) || /^TimeoutError/.test(message))
    return `${address} did not answer in time; check the network or try again.`;
  if (isCertificate(code))
    return `The certificate of ${address} is not trusted: name your own authority in NODE_EXTRA_CA_CERTS.`;
  return `${address} cannot be reached: ${unreachable[code] ?? 'check the network and the address'}.`;
}

function said({ message }: ErrorFacts): string {
  const words = quoteProvider(message).replace(/[.\s]+$/, '');
  return words === '' ? '' : `; it says: ${words}`;
}

function signatureOf(kind: ErrorKind, { status, codes, networkCode, names, message }: ErrorFacts): string {
  // A network's message names ports and addresses; its code alone says what is wrong.
  if (networkCode !== null) return `${kind} ${networkCode}`;
  const which = codes[0] ?? (status === null ? names[0] : undefined);
  return [kind, status ?? '', which ?? '', signatureText(message)].filter((part) => part !== '').join(' ');
}

/** Marked keys (sk-…, AIza…), bearer tokens, and any long word with digits in it: whatever might be a key goes. */
const secrets = [
  /\b(?:bearer|basic)\s+\S+/gi,
  /\b(?:sk|pk|rk|xai|gsk|key|api|token|ghp|gho|glpat|hf|nvapi)[-_][\w*.-]{6,}/gi,
  /\bAIza[\w*-]{10,}/g,
  /(?=[\w+/=*-]*\d)[\w+/=*-]{28,}/g,
];

function withoutSecrets(text: string): string {
  return secrets.reduce((rest, pattern) => rest.replace(pattern, '…'), text);
}

export function quoteProvider(text: string): string {
  return oneLine(withoutSecrets(text), 200);
}

/** The same cause gives the same text: what differs from call to call (numbers, ids, addresses) is taken out. */
export function signatureText(text: string): string {
  const stable = withoutSecrets(text)
    .toLowerCase()
    .replace(/https?:\/\/\S+/g, '#')
    .replace(/\b(?:req|request|msg|resp|call|chatcmpl|trace|id)[-_:][\w-]+/g, '#')
    .replace(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '#')
    .replace(/\b(?=\w*\d)[0-9a-f]{8,}\b/g, '#')
    .replace(/\d+(?:[.,:]\d+)*/g, '#');
  return oneLine(stable, 160);
}
