// An HTTP answer as a check: status, and a pattern on the body if wanted. Asks this machine only, unless the human says
// otherwise: names are resolved once, every address is looked at, and the connection goes to that very address.
// Redirects are not followed, bodies not read beyond a limit.
import { lookup as resolveName } from 'node:dns';
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import type { HttpCheck } from '../core/check-specs.ts';
import { errorCode } from '../engine/system.ts';
import { failed, type Looking, matchText, type Observation, passed } from './observation.ts';
import { endOf, maskSecrets, plainText } from './output.ts';

const mostBytes = 1024 * 1024;

export async function runHttpCheck(spec: HttpCheck, looking: Looking): Promise<Observation> {
  const { quote, secrets } = looking;
  if (!URL.canParse(spec.url)) return failed(`${quote(spec.url)} is not an address.`);
  const url = new URL(spec.url);
  // Without name and password, which an address may carry.
  const shown = quote(Object.assign(new URL(url), { username: '', password: '' }).href);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return failed(`${shown} was not asked: only http and https are.`);
  const host = url.hostname.replace(/^\[|\]$/gu, '');
  if (!spec.anyHost && isIP(host) !== 0 && !isLoopback(host))
    return failed(`${shown} was not asked: ${notOnThisMachine}.`);
  const time = AbortSignal.timeout(spec.timeoutMs);
  let answer: Awaited<ReturnType<typeof ask>>;
  try {
    answer = await ask(url, spec.anyHost, AbortSignal.any([time, looking.signal]));
  } catch (error) {
    // That nothing answered is what the check saw.
    if (time.aborted)
      return { ...failed(`${shown} did not answer within ${spec.timeoutMs / 1000} s.`), timedOut: true };
    // Of several addresses that all refused there is a code and no message.
    const message = (error instanceof Error && error.message) || errorCode(error);
    const reason = looking.signal.aborted ? 'it was interrupted' : quote(message);
    return failed(`${shown} did not answer: ${reason}.`);
  }
  const { status, body, isCut } = answer;
  const tail = endOf(maskSecrets(plainText(body), secrets, { atEnd: isCut }));
  const answered = `${shown} answered ${status}`;
  if (status !== spec.expectStatus) return failed(`${answered} instead of ${spec.expectStatus}.`, tail);
  if (spec.expectBody === null) return passed(`${answered}.`, tail);
  const { isMatch, words } = await matchText(spec.expectBody, body, looking);
  if (isMatch) return passed(`${answered}, and its body ${words}.`, tail);
  return failed(`${answered}, but its body ${words}.`, tail);
}

async function ask(url: URL, anyHost: boolean, signal: AbortSignal) {
  const isSecure = url.protocol === 'https:';
  // Agents of their own: the global ones may go through a proxy that the environment names.
  const agent = isSecure ? new HttpsAgent({ keepAlive: false }) : new HttpAgent({ keepAlive: false });
  const headers = { 'user-agent': 'untildone', accept: '*/*', connection: 'close' };
  const lookup = anyHost ? {} : { lookup: createLoopbackLookup(resolveName) };
  const options = { method: 'GET', agent, signal, headers, ...lookup };
  try {
    const [response, hasBody] = await new Promise<[IncomingMessage, boolean]>((resolve, reject) => {
      const request = (isSecure ? requestHttps : requestHttp)(url, options);
      request.on('response', (response) => resolve([response, true])).on('error', reject);
      request.on('upgrade', (response, socket) => {
        socket.destroy();
        resolve([response, false]);
      });
      request.end();
    });
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of hasBody ? response : []) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      // Leaving the loop ends the connection.
      if (size >= mostBytes) break;
    }
    const body = Buffer.concat(chunks).subarray(0, mostBytes).toString('utf8');
    return { status: response.statusCode ?? 0, body, isCut: size >= mostBytes };
  } finally {
    agent.destroy();
  }
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
