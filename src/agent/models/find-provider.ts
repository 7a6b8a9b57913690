// Where a provider is, which protocol it speaks and which key it gets: the table of known ones under what the
// configuration and the environment say. It refuses rather than send a key to an address nobody chose.
import { closestName } from '../../core/config/closest-name.ts';
import { quoted } from '../../core/config/excerpt.ts';
import type { Origins } from '../../core/config/merge.ts';
import type { ModelProvider } from '../../core/config/own-agent-settings.ts';
import { joinPath } from '../../core/config/problem.ts';
import type { Settings } from '../../core/config/settings.ts';
import { checkBaseUrl, withVersion } from './base-url.ts';
import { type Api, type KnownProvider, knownProvider, knownProviders } from './provider-table.ts';

export interface ModelSources {
  readonly settings: Settings;
  /** Who said what, from mergeSettings; `trusted`: no file of a project had a say. */
  readonly origins: Origins | 'trusted';
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface FoundProvider {
  readonly name: string;
  readonly api: Api;
  readonly baseUrl: string;
  readonly apiKey: string | null;
  /** The variable that holds the key, for sentences; null: no key is sent. */
  readonly keyVariable: string | null;
  readonly contextLimit: number | null;
}

export type ProviderResult =
  | { readonly ok: true; readonly provider: FoundProvider }
  | { readonly ok: false; readonly sentence: string };

export function findProvider(name: string, sources: ModelSources): ProviderResult {
  const known = knownProvider(name);
  const own = Object.hasOwn(sources.settings.models, name) ? sources.settings.models[name] : undefined;
  if (known === null && own === undefined) return refuse(unknownProvider(name, sources));
  const address = findAddress(name, known, own, sources);
  if (!address.ok) return address;
  const key = findKey(name, known, own, sources);
  if (!key.ok) return key;
  return {
    ok: true,
    provider: {
      name,
      api: own?.api ?? known?.api ?? 'chat',
      baseUrl: address.url,
      apiKey: key.apiKey,
      keyVariable: key.keyVariable,
      contextLimit: own?.contextLimit ?? null,
    },
  };
}

/** An empty variable counts as not set. */
export function variable(environment: ModelSources['environment'], name: string): string | null {
  const value = environment[name]?.trim();
  return value === undefined || value === '' ? null : value;
}

type Address =
  | { readonly ok: true; readonly url: string }
  | { readonly ok: false; readonly sentence: string };

function findAddress(
  name: string,
  known: KnownProvider | null,
  own: ModelProvider | undefined,
  { environment, origins }: ModelSources,
): Address {
  const path = joinPath('models', name);
  if (own?.baseUrl !== undefined) {
    const checked = checkBaseUrl(own.baseUrl, `${path}.baseUrl`);
    if (!checked.ok) return checked;
    // A cloned project must not choose who reads the conversation and who gets the key.
    const isForeign = origins !== 'trusted' && origins[`${path}.baseUrl`] === 'project';
    if (isForeign && !checked.isLoopback) {
      return refuse(
        `${path}.baseUrl comes from the project's file and leaves this machine: put it into your own configuration if you trust it.`,
      );
    }
    return checked;
  }
  if (known === null) {
    return refuse(`${path} has no baseUrl: say where the provider is, such as http://127.0.0.1:8000/v1.`);
  }
  const moved = known.baseUrlVariable === null ? null : variable(environment, known.baseUrlVariable);
  if (moved === null || known.baseUrlVariable === null) return { ok: true, url: known.baseUrl };
  const checked = checkBaseUrl(moved, known.baseUrlVariable);
  return checked.ok
    ? { ok: true, url: withVersion(checked.url, known.versionPath, known.api === 'anthropic') }
    : checked;
}

type Key =
  | { readonly ok: true; readonly apiKey: string | null; readonly keyVariable: string | null }
  | { readonly ok: false; readonly sentence: string };

function findKey(
  name: string,
  known: KnownProvider | null,
  own: ModelProvider | undefined,
  { environment, origins }: ModelSources,
): Key {
  if (own?.apiKeyEnv !== undefined && origins !== 'trusted') {
    const path = `${joinPath('models', name)}.apiKeyEnv`;
    if (origins[path] === 'project') {
      return refuse(
        `${path} comes from the project's file, which must not choose which of your keys is sent: put it into your own configuration.`,
      );
    }
  }
  // An address of its own without a key of its own gets none: the known key belongs to the known address.
  const isElsewhere = own?.baseUrl !== undefined;
  const variables =
    own?.apiKeyEnv !== undefined ? [own.apiKeyEnv] : isElsewhere ? [] : (known?.keyVariables ?? []);
  const [first] = variables;
  if (first === undefined) return { ok: true, apiKey: null, keyVariable: null };
  const keyVariable = variables.find((each) => variable(environment, each) !== null);
  const apiKey = keyVariable === undefined ? null : variable(environment, keyVariable);
  if (keyVariable === undefined || apiKey === null) {
    return refuse(
      `No key for ${name}: set ${variables.map(shownVariable).join(' or ')}, or choose a model that needs none, such as ollama/qwen3.`,
    );
  }
  // Such a key cannot be a header, and the error of fetch would quote it.
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    return refuse(
      `The key in ${shownVariable(keyVariable)} holds spaces or other characters that no key has: copy it again.`,
    );
  }
  return { ok: true, apiKey, keyVariable };
}

function shownVariable(name: string): string {
  return /^\w+$/.test(name) ? name : quoted(name, 100);
}

function unknownProvider(name: string, { settings }: ModelSources): string {
  const names = [...Object.keys(knownProviders), ...Object.keys(settings.models)];
  const closest = closestName(name, names);
  const meant =
    closest === null
      ? `known are ${[...new Set(names)].slice(0, 20).join(', ')}`
      : `did you mean ${closest}?`;
  return `The provider ${quoted(name, 60)} is unknown; ${meant}${closest === null ? '; others are added under "models" in untildone.json.' : ''}`;
}

function refuse(sentence: string): { readonly ok: false; readonly sentence: string } {
  return { ok: false, sentence };
}
