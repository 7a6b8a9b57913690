// What was asked, for tests and demos to look at: newest last, bounded in number and bytes, without secrets.

import type { ModelReply } from '../model-reply.ts';
import type { ModelRequest } from '../model-request.ts';
import type { HttpHeaders } from './http-headers.ts';

export interface LoggedRequest extends ModelRequest {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** The script that answered; absent when the request was refused before any script saw it. */
  readonly script?: string;
  /** A title, a summary or the like: it did not move the script on. */
  readonly isAside: boolean;
  readonly reply: ModelReply;
}

const SECRET_HEADERS = new Set([
  'authorization',
  'x-api-key',
  'x-goog-api-key',
  'cookie',
  'proxy-authorization',
]);
const MOST_BYTES = 128 * 1024 * 1024;

export function withoutSecrets(headers: HttpHeaders): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name, value]) => value !== undefined && !SECRET_HEADERS.has(name))
      .map(([name, value]) => [name, String(value)]),
  );
}

/** The path without its query: Gemini clients may put their key there. */
export function withoutQuery(url: string): string {
  return url.split('?')[0] ?? '';
}

export interface RequestLog {
  readonly requests: readonly LoggedRequest[];
  add(request: LoggedRequest, bytes: number): void;
}

export function createRequestLog(most: number): RequestLog {
  const requests: LoggedRequest[] = [];
  const sizes: number[] = [];
  let total = 0;
  return {
    requests,
    add(request, bytes) {
      requests.push(request);
      sizes.push(bytes);
      total += bytes;
      while (requests.length > 1 && (requests.length > most || total > MOST_BYTES)) {
        requests.shift();
        total -= sizes.shift() ?? 0;
      }
    },
  };
}

/** One line for people; tool names come from outside, so control characters are taken out. */
export function describeRequest({ protocol, script, isAside, reply }: LoggedRequest): string {
  const calls = (reply.calls ?? []).map((call) => call.name).join(', ');
  const said = reply.error?.kind ?? reply.breakage?.kind ?? (calls || JSON.stringify(reply.text ?? ''));
  return `${protocol} ${script ?? '-'}${isAside ? ' (aside)' : ''}: ${said}`.replace(/\p{Cc}/gu, '');
}
