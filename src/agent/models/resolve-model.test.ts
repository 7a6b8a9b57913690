import { streamText } from 'ai';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { providerCases, sourcesOf } from '../../../test/support/provider-cases.ts';
import { mergeSettings } from '../../core/config.ts';
import type { PartialSettings } from '../../core/settings.ts';
import {
  type Protocol,
  say,
  script,
  startScriptedModel,
} from '../../scripted-model/index.ts';
import { cacheOptions } from '../context/prompt.ts';
import {
  checkBaseUrl,
  parseModelSpec,
  resolveModel,
  withVersion,
} from './resolve-model.ts';

(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;

const secret = 'sk-very-secret-0123456789';

async function sentence(
  written: string | null,
  environment: Record<string, string> = {},
  user: PartialSettings = {},
): Promise<string> {
  const resolved = await resolveModel(written, sourcesOf(environment, user));
  return resolved.ok ? `resolved ${resolved.label}` : resolved.error;
}

async function facts(
  written: string | null,
  environment = {},
  user: PartialSettings = {},
) {
  const resolved = await resolveModel(written, sourcesOf(environment, user));
  if (!resolved.ok) throw new Error(resolved.error);
  return resolved;
}

const protocols: Readonly<Record<string, Protocol>> = {
  anthropic: 'anthropic',
  openai: 'openai-responses',
  'openai by chat completions': 'openai-chat',
  google: 'gemini',
  'one of the configuration': 'openai-chat',
};

let close: (() => Promise<void>) | undefined;
afterEach(() => close?.());

describe.each(providerCases)('C1: a model of $name', ({ name, written, sources }) => {
  it('answers through its own protocol, set up by environment and configuration alone', async () => {
    const server = await startScriptedModel({
      scripts: [script('x', [say('Hello.')])],
      apiKey: 'right',
    });
    close = server.close;
    const resolved = await resolveModel(written, sources(server.url, 'right'));
    if (!resolved.ok) throw new Error(resolved.error);
    const { call } = cacheOptions(resolved.family, 'session-1');
    const result = streamText({
      model: resolved.model,
      prompt: 'hi',
      maxRetries: 0,
      ...(call === null ? {} : { providerOptions: call }),
    });
    expect(await result.text).toBe('Hello.');
    expect((await result.usage).inputTokens).toBeGreaterThan(0);
    expect(server.requests.map(({ protocol }) => protocol)).toEqual([protocols[name]]);
    expect(resolved.label).toBe(written);
    expect(resolved.address).toBe(server.url);
  });
});

describe('C1: which model is taken', () => {
  it('is a model object, never a string that would go to a gateway', async () => {
    expect(typeof (await facts('ollama/qwen3')).model).toBe('object');
  });

  it.each([
    ['ollama/qwen3:8b', {}, {}, 'ollama/qwen3:8b', 'http://127.0.0.1:11434'],
    ['lmstudio/a', {}, {}, 'lmstudio/a', 'http://127.0.0.1:1234'],
    ['vllm/org/model', {}, {}, 'vllm/org/model', 'http://127.0.0.1:8000'],
    [
      ' Anthropic/claude-x ',
      { ANTHROPIC_API_KEY: 'k' },
      {},
      'anthropic/claude-x',
      'https://api.anthropic.com',
    ],
    [null, {}, { model: 'ollama/set' }, 'ollama/set', 'http://127.0.0.1:11434'],
    ['vllm/flag', {}, { model: 'ollama/set' }, 'vllm/flag', 'http://127.0.0.1:8000'],
    [
      null,
      { ANTHROPIC_API_KEY: 'k' },
      {},
      'anthropic/claude-sonnet-5-5',
      'https://api.anthropic.com',
    ],
    [null, { OPENAI_API_KEY: 'k' }, {}, 'openai/gpt-6.1-sol', 'https://api.openai.com'],
    [
      null,
      { GEMINI_API_KEY: 'k' },
      {},
      'google/gemini-pro-latest',
      'https://generativelanguage.googleapis.com',
    ],
    [
      null,
      { ANTHROPIC_API_KEY: ' ', OPENAI_API_KEY: 'k' },
      {},
      'openai/gpt-6.1-sol',
      'https://api.openai.com',
    ],
    [
      'ollama/a',
      {},
      { models: { ollama: { baseUrl: 'http://gpu.local:11434/v1' } } },
      'ollama/a',
      'http://gpu.local:11434',
    ],
  ])('%j with %j and %j', async (written, environment, user, label, address) => {
    const resolved = await facts(written, environment, user as PartialSettings);
    expect([resolved.label, resolved.address]).toEqual([label, address]);
  });

  it('knows how much fits: the setting before the provider before the name', async () => {
    expect((await facts('ollama/qwen3')).contextLimit).toBeNull();
    expect(
      (await facts('ollama/qwen3', {}, { models: { ollama: { contextLimit: 32_000 } } }))
        .contextLimit,
    ).toBe(32_000);
    const both = {
      models: { ollama: { contextLimit: 32_000 } },
      context: { limit: 9000 },
    };
    expect((await facts('ollama/qwen3', {}, both)).contextLimit).toBe(9000);
    expect(
      (await facts('anthropic/claude-haiku-4-5', { ANTHROPIC_API_KEY: 'k' }))
        .contextLimit,
    ).toBe(200_000);
  });

  it('G8: takes a price of the configuration only as a whole, whatever the letter case', async () => {
    const prices = { 'ollama/qwen3': { input: 1, output: 2 } };
    expect((await facts('ollama/Qwen3', {}, { prices })).price).toEqual({
      input: 1,
      output: 2,
    });
    expect(
      await sentence('ollama/qwen3', {}, { prices: { 'ollama/qwen3': { input: 1 } } }),
    ).toBe('prices["ollama/qwen3"] lacks output: half a price would give a wrong cost.');
  });

  it('V9: says whose special options it understands', async () => {
    const key = { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' };
    expect((await facts('anthropic/a', key)).family).toBe('anthropic');
    expect((await facts('openai/a', key)).family).toBe('openai');
    const own = {
      models: { my: { baseUrl: 'http://127.0.0.1:1/v1', api: 'responses' as const } },
    };
    expect((await facts('my/a', {}, own)).family).toBe('compatible');
  });
});

describe('C1: a model that cannot be taken is told in one sentence that says what to do', () => {
  it.each([
    [
      null,
      {},
      {},
      'No model is chosen: set ANTHROPIC_API_KEY, OPENAI_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY, or use a local one with --model ollama/qwen3, or run "untildone demo", which needs none.',
    ],
    [
      'anthropic/claude-x',
      {},
      {},
      'No key for anthropic: set ANTHROPIC_API_KEY, or choose a model that needs none, such as ollama/qwen3.',
    ],
    [
      'google/gemini-x',
      {},
      {},
      'No key for google: set GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY, or choose a model that needs none, such as ollama/qwen3.',
    ],
    ['antropic/x', {}, {}, 'The provider "antropic" is unknown; did you mean anthropic?'],
    [
      'zzzzzz/x',
      {},
      {},
      'The provider "zzzzzz" is unknown; known are anthropic, openai, google, ollama, lmstudio, vllm; others are added under "models" in untildone.json.',
    ],
    [
      'claude-x',
      {},
      {},
      'The model "claude-x" lacks its provider: write anthropic/claude-x.',
    ],
    ['gpt-5', {}, {}, 'The model "gpt-5" lacks its provider: write openai/gpt-5.'],
    [
      'qwen3',
      {},
      {},
      'The model "qwen3" lacks its provider: write provider/qwen3, such as ollama/qwen3 for a local one.',
    ],
    [
      'ollama/../../x',
      {},
      {},
      '"ollama/../../x" is not a model: write provider/model, such as anthropic/claude-sonnet-5-5 or ollama/qwen3.',
    ],
    [
      '/x',
      {},
      {},
      '"/x" is not a model: write provider/model, such as anthropic/claude-sonnet-5-5 or ollama/qwen3.',
    ],
    [
      'a\u001b[2J/b c',
      {},
      {},
      '"a\\u001b[2J/b c" is not a model: write provider/model, such as anthropic/claude-sonnet-5-5 or ollama/qwen3.',
    ],
    [
      'my/x',
      {},
      { models: { my: {} } },
      'models.my has no baseUrl: say where the provider is, such as http://127.0.0.1:8000/v1.',
    ],
    [
      'my/x',
      {},
      { models: { my: { baseUrl: 'file:///etc/passwd' } } },
      'models.my.baseUrl is not a web address: write one that begins with http:// or https://.',
    ],
    [
      'anthropic',
      {},
      {},
      '"anthropic" is a provider: name one of its models too, such as anthropic/claude-sonnet-5-5.',
    ],
    ['__proto__/x', {}, {}, /^The provider "__proto__" is unknown/],
    ['constructor/x', {}, {}, /^The provider "constructor" is unknown/],
  ])('%j', async (written, environment, user, expected) => {
    const told = await sentence(written, environment, user);
    if (typeof expected === 'string') expect(told).toBe(expected);
    else expect(told).toMatch(expected);
  });

  it.each([
    { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: `ftp://${secret}` },
    { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: `https://me:${secret}@example.org` },
    { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: `https://example.org/?key=${secret}` },
    { ANTHROPIC_API_KEY: `${secret}\n${secret}` },
    { ANTHROPIC_API_KEY: `${secret} extra` },
  ])('never by the value of a key or of an address: case %#', async (environment) => {
    const told = await sentence('anthropic/claude-x', environment);
    expect(told).toMatch(/^(?:ANTHROPIC_BASE_URL|The key in ANTHROPIC_API_KEY) /);
    expect(told).not.toContain('secret');
  });
});

describe('a file of the project', () => {
  const environment = { MY_KEY: secret, ANTHROPIC_API_KEY: secret };
  async function resolveFrom(project: PartialSettings, user: PartialSettings = {}) {
    const { settings, origins } = mergeSettings({ user, project });
    return resolveModel('my/x', { settings, origins, environment });
  }

  it('cannot send the conversation to an address of its own choice', async () => {
    const resolved = await resolveFrom({
      models: { my: { baseUrl: 'https://evil.example/v1' } },
    });
    expect(resolved).toEqual({
      ok: false,
      error:
        "models.my.baseUrl comes from the project's file and leaves this machine: put it into your own configuration if you trust it.",
    });
  });

  it('cannot choose which key is sent, not even to an address of the user', async () => {
    const resolved = await resolveFrom(
      { models: { my: { apiKeyEnv: 'ANTHROPIC_API_KEY' } } },
      { models: { my: { baseUrl: 'https://mine.example/v1' } } },
    );
    expect(resolved.ok ? '' : resolved.error).toContain(
      'must not choose which of your keys is sent',
    );
  });

  it.each([
    'http://127.0.0.1:8000/v1',
    'http://localhost:8000/v1',
    'http://[::1]:8000/v1',
  ])('may name a server on this machine: %s', async (baseUrl) => {
    expect((await resolveFrom({ models: { my: { baseUrl } } })).ok).toBe(true);
  });

  it('does not get the key of a known provider for an address of its own', async () => {
    const { settings, origins } = mergeSettings({
      project: { models: { anthropic: { baseUrl: 'http://127.0.0.1:1/v1' } } },
    });
    const resolved = await resolveModel('anthropic/x', {
      settings,
      origins,
      environment,
    });
    expect(resolved.ok && resolved.keyVariable).toBeNull();
  });
});

describe('C1: the address of a provider', () => {
  it.each([
    ['http://127.0.0.1:8000/v1/', 'http://127.0.0.1:8000/v1', true],
    [' https://example.org ', 'https://example.org', false],
    ['http://127.0.0.1.evil.example/v1', 'http://127.0.0.1.evil.example/v1', false],
    ['http://localhost.evil.example', 'http://localhost.evil.example', false],
  ])('%s is taken as %s', (text, url, isLoopback) => {
    expect(checkBaseUrl(text, 'X')).toEqual({ ok: true, url, isLoopback });
  });

  it.each([
    '',
    'example.org',
    'javascript:alert(1)',
    'http://a:b@c',
    'http://a/?b',
    'http://a/#b',
  ])('%j is refused by the name of its place', (text) => {
    const checked = checkBaseUrl(text, 'OPENAI_BASE_URL');
    expect(checked.ok ? '' : checked.error).toMatch(/^OPENAI_BASE_URL /);
  });

  it.each([
    ['https://api.openai.com', false, 'https://api.openai.com/v1'],
    ['https://proxy.example/openai', false, 'https://proxy.example/openai'],
    ['https://proxy.example/anthropic', true, 'https://proxy.example/anthropic/v1'],
    ['https://proxy.example/anthropic/v1', true, 'https://proxy.example/anthropic/v1'],
  ])('%s gets its version where it lacks one', (url, isShared, expected) => {
    expect(withVersion(url, '/v1', isShared)).toBe(expected);
  });
});

describe('C1: provider/model', () => {
  it.each([
    ['anthropic/claude-sonnet-5-5', 'anthropic', 'claude-sonnet-5-5'],
    ['OLLAMA/hf.co/org/Model-GGUF:Q4_K_M', 'ollama', 'hf.co/org/Model-GGUF:Q4_K_M'],
    ['my/@cf/meta/llama', null, null],
    ['my/org/@cf', 'my', 'org/@cf'],
    ['vllm/a b', null, null],
    ['vllm/', null, null],
    ['vllm//x', null, null],
    ['vllm/x?key=1', null, null],
    ['vllm/a/../b', null, null],
  ])('%s is read as %s and %s', (text, provider, modelId) => {
    const parsed = parseModelSpec(text);
    expect(parsed.ok ? [parsed.provider, parsed.modelId] : [null, null]).toEqual([
      provider,
      modelId,
    ]);
  });

  it('is answered with a value for any text, and with one printable line when it is wrong', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' })), (text) => {
        const parsed = parseModelSpec(text);
        if (!parsed.ok) expect(parsed.error).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}]/u);
        else
          expect(new URL(`https://a/models/${parsed.modelId}`).pathname).toMatch(
            /^\/models\/\w/,
          );
      }),
    );
  });
});
