// Makes the model object of one provider package. Each package is loaded only when it is asked for, so that it
// becomes a chunk of its own. The packages would read keys and addresses from the process; everything is passed
// in, so that a key meant for one provider is never sent to another.
import type { LanguageModel } from 'ai';
import type { Api } from './provider-table.ts';

/** A plain string would be sent to the vendor's gateway. */
export type ModelObject = Exclude<LanguageModel, string>;

export interface ModelTarget {
  readonly provider: string;
  readonly api: Api;
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly modelId: string;
}

/** Stands where a package insists on a key and the server wants none. */
const noKey = 'none';

export async function createModel(target: ModelTarget): Promise<ModelObject> {
  const { provider, baseUrl: baseURL, modelId } = target;
  const apiKey = target.apiKey ?? noKey;
  switch (target.api) {
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic({ baseURL, apiKey })(modelId);
    }
    case 'google': {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
      return createGoogleGenerativeAI({ baseURL, apiKey })(modelId);
    }
    case 'responses': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      return createOpenAI({ baseURL, apiKey }).responses(modelId);
    }
    case 'chat': {
      if (provider === 'openai') {
        const { createOpenAI } = await import('@ai-sdk/openai');
        return createOpenAI({ baseURL, apiKey }).chat(modelId);
      }
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const key = target.apiKey === null ? {} : { apiKey };
      return createOpenAICompatible({ name: provider, baseURL, includeUsage: true, ...key })(modelId);
    }
  }
}
