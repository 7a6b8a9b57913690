import {
  APICallError,
  LoadAPIKeyError,
  NoSuchModelError,
  RetryError,
  streamText,
} from 'ai';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type ProviderCase,
  providerCases,
} from '../../../test/support/provider-cases.ts';
import {
  contextOverflow,
  fail,
  malformed,
  overload,
  overloadMidStream,
  rateLimit,
  reset,
  type ScriptedModelOptions,
  type Step,
  say,
  script,
  stall,
  startScriptedModel,
} from '../../scripted-model/index.ts';
import {
  type ClassifiedError,
  classifyError,
  quoteProvider,
  signatureText,
} from './failed-call.ts';
import { type ModelFacts, type ResolvedModel, resolveModel } from './resolve-model.ts';

(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;

const now = Date.UTC(2026, 10, 15);
const secret = 'sk-secret0123456789abcdef';

let close: (() => Promise<void>) | undefined;
afterEach(() => close?.());

async function resolved(provider: ProviderCase, url: string): Promise<ResolvedModel> {
  const found = await resolveModel(provider.written, provider.sources(url, secret));
  if (!found.ok) throw new Error(found.error);
  return found;
}

/**
 * As our loop meets it: an error part, an abort part, or a throw in the middle of the
 * stream.
 */
async function failureOf(
  model: ResolvedModel,
  signal?: AbortSignal,
): Promise<ClassifiedError | null> {
  try {
    const result = streamText({
      model: model.model,
      prompt: 'go',
      maxRetries: 0,
      onError: () => undefined,
      ...(signal === undefined ? {} : { abortSignal: signal }),
    });
    for await (const part of result.stream) {
      if (part.type === 'error') return classifyError(part.error, { now, about: model });
      if (part.type === 'abort') return classifyError(part.reason, { now, about: model });
    }
    return null;
  } catch (error) {
    return classifyError(error, { now, about: model });
  }
}

async function scripted(
  provider: ProviderCase,
  step: Step,
  options: Partial<ScriptedModelOptions> = {},
  signal?: AbortSignal,
): Promise<ClassifiedError | null> {
  const server = await startScriptedModel({ scripts: [script('x', [step])], ...options });
  close = server.close;
  return failureOf(await resolved(provider, server.url), signal);
}

const failures: readonly (readonly [
  string,
  Step,
  Partial<ScriptedModelOptions>,
  Partial<ClassifiedError>,
])[] = [
  [
    'a rate limit',
    rateLimit(7),
    {},
    { kind: 'rate-limit', retryable: true, retryAt: now + 7000 },
  ],
  ['overload', overload(), {}, { kind: 'overload', retryable: true, retryAt: null }],
  [
    'overload in mid-stream',
    overloadMidStream(),
    {},
    { kind: 'overload', retryable: true },
  ],
  [
    'a prompt that is too long',
    contextOverflow(),
    {},
    { kind: 'overflow', retryable: false },
  ],
  [
    'a full window',
    say('x'),
    { contextWindow: 1 },
    { kind: 'overflow', retryable: false },
  ],
  ['a wrong key', say('x'), { apiKey: 'right' }, { kind: 'auth', retryable: false }],
  ['a key without permission', fail(403), {}, { kind: 'auth', retryable: false }],
  [
    'an unknown model',
    say('x'),
    { models: ['other'] },
    { kind: 'unknown-model', retryable: false },
  ],
  ['a malformed request', fail(400), {}, { kind: 'bad-request', retryable: false }],
  ['a failing server', fail(500), {}, { kind: 'server', retryable: true }],
  ['a connection that breaks off', reset(), {}, { kind: 'network', retryable: true }],
  [
    'a connection that breaks off at once',
    reset({ afterEvents: 0 }),
    {},
    { kind: 'network', retryable: true },
  ],
  ['a malformed stream', malformed(), {}, { kind: 'server', retryable: true }],
];

describe.each(providerCases)('G9: the errors of $name', (provider) => {
  it.each(failures)(
    '%s is told by its kind, alike every time, without the key',
    async (_name, step, options, expected) => {
      const first = await scripted(provider, step, options);
      await close?.();
      // Another port, another request, another date.
      const second = await scripted(provider, step, options);
      expect(first).toMatchObject(expected);
      expect(first?.signature).toBe(second?.signature);
      expect(first?.signature).not.toMatch(/req_|127\.0\.0\.1|\d{4,}/);
      expect(JSON.stringify(first)).not.toContain('secret');
    },
  );

  it('a server that is not there is told by its address', async () => {
    const server = await startScriptedModel({ scripts: [script('x', [say('x')])] });
    const { url } = server;
    await server.close();
    const model = await resolved(provider, url);
    expect(await failureOf(model)).toEqual({
      kind: 'network',
      outage: false,
      signature: 'network ECONNREFUSED',
      sentence: `${url} cannot be reached: nothing listens there; start the server or correct its address.`,
      retryable: true,
      retryAt: null,
    });
  });

  it('a wrong key is told by the variable that holds it', async () => {
    const told = await scripted(provider, say('x'), { apiKey: 'right' });
    expect(told?.sentence).toMatch(
      new RegExp(`^The key in ${provider.keyVariable} was refused by http`),
    );
  });

  it('a wrong model is told by its name', async () => {
    const told = await scripted(provider, say('x'), { models: ['other'] });
    expect(told?.sentence).toMatch(
      /^\S+\/\S+ is not known at http\S+: check its name, or choose another with --model\.$/,
    );
  });

  it('a stalled call that ran into its time limit is a failure of the network', async () => {
    const told = await scripted(provider, stall(), {}, AbortSignal.timeout(100));
    expect(told).toMatchObject({ kind: 'network', retryable: true });
    expect(told?.sentence).toContain('did not answer in time');
  });

  it('an aborted call is no failure of the provider', async () => {
    const told = await scripted(provider, stall(), {}, AbortSignal.abort());
    expect(told).toMatchObject({ kind: 'aborted', retryable: false });
  });
});

const about: ModelFacts = {
  label: 'my/model',
  provider: 'my',
  modelId: 'model',
  address: 'https://example.org',
  keyVariable: 'MY_KEY',
};

function callError(
  status: number | undefined,
  body: unknown,
  headers: Record<string, string> = {},
): APICallError {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const message =
    typeof body === 'string'
      ? body
      : ((body as { error?: { message?: string } }).error?.message ?? '');
  return new APICallError({
    message,
    url: 'https://example.org/v1/x',
    requestBodyValues: { messages: [secret] },
    ...(status === undefined ? {} : { statusCode: status }),
    responseHeaders: headers,
    responseBody: text,
  });
}

function called(status: number | undefined, body: unknown): ClassifiedError {
  return classifyError(callError(status, body), { now, about });
}

describe('G9: errors as other servers word them', () => {
  it.each([
    [
      429,
      {
        error: { message: 'You exceeded your current quota', code: 'insufficient_quota' },
      },
      'auth',
    ],
    [
      400,
      { error: { message: 'Your credit balance is too low to access the API.' } },
      'auth',
    ],
    [402, { error: { message: 'Insufficient credits' } }, 'auth'],
    [
      400,
      { error: { message: 'API key not valid. Please pass a valid API key.' } },
      'auth',
    ],
    [400, { error: { code: 'content_filter', message: 'filtered' } }, 'refusal'],
    [
      400,
      { error: { message: 'This request was blocked by our usage policies.' } },
      'refusal',
    ],
    [
      400,
      {
        error: {
          message: 'the request exceeds the available context size',
          type: 'exceed_context_size_error',
        },
      },
      'overflow',
    ],
    [
      400,
      {
        error: {
          message:
            'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000',
        },
      },
      'overflow',
    ],
    [
      400,
      {
        error: {
          message:
            'The decoder prompt (length 9) is longer than the maximum model length of 5',
        },
      },
      'overflow',
    ],
    [
      429,
      {
        error: {
          message:
            'Request too large for gpt-x on tokens per min (TPM): Limit 3, Requested 4',
        },
      },
      'overflow',
    ],
    [413, 'Request Entity Too Large', 'overflow'],
    [
      404,
      { error: { message: 'model "x" not found, try pulling it first' } },
      'unknown-model',
    ],
    [400, { error: { message: 'The model `x` is not available.' } }, 'unknown-model'],
    [404, '<html>404 page not found</html>', 'bad-request'],
    [502, '<html>Bad Gateway</html>', 'server'],
    [503, '<html>Service Unavailable</html>', 'overload'],
    [422, { error: { message: 'odd' } }, 'bad-request'],
  ] as const)('%i %j is %s', (status, body, kind) => {
    expect(called(status, body).kind).toBe(kind);
  });

  it('says what to do where a server speaks another protocol', () => {
    expect(called(404, '<html>404 page not found</html>').sentence).toBe(
      'https://example.org does not know this kind of request: check the address, or set models.my.api to "chat" if it speaks chat completions only.',
    );
  });

  it.each([
    ['an error of our own', new TypeError('x is not a function'), 'other'],
    ['a missing key', new LoadAPIKeyError({ message: 'key is missing' }), 'auth'],
    [
      'a missing model',
      new NoSuchModelError({ modelId: 'x', modelType: 'languageModel' }),
      'unknown-model',
    ],
    [
      'an untrusted certificate',
      { message: 'fetch failed', cause: { code: 'SELF_SIGNED_CERT_IN_CHAIN' } },
      'network',
    ],
    ['nothing', undefined, 'other'],
    ['a number', 7, 'other'],
    [
      'an abort by name',
      Object.assign(new Error('stop'), { name: 'AbortError' }),
      'aborted',
    ],
  ])('%s is told', (_name, error, kind) => {
    const told = classifyError(error, { now, about });
    expect(told.kind).toBe(kind);
    expect(told.sentence).toMatch(/\.$/);
  });

  it('takes what the SDK retried in vain for its last error', () => {
    const last = callError(500, { error: { message: 'broke' } }, { 'retry-after': '3' });
    const error = new RetryError({
      message: 'Failed after 3 attempts.',
      reason: 'maxRetriesExceeded',
      errors: [last],
    });
    expect(classifyError(error, { now, about })).toEqual(
      classifyError(last, { now, about }),
    );
  });

  it.each([
    ['ECONNRESET', true, true],
    ['UND_ERR_SOCKET', true, true],
    ['EAI_AGAIN', true, true],
    ['ECONNREFUSED', false, true],
    ['ENOTFOUND', false, true],
    ['CERT_HAS_EXPIRED', false, false],
  ])('G9: %s is an outage at the first call: %s, later: %s', (code, first, later) => {
    const error = { message: 'fetch failed', cause: { code } };
    expect(classifyError(error, { now, about }).outage).toBe(first);
    expect(classifyError(error, { now, about, hasAnswered: true }).outage).toBe(later);
  });

  it('G9: a 500 and an answer that breaks off are outages, a wrong request and an unknown error are none', () => {
    const outageOf = (error: unknown) => classifyError(error, { now, about }).outage;
    expect(
      [500, 502, 504, 400, 401].map((status) => outageOf(callError(status, {}))),
    ).toEqual([true, true, true, false, false]);
    expect(outageOf(new TypeError('x is not a function'))).toBe(false);
  });

  it('does not try an untrusted certificate again', () => {
    const error = { message: 'fetch failed', cause: { code: 'CERT_HAS_EXPIRED' } };
    expect(classifyError(error, { now, about })).toMatchObject({
      retryable: false,
      signature: 'network CERT_HAS_EXPIRED',
    });
  });

  it('survives an error that causes itself', () => {
    const error = new Error('round') as Error & { cause: unknown };
    error.cause = error;
    expect(classifyError(error, { now, about }).kind).toBe('other');
  });

  it('prints a hostile message as one harmless line, without anything like a key', () => {
    const hostile = `bad\u001b[2J\nline Bearer ${secret} and ${secret} in AIzaSyA1234567890123456789`;
    const told = called(500, { error: { message: hostile } });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there
    expect(told.sentence).not.toMatch(/[\u0000-\u001f]|secret|AIza/);
    expect(told.signature).not.toContain('secret');
  });

  it('keeps different causes apart', () => {
    const signatures = [
      called(500, { error: { message: 'a broke' } }),
      called(500, { error: { message: 'b broke' } }),
      called(502, { error: { message: 'a broke' } }),
      called(400, { error: { message: 'a broke' } }),
    ].map(({ signature }) => signature);
    expect(new Set(signatures).size).toBe(4);
  });
});

describe('a provider’s words', () => {
  it.each([
    'Incorrect API key provided: sk-abcdef0123456789.',
    'Incorrect API key provided: sk-proj-****************3456.',
    'token hf_abcdefghijk refused',
    'authorization: Bearer abcdefg',
    'key=AIzaSyD-1234567890_abcdef',
    'opaque dGhpcyBpcyBhIHNlY3JldCB0b2tlbiAxMjM= refused',
  ])('are quoted without what may be a key: %s', (text) => {
    expect(quoteProvider(text)).toContain('…');
    expect(quoteProvider(text)).not.toMatch(/sk-\w|hf_|abcdefg|AIza|dGhpcy/);
  });

  it('keep the names of models and ordinary words', () => {
    const text =
      'The model claude-sonnet-4-5-20250929 is not available in your organisation';
    expect(quoteProvider(text)).toBe(text);
  });

  it.each([
    ['Request req_011CSHoEeqs failed after 31 s', 'Request req_9zzz failed after 2 s'],
    ['limit 30,000, used 29,999', 'limit 40,000, used 1'],
    ['see https://a.example/x/1', 'see https://b.example/y/2'],
    [
      'id 6f9619ff-8b86-d011-b42d-00cf4fc964ff',
      'id 7f9619ff-8b86-d011-b42d-00cf4fc964fe',
    ],
    ['trace 4bf92f3577b34da6', 'trace 00f067aa0ba902b7'],
  ])('give one signature for one cause: %s', (one, other) => {
    expect(signatureText(one)).toBe(signatureText(other));
  });
});
