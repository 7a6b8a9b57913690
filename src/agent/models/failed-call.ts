// A failed call to a model (G9): its kind, what the human is told, when it is made again.
// Errors come wrapped and are read by shape. Nothing that could be a key leaves it.
import { parseJsonText } from '../../core/json-text.ts';
import { oneLine } from '../../core/safe-text.ts';
import type { ModelFacts } from './resolve-model.ts';

export type ClassifiedError = ReturnType<typeof classifyError>;
type ErrorFacts = ReturnType<typeof errorFacts>;
type ErrorKind = keyof typeof sentences;

/** The SDK's `isRetryable` goes by status, and a spent balance is a 429. */
const retried: readonly ErrorKind[] = [
  'rate-limit',
  'overload',
  'server',
  'network',
  'other',
];

/** `hasAnswered`: the address is known to be right. */
type FailedCall = Readonly<{ now: number; about: ModelFacts; hasAnswered?: boolean }>;

/**
 * `signature`: same cause, same text; it opens the circuit. `outage`: it passes by
 * itself, in minutes.
 */
export function classifyError(
  error: unknown,
  { now, about, hasAnswered = false }: FailedCall,
) {
  const facts = errorFacts(error);
  const kind = kindOf(facts);
  const retryable =
    retried.includes(kind) && !(kind === 'network' && isCertificate(facts.networkCode));
  const sentence: string = sentences[kind]({ ...facts, ...about });
  const signature = signatureOf(kind, facts);
  // At the first call a server that is not there is more likely a wrong address than an
  // outage.
  const isThere = hasAnswered || !absentCodes.includes(facts.networkCode ?? '');
  const outage = retryable && (kind === 'server' || (kind === 'network' && isThere));
  return {
    kind,
    signature,
    sentence,
    retryable,
    outage,
    retryAt: retryable ? retryAt(facts, now) : null,
  };
}

const absentCodes = [
  'ECONNREFUSED',
  'ConnectionRefused',
  'FailedToOpenSocket',
  'ENOTFOUND',
];

type Fields = Readonly<Record<string, unknown>>;

const networkCodes =
  /^(?:E[A-Z]+|EAI_\w+|UND_ERR_\w+|\w*(?:CERT|SIGNATURE)\w*|Connection\w+|FailedToOpenSocket)$/;

export function errorFacts(error: unknown) {
  // RetryError hides the real one in `lastError`. More than eight are a cycle.
  const chain: Fields[] = [];
  for (
    let next = error;
    isFields(next) && chain.length < 8;
    next = next['lastError'] ?? next['cause']
  )
    chain.push(next);
  const textsOf = (name: string) => chain.map((link) => link[name]).filter(isText);
  const answered =
    chain.find(({ statusCode }) => typeof statusCode === 'number') ?? chain[0] ?? {};
  const { statusCode: status, responseHeaders, responseBody } = answered;
  const body = isText(responseBody) ? parseJsonText(responseBody) : null;
  // A page in between is no answer of the provider.
  const data =
    answered['data'] ?? (body?.ok && isFields(body.value) ? body.value : undefined);
  const outer = fieldsOf(data);
  const inner = fieldsOf(outer['error']);
  const listed = inner['details'] ?? outer['details'];
  const details = Array.isArray(listed) ? listed.map(fieldsOf) : [];
  const codes = [answered, outer, inner].flatMap(({ type, code, status }) => [
    type,
    code,
    status,
  ]);
  const headers = Object.entries(fieldsOf(responseHeaders));
  // A retry error only counts attempts; the last says what happened.
  const speaking = chain.find(
    ({ lastError, message }) => lastError === undefined && isText(message),
  );
  return {
    status: typeof status === 'number' && status >= 400 ? status : null,
    headers: Object.fromEntries(
      headers.map(([name, value]) => [name.toLowerCase(), String(value)]),
    ),
    names: textsOf('name'),
    codes: [...codes, ...details.map(({ reason }) => reason)]
      .filter(isText)
      .filter((code) => code !== 'error'),
    networkCode: textsOf('code').find((code) => networkCodes.test(code)) ?? null,
    message: isText(error) ? error : String(speaking?.['message'] ?? ''),
    isAnswer: data !== undefined,
    retryDelays: details.map(({ retryDelay }) => retryDelay),
  };
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null;
const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});

const spentCodes = ['insufficient_quota', 'billing_hard_limit_reached', 'billing_error'];
const keyCodes = [
  'invalid_api_key',
  'authentication_error',
  'permission_error',
  'API_KEY_INVALID',
];

/** Statuses, names of errors, codes of providers. */
const signs: Readonly<Record<string, readonly (string | number)[]>> = {
  aborted: ['AbortError', 'ResponseAborted'],
  overflow: [
    413,
    'context_length_exceeded',
    'exceed_context_size_error',
    'request_too_large',
  ],
  auth: [
    401,
    402,
    403,
    'AI_LoadAPIKeyError',
    'AI_LoadSettingError',
    ...keyCodes,
    ...spentCodes,
  ],
  refusal: ['content_filter', 'content_policy_violation', 'invalid_prompt'],
  'rate-limit': [429, 'rate_limit_error', 'rate_limit_exceeded', 'RESOURCE_EXHAUSTED'],
  overload: [503, 529, 'overloaded_error', 'server_is_overloaded', 'UNAVAILABLE'],
  'unknown-model': ['AI_NoSuchModelError', 'AI_NoSuchProviderError', 'model_not_found'],
  network: ['TimeoutError'],
};

const words: Readonly<Record<string, RegExp>> = {
  aborted: /^AbortError\b/,
  overflow:
    /prompt is too long|maximum context length|context[ _](?:length|window|size|limit)|exceeds? the (?:available )?context|input token count.*exceeds|input is too long|too many (?:input )?tokens|longer than the maximum model length|request too large/i,
  auth: /api key (?:not valid|not found|expired)|(?:invalid|incorrect|missing|no|bad) (?:x-)?api[- ]key|unauthorized|credit balance|insufficient (?:quota|balance|credits)|billing hard limit/i,
  refusal:
    /content[ _-](?:policy|filter|management)|usage polic|safety (?:system|filter)|responsible ai|prohibited/i,
  overload: /overloaded|over capacity|at capacity|temporarily unavailable/i,
  'unknown-model':
    /model[^.]{0,120}(?:not (?:found|exist|supported|available)|does not exist|unknown|isn't available)|(?:no such|unknown|invalid) model|not found, try pulling/i,
  network:
    /^TimeoutError|cannot connect to api|fetch failed|failed to process successful response/i,
};

const badAnswer =
  /^AI_(?:JSONParse|TypeValidation|InvalidResponseData|InvalidStreamPart|EmptyResponseBody|NoOutputGenerated|NoContentGenerated)Error$/m;
const badRequest =
  /^AI_(?:InvalidPrompt|InvalidArgument|UnsupportedFunctionality|MessageConversion)Error$/m;

type Rule = (facts: ErrorFacts, isSaid: boolean) => boolean;
const said400: Rule = ({ status }, isSaid) => isSaid && status === 400;

/**
 * The first row that fits wins: a wrong key is a 400 at Google, a spent balance a 429 at
 * OpenAI.
 */
const rules: readonly (readonly [ErrorKind, Rule])[] = [
  ['aborted', (_, isSaid) => isSaid],
  // A stream that breaks off carries no status.
  [
    'overflow',
    ({ status, isAnswer }, isSaid) =>
      isSaid && (status === null ? isAnswer : status < 500),
  ],
  ['auth', said400],
  ['refusal', said400],
  ['rate-limit', () => false],
  ['overload', ({ isAnswer }, isSaid) => isSaid && isAnswer],
  ['unknown-model', said400],
  ['unknown-model', ({ status, isAnswer }) => status === 404 && isAnswer],
  ['server', ({ status }) => status === 408 || (status ?? 0) >= 500],
  ['bad-request', ({ status }) => status !== null],
  ['network', ({ networkCode }, isSaid) => isSaid || networkCode !== null],
  ['server', ({ names, isAnswer }) => isAnswer || badAnswer.test(names.join('\n'))],
  ['bad-request', ({ names }) => badRequest.test(names.join('\n'))],
];

function kindOf(facts: ErrorFacts): ErrorKind {
  const { status, names, codes, message } = facts;
  const found = [status, ...names, ...codes];
  const row = rules.find(
    ([kind, rule]) =>
      signs[kind]?.some((sign) => found.includes(sign)) ||
      rule(facts, words[kind]?.test(message) ?? false),
  );
  return row?.[0] ?? 'other';
}

const isCertificate = (code: string | null) =>
  code !== null && /CERT|SIGNATURE/.test(code);

type Sentence = (facts: ErrorFacts & ModelFacts) => string;

const sentences = {
  aborted: () => 'The call to the model was stopped.',
  'rate-limit': ({ label }) =>
    `${label} limits how often it may be called; the agent goes on when the limit resets.`,
  overload: ({ label }) =>
    `${label} is overloaded; the agent goes on when it answers again.`,
  overflow: ({ label }) =>
    `The conversation no longer fits into the context of ${label}.`,
  auth({ label, address, provider, keyVariable, status, codes, message }) {
    const isSpent = status === 402 || codes.some((code) => spentCodes.includes(code));
    if (isSpent || (status === 400 && /credit balance/i.test(message)))
      return `The account behind ${keyVariable ?? label} has no credit left: check its billing.`;
    if (keyVariable === null)
      return `${address} wants a key: name the variable that holds it in models.${provider}.apiKeyEnv.`;
    return status === 403
      ? `The key in ${keyVariable} may not use ${label}: check its permissions, or choose another model with --model.`
      : `The key in ${keyVariable} was refused by ${address}: check it and set it again.`;
  },
  'unknown-model': ({ label, address, provider, modelId }) =>
    `${label} is not known at ${address}: ${provider === 'ollama' ? `fetch it with "ollama pull ${modelId}"` : 'check its name'}, or choose another with --model.`,
  network({ address, networkCode, names, message }) {
    const code = networkCode ?? '';
    if (
      names.includes('TimeoutError') ||
      /TIMED?OUT/.test(code) ||
      /^TimeoutError/.test(message)
    )
      return `${address} did not answer in time; check the network or try again.`;
    return isCertificate(code)
      ? `The certificate of ${address} is not trusted: name your own authority in NODE_EXTRA_CA_CERTS.`
      : `${address} cannot be reached: ${unreachable[code] ?? 'check the network and the address'}.`;
  },
  refusal: ({ label, message }) =>
    `${label} refuses this request because of its content rules${said(message)}.`,
  server: ({ label, status, message }) =>
    status === null
      ? `The answer of ${label} cannot be read: it broke off or is malformed.`
      : `${label} failed on its side (status ${status})${said(message)}.`,
  'bad-request': ({ label, address, provider, status, message }) =>
    status === 404
      ? `${address} does not know this kind of request: check the address, or set models.${provider}.api to "chat" if it speaks chat completions only.`
      : `${label} does not accept the request${status === null ? '' : ` (status ${status})`}${said(message)}.`,
  other: ({ label, message }) => `The call to ${label} failed${said(message)}.`,
} satisfies Record<string, Sentence>;

const nothingListens = 'nothing listens there; start the server or correct its address';
const brokeOff = 'the connection broke off';
const unreachable: Readonly<Record<string, string>> = {
  ECONNREFUSED: nothingListens,
  ConnectionRefused: nothingListens,
  ENOTFOUND: 'its name cannot be found; check the network and the address',
  EAI_AGAIN: 'its name cannot be looked up; check the network',
  ENETUNREACH: 'there is no network',
  EHOSTUNREACH: 'there is no route to it; check the network',
  ECONNRESET: brokeOff,
  EPIPE: brokeOff,
  UND_ERR_SOCKET: brokeOff,
};

function said(message: string): string {
  const words = quoteProvider(message).replace(/[.\s]+$/, '');
  return words === '' ? '' : `; it says: ${words}`;
}

function signatureOf(
  kind: ErrorKind,
  { status, codes, networkCode, names, message }: ErrorFacts,
): string {
  // Messages name ports and addresses.
  if (networkCode !== null) return `${kind} ${networkCode}`;
  const which = codes[0] ?? (status === null ? names[0] : undefined);
  return [kind, status, which, signatureText(message)].filter(Boolean).join(' ');
}

/** Patterns of everything that might be a key: it is taken out. */
const secrets = [
  /\b(?:bearer|basic)\s+\S+/gi,
  /\b(?:sk|pk|rk|xai|gsk|key|api|token|ghp|gho|glpat|hf|nvapi)[-_][\w*.-]{6,}/gi,
  /\bAIza[\w*-]{10,}/g,
  /(?=[\w+/=*-]*\d)[\w+/=*-]{28,}/g,
];

const withoutSecrets = (text: string) =>
  secrets.reduce((rest, pattern) => rest.replace(pattern, '…'), text);
export const quoteProvider = (text: string) => oneLine(withoutSecrets(text), 200);

/** Without numbers, ids and addresses, which differ from call to call. */
export function signatureText(text: string): string {
  const stable = withoutSecrets(text)
    .toLowerCase()
    .replace(/https?:\/\/\S+/g, '#')
    .replace(/\b(?:req|request|msg|resp|call|chatcmpl|trace|id)[-_:][\w-]+/g, '#')
    .replace(/\b(?=\w*\d)[0-9a-f]{8,}\b/g, '#')
    .replace(/\d+(?:[.,:]\d+)*/g, '#');
  return oneLine(stable, 160);
}

/** Since the last call that succeeded. */
export const noFailures = { attempts: 0, waits: 0, waitedMs: 0, outages: 0, outageMs: 0 };

/**
 * Waiting for a limit is no attempt. `waitMs`: of all waits, enough for an hourly limit.
 * `outageMs`: most are over by then; a night's work should not end because a connection
 * was gone for a minute.
 */
export const defaultRetryLimits = { attempts: 3, waitMs: 3_600_000, outageMs: 600_000 };
export type RetryPlan = ReturnType<typeof planRetry>;

export function planRetry(
  {
    kind,
    retryable,
    outage,
    retryAt,
  }: Pick<ClassifiedError, 'kind' | 'retryable' | 'outage' | 'retryAt'>,
  before: typeof noFailures,
  {
    now,
    random,
    limits,
  }: { now: number; random: number; limits: typeof defaultRetryLimits },
) {
  const giveUp = (reason: 'waited' | 'pointless' | 'attempts', failures = before) =>
    ({ retry: false, reason, failures }) as const;
  // Half certain, half chance: never at once, never all together.
  const backoff = (first: number, longest: number, earlier: number) => {
    const milliseconds = Math.min(longest, first * 2 ** earlier);
    return Math.round(milliseconds / 2 + (random * milliseconds) / 2);
  };
  if (kind === 'rate-limit' || kind === 'overload') {
    // Not all in the millisecond of the reset.
    const reset =
      retryAt === null
        ? null
        : Math.max(0, retryAt - now) + Math.round(250 + random * 1000);
    const delayMs = reset ?? backoff(2000, 60_000, before.waits);
    const failures = {
      ...before,
      waits: before.waits + 1,
      waitedMs: before.waitedMs + delayMs,
    };
    if (failures.waitedMs > limits.waitMs) return giveUp('waited');
    return { retry: true as const, delayMs, failures };
  }
  // Not longer than the backoff ever gets.
  const asked = retryAt === null ? 0 : Math.min(retryAt - now, 30_000);
  const delayMs = Math.max(
    backoff(1000, 30_000, before.attempts + before.outages),
    asked,
  );
  if (outage) {
    const failures = { ...before, outages: before.outages + 1 };
    if (before.outageMs + delayMs > limits.outageMs) return giveUp('waited', failures);
    return {
      retry: true as const,
      delayMs,
      failures: { ...failures, outageMs: before.outageMs + delayMs },
    };
  }
  const failures = { ...before, attempts: before.attempts + 1 };
  if (!retryable) return giveUp('pointless', failures);
  if (failures.attempts >= limits.attempts) return giveUp('attempts', failures);
  return { retry: true as const, delayMs, failures };
}

/** A wrong clock must not park an agent; asking too early costs one call. */
export const longestWaitMs = 6 * 3_600_000;

export function retryAt(
  { headers, retryDelays, message }: ErrorFacts,
  now: number,
): number | null {
  const milliseconds = headers['retry-after-ms'];
  const prose = /try again in ((?:\d+(?:\.\d+)? ?(?:ms|s|m|h))+)/i.exec(message)?.[1];
  const said = [
    milliseconds && `${milliseconds}ms`,
    headers['retry-after'],
    ...retryDelays,
    prose,
  ];
  const moments = said.map((text) => moment(text, now));
  const at = moments.find((found) => found !== null) ?? limitReset(headers, now);
  return at === null ? null : Math.min(Math.max(at, now), now + longestWaitMs);
}

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** Seconds from now, a clock's (milli)seconds, a span such as 1m30s, or a date. */
function moment(text: unknown, now: number): number | null {
  if (!isText(text)) return null;
  if (/^\s*\d+(?:\.\d+)?\s*$/.test(text)) {
    const plain = Number(text);
    if (plain > 1e12) return plain;
    return plain > 1e9 ? plain * 1000 : now + plain * 1000;
  }
  if (/^(?:\d+(?:\.\d+)? ?(?:ms|s|m|h))+$/.test(text.trim())) {
    const parts = [...text.matchAll(/([\d.]+) ?(ms|s|m|h)/g)];
    return parts.reduce(
      (sum, [, amount, unit = '']) => sum + Number(amount) * (unitMs[unit] ?? 0),
      now,
    );
  }
  // Date.parse takes almost anything: a month's name or a dashed year makes it one.
  const date = /[a-z]{3}|\d{4}-/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : date;
}

const resetHeader = /^(anthropic-ratelimit-.+-|x-ratelimit-)reset(-.+)?$/;

/** The last of the limits that are used up counts, else the first to reset. */
function limitReset(headers: ErrorFacts['headers'], now: number): number | null {
  const resets = Object.entries(headers).flatMap(([name, text]) => {
    const [, before, behind = ''] = resetHeader.exec(name) ?? [];
    const at = before === undefined ? null : moment(text, now);
    return at === null
      ? []
      : [{ at, isUsedUp: headers[`${before}remaining${behind}`]?.trim() === '0' }];
  });
  resets.sort((one, other) => one.at - other.at);
  return (resets.findLast(({ isUsedUp }) => isUsedUp) ?? resets[0])?.at ?? null;
}
