// A real address for notices: what was posted to it, and how it answers.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** `status` null: it takes the notice and never answers. */
export async function openNoticeServer(status: number | null = 204) {
  const posted: {
    method: string;
    headers: Readonly<Record<string, unknown>>;
    body: string;
  }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      posted.push({ method: request.method ?? '', headers: request.headers, body });
      if (status !== null)
        response.writeHead(status, { location: 'http://127.0.0.1:9/' }).end('x');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook/t0ken-of-the-human`, posted };
}
