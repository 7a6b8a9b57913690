// Which endpoint a path means. Prefixes such as /v1 or a proxy's own path are taken as they come, since clients are
// pointed here by a base URL of their choice.
import { anthropicWire } from '../protocols/anthropic/wire.ts';
import { geminiWire } from '../protocols/gemini/wire.ts';
import { openaiChatWire } from '../protocols/openai-chat/wire.ts';
import { openaiResponsesWire } from '../protocols/openai-responses/wire.ts';
import type { ParseContext, Wire } from '../wire.ts';

export type Route =
  | { readonly kind: 'generate' | 'count-tokens'; readonly wire: Wire; readonly context: ParseContext }
  | { readonly kind: 'models'; readonly wire: Wire; readonly model?: string }
  | { readonly kind: 'greeting' }
  | { readonly kind: 'unknown' };

const GEMINI_CALL = /\/models\/([^/:]+):(generateContent|streamGenerateContent|countTokens)$/;
const MODELS = /\/models(?:\/([^/:]+))?$/;

const ENDPOINTS: readonly (readonly [ending: string, kind: 'generate' | 'count-tokens', wire: Wire])[] = [
  ['/chat/completions', 'generate', openaiChatWire],
  ['/responses', 'generate', openaiResponsesWire],
  ['/responses/input_tokens', 'count-tokens', openaiResponsesWire],
  ['/messages', 'generate', anthropicWire],
  ['/messages/count_tokens', 'count-tokens', anthropicWire],
];

function geminiRoute(path: string): Route | undefined {
  const [, model, action] = GEMINI_CALL.exec(path) ?? [];
  if (model === undefined) return undefined;
  const context = { model: decodeURIComponent(model), stream: action === 'streamGenerateContent' };
  return { kind: action === 'countTokens' ? 'count-tokens' : 'generate', wire: geminiWire, context };
}

function modelsRoute(path: string, headers: Readonly<Record<string, unknown>>): Route | undefined {
  const found = MODELS.exec(path);
  if (!found) return undefined;
  const isAnthropic = headers['anthropic-version'] !== undefined;
  const wire = path.includes('/v1beta/') ? geminiWire : isAnthropic ? anthropicWire : openaiChatWire;
  return { kind: 'models', wire, ...(found[1] === undefined ? {} : { model: decodeURIComponent(found[1]) }) };
}

export function routeOf(method: string, path: string, headers: Readonly<Record<string, unknown>>): Route {
  if (method === 'GET' || method === 'HEAD') {
    if (path === '/') return { kind: 'greeting' };
    return modelsRoute(path, headers) ?? { kind: 'unknown' };
  }
  if (method !== 'POST') return { kind: 'unknown' };
  const endpoint = ENDPOINTS.find(([ending]) => path.endsWith(ending));
  if (endpoint) return { kind: endpoint[1], wire: endpoint[2], context: {} };
  return geminiRoute(path) ?? { kind: 'unknown' };
}
