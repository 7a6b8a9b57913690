// The providers that work without any configuration, and the model that each gives when nobody names one (C1).
// A table and nothing else: `models` in the configuration adds providers and changes these.
import type { ModelProvider } from '../../core/config/own-agent-settings.ts';

export type Api = NonNullable<ModelProvider['api']>;

export interface KnownProvider {
  readonly api: Api;
  readonly baseUrl: string;
  /** Variable that moves the address; its users leave the version out as often as not. */
  readonly baseUrlVariable: string | null;
  /** What is added to an address from that variable when it has no path of its own. */
  readonly versionPath: string;
  /** Variables that may hold the key, the first one set wins; empty: the server runs on this machine without one. */
  readonly keyVariables: readonly string[];
  /** Used when a key is set and no model is named. Only a default: any other name of the provider works as well. */
  readonly defaultModel: string | null;
}

const local = {
  api: 'chat',
  baseUrlVariable: null,
  versionPath: '',
  keyVariables: [],
  defaultModel: null,
} as const;

/** In the order in which a key in the environment chooses one. */
export const knownProviders: Readonly<Record<string, KnownProvider>> = {
  anthropic: {
    api: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    baseUrlVariable: 'ANTHROPIC_BASE_URL',
    versionPath: '/v1',
    keyVariables: ['ANTHROPIC_API_KEY'],
    defaultModel: 'claude-sonnet-5-5',
  },
  openai: {
    api: 'responses',
    baseUrl: 'https://api.openai.com/v1',
    baseUrlVariable: 'OPENAI_BASE_URL',
    versionPath: '/v1',
    keyVariables: ['OPENAI_API_KEY'],
    defaultModel: 'gpt-6.1-sol',
  },
  google: {
    api: 'google',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    baseUrlVariable: 'GOOGLE_GENERATIVE_AI_BASE_URL',
    versionPath: '/v1beta',
    keyVariables: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
    defaultModel: 'gemini-pro-latest',
  },
  ollama: { ...local, baseUrl: 'http://127.0.0.1:11434/v1' },
  lmstudio: { ...local, baseUrl: 'http://127.0.0.1:1234/v1' },
  vllm: { ...local, baseUrl: 'http://127.0.0.1:8000/v1' },
};

export function knownProvider(name: string): KnownProvider | null {
  return Object.hasOwn(knownProviders, name) ? (knownProviders[name] ?? null) : null;
}
