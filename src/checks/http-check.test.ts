import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { contextFor, httpCheck } from '../../test/support/check-cases.ts';
import { runCheck } from './run-check.ts';

async function serve(listener: RequestListener, host = '127.0.0.1'): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return String((server.address() as AddressInfo).port);
}

const context = contextFor('/');

describe('V1: an HTTP answer as a check', () => {
  it('passes by status and body, and tells what came instead', async () => {
    const port = await serve((request, response) => {
      response.statusCode = request.url === '/broken' ? 503 : 200;
      response.end(`you asked ${request.method} ${request.url}`);
    });
    const base = `http://127.0.0.1:${port}`;
    expect(await runCheck(httpCheck(`${base}/health`), context)).toMatchObject({
      check: 'http',
      result: 'passed',
      sentence: `${base}/health answered 200.`,
      tail: 'you asked GET /health',
    });
    expect(await runCheck(httpCheck(`${base}/broken`), context)).toMatchObject({
      result: 'failed',
      sentence: `${base}/broken answered 503 instead of 200.`,
    });
    const matching = httpCheck(`${base}/x`, { expectBody: '^you asked \\w+ /x$' });
    expect((await runCheck(matching, context)).result).toBe('passed');
    const other = httpCheck(`${base}/x`, { expectBody: '^nothing$' });
    expect(await runCheck(other, context)).toMatchObject({ result: 'failed' });
  });

  it('follows no redirect', async () => {
    let asked = 0;
    const port = await serve((_request, response) => {
      asked += 1;
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    const result = await runCheck(httpCheck(`http://127.0.0.1:${port}/`), context);
    expect(result.sentence).toContain('answered 302 instead of 200');
    expect(asked).toBe(1);
  });

  it('asks this machine by any of its names', async () => {
    const port = await serve((_request, response) => response.end('ok'), '127.0.0.1');
    for (const host of ['localhost', '127.0.0.1', '2130706433', '0x7f.1']) {
      expect([
        host,
        (await runCheck(httpCheck(`http://${host}:${port}/`), context)).result,
      ]).toEqual([host, 'passed']);
    }
  });

  it.each([
    'http://10.0.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://0.0.0.0/',
    'http://[::]/',
    'http://[::ffff:10.0.0.1]/',
    'https://192.168.1.1/',
  ])('does not ask %s', async (url) => {
    const { result, sentence } = await runCheck(httpCheck(url), context);
    expect(result).toBe('failed');
    expect(sentence).toContain('it is not on this machine');
  });

  it('gives up in its time: nothing, a trickle, or a body without end', async () => {
    const port = await serve((request, response) => {
      if (request.url === '/trickle') {
        const trickle = setInterval(() => response.write('.'), 20);
        response.on('close', () => clearInterval(trickle));
      }
      if (request.url === '/flood') {
        const flood = () => {
          while (response.writable && response.write('x'.repeat(65_536)));
        };
        response.on('drain', flood);
        flood();
      }
    });
    for (const path of ['/silence', '/trickle']) {
      const check = httpCheck(`http://127.0.0.1:${port}${path}`, { timeoutMs: 300 });
      const result = await runCheck(check, context);
      expect(result).toMatchObject({ result: 'failed', timedOut: true });
      expect(result.sentence).toContain('did not answer within 0.3 s');
    }
    const flood = await runCheck(httpCheck(`http://127.0.0.1:${port}/flood`), context);
    expect(flood).toMatchObject({ result: 'passed', timedOut: false });
    expect(flood.tail).toHaveLength(8192);
  });

  it('that nobody answers has failed, in words and without name and password', async () => {
    const port = await serve(() => undefined);
    const closed = await runCheck(
      httpCheck('http://me:hidden-word@localhost:1/'),
      context,
    );
    expect(closed).toMatchObject({ result: 'failed', timedOut: false });
    expect(closed.sentence).toMatch(
      /^http:\/\/localhost:1\/ did not answer: .*ECONNREFUSED.*\.$/,
    );
    expect((await runCheck(httpCheck('nonsense'), context)).sentence).toBe(
      'nonsense is not an address.',
    );
    expect((await runCheck(httpCheck('file:///etc/passwd'), context)).sentence).toContain(
      'only http and https',
    );
    const stop = new AbortController();
    const running = runCheck(httpCheck(`http://127.0.0.1:${port}/`), {
      ...context,
      signal: stop.signal,
    });
    stop.abort();
    expect((await running).sentence).toContain('it was interrupted');
  });

  it('never shows a secret that the answer repeats', async () => {
    const port = await serve((_request, response) =>
      response.end('Bearer s3cr3t-value!'),
    );
    const environment = { API_TOKEN: 's3cr3t-value' };
    const result = await runCheck(httpCheck(`http://127.0.0.1:${port}/`), {
      ...context,
      environment,
    });
    expect(result.tail).toBe('Bearer [masked]!');
  });
});
