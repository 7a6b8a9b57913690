// `pi --mode rpc`: a session that stays, as editors and people keep one, driven line by
// line. What it tells is kept.
import { spawn } from 'node:child_process';
import { endWithTest } from '../harness/end-with-test.ts';
import { hostProgram } from '../harness/install-host.ts';
import type { Surroundings } from '../harness/real-host.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { modelWords, quietEnvironment } from './pi.ts';

export type RpcEvent = Readonly<Record<string, unknown>> & { readonly type: string };
export type Rpc = ReturnType<typeof startRpc>;

export function startRpc({ project }: Surroundings, words: readonly string[] = []) {
  const child = spawn(
    hostProgram('pi', 'pi'),
    [...modelWords, ...words, '--mode', 'rpc'],
    {
      cwd: project.directory,
      env: { ...project.environment, ...quietEnvironment },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    },
  );
  const events: RpcEvent[] = [];
  let rest = '';
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    events.push(
      ...lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line)),
    );
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    printed += chunk;
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const { killGroup, release } = endWithTest(child);
  let count = 0;

  async function send(type: string, fields: object = {}): Promise<RpcEvent> {
    count += 1;
    const id = `request-${count}`;
    child.stdin.write(`${JSON.stringify({ id, type, ...fields })}\n`);
    const answer = () =>
      events.find((event) => event.type === 'response' && event['id'] === id);
    await waitUntil(`pi answers ${type} (${printed})`, () => answer() !== undefined);
    return answer() as RpcEvent;
  }
  const ui = (method: string) =>
    events.filter(
      (event) => event.type === 'extension_ui_request' && event['method'] === method,
    );

  return {
    events,
    send,
    says: (message: string) => send('prompt', { message }),
    /** Notices to the human, in their order. */
    notices: () => ui('notify').map((event) => String(event['message'])),
    /** Texts that stood in the status line. */
    statuses: () => ui('setStatus').flatMap((event) => event['statusText'] ?? []),
    settles: (times = 1) =>
      waitUntil(`pi settles (${printed})`, () => countOf('agent_settled') >= times),
    settled: () => countOf('agent_settled'),
    async end() {
      child.stdin.end();
      const limit = setTimeout(killGroup, 5000);
      await ended;
      clearTimeout(limit);
      killGroup();
      release();
    },
  };

  function countOf(type: string): number {
    return events.filter((event) => event.type === type).length;
  }
}
