// The answer to "which models are there?" in the three shapes that clients expect.
import type { Protocol } from '../model-request.ts';

const CREATED_SECONDS = 1_700_000_000;

function entryOf(protocol: Protocol, id: string): unknown {
  switch (protocol) {
    case 'anthropic':
      return {
        type: 'model',
        id,
        display_name: id,
        created_at: new Date(CREATED_SECONDS * 1000).toISOString(),
      };
    case 'gemini':
      return {
        name: `models/${id}`,
        displayName: id,
        inputTokenLimit: 1_048_576,
        outputTokenLimit: 65_536,
        supportedGenerationMethods: ['generateContent', 'countTokens'],
      };
    default:
      return { id, object: 'model', created: CREATED_SECONDS, owned_by: 'scripted' };
  }
}

export function listModels(protocol: Protocol, ids: readonly string[]): unknown {
  const entries = ids.map((id) => entryOf(protocol, id));
  switch (protocol) {
    case 'anthropic':
      return { data: entries, has_more: false, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null };
    case 'gemini':
      return { models: entries };
    default:
      // Codex reads its own list from `models` and takes an empty one for "use what you know".
      return { object: 'list', data: entries, models: [] };
  }
}

export function describeModel(protocol: Protocol, id: string): unknown {
  return entryOf(protocol, id);
}
