// An HTTP answer as a check. It asks only this machine, unless a human says otherwise,
// and follows no redirect.
import { lookup as resolveName } from 'node:dns';
import {
  Agent as HttpAgent,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import type { HttpCheck } from '../core/check-specs.ts';
import { errorCode } from '../engine/system.ts';
import { failed, type Looking, matchText, passedObservation } from './observation.ts';
import { evidenceOf } from './output.ts';

const mostBytes = 1024 * 1024;

/** Asks the address and judges the answer; no answer is a failed check. */
export async function runHttpCheck(spec: HttpCheck, looking: Looking) {
  const { quote } = looking;
  if (!URL.canParse(spec.url)) return failed(`${quote(spec.url)} is not an address.`);
  const url = new URL(spec.url);
  const shown = quote(Object.assign(new URL(url), { username: '', password: '' }).href);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return failed(`${shown} was not asked: only http and https are.`);
  const host = url.hostname.replace(/^\[|\]$/gu, '');
  if (!spec.anyHost && isIP(host) !== 0 && !isLoopback(host))
    return failed(`${shown} was not asked: ${notOnThisMachine}.`);
  const time = AbortSignal.timeout(spec.timeoutMs);
  let answer: Awaited<ReturnType<typeof requestUrl>>;
  try {
    answer = await requestUrl(url, spec.anyHost, AbortSignal.any([time, looking.signal]));
  } catch (error) {
    // Safe: no answer is the result.
    if (time.aborted)
      return {
        ...failed(`${shown} did not answer within ${spec.timeoutMs / 1000} s.`),
        timedOut: true,
      };
    // If each of several addresses refused, the error has a code and no message.
    const message = (error instanceof Error && error.message) || errorCode(error);
    const reason = looking.signal.aborted ? 'it was interrupted' : quote(message);
    return failed(`${shown} did not answer: ${reason}.`);
  }
  const { status, body, isCut } = answer;
  const tail = evidenceOf(body, looking.secrets, { atEnd: isCut });
  const answered = `${shown} answered ${status}`;
  if (status !== spec.expectStatus)
    return failed(`${answered} instead of ${spec.expectStatus}.`, tail);
  if (spec.expectBody === null) return passedObservation(`${answered}.`, tail);
  const { isMatch, words } = await matchText(spec.expectBody, body, looking);
  const sentence = `${answered}, ${isMatch ? 'and' : 'but'} its body ${words}.`;
  return { passed: isMatch === true, sentence, tail };
}

async function requestUrl(url: URL, anyHost: boolean, signal: AbortSignal) {
  const [request, Agent] =
    url.protocol === 'https:' ? [requestHttps, HttpsAgent] : [requestHttp, HttpAgent];
  // The global agents may use a proxy that the environment names.
  const agent = new Agent({ keepAlive: false });
  const headers = { 'user-agent': 'untildone', accept: '*/*', connection: 'close' };
  const lookup = anyHost ? {} : { lookup: createLoopbackLookup(resolveName) };
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request(url, { agent, signal, headers, ...lookup })
        .on('response', resolve)
        .on('error', reject)
        .end();
    });
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      if (size >= mostBytes) break;
    }
    const body = Buffer.concat(chunks).subarray(0, mostBytes).toString('utf8');
    return { status: response.statusCode, body, isCut: size >= mostBytes };
  } finally {
    agent.destroy();
  }
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

const notOnThisMachine =
  'it is not on this machine; a check of another host needs anyHost: true';

/** Tells whether an address is one of this machine's own. */
export function isLoopback(address: string) {
  const plain = address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/iu, '');
  const family = isIP(plain);
  return family !== 0 && loopback.check(plain, family === 4 ? 'ipv4' : 'ipv6');
}

/**
 * Resolves a name, and refuses it if one of its addresses is on another machine. The
 * connection goes to the address that was examined.
 */
export function createLoopbackLookup(resolve: typeof resolveName): LookupFunction {
  return (name, options, callback) => {
    resolve(name, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error !== null) callback(error, []);
      else if (
        first === undefined ||
        !addresses.every(({ address }) => isLoopback(address))
      )
        callback(new Error(notOnThisMachine), []);
      else if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}
