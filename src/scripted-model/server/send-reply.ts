// Puts a rendered reply on the wire: at its pace, and broken where the script wants it broken. A client that leaves
// ends the sending at once; nothing is written to a closed connection.
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelReply } from '../model-reply.ts';
import type { ErrorAnswer, FailureContext, RenderContext, Wire, WireEvent } from '../wire.ts';

export interface Sending {
  readonly response: ServerResponse;
  readonly wire: Wire;
  readonly reply: ModelReply;
  readonly context: RenderContext;
  readonly failure: FailureContext;
  readonly latencyMs: number;
  /** Gemini streams a JSON array to clients that did not ask for events. */
  readonly asArray: boolean;
  /** Aborted when the client leaves or the server closes. */
  readonly signal: AbortSignal;
}

export function sendJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

export function sendError(response: ServerResponse, answer: ErrorAnswer): void {
  sendJson(response, answer.status, answer.body, answer.headers);
}

function eventText({ event, data }: WireEvent): string {
  const body = typeof data === 'string' ? data : JSON.stringify(data);
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${body}\n\n`;
}

async function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  // Rejects when the client leaves; sendReply treats that as the end of the sending.
  if (milliseconds > 0) await sleep(milliseconds, undefined, { signal });
}

async function stallUntilClosed(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** Ends the connection without the end of the answer, so that the client sees a reset. */
function cut(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}

async function breakStream(sending: Sending, isStream: boolean): Promise<void> {
  const { response, reply, wire, failure, signal } = sending;
  const { breakage } = reply;
  switch (breakage?.kind) {
    case 'reset':
      // What was written must have left before the cut, or the client never sees the beginning.
      await wait(5, signal);
      return cut(response);
    case 'stall':
      return stallUntilClosed(signal);
    case 'malformed':
      response.end(isStream ? 'data: {"this is": not JSON\n\n' : '{"this is": not JSON');
      return;
    case 'error-event':
      response.end(eventText(wire.renderErrorEvent(breakage.failure ?? { kind: 'server-error' }, failure)));
      return;
    case undefined:
      response.end();
  }
}

async function sendStream(sending: Sending): Promise<void> {
  const { response, reply, wire, context, signal } = sending;
  const events = wire.streamReply(reply, context);
  const sent = reply.breakage ? events.slice(0, reply.breakage.afterEvents) : events;
  if (reply.breakage?.kind === 'stall' && sent.length === 0) return stallUntilClosed(signal);
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  });
  response.flushHeaders();
  for (const event of sent) {
    await wait(reply.delays?.perEventMs ?? 0, signal);
    response.write(eventText(event));
  }
  await breakStream(sending, true);
}

async function sendWhole(sending: Sending): Promise<void> {
  const { response, reply, wire, context, asArray } = sending;
  if (reply.breakage?.kind === 'error-event') {
    return sendError(
      response,
      wire.renderError(reply.breakage.failure ?? { kind: 'server-error' }, sending.failure),
    );
  }
  if (reply.breakage) return breakStream(sending, false);
  const body = asArray
    ? wire.streamReply(reply, context).map((event) => event.data)
    : wire.wholeReply(reply, context);
  sendJson(response, 200, body);
}

export async function sendReply(sending: Sending): Promise<void> {
  const { response, reply, wire, signal } = sending;
  try {
    await wait(sending.latencyMs + (reply.delays?.beforeMs ?? 0), signal);
    if (reply.error) return sendError(response, wire.renderError(reply.error, sending.failure));
    if (sending.context.request.stream && !sending.asArray) return await sendStream(sending);
    return await sendWhole(sending);
  } catch (error) {
    // The client left: there is nobody to send to, which is an ordinary end. Anything else is our defect.
    if (!signal.aborted) throw error;
  }
}
