// From what a human wrote (or did not write) to a model object that can be called (C1). Every way in which this can
// fail is one sentence that says what to do; no sentence holds the value of a key. Nothing is sent anywhere here.
import type { ModelPrice } from '../../core/config/own-agent-settings.ts';
import { joinPath } from '../../core/config/problem.ts';
import { knownContextLimit } from './context-limits.ts';
import { createModel, type ModelObject } from './create-model.ts';
import { type FoundProvider, findProvider, type ModelSources, variable } from './find-provider.ts';
import { type ModelSpec, parseModelSpec } from './model-spec.ts';
import { knownProviders } from './provider-table.ts';
import type { Price } from './usage.ts';

/** Whose special options a model understands: see cache-options.ts. */
export type ModelFamily = 'anthropic' | 'openai' | 'google' | 'compatible';

/** What sentences about a failing model need to know; holds no secret. */
export interface ModelFacts {
  /** provider/model, as it is shown and priced. */
  readonly label: string;
  readonly provider: string;
  readonly modelId: string;
  /** Scheme, host and port. */
  readonly address: string;
  readonly keyVariable: string | null;
}

export interface ResolvedModel extends ModelFacts {
  readonly ok: true;
  readonly model: ModelObject;
  readonly family: ModelFamily;
  /** Input tokens that fit; null: unknown. */
  readonly contextLimit: number | null;
  /** null: unknown, and so is every cost. */
  readonly price: Price | null;
}

export type ModelResolution = ResolvedModel | { readonly ok: false; readonly sentence: string };

export async function resolveModel(written: string | null, sources: ModelSources): Promise<ModelResolution> {
  const chosen = chooseSpec(written, sources);
  if (!chosen.ok) return chosen;
  const { provider: name, modelId } = chosen.spec;
  const found = findProvider(name, sources);
  if (!found.ok) return found;
  const label = `${name}/${modelId}`;
  const price = findPrice(label, sources);
  if (!price.ok) return price;
  const { provider } = found;
  return {
    ok: true,
    model: await createModel({ ...provider, provider: name, modelId }),
    label,
    provider: name,
    modelId,
    address: new URL(provider.baseUrl).origin,
    keyVariable: provider.keyVariable,
    family: familyOf(provider),
    contextLimit: sources.settings.context.limit ?? provider.contextLimit ?? knownContextLimit(modelId),
    price: price.price,
  };
}

type ChosenSpec =
  | { readonly ok: true; readonly spec: ModelSpec }
  | { readonly ok: false; readonly sentence: string };

/** What was written, else the setting (UNTILDONE_MODEL is its form in the environment), else whose key is set. */
function chooseSpec(written: string | null, { settings, environment }: ModelSources): ChosenSpec {
  const named = [written, settings.model].find((text) => text !== null && text.trim() !== '') ?? null;
  if (named !== null) return parseModelSpec(named);
  for (const [provider, { keyVariables, defaultModel }] of Object.entries(knownProviders)) {
    const hasKey = keyVariables.some((name) => variable(environment, name) !== null);
    if (hasKey && defaultModel !== null) return { ok: true, spec: { provider, modelId: defaultModel } };
  }
  const keys = Object.values(knownProviders).flatMap(({ keyVariables }) =>
    keyVariables.length === 0 ? [] : [keyVariables.join(' or ')],
  );
  return {
    ok: false,
    sentence: `No model is chosen: set ${keys.join(', ')}, or use a local one with --model ollama/qwen3, or run "untildone demo", which needs none.`,
  };
}

function familyOf({ name, api }: FoundProvider): ModelFamily {
  if (api === 'anthropic' || api === 'google') return api;
  return name === 'openai' ? 'openai' : 'compatible';
}

type FoundPrice =
  | { readonly ok: true; readonly price: Price | null }
  | { readonly ok: false; readonly sentence: string };

function findPrice(label: string, { settings }: ModelSources): FoundPrice {
  const key = label.toLowerCase();
  const found: ModelPrice | undefined = Object.hasOwn(settings.prices, key)
    ? settings.prices[key]
    : undefined;
  if (found === undefined) return { ok: true, price: null };
  const { input, output } = found;
  if (input === undefined || output === undefined) {
    const lacking = input === undefined ? 'input' : 'output';
    return {
      ok: false,
      sentence: `${joinPath('prices', key)} lacks ${lacking}: half a price would give a wrong cost.`,
    };
  }
  return { ok: true, price: { ...found, input, output } };
}
