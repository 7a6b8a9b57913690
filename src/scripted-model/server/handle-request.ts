// One request from its first byte to its last: route, key, body, script, answer. What to say is the script's choice,
// how it looks is the wire's; here they only meet.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { recordOf } from '../json-value.ts';
import type { ModelFailure } from '../model-reply.ts';
import type { ModelRequest } from '../model-request.ts';
import type { StoredItems } from '../protocols/openai-responses/stored-items.ts';
import { writeCallId } from '../script/anchor.ts';
import type { Script } from '../script/script.ts';
import { estimateUsage, segmentsOf, sumTokens } from '../tokens.ts';
import type { FailureContext } from '../wire.ts';
import type { AnsweringOptions } from './answering-options.ts';
import { chooseReply, replyOutside } from './choose-reply.ts';
import type { Conversations } from './conversations.ts';
import { describeModel, listModels } from './list-models.ts';
import { readBody } from './read-body.ts';
import {
  describeRequest,
  type LoggedRequest,
  type RequestLog,
  withoutQuery,
  withoutSecrets,
} from './request-log.ts';
import { type Route, routeOf } from './routes.ts';
import { sendError, sendJson, sendReply } from './send-reply.ts';

export interface AnsweringState {
  readonly scripts: readonly Script[];
  readonly log: RequestLog;
  readonly conversations: Conversations;
  readonly storedItems: StoredItems;
  readonly mintId: () => string;
}

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  readonly state: AnsweringState;
  readonly options: AnsweringOptions;
}

type Generation = Extract<Route, { kind: 'generate' | 'count-tokens' }>;

// What error texts name when no window was set: the size that most models had for long.
const USUAL_WINDOW = 200_000;

function hasKey({ incoming, url }: Exchange, apiKey: string): boolean {
  const { authorization, 'x-api-key': anthropic, 'x-goog-api-key': google } = incoming.headers;
  return [authorization, anthropic, google, url.searchParams.get('key')].some(
    (given) => given === apiKey || given === `Bearer ${apiKey}`,
  );
}

/** What the server itself refuses before any script is asked. */
function refusalOf(
  request: ModelRequest,
  tokens: number,
  options: AnsweringOptions,
): ModelFailure | undefined {
  if (options.models && !options.models.includes(request.model)) return { kind: 'unknown-model' };
  if (options.contextWindow !== undefined && tokens > options.contextWindow)
    return { kind: 'context-length' };
  return undefined;
}

function closingSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => controller.abort());
  return controller.signal;
}

async function generate(exchange: Exchange, route: Generation): Promise<void> {
  const { incoming, response, url, state, options } = exchange;
  const { wire } = route;
  const serial = state.mintId();
  const signal = closingSignal(response);
  const failureContext = (model = '', inputTokens = 0): FailureContext => ({
    requestId: serial,
    model,
    inputTokens,
    contextWindow: Math.min(options.contextWindow ?? USUAL_WINDOW, Math.max(1, inputTokens - 1)),
  });
  const refuse = (failure: ModelFailure) => sendError(response, wire.renderError(failure, failureContext()));

  const body = await readBody(incoming);
  if (options.apiKey !== undefined && !hasKey(exchange, options.apiKey))
    return refuse({ kind: 'authentication' });
  if (body.kind === 'unreadable') return refuse({ kind: 'invalid-request', message: body.reason });
  const expanded = wire.protocol === 'openai-responses' ? state.storedItems.expand(body.value) : undefined;
  if (expanded?.kind === 'unknown-reference') {
    return refuse({ kind: 'invalid-request', status: 404, message: expanded.message });
  }
  const value = expanded?.body ?? body.value;
  if (route.kind === 'count-tokens') {
    const counted = wire.parseRequest(recordOf(value)['generateContentRequest'] ?? value, route.context);
    return sendJson(response, 200, wire.renderTokenCount(sumTokens(segmentsOf(counted))));
  }

  const request = wire.parseRequest(value, route.context);
  const segments = segmentsOf(request);
  const tokens = sumTokens(segments);
  const error = refusalOf(request, tokens, options);
  const { reply, anchor, previous, isAside, script } = error
    ? replyOutside({ finish: 'stop', error }, serial)
    : chooseReply(request, incoming.headers, serial, state.scripts, state.conversations);
  const context = {
    request,
    replyId: serial,
    callIds: (reply.calls ?? []).map((_, index) => writeCallId(anchor, index)),
    createdAtSeconds: Math.floor(Date.now() / 1000),
    usage: reply.usage ?? estimateUsage(segments, previous, reply),
  };
  if (expanded && !reply.error) state.storedItems.remember(value, wire.wholeReply(reply, context));

  const logged: LoggedRequest = {
    ...request,
    at: Date.now(),
    path: withoutQuery(incoming.url ?? ''),
    headers: withoutSecrets(incoming.headers),
    body: body.value,
    reply,
    isAside,
    ...(script === undefined ? {} : { script }),
  };
  state.log.add(logged, body.bytes);
  options.onRequest?.(logged);
  options.log?.(describeRequest(logged));

  await sendReply({
    response,
    wire,
    reply,
    context,
    failure: failureContext(request.model, tokens),
    latencyMs: options.latencyMs ?? 0,
    asArray: wire.protocol === 'gemini' && request.stream && url.searchParams.get('alt') !== 'sse',
    signal,
  });
}

export async function handleRequest(
  incoming: IncomingMessage,
  response: ServerResponse,
  state: AnsweringState,
  options: AnsweringOptions,
): Promise<void> {
  const url = new URL(incoming.url ?? '/', 'http://127.0.0.1');
  const route = routeOf(incoming.method ?? 'GET', url.pathname, incoming.headers);
  switch (route.kind) {
    case 'greeting':
      return sendJson(response, 200, { name: 'scripted model' });
    case 'models': {
      const { wire, model } = route;
      const ids = options.models ?? state.scripts.map((script) => script.name);
      const answer =
        model === undefined ? listModels(wire.protocol, ids) : describeModel(wire.protocol, model);
      return sendJson(response, 200, answer);
    }
    case 'unknown': {
      const message = `Unknown request URL: ${incoming.method} ${url.pathname}`;
      const error = { message, type: 'invalid_request_error', param: null, code: 'unknown_url' };
      return sendJson(response, 404, { error });
    }
    default:
      return generate({ incoming, response, url, state, options }, route);
  }
}
