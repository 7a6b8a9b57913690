// `opencode serve` as a process: several folders and sessions share it, as they do on a
// person's machine. It is spoken to over HTTP, and every event that it publishes is kept
// with the time at which it was received.
import { type ChildProcess, spawn } from 'node:child_process';
import { endWithTest } from '../harness/end-with-test.ts';
import type { Project } from '../harness/project.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { findFreePort, hostEnvironment, program } from './opencode.ts';

export interface HostEvent {
  /** Milliseconds since 1970 at which the test received it. */
  readonly at: number;
  /** The folder that it belongs to. */
  readonly directory: string;
  readonly type: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

interface Published {
  readonly directory?: string;
  readonly payload: Partial<HostEvent>;
}

export interface Serve {
  readonly pid: number;
  readonly url: string;
  readonly events: readonly HostEvent[];
  printed(): string;
  /** Null body: GET; the answer is parsed JSON, or null where there is none. */
  call<Answer>(
    directory: string,
    method: string,
    path: string,
    body?: object,
  ): Promise<Answer>;
  /** SIGKILL to the host alone. */
  crash(): Promise<void>;
  /** SIGTERM, as a person's Ctrl-C would; SIGKILL when that does not help. */
  end(): Promise<void>;
}

export interface ServeOptions {
  readonly environment?: Readonly<Record<string, string>>;
}

export async function startServe(
  project: Project,
  { environment = {} }: ServeOptions = {},
): Promise<Serve> {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(
    program,
    ['serve', '--port', String(port), '--hostname', '127.0.0.1'],
    {
      cwd: project.directory,
      env: { ...hostEnvironment(project), ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    },
  );
  const printed = gather(child);
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const { killGroup, release } = endWithTest(child);
  const events: HostEvent[] = [];
  const listening = new AbortController();
  await waitUntil('the host listens', () => {
    if (child.exitCode !== null) throw new Error(`OpenCode ended: ${printed()}`);
    return printed().includes('listening on');
  });
  await listen(`${url}/global/event`, events, listening.signal);
  const close = async (): Promise<void> => {
    await gone;
    listening.abort();
    killGroup();
    release();
  };
  return {
    pid: child.pid ?? 0,
    url,
    events,
    printed,
    call: (directory, method, path, body) => call(url, directory, method, path, body),
    async crash() {
      child.kill('SIGKILL');
      await close();
    },
    async end() {
      child.kill('SIGTERM');
      const limit = setTimeout(killGroup, 5000);
      await close();
      clearTimeout(limit);
    },
  };
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

async function call<Answer>(
  url: string,
  directory: string,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      'x-opencode-directory': encodeURIComponent(directory),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok)
    throw new Error(
      `${method} ${path} answered ${response.status}: ${text.slice(0, 500)}`,
    );
  return (text === '' ? null : JSON.parse(text)) as Answer;
}

/** Resolves when the stream is open; from then on no event is missed. */
async function listen(
  url: string,
  events: HostEvent[],
  signal: AbortSignal,
): Promise<void> {
  const response = await fetch(url, { signal });
  if (response.body === null) throw new Error('The host has no stream of events.');
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const read = async (): Promise<void> => {
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        if (!block.startsWith('data: ')) continue;
        const { directory = '', payload } = JSON.parse(
          block.slice('data: '.length),
        ) as Published;
        // What it tells other copies of itself has no properties.
        const { type = '', properties } = payload;
        if (properties !== undefined)
          events.push({ at: Date.now(), directory, type, properties });
      }
    }
  };
  // Safe: the stream breaks when the host dies, and whoever waits for an event has a
  // deadline.
  void read().catch(() => {});
}
