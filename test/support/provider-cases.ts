// For tests: the ways to reach one server by every provider package, as a user would set
// them up. Environment variables and configuration only; nothing here opens a connection.

import type { ModelSources } from '../../src/agent/models/resolve-model.ts';
import { mergeSettings } from '../../src/core/config.ts';
import type { PartialSettings } from '../../src/core/settings.ts';

export interface ProviderCase {
  readonly name: string;
  readonly written: string;
  readonly keyVariable: string;
  sources(url: string, key?: string): ModelSources;
}

export function sourcesOf(
  environment: Readonly<Record<string, string>>,
  user: PartialSettings = {},
): ModelSources {
  return { settings: mergeSettings({ user }).settings, origins: {}, environment };
}

export const providerCases: readonly ProviderCase[] = [
  {
    name: 'anthropic',
    written: 'anthropic/claude-scripted',
    keyVariable: 'ANTHROPIC_API_KEY',
    sources: (url, key = 'key') =>
      sourcesOf({ ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: url }),
  },
  {
    name: 'openai',
    written: 'openai/gpt-5-scripted',
    keyVariable: 'OPENAI_API_KEY',
    sources: (url, key = 'key') =>
      sourcesOf({ OPENAI_API_KEY: key, OPENAI_BASE_URL: `${url}/v1` }),
  },
  {
    name: 'openai by chat completions',
    written: 'openai/gpt-scripted',
    keyVariable: 'OPENAI_API_KEY',
    sources: (url, key = 'key') =>
      sourcesOf(
        { OPENAI_API_KEY: key, OPENAI_BASE_URL: url },
        { models: { openai: { api: 'chat' } } },
      ),
  },
  {
    name: 'google',
    written: 'google/gemini-scripted',
    keyVariable: 'GEMINI_API_KEY',
    sources: (url, key = 'key') =>
      sourcesOf({ GEMINI_API_KEY: key, GOOGLE_GENERATIVE_AI_BASE_URL: url }),
  },
  {
    name: 'one of the configuration',
    written: 'my/local/model:7b',
    keyVariable: 'MY_KEY',
    sources: (url, key = 'key') =>
      sourcesOf(
        { MY_KEY: key },
        { models: { my: { baseUrl: `${url}/v1`, apiKeyEnv: 'MY_KEY' } } },
      ),
  },
];
