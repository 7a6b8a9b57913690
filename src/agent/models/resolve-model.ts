// From what a human wrote (or did not write) to a model object that can be called (C1): which provider, where it is,
// which protocol it speaks, which key it gets. Every failure is one sentence that says what to do. Sentences name the
// place of a key or an address and never its value. Nothing is sent anywhere here.
import type { LanguageModel } from 'ai';
import type { Origins } from '../../core/config.ts';
import { closestName, joinPath, quoted } from '../../core/problem.ts';
import type { ModelProvider, Settings } from '../../core/settings.ts';
import { knownContextLimit, type ModelFamily, type Price } from './usage.ts';

export interface ModelSources {
  readonly settings: Settings;
  readonly origins: Origins | 'trusted';
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** A plain string would be sent to the vendor's gateway. */
export type ModelObject = Exclude<LanguageModel, string>;

export interface ModelFacts {
  readonly label: string;
  readonly provider: string;
  readonly modelId: string;
  readonly address: string;
  readonly keyVariable: string | null;
}

export interface ResolvedModel extends ModelFacts {
  readonly ok: true;
  readonly model: ModelObject;
  readonly family: ModelFamily;
  readonly contextLimit: number | null;
  readonly price: Price | null;
}

interface Refused {
  readonly ok: false;
  readonly sentence: string;
}
type Found<Value> = ({ readonly ok: true } & Readonly<Value>) | Refused;
export type ModelResolution = ResolvedModel | Refused;

interface KnownProvider {
  readonly api: NonNullable<ModelProvider['api']>;
  readonly baseUrl: string;
  /** Variable that moves the address; its users leave the version out as often as not. */
  readonly baseUrlVariable: string | null;
  /** Variables that may hold the key, the first one set wins; empty: the server runs on this machine without one. */
  readonly keyVariables: readonly string[];
  /** Used when a key is set and no model is named. Only a default: any other name of the provider works as well. */
  readonly defaultModel: string | null;
}

const local = { api: 'chat', baseUrlVariable: null, keyVariables: [], defaultModel: null } as const;

/** Those that work without any configuration, in the order in which a key in the environment chooses one. */
export const knownProviders: Readonly<Record<string, KnownProvider>> = {
  anthropic: {
    api: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    baseUrlVariable: 'ANTHROPIC_BASE_URL',
    keyVariables: ['ANTHROPIC_API_KEY'],
    defaultModel: 'claude-sonnet-5-5',
  },
  openai: {
    api: 'responses',
    baseUrl: 'https://api.openai.com/v1',
    baseUrlVariable: 'OPENAI_BASE_URL',
    keyVariables: ['OPENAI_API_KEY'],
    defaultModel: 'gpt-6.1-sol',
  },
  google: {
    api: 'google',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    baseUrlVariable: 'GOOGLE_GENERATIVE_AI_BASE_URL',
    keyVariables: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
    defaultModel: 'gemini-pro-latest',
  },
  ollama: { ...local, baseUrl: 'http://127.0.0.1:11434/v1' },
  lmstudio: { ...local, baseUrl: 'http://127.0.0.1:1234/v1' },
  vllm: { ...local, baseUrl: 'http://127.0.0.1:8000/v1' },
};

export async function resolveModel(written: string | null, sources: ModelSources): Promise<ModelResolution> {
  const chosen = chooseSpec(written, sources);
  if (!chosen.ok) return chosen;
  const { provider, modelId } = chosen.spec;
  const known = entry(knownProviders, provider);
  const own = entry(sources.settings.models, provider);
  if (known === undefined && own === undefined) return unknownProvider(provider, sources);
  const wanted = { ...sources, provider, known, own };
  const address = findAddress(wanted);
  if (!address.ok) return address;
  const key = findKey(wanted);
  if (!key.ok) return key;
  const label = `${provider}/${modelId}`;
  const price = findPrice(label.toLowerCase(), sources);
  if (!price.ok) return price;
  const api = own?.api ?? known?.api ?? 'chat';
  return {
    ok: true,
    model: await createModel(chosen.spec, { api, baseURL: address.url, key: key.apiKey }),
    ...{ label, provider, modelId },
    address: new URL(address.url).origin,
    keyVariable: key.keyVariable,
    family: api === 'anthropic' || api === 'google' ? api : provider === 'openai' ? 'openai' : 'compatible',
    contextLimit: sources.settings.context.limit ?? own?.contextLimit ?? knownContextLimit(modelId),
    price: price.price,
  };
}

/** What was written, else the setting (UNTILDONE_MODEL is its form in the environment), else whose key is set. */
function chooseSpec(written: string | null, { settings, environment }: ModelSources): ParsedSpec {
  const named = [written, settings.model].find((text) => text !== null && text.trim() !== '') ?? null;
  if (named !== null) return parseModelSpec(named);
  for (const [provider, { keyVariables, defaultModel }] of Object.entries(knownProviders)) {
    const hasKey = keyVariables.some((name) => variable(environment, name) !== null);
    if (hasKey && defaultModel !== null) return { ok: true, spec: { provider, modelId: defaultModel } };
  }
  const keys = Object.values(knownProviders).map(({ keyVariables }) => keyVariables.join(' or '));
  return refused(
    `No model is chosen: set ${keys.filter((names) => names !== '').join(', ')}, or use a local one with --model ollama/qwen3, or run "untildone demo", which needs none.`,
  );
}

type ParsedSpec = Found<{ spec: { readonly provider: string; readonly modelId: string } }>;

/** The model's own name may hold slashes and colons (ollama/hf.co/x:Q4), but nothing that could leave its place in an address. */
const modelIdPattern = /^[A-Za-z0-9](?:[\w.:@+-]|\/(?=[\w@]))*$/;

/** Names that give their maker away, for "did you mean". */
const makers: readonly (readonly [RegExp, string])[] = [
  [/^claude/i, 'anthropic'],
  [/^(?:gpt|o\d)/i, 'openai'],
  [/^gemini/i, 'google'],
];

/** Reads "provider/model" as people write it. */
export function parseModelSpec(text: string): ParsedSpec {
  const plain = text.trim();
  const slash = plain.indexOf('/');
  const provider = plain.slice(0, Math.max(slash, 0)).toLowerCase();
  const modelId = plain.slice(slash + 1);
  if (slash > 0 && modelIdPattern.test(modelId)) return { ok: true, spec: { provider, modelId } };
  const shown = quoted(plain, 60);
  if (slash === -1 && modelIdPattern.test(plain)) {
    const maker = makers.find(([pattern]) => pattern.test(plain))?.[1] ?? 'ollama';
    return refused(`The model ${shown} lacks its provider: write ${maker}/${plain}.`);
  }
  return refused(
    `${shown} is no model: write provider/model, such as anthropic/claude-sonnet-5-5 or ollama/qwen3.`,
  );
}

interface WantedProvider extends ModelSources {
  readonly provider: string;
  readonly known: KnownProvider | undefined;
  /** What the configuration says about it. */
  readonly own: ModelProvider | undefined;
}

function findAddress({ provider, known, own, environment, origins }: WantedProvider): Found<{ url: string }> {
  const path = joinPath('models', provider);
  if (own?.baseUrl !== undefined) {
    const checked = checkBaseUrl(own.baseUrl, `${path}.baseUrl`);
    // A cloned project must not choose who reads the conversation and who gets the key.
    const isForeign = origins !== 'trusted' && origins[`${path}.baseUrl`] === 'project';
    if (!checked.ok || !isForeign || checked.isLoopback) return checked;
    return refused(
      `${path}.baseUrl comes from the project's file and leaves this machine: put it into your own configuration if you trust it.`,
    );
  }
  if (known === undefined)
    return refused(`${path} has no baseUrl: say where the provider is, such as http://127.0.0.1:8000/v1.`);
  const { baseUrl, baseUrlVariable, api } = known;
  const moved = baseUrlVariable === null ? null : variable(environment, baseUrlVariable);
  if (moved === null || baseUrlVariable === null) return { ok: true, url: baseUrl };
  const checked = checkBaseUrl(moved, baseUrlVariable);
  if (!checked.ok) return checked;
  return { ok: true, url: withVersion(checked.url, new URL(baseUrl).pathname, api === 'anthropic') };
}

/** `place` names where the address was written, for the sentence. */
export function checkBaseUrl(text: string, place: string): Found<{ url: string; isLoopback: boolean }> {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    return refused(`${place} is no web address: write one that begins with http:// or https://.`);
  if (url.username !== '' || url.password !== '')
    return refused(
      `${place} holds a user name or a password: put the key into an environment variable instead.`,
    );
  if (url.search !== '' || url.hash !== '')
    return refused(`${place} must end with the path: leave out everything after ? or #.`);
  const isLoopback = /^(?:localhost|\[::1\]|127(?:\.\d{1,3}){3})$/.test(url.hostname);
  return { ok: true, url: url.href.replace(/\/+$/, ''), isLoopback };
}

/**
 * Adds the version to an address from the environment that has no path. Anthropic's variable is shared with programs
 * that add the version by themselves, so there it may be missing after a path as well.
 */
export function withVersion(url: string, versionPath: string, isShared: boolean): string {
  const { pathname } = new URL(url);
  const lacksVersion = pathname === '/' || (isShared && !/\/v\d+\w*$/.test(pathname));
  return lacksVersion ? `${url}${versionPath}` : url;
}

type Key = Found<{ apiKey: string | null; keyVariable: string | null }>;

function findKey({ provider, known, own, environment, origins }: WantedProvider): Key {
  const path = `${joinPath('models', provider)}.apiKeyEnv`;
  if (own?.apiKeyEnv !== undefined && origins !== 'trusted' && origins[path] === 'project')
    return refused(
      `${path} comes from the project's file, which must not choose which of your keys is sent: put it into your own configuration.`,
    );
  // An address of its own without a key of its own gets none: the known key belongs to the known address.
  const usual = own?.baseUrl === undefined ? (known?.keyVariables ?? []) : [];
  const variables = own?.apiKeyEnv === undefined ? usual : [own.apiKeyEnv];
  if (variables.length === 0) return { ok: true, apiKey: null, keyVariable: null };
  const shown = (each: string): string => (/^\w+$/.test(each) ? each : quoted(each, 100));
  for (const keyVariable of variables) {
    const apiKey = variable(environment, keyVariable);
    if (apiKey === null) continue;
    // Such a key cannot be a header, and the error of fetch would quote it.
    if (/^[\x21-\x7e]+$/.test(apiKey)) return { ok: true, apiKey, keyVariable };
    return refused(
      `The key in ${shown(keyVariable)} holds spaces or other characters that no key has: copy it again.`,
    );
  }
  return refused(
    `No key for ${provider}: set ${variables.map(shown).join(' or ')}, or choose a model that needs none, such as ollama/qwen3.`,
  );
}

function findPrice(key: string, { settings }: ModelSources): Found<{ price: Price | null }> {
  const found = entry(settings.prices, key);
  if (found === undefined) return { ok: true, price: null };
  const { input, output } = found;
  if (input !== undefined && output !== undefined) return { ok: true, price: { ...found, input, output } };
  const lacking = input === undefined ? 'input' : 'output';
  return refused(`${joinPath('prices', key)} lacks ${lacking}: half a price would give a wrong cost.`);
}

function unknownProvider(name: string, { settings }: ModelSources): Refused {
  const names = [...new Set([...Object.keys(knownProviders), ...Object.keys(settings.models)])];
  const closest = closestName(name, names);
  const meant =
    closest === null
      ? `known are ${names.slice(0, 20).join(', ')}; others are added under "models" in untildone.json.`
      : `did you mean ${closest}?`;
  return refused(`The provider ${quoted(name, 60)} is unknown; ${meant}`);
}

/**
 * Each package is loaded only when it is asked for, so that it becomes a chunk of its own. The packages would read
 * keys and addresses from the process; everything is passed in, so that no provider gets the key of another.
 */
async function createModel(
  { provider, modelId }: { readonly provider: string; readonly modelId: string },
  { api, baseURL, key }: { api: KnownProvider['api']; baseURL: string; key: string | null },
): Promise<ModelObject> {
  // Some packages insist on a key where the server wants none.
  const apiKey = key ?? 'none';
  if (api === 'anthropic') {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic({ baseURL, apiKey })(modelId);
  }
  if (api === 'google') {
    const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
    return createGoogleGenerativeAI({ baseURL, apiKey })(modelId);
  }
  if (api === 'responses' || provider === 'openai') {
    const { createOpenAI } = await import('@ai-sdk/openai');
    return createOpenAI({ baseURL, apiKey })[api](modelId);
  }
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const given = key === null ? {} : { apiKey };
  return createOpenAICompatible({ name: provider, baseURL, includeUsage: true, ...given })(modelId);
}

/** An empty variable counts as not set. */
function variable(environment: ModelSources['environment'], name: string): string | null {
  return environment[name]?.trim() || null;
}

/** Names come from people: `constructor` must not find what every object inherits. */
function entry<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function refused(sentence: string): Refused {
  return { ok: false, sentence };
}
