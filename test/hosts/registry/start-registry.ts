// A registry of its own for one test: it listens on loopback, keeps what is published in
// the folder given, and knows nothing but our package. It asks no other registry, and
// ends with the process that started it, however that ends.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitUntil } from '../harness/wait-until.ts';

export interface Registry {
  readonly url: string;
  /**
   * What it logged of requests, oldest first: `200 GET /untildone`. One request may stand
   * there more than once.
   */
  requests(): readonly string[];
  /** Resolves when the process is gone. */
  close(): Promise<void>;
}

const program = fileURLToPath(
  new URL('node_modules/verdaccio/bin/verdaccio', import.meta.url),
);

/**
 * The other end of standard input is held by whoever started it, and closes when that one
 * dies.
 */
const endWithStarter = 'process.stdin.on("end",()=>process.exit()).resume()';

/** @param folder becomes its home; it writes nowhere else */
export async function startRegistry(folder: string, path: string): Promise<Registry> {
  mkdirSync(folder);
  const config = join(folder, 'config.yaml');
  // JSON is YAML as well.
  writeFileSync(config, JSON.stringify(configuration(folder)));
  const address = `127.0.0.1:${await findFreePort()}`;
  const watch = `data:text/javascript,${encodeURIComponent(endWithStarter)}`;
  const child = spawn(
    process.execPath,
    ['--import', watch, program, '-c', config, '-l', address],
    {
      cwd: folder,
      env: { PATH: path, HOME: folder },
      stdio: ['pipe', 'pipe', 'pipe'],
    },
  );
  const printed = gather(child);
  const url = `http://${address}/`;
  await waitUntil('the registry answers', async () => {
    if (child.exitCode !== null) throw new Error(`The registry ended: ${printed()}`);
    return isAnswering(url);
  });
  return {
    url,
    requests: () => printed().split('\n').flatMap(readRequest),
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'close');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

function configuration(folder: string): object {
  return {
    storage: join(folder, 'storage'),
    web: { enable: false },
    // Nobody can register, and everyone on loopback may publish the one package.
    auth: { htpasswd: { file: join(folder, 'htpasswd'), max_users: -1 } },
    uplinks: {},
    packages: { untildone: { access: '$all', publish: '$all' } },
    log: { type: 'stdout', format: 'json', level: 'http' },
  };
}

async function findFreePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function gather(child: ChildProcess): () => string {
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      printed += chunk;
    });
  }
  return () => printed;
}

async function isAnswering(url: string): Promise<boolean> {
  try {
    return (await fetch(new URL('-/ping', url))).ok;
  } catch {
    // Safe: it does not listen yet, and whoever waits has a deadline.
    return false;
  }
}

function readRequest(line: string): string[] {
  if (!line.startsWith('{') || !line.endsWith('}')) return [];
  const { status, request } = JSON.parse(line) as {
    readonly status?: number;
    readonly request?: { readonly method: string; readonly url: string };
  };
  return status === undefined || request === undefined
    ? []
    : [`${status} ${request.method} ${request.url}`];
}
