// The scripted model: an HTTP server on loopback that speaks four vendors' protocols and answers from scripts. It
// listens on 127.0.0.1 only, calls nobody and stores nothing on disk.
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createStoredItems } from '../protocols/openai-responses/stored-items.ts';
import type { Script } from '../script/script.ts';
import type { AnsweringOptions } from './answering-options.ts';
import { createConversations } from './conversations.ts';
import { type AnsweringState, handleRequest } from './handle-request.ts';
import { createRequestLog, type LoggedRequest } from './request-log.ts';
import { sendJson } from './send-reply.ts';

export interface ScriptedModelOptions extends AnsweringOptions {
  /** The first one answers when nothing chooses another. */
  readonly scripts: readonly Script[];
  /** Default: any free port. */
  readonly port?: number;
  /** So many requests are kept for looking at; older ones are forgotten. Default 1000. */
  readonly keepRequests?: number;
}

export interface ScriptedModel {
  /** Without a path: OpenAI and Anthropic clients of the AI SDK want `/v1` after it, Gemini's `/v1beta`. */
  readonly url: string;
  readonly port: number;
  readonly requests: readonly LoggedRequest[];
  /** Ends open answers as well, stalled ones included. */
  close(): Promise<void>;
}

export async function startScriptedModel(options: ScriptedModelOptions): Promise<ScriptedModel> {
  const log = createRequestLog(options.keepRequests ?? 1000);
  const launch = randomBytes(4).readUInt32BE().toString(36);
  let served = 0;
  const state: AnsweringState = {
    scripts: options.scripts,
    log,
    conversations: createConversations(),
    storedItems: createStoredItems(),
    // Unique across restarts of the server, since clients keep ids from before.
    mintId: () => `${launch}${(served++).toString(36).padStart(3, '0')}`,
  };

  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    handleRequest(request, response, state, options).catch((error: unknown) => {
      // A script that throws is told to whoever asked; the server goes on for the other conversations.
      const message = `The scripted model failed: ${String(error)}`;
      options.log?.(message);
      if (response.headersSent) response.destroy();
      else sendJson(response, 500, { error: { message, type: 'server_error', param: null, code: null } });
    });
  });
  // Clients pool connections; a test that ends must not wait for them.
  server.keepAliveTimeout = 1000;

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests: log.requests,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
