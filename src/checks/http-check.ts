// An HTTP answer as a check: status, and a pattern on the body if wanted. Asks this machine only, unless the human says
// otherwise: names are resolved once, every address is looked at, and the connection goes to that very address.
// Redirects are not followed, bodies not read beyond a limit.
import { lookup as resolveName } from 'node:dns';
import {
  Agent as HttpAgent,
  type IncomingMessage,
  type RequestOptions,
  request as requestHttp,
} from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import type { HttpCheck } from '../core/check-spec.ts';
import { errorCode } from './files.ts';
import { failed, type Looking, matchInTime, type Observation } from './observation.ts';
import { endOf, maskSecrets, plainText } from './output.ts';

const mostBytes = 1024 * 1024;

export async function runHttpCheck(spec: HttpCheck, looking: Looking): Promise<Observation> {
  if (!URL.canParse(spec.url)) return failed(`${looking.quote(spec.url)} is not an address.`);
  const url = new URL(spec.url);
  // Without name and password, which an address may carry.
  const shown = looking.quote(Object.assign(new URL(url), { username: '', password: '' }).href);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return failed(`${shown} was not asked: only http and https are.`);
  const host = url.hostname.replace(/^\[|\]$/gu, '');
  if (!spec.anyHost && isIP(host) !== 0 && !isLoopback(host))
    return failed(`${shown} was not asked: ${notOnThisMachine}.`);
  const time = AbortSignal.timeout(spec.timeoutMs);
  const answer = await ask(url, spec.anyHost, AbortSignal.any([time, looking.signal]));
  if (!answer.ok) {
    if (time.aborted)
      return { ...failed(`${shown} did not answer within ${spec.timeoutMs / 1000} s.`), timedOut: true };
    const reason = looking.signal.aborted ? 'it was interrupted' : looking.quote(answer.error);
    return failed(`${shown} did not answer: ${reason}.`);
  }
  return judge(spec, shown, answer, looking);
}

interface Answer {
  readonly ok: true;
  readonly status: number;
  readonly body: string;
  readonly isCut: boolean;
}

async function judge(
  spec: HttpCheck,
  shown: string,
  answer: Answer,
  { secrets, quote, signal }: Looking,
): Promise<Observation> {
  const tail = endOf(maskSecrets(plainText(answer.body), secrets, { atEnd: answer.isCut }));
  const answered = `${shown} answered ${answer.status}`;
  if (answer.status !== spec.expectStatus)
    return { passed: false, sentence: `${answered} instead of ${spec.expectStatus}.`, tail };
  if (spec.expectBody === null) return { passed: true, sentence: `${answered}.`, tail };
  const match = await matchInTime(spec.expectBody, answer.body, signal);
  const pattern = quote(spec.expectBody);
  if (match === 'match')
    return { passed: true, sentence: `${answered}, and its body matches ${pattern}.`, tail };
  const what = match === 'no-match' ? 'does not match' : 'could not be matched in time against';
  return { passed: false, sentence: `${answered}, but its body ${what} ${pattern}.`, tail };
}

type Asked = Answer | { readonly ok: false; readonly error: string };

async function ask(url: URL, anyHost: boolean, signal: AbortSignal): Promise<Asked> {
  // Agents of their own: the global ones may go through a proxy that the environment names.
  const isSecure = url.protocol === 'https:';
  const agent = isSecure ? new HttpsAgent({ keepAlive: false }) : new HttpAgent({ keepAlive: false });
  const options: RequestOptions = {
    method: 'GET',
    agent,
    signal,
    headers: { 'user-agent': 'untildone', accept: '*/*', connection: 'close' },
    ...(anyHost ? {} : { lookup: createLoopbackLookup(resolveName) }),
  };
  const asked = new Promise<Asked>((resolve) => {
    // Of several addresses that all refused there is a code and no message.
    const fail = (error: unknown) =>
      resolve({ ok: false, error: (error instanceof Error && error.message) || errorCode(error) });
    const request = (isSecure ? requestHttps : requestHttp)(url, options, (response) => {
      readBody(response).then(
        (read) => resolve({ ok: true, status: response.statusCode ?? 0, ...read }),
        fail,
      );
    });
    request.on('error', fail);
    request.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve({ ok: true, status: response.statusCode ?? 0, body: '', isCut: false });
    });
    request.end();
  });
  return asked.finally(() => agent.destroy());
}

async function readBody(response: IncomingMessage): Promise<{ body: string; isCut: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    // Leaving the loop ends the connection.
    if (size >= mostBytes) break;
  }
  const body = Buffer.concat(chunks).subarray(0, mostBytes).toString('utf8');
  return { body, isCut: size >= mostBytes };
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

const notOnThisMachine = 'it is not on this machine; a check of another host needs anyHost: true';

export function isLoopback(address: string): boolean {
  // A v4 address written as v6 is the v4 address.
  const plain = address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/iu, '');
  const family = isIP(plain);
  return family !== 0 && loopback.check(plain, family === 4 ? 'ipv4' : 'ipv6');
}

/** The connection goes to the very address that was looked at. Refuses a name of which a single address is elsewhere. */
export function createLoopbackLookup(resolve: typeof resolveName): LookupFunction {
  return (name, options, callback) => {
    resolve(name, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, []);
      const [first] = addresses;
      if (first === undefined || !addresses.every(({ address }) => isLoopback(address)))
        return callback(new Error(notOnThisMachine), []);
      if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}
