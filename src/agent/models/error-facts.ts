// What can be read off any error that the AI SDK throws or streams: status, headers, the provider's own words and
// codes, the network's code. By shape, not by class: errors cross chunks and come wrapped. It judges nothing.

export interface ErrorFacts {
  /** Names of the error and of what caused it, outermost first. */
  readonly names: readonly string[];
  readonly status: number | null;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Words by which providers tell errors apart: overloaded_error, context_length_exceeded, RESOURCE_EXHAUSTED. */
  readonly codes: readonly string[];
  readonly networkCode: string | null;
  readonly message: string;
  /** The answer had the shape in which providers report errors. */
  readonly isProviderError: boolean;
  readonly body: unknown;
}

/** Errors wrap each other a few times at most; more is a cycle. */
const deepestCause = 8;

export function errorFacts(error: unknown): ErrorFacts {
  const chain = causesOf(error);
  const answered = chain.find((each) => typeof each['statusCode'] === 'number') ?? chain[0] ?? {};
  const body = answered['data'] ?? parsed(answered['responseBody']);
  const codes = [...codesIn(answered), ...codesIn(body), ...codesIn(field(body, 'error'))];
  const status = answered['statusCode'];
  return {
    names: chain.flatMap(({ name }) => (typeof name === 'string' ? [name] : [])),
    status: typeof status === 'number' && status >= 400 ? status : null,
    headers: textEntries(answered['responseHeaders']),
    codes: [...new Set([...codes, ...reasonsIn(body)])],
    networkCode: chain.map(networkCodeOf).find((code) => code !== null) ?? null,
    message: messageOf(error, chain),
    isProviderError: body !== undefined,
    body,
  };
}

type Fields = Readonly<Record<string, unknown>>;

/** RetryError hides the real one in `lastError`, most others in `cause`. */
function causesOf(error: unknown): Fields[] {
  const chain: Fields[] = [];
  let current = error;
  while (isFields(current) && chain.length < deepestCause && !chain.includes(current)) {
    chain.push(current);
    current = current['lastError'] ?? current['cause'];
  }
  return chain;
}

function codesIn(value: unknown): string[] {
  return ['type', 'code', 'status'].flatMap((key) => {
    const code = field(value, key);
    return typeof code === 'string' && code !== 'error' ? [code] : [];
  });
}

/** Google names the cause in a list of details. */
function reasonsIn(body: unknown): string[] {
  return detailsIn(body).flatMap((detail) => {
    const reason = field(detail, 'reason');
    return typeof reason === 'string' ? [reason] : [];
  });
}

export function detailsIn(body: unknown): readonly unknown[] {
  const details = field(field(body, 'error'), 'details') ?? field(body, 'details');
  return Array.isArray(details) ? details : [];
}

function networkCodeOf({ code }: Fields): string | null {
  return typeof code === 'string' &&
    /^(?:E[A-Z]+|EAI_\w+|UND_ERR_\w+|CERT_\w+|\w*(?:CERT|SIGNATURE)\w*|Connection\w+|FailedToOpenSocket)$/.test(
      code,
    )
    ? code
    : null;
}

function messageOf(error: unknown, chain: readonly Fields[]): string {
  if (typeof error === 'string') return error;
  // A retry error only counts attempts; the last error says what happened.
  const speaking = chain.find(
    ({ lastError, message }) => lastError === undefined && typeof message === 'string',
  );
  return typeof speaking?.['message'] === 'string' ? speaking['message'] : '';
}

function textEntries(value: unknown): Readonly<Record<string, string>> {
  if (!isFields(value)) return {};
  const entries = Object.entries(value).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(entries.map(([name, text]) => [name.toLowerCase(), text]));
}

function parsed(text: unknown): unknown {
  if (typeof text !== 'string') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : undefined;
  } catch {
    // Safe: a page instead of JSON is itself a fact, told by isProviderError.
    return undefined;
  }
}

export function field(value: unknown, key: string): unknown {
  return isFields(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}
