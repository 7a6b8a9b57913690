// The HTTP server: the script says what to answer, the wire how it looks, and here it is
// sent at its pace and broken where the script wants it. Only on 127.0.0.1, nothing on
// disk.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import * as zlib from 'node:zlib';
import { anthropicWire } from './anthropic.ts';
import { openaiError, type Report, reportFailure } from './failures.ts';
import { geminiWire } from './gemini.ts';
import type {
  ModelFailure,
  ModelReply,
  ModelRequest,
  Usage,
  Wire,
  WireEvent,
} from './model.ts';
import { createStoredItems, openaiChatWire, openaiResponsesWire } from './openai.ts';
import type { Script } from './script.ts';
import {
  createStoryteller,
  outsideReply,
  segmentsOf,
  sumTokens,
  tokensOf,
  writeCallId,
} from './script.ts';
import { recordOf } from './values.ts';

/** What the server plays, and how it behaves. */
export type ScriptedModelOptions = Readonly<{
  /** The first answers when nothing chooses another. */
  scripts: readonly Script[];
  /** Default: any free one. */
  port?: number;
  /** Kept for looking at; default 1000. */
  keepRequests?: number;
  /** Requests with another key are refused. */
  apiKey?: string;
  /** Requests for others are refused. Default: every name is a model. */
  models?: readonly string[];
  /** Requests above this estimate of tokens fail as too long. */
  contextWindow?: number;
  latencyMs?: number;
  /** One line per request, for people. */
  log?: (line: string) => void;
  onRequest?: (request: LoggedRequest) => void;
}>;

/** A request as the server got it, with what it answered. */
export type LoggedRequest = ModelRequest &
  Readonly<{
    at: number;
    path: string;
    headers: Readonly<Record<string, string>>;
    body: unknown;
    /** Absent when the request was refused before any script saw it. */
    script?: string | undefined;
    /** A title, a summary or the like: the script stays where it is. */
    isAside: boolean;
    reply: ModelReply;
  }>;

/** A server that runs. */
export type ScriptedModel = Awaited<ReturnType<typeof startScriptedModel>>;

/**
 * Starts the server, which plays the scripts in the protocols of OpenAI, Anthropic and
 * Gemini.
 */
export async function startScriptedModel(options: ScriptedModelOptions) {
  const requests: LoggedRequest[] = [];
  const handler = createHandler(options, createLog(requests, options));
  const server = createServer((incoming, response) => {
    handler(incoming, response).catch((error: unknown) => {
      // Whoever asked is told; the server goes on for the other conversations.
      const message = `The scripted model failed: ${String(error)}`;
      options.log?.(message);
      if (response.headersSent) response.destroy();
      else
        sendJson(response, { status: 500, body: openaiError(message, 'server_error') });
    });
  });
  // A test that ends must not wait for pooled connections.
  server.keepAliveTimeout = 1000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    /**
     * OpenAI and Anthropic clients of the AI SDK want `/v1` after it, Gemini's `/v1beta`.
     */
    url: `http://127.0.0.1:${port}`,
    port,
    /** Newest last, bounded in number and bytes, without secrets. */
    requests: requests as readonly LoggedRequest[],
    /** Ends open answers too, stalled ones included. */
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const mostLoggedBytes = 128 * 1024 * 1024;

/** Tool names come from outside: the line for people has no control characters. */
function createLog(
  requests: LoggedRequest[],
  { keepRequests = 1000, log, onRequest }: ScriptedModelOptions,
) {
  const sizes: number[] = [];
  let total = 0;
  return (request: LoggedRequest, bytes: number): void => {
    requests.push(request);
    sizes.push(bytes);
    total += bytes;
    while (
      requests.length > 1 &&
      (requests.length > keepRequests || total > mostLoggedBytes)
    ) {
      requests.shift();
      total -= sizes.shift() ?? 0;
    }
    onRequest?.(request);
    const { protocol, script, isAside, reply } = request;
    const calls = (reply.calls ?? []).map(({ name }) => name).join(', ');
    const said =
      reply.error?.kind ??
      reply.breakage?.kind ??
      (calls || JSON.stringify(reply.text ?? ''));
    log?.(
      `${protocol} ${script ?? '-'}${isAside ? ' (aside)' : ''}: ${said}`.replace(
        /\p{Cc}/gu,
        '',
      ),
    );
  };
}

type Answer = Pick<Report, 'body'> & Partial<Report>;

function sendJson(response: ServerResponse, { body, status = 200, headers }: Answer) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

function modelsFor(
  path: string,
  isAnthropic: boolean,
  known: readonly string[],
): unknown {
  const [isListed, name] = /\/models(?:\/([^/:]+))?$/.exec(path) ?? [];
  if (isListed === undefined) return undefined;
  const created = 1_700_000_000;
  const isGemini = path.includes('/v1beta/');
  const limits = { inputTokenLimit: 1_048_576, outputTokenLimit: 65_536 };
  const supportedGenerationMethods = ['generateContent', 'countTokens'];
  const entry = (id: string) => {
    if (isGemini)
      return {
        name: `models/${id}`,
        displayName: id,
        ...limits,
        supportedGenerationMethods,
      };
    if (!isAnthropic) return { id, object: 'model', created, owned_by: 'scripted' };
    return {
      type: 'model',
      id,
      display_name: id,
      created_at: new Date(created * 1000).toISOString(),
    };
  };
  if (name !== undefined) return entry(decodeURIComponent(name));
  const data = known.map(entry);
  if (isGemini) return { models: data };
  // Codex reads its own list from `models`; an empty one means "use what you know".
  if (!isAnthropic) return { object: 'list', data, models: [] };
  return {
    data,
    has_more: false,
    first_id: known[0] ?? null,
    last_id: known.at(-1) ?? null,
  };
}

/**
 * By the ending: base URLs bring prefixes such as /v1 or a proxy's path. `count`: only
 * tokens are asked for.
 */
const endpoints: readonly (readonly [
  ending: RegExp,
  Wire,
  count?: (tokens: number) => object,
])[] = [
  [/\/chat\/completions$/, openaiChatWire],
  [/\/responses$/, openaiResponsesWire],
  [
    /\/responses\/input_tokens$/,
    openaiResponsesWire,
    (input_tokens) => ({ object: 'response.input_tokens', input_tokens }),
  ],
  [/\/messages$/, anthropicWire],
  [/\/messages\/count_tokens$/, anthropicWire, (input_tokens) => ({ input_tokens })],
  [/\/models\/([^/:]+):(generate|streamGenerate)Content$/, geminiWire],
  [/\/models\/([^/:]+):countTokens$/, geminiWire, (totalTokens) => ({ totalTokens })],
];

function routeOf(path: string) {
  for (const [ending, wire, count] of endpoints) {
    const [found, model = '', action] = ending.exec(path) ?? [];
    const inPath = {
      model: decodeURIComponent(model),
      stream: action === 'streamGenerate',
    };
    if (found !== undefined) return { wire, count, inPath };
  }
  return undefined;
}

const keyHeaders = ['authorization', 'x-api-key', 'x-goog-api-key'];
const secretHeaders = [...keyHeaders, 'cookie', 'proxy-authorization'];
/** For error texts when no window was set. */
const usualWindow = 200_000;

function createHandler(options: ScriptedModelOptions, log: ReturnType<typeof createLog>) {
  const { scripts, apiKey, models, contextWindow, latencyMs = 0 } = options;
  const launch = randomBytes(4).readUInt32BE().toString(36);
  const tell = createStoryteller(scripts);
  const storedItems = createStoredItems();
  let served = 0;

  type Route = NonNullable<ReturnType<typeof routeOf>>;
  async function generate(
    incoming: IncomingMessage,
    response: ServerResponse,
    url: URL,
    route: Route,
  ) {
    const { wire, count, inPath } = route;
    const { headers } = incoming;
    // Across restarts too: clients keep ids from before.
    const serial = `${launch}${(served++).toString(36).padStart(3, '0')}`;
    const report = (failure: ModelFailure, model = '', inputTokens = 0) => {
      const window = Math.min(contextWindow ?? usualWindow, Math.max(1, inputTokens - 1));
      const facts = { requestId: serial, model, inputTokens, contextWindow: window };
      return reportFailure(wire.protocol, failure, facts);
    };
    const refuse = (failure: ModelFailure) => sendJson(response, report(failure));

    const read = await readBody(incoming);
    const keys = [
      ...keyHeaders.map((name) => headers[name]),
      url.searchParams.get('key'),
    ];
    if (
      apiKey !== undefined &&
      !keys.includes(apiKey) &&
      !keys.includes(`Bearer ${apiKey}`)
    )
      return refuse({ kind: 'authentication' });
    if (read.problem !== undefined)
      return refuse({ kind: 'invalid-request', message: read.problem });
    const stores = wire === openaiResponsesWire;
    const { body, problem } = stores ? storedItems.expand(read.body) : read;
    if (problem !== undefined)
      return refuse({ kind: 'invalid-request', status: 404, message: problem });
    const request = wire.parseRequest(
      (count && recordOf(body)['generateContentRequest']) ?? body,
      inPath,
    );
    const segments = segmentsOf(request);
    const tokens = sumTokens(segments);
    if (count) return sendJson(response, { body: count(tokens) });

    const isUnknown = models?.includes(request.model) === false;
    const isTooLong = contextWindow !== undefined && tokens > contextWindow;
    const kind = (isUnknown && 'unknown-model') || (isTooLong && 'context-length');
    const { reply, anchor, isAside, script, cachedTokens } = kind
      ? outsideReply({ finish: 'stop', error: { kind } }, serial)
      : tell(request, headers, serial, segments);
    const { whole, events } = wire.render(reply, {
      request,
      replyId: serial,
      callIds: (reply.calls ?? []).map((_, index) => writeCallId(anchor, index)),
      createdAtSeconds: Math.floor(Date.now() / 1000),
      usage: reply.usage ?? estimateUsage(tokens, cachedTokens, reply),
    });
    if (stores && !reply.error) storedItems.remember(body, whole);
    const shown = Object.entries(headers).filter(
      ([name, value]) => value && !secretHeaders.includes(name),
    );
    const harmless = Object.fromEntries(
      shown.map(([name, value]) => [name, String(value)]),
    );
    // Without the query, where Gemini clients may put their key.
    const about = {
      at: Date.now(),
      path: url.pathname,
      headers: harmless,
      body: read.body,
    };
    log({ ...request, ...about, reply, isAside, script }, read.bytes);
    // Gemini streams a JSON array unless asked for events.
    const asArray =
      wire === geminiWire && request.stream && url.searchParams.get('alt') !== 'sse';
    await sendReply(response, reply, {
      whole: asArray ? events.map(({ data }) => data) : whole,
      events: request.stream && !asArray ? events : undefined,
      report: (failure) => report(failure, request.model, tokens),
      latencyMs,
    });
  }

  return async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = 'GET', headers } = incoming;
    const url = new URL(incoming.url ?? '/', 'http://127.0.0.1');
    const path = url.pathname;
    if (method === 'GET' || method === 'HEAD') {
      const listed = models ?? scripts.map(({ name }) => name);
      const isAnthropic = headers['anthropic-version'] !== undefined;
      const body =
        path === '/' ? { name: 'scripted model' } : modelsFor(path, isAnthropic, listed);
      if (body) return sendJson(response, { body });
    }
    const route = method === 'POST' ? routeOf(path) : undefined;
    if (route) return generate(incoming, response, url, route);
    const message = `Unknown request URL: ${method} ${path}`;
    sendJson(response, {
      status: 404,
      body: openaiError(message, 'invalid_request_error', 'unknown_url'),
    });
  };
}

function estimateUsage(tokens: number, cachedTokens: number, reply: ModelReply): Usage {
  const { thinking, text, calls = [] } = reply;
  const thinkingTokens = tokensOf(thinking);
  const called = calls.map((call) => JSON.stringify(call)).join('');
  const outputTokens = Math.max(1, thinkingTokens + tokensOf(text) + tokensOf(called));
  return { inputTokens: Math.max(1, tokens), cachedTokens, outputTokens, thinkingTokens };
}

/** Context windows are a few megabytes of text; images in base64 are larger. */
const mostBytes = 64 * 1024 * 1024;

/** zstd is not in every Node that we run on: there the body is unreadable. */
const decoders: Readonly<Record<string, typeof zlib.zstdDecompressSync>> = {
  gzip: zlib.gunzipSync,
  deflate: zlib.inflateSync,
  br: zlib.brotliDecompressSync,
  zstd: zlib.zstdDecompressSync,
};

async function readBody(incoming: IncomingMessage) {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    size += (chunk as Buffer).length;
    if (size > mostBytes)
      return { problem: `The body is larger than ${mostBytes} bytes.` };
    chunks.push(chunk as Buffer);
  }
  const bytes = Buffer.concat(chunks);
  try {
    const decode = decoders[incoming.headers['content-encoding'] ?? ''];
    const text = (decode?.(bytes, { maxOutputLength: mostBytes }) ?? bytes).toString(
      'utf8',
    );
    return { body: text === '' ? {} : (JSON.parse(text) as unknown), bytes: text.length };
  } catch (error) {
    // The client's mistake, which it is told.
    return { problem: `The body could not be read as JSON: ${String(error)}` };
  }
}

type Sending = Readonly<{
  whole: unknown;
  /** undefined: no stream is wanted. */
  events: readonly WireEvent[] | undefined;
  report: (failure: ModelFailure) => Report;
  latencyMs: number;
}>;

function eventText({ event, data }: WireEvent): string {
  const body = typeof data === 'string' ? data : JSON.stringify(data);
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${body}\n\n`;
}

async function sendReply(
  response: ServerResponse,
  reply: ModelReply,
  sending: Sending,
): Promise<void> {
  const { breakage, delays = {} } = reply;
  const { whole, events, report, latencyMs } = sending;
  const overload =
    breakage?.kind === 'error-event' ? report({ kind: 'overload' }) : undefined;
  const failed = reply.error ? report(reply.error) : !events && overload;
  // Nothing is written to a closed connection.
  const closing = new AbortController();
  response.once('close', () => closing.abort());
  if (response.closed) closing.abort();
  const { signal } = closing;
  const wait = async (milliseconds = 0) => {
    if (milliseconds > 0) await sleep(milliseconds, undefined, { signal });
  };
  try {
    await wait(latencyMs + (delays.beforeMs ?? 0));
    if (failed) return sendJson(response, failed);
    if (!events && !breakage) return sendJson(response, { body: whole });
    const sent = events?.slice(0, breakage?.afterEvents) ?? [];
    if (events && (breakage?.kind !== 'stall' || sent.length > 0)) {
      const headers = {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache',
      };
      response.writeHead(200, headers).flushHeaders();
      for (const event of sent) {
        await wait(delays.perEventMs);
        response.write(eventText(event));
      }
    }
    switch (breakage?.kind) {
      case 'reset':
        // What was written must leave first, or the client never sees it.
        await wait(5);
        response.socket?.resetAndDestroy();
        break;
      case 'stall':
        if (!signal.aborted) await once(signal, 'abort');
        break;
      case 'malformed':
        response.end(events ? 'data: {"this is": not JSON\n\n' : '{"this is": not JSON');
        break;
      default:
        response.end(overload && eventText(overload.event));
    }
  } catch (problem) {
    // The client left, which is an ordinary end. Anything else is our defect.
    if (!signal.aborted) throw problem;
  }
}
