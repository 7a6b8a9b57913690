// Speaks MCP to a server, line by line, and keeps every line that came back: to the real
// process, or to the same server within this process, which starts faster. For tests
// only.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Policy } from '../../src/core/policy.ts';
import type { Checker, Clock } from '../../src/engine/host.ts';
import { createRuntime } from '../../src/engine/runtime.ts';
import type { Store } from '../../src/engine/store.ts';
import { createIdentifiers, sha256 } from '../../src/engine/system.ts';
import { serveMcp } from '../../src/mcp/serve-mcp.ts';
import { todoToolsFor } from '../../src/tools/todo-tools.ts';

const program = fileURLToPath(new URL('../../src/cli/bin.ts', import.meta.url));

interface WireMessage {
  readonly id?: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results by path and compare them whole
  readonly result?: any;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface WireClient {
  /** Everything that the server wrote, as it came. */
  readonly lines: readonly string[];
  /** What it said besides. */
  readonly complaints: readonly string[];
  send(line: string | object): void;
  request(method: string, params?: object): Promise<WireMessage>;
  /** A tool's result: its words without the receipt. */
  call(
    name: string,
    input?: unknown,
  ): Promise<{ ok: boolean; words: string; receipt: string }>;
  /** Closes our end; resolves when the server is gone, with its exit code. */
  end(): Promise<number | null>;
}

/** The real program. */
export function startProcess(home: string, cwd: string, ...argv: string[]): WireClient {
  const child = spawn(process.execPath, ['--no-warnings', program, 'mcp', ...argv], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: home, UNTILDONE_HOME: home },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const complaints: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => complaints.push(chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return createWireClient(child.stdin, child.stdout, ended, complaints);
}

/** The same server without a process of its own. */
export function startWithin(
  {
    openStore,
    policy,
    checker,
    ...options
  }: {
    readonly openStore: () => Promise<Store>;
    readonly policy: () => Policy;
    readonly checker: () => Checker;
    readonly clock: Clock;
    readonly directory: string;
  },
  meta?: object,
): WireClient {
  const input = new PassThrough();
  const output = new PassThrough();
  const complaints: string[] = [];
  const served = serveMcp({
    ...options,
    open: async () => {
      const store = await openStore();
      const common = {
        store,
        clock: options.clock,
        identifiers: createIdentifiers(options.clock),
        hash: sha256,
      };
      return {
        store,
        engine: createRuntime({ ...common, policy: () => policy(), checker: checker() }),
      };
    },
    version: 'test',
    tools: todoToolsFor('agent'),
    input,
    output,
    complain: (sentence) => complaints.push(sentence),
  });
  return createWireClient(
    input,
    output,
    served.then(() => 0),
    complaints,
    meta,
  );
}

function createWireClient(
  input: Writable,
  output: Readable,
  ended: Promise<number | null>,
  complaints: readonly string[],
  meta?: object,
): WireClient {
  const lines: string[] = [];
  const waiting = new Map<unknown, (answer: WireMessage) => void>();
  createInterface({ input: output }).on('line', (line) => {
    lines.push(line);
    const message = JSON.parse(line) as WireMessage;
    waiting.get(message.id)?.(message);
  });
  let requests = 0;

  const send = (line: string | object): void => {
    input.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
  };
  const request = (method: string, params: object = {}): Promise<WireMessage> => {
    requests += 1;
    const id = requests;
    // Before it is sent: an answer may come at once.
    const answer = new Promise<WireMessage>((resolve) => waiting.set(id, resolve));
    send({
      jsonrpc: '2.0',
      id,
      method,
      params: meta === undefined ? params : { ...params, _meta: meta },
    });
    return answer;
  };
  return {
    lines,
    complaints,
    send,
    request,
    async call(name, given) {
      const { result } = await request('tools/call', { name, arguments: given });
      const text = String(result.content[0].text).split('\n');
      const receipt = (text.pop() ?? '').replace('receipt: ', '');
      return { ok: result.isError !== true, words: text.join('\n'), receipt };
    },
    end() {
      input.end();
      return ended;
    },
  };
}
