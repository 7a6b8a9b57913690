// From what a human wrote to a model that can be called (C1). Sentences name the place of
// a key or an address, never its value.
import type { LanguageModel } from 'ai';
import type { Origins } from '../../core/config.ts';
import { type Refusal, refuse } from '../../core/error.ts';
import { closestName, joinPath, quoteText } from '../../core/problem.ts';
import { ownValue } from '../../core/schema.ts';
import type { ModelProvider, Settings } from '../../core/settings.ts';
import { knownPrice } from './prices.ts';

export type ModelSources = Readonly<{
  settings: Settings;
  origins: Origins;
  environment: Readonly<Record<string, string | undefined>>;
}>;

export type ResolvedModel = Extract<
  Awaited<ReturnType<typeof resolveModel>>,
  { ok: true }
>;
export type ModelFacts = Pick<
  ResolvedModel,
  'label' | 'provider' | 'modelId' | 'address' | 'keyVariable'
>;
export type ModelFamily = 'anthropic' | 'openai' | 'google' | 'compatible';
export type Price = Settings['prices'][string] &
  Readonly<Record<'input' | 'output', number>>;
type Resolution<Value> = Readonly<Value & { ok: true }> | Refusal;
type Spec = Readonly<Record<'provider' | 'modelId', string>>;
type Api = NonNullable<ModelProvider['api']>;
type KnownProvider = ReturnType<typeof hosted | typeof local>;
type Wanted = ReturnType<typeof lookUp>;

/** `NAME_BASE_URL` moves the address; the first key that is set counts. */
const hosted = (
  api: Api,
  baseUrl: string,
  name: string,
  defaultModel: string,
  ...moreKeys: string[]
) => ({
  api,
  baseUrl,
  baseUrlVariable: `${name}_BASE_URL`,
  defaultModel,
  keyVariables: [`${name}_API_KEY`, ...moreKeys],
});
const local = (port: number) => ({
  api: 'chat' as const,
  baseUrl: `http://127.0.0.1:${port}/v1`,
  baseUrlVariable: null,
  defaultModel: null,
  keyVariables: [],
});

const googleUrl = 'https://generativelanguage.googleapis.com/v1beta';

/** A key in the environment chooses in this order. */
export const knownProviders: Readonly<Record<string, KnownProvider>> = {
  anthropic: hosted(
    'anthropic',
    'https://api.anthropic.com/v1',
    'ANTHROPIC',
    'claude-sonnet-5-5',
  ),
  openai: hosted('responses', 'https://api.openai.com/v1', 'OPENAI', 'gpt-6.1-sol'),
  google: hosted(
    'google',
    googleUrl,
    'GOOGLE_GENERATIVE_AI',
    'gemini-pro-latest',
    'GEMINI_API_KEY',
  ),
  ollama: local(11434),
  lmstudio: local(1234),
  vllm: local(8000),
};

export async function resolveModel(written: string | null, sources: ModelSources) {
  const chosen = chooseSpec(written, sources);
  if (!chosen.ok) return chosen;
  const { provider, modelId } = chosen;
  const { settings } = sources;
  const wanted = lookUp(provider, sources);
  const { known, own } = wanted;
  if (known === undefined && own === undefined)
    return unknownProvider(provider, settings);
  const address = findAddress(wanted);
  if (!address.ok) return address;
  const key = findKey(wanted);
  if (!key.ok) return key;
  const label = `${provider}/${modelId}`;
  const isOwnAddress = address.url === known?.baseUrl;
  const price = findPrice(label.toLowerCase(), settings, isOwnAddress ? known : null);
  if (!price.ok) return price;
  const api = own?.api ?? known?.api ?? 'chat';
  const named = api === 'anthropic' || api === 'google' ? api : null;
  const family: ModelFamily = named ?? (provider === 'openai' ? provider : 'compatible');
  return {
    ok: true as const,
    label,
    provider,
    modelId,
    family,
    model: await createModel(api, chosen, address.url, key.apiKey),
    address: new URL(address.url).origin,
    keyVariable: key.keyVariable,
    contextLimit:
      settings.context.limit ?? own?.contextLimit ?? knownContextLimit(modelId),
    price: price.price,
  };
}

const lookUp = (provider: string, sources: ModelSources) => ({
  ...sources,
  provider,
  path: joinPath('models', provider),
  known: ownValue(knownProviders, provider),
  /** From the configuration. */
  own: ownValue(sources.settings.models, provider),
});

function chooseSpec(
  written: string | null,
  { settings, environment }: ModelSources,
): Resolution<Spec> {
  const named = [written, settings.model].find(
    (text) => text !== null && text.trim() !== '',
  );
  if (named != null) return parseModelSpec(named);
  for (const [provider, { keyVariables, defaultModel }] of Object.entries(
    knownProviders,
  )) {
    const hasKey = keyVariables.some((name) => variable(environment, name) !== '');
    if (hasKey && defaultModel !== null)
      return { ok: true, provider, modelId: defaultModel };
  }
  const keys = Object.values(knownProviders).flatMap(
    ({ keyVariables }) => keyVariables.join(' or ') || [],
  );
  return refuse(
    `No model is chosen: set ${keys.join(', ')}, or use a local one with --model ollama/qwen3, or run "untildone demo", which needs none.`,
  );
}

/** Slashes and colons, but nothing that could leave its place in an address. */
const modelIdPattern = /^[A-Za-z0-9](?:[\w.:@+-]|\/(?=[\w@]))*$/;

const makers: readonly (readonly [RegExp, string])[] = [
  [/^claude/i, 'anthropic'],
  [/^(?:gpt|o\d)/i, 'openai'],
  [/^gemini/i, 'google'],
];

export function parseModelSpec(text: string): Resolution<Spec> {
  const plain = text.trim();
  const slash = plain.indexOf('/');
  const modelId = plain.slice(slash + 1);
  const provider = plain.slice(0, Math.max(slash, 0)).toLowerCase();
  const isName = modelIdPattern.test(modelId);
  if (provider !== '' && isName) return { ok: true, provider, modelId };
  const shown = quoteText(plain, 60);
  if (Object.hasOwn(knownProviders, plain.toLowerCase())) {
    const model = knownProviders[plain.toLowerCase()]?.defaultModel ?? 'qwen3';
    return refuse(
      `${shown} is a provider: name one of its models too, such as ${plain.toLowerCase()}/${model}.`,
    );
  }
  const maker = makers.find(([pattern]) => pattern.test(plain))?.[1];
  return refuse(
    slash === -1 && isName
      ? `The model ${shown} lacks its provider: write ${maker === undefined ? `provider/${plain}, such as ollama/${plain} for a local one` : `${maker}/${plain}`}.`
      : `${shown} is not a model: write provider/model, such as anthropic/claude-sonnet-5-5 or ollama/qwen3.`,
  );
}

function findAddress({
  path,
  known,
  own,
  environment,
  origins,
}: Wanted): Resolution<{ url: string }> {
  if (own?.baseUrl !== undefined) {
    const checked = checkBaseUrl(own.baseUrl, `${path}.baseUrl`);
    // A cloned project must not choose who reads along and gets the key.
    if (!checked.ok || checked.isLoopback || origins[`${path}.baseUrl`] !== 'project')
      return checked;
    return refuse(
      `${path}.baseUrl comes from the project's file and leaves this machine: put it into your own configuration if you trust it.`,
    );
  }
  if (known === undefined)
    return refuse(
      `${path} has no baseUrl: say where the provider is, such as http://127.0.0.1:8000/v1.`,
    );
  const { baseUrl, baseUrlVariable, api } = known;
  const moved = variable(environment, baseUrlVariable ?? '');
  if (moved === '') return { ok: true, url: baseUrl };
  const checked = checkBaseUrl(moved, baseUrlVariable ?? '');
  if (!checked.ok) return checked;
  // People often leave the version out.
  return {
    ok: true,
    url: withVersion(checked.url, new URL(baseUrl).pathname, api === 'anthropic'),
  };
}

export function checkBaseUrl(
  text: string,
  place: string,
): Resolution<{ url: string; isLoopback: boolean }> {
  const url = URL.parse(text.trim());
  if (url === null || !/^https?:$/.test(url.protocol))
    return refuse(
      `${place} is not a web address: write one that begins with http:// or https://.`,
    );
  const instead = 'put the key into an environment variable instead.';
  if (url.username !== '' || url.password !== '')
    return refuse(`${place} contains a user name or a password: ${instead}`);
  if (url.search !== '' || url.hash !== '')
    return refuse(`${place} must end with the path: leave out everything after ? or #.`);
  const isLoopback = /^(?:localhost|\[::1\]|127(?:\.\d{1,3}){3})$/.test(url.hostname);
  return { ok: true, url: url.href.replace(/\/+$/, ''), isLoopback };
}

/** `isShared`: other programs read the variable and add the version themselves. */
export function withVersion(url: string, versionPath: string, isShared: boolean): string {
  const { pathname } = new URL(url);
  const lacksVersion = pathname === '/' || (isShared && !/\/v\d+\w*$/.test(pathname));
  return lacksVersion ? `${url}${versionPath}` : url;
}

type Key = Resolution<Record<'apiKey' | 'keyVariable', string | null>>;

function findKey({ provider, path, known, own, environment, origins }: Wanted): Key {
  if (origins[`${path}.apiKeyEnv`] === 'project')
    return refuse(
      `${path}.apiKeyEnv comes from the project's file, which must not choose which of your keys is sent: put it into your own configuration.`,
    );
  // The known key belongs to the known address.
  const usual = own?.baseUrl === undefined ? (known?.keyVariables ?? []) : [];
  const variables = own?.apiKeyEnv === undefined ? usual : [own.apiKeyEnv];
  if (variables.length === 0) return { ok: true, apiKey: null, keyVariable: null };
  const keyVariable = variables.find((name) => variable(environment, name) !== '');
  const shown = (name: string) => (/^\w+$/.test(name) ? name : quoteText(name, 100));
  if (keyVariable === undefined)
    return refuse(
      `No key for ${provider}: set ${variables.map(shown).join(' or ')}, or choose a model that needs none, such as ollama/qwen3.`,
    );
  const apiKey = variable(environment, keyVariable);
  // It cannot be a header, and the error of fetch would quote it.
  if (/^[\x21-\x7e]+$/.test(apiKey)) return { ok: true, apiKey, keyVariable };
  return refuse(
    `The key in ${shown(keyVariable)} contains spaces or other characters that no key has: copy it again.`,
  );
}

/**
 * `at`: the provider whose own address it is; elsewhere somebody else writes the bill.
 */
function findPrice(
  key: string,
  { prices }: Settings,
  at: KnownProvider | null,
): Resolution<{ price: Price | null }> {
  const found = ownValue(prices, key);
  const free = at?.keyVariables.length === 0 ? { input: 0, output: 0 } : null;
  if (found === undefined)
    return { ok: true, price: at === null ? null : (free ?? knownPrice(key)) };
  const { input, output } = found;
  if (input !== undefined && output !== undefined)
    return { ok: true, price: { ...found, input, output } };
  const lacking = input === undefined ? 'input' : 'output';
  return refuse(
    `${joinPath('prices', key)} lacks ${lacking}: half a price would give a wrong cost.`,
  );
}

function unknownProvider(name: string, { models }: Settings): Refusal {
  const names = [...new Set([...Object.keys(knownProviders), ...Object.keys(models)])];
  const closest = closestName(name, names);
  const all = `known are ${names.slice(0, 20).join(', ')}; others are added under "models" in untildone.json.`;
  const meant = closest === null ? all : `did you mean ${closest}?`;
  return refuse(`The provider ${quoteText(name, 60)} is unknown; ${meant}`);
}

/** A string goes to a gateway. */
type Model = Exclude<LanguageModel, string>;

/** Packages would read keys from the process. */
async function createModel(
  api: Api,
  spec: Spec,
  baseURL: string,
  key: string | null,
): Promise<Model> {
  const { provider, modelId } = spec;
  // Some packages insist on one.
  const place = { baseURL, apiKey: key ?? 'none' };
  if (api === 'anthropic')
    return (await import('@ai-sdk/anthropic')).createAnthropic(place)(modelId);
  if (api === 'google')
    return (await import('@ai-sdk/google')).createGoogleGenerativeAI(place)(modelId);
  if (api === 'responses' || provider === 'openai')
    return (await import('@ai-sdk/openai')).createOpenAI(place)[api](modelId);
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const given = key === null ? { baseURL } : place;
  return createOpenAICompatible({ name: provider, includeUsage: true, ...given })(
    modelId,
  );
}

const variable = (environment: ModelSources['environment'], name: string) =>
  environment[name]?.trim() ?? '';

/**
 * If versions of a model differ, the smaller limit: compacting early costs less than a
 * failed call.
 */
const contextLimits: readonly (readonly [RegExp, number])[] = [
  [/^claude-(?:sonnet|opus|fable)-5/, 1_000_000],
  [/^claude-/, 200_000],
  [/^gpt-6/, 922_000],
  [/^gpt-5/, 272_000],
  [/^gpt-4\.1/, 1_000_000],
  [/^gpt-4o/, 128_000],
  [/^gpt-3\.5/, 16_000],
  [/^o[134]/, 200_000],
  [/^gemini-/, 1_000_000],
];

/** null: only the provider's error will tell. */
export function knownContextLimit(modelId: string): number | null {
  const name = modelId.slice(modelId.lastIndexOf('/') + 1).toLowerCase();
  return contextLimits.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}
