// What untildone adds to the requests that Claude Code sends to its model, in bytes,
// beside the host alone. It prints the figures: `npm run test:hosts -- claude-code
// --only="requests of"`.
import { expect, it } from 'vitest';
import {
  complete,
  type LoggedRequest,
  plan,
  say,
  script,
  untilAllDone,
  writeFile,
} from '../../../src/scripted-model/index.ts';
import { onDriveStage } from '../harness/drive.ts';
import { stage } from './drive-stage.ts';
import { play } from './play.ts';

const sizeOf = ({ body }: LoggedRequest) => Buffer.byteLength(JSON.stringify(body));

interface Cost {
  readonly bytes: number;
  readonly requests: number;
  readonly bytesPerRequest: number;
}

function costOf(requests: readonly LoggedRequest[]): Cost {
  const bytes = requests.reduce((sum, request) => sum + sizeOf(request), 0);
  return {
    bytes,
    requests: requests.length,
    bytesPerRequest: Math.round(bytes / requests.length),
  };
}

function print(what: string, figures: object): void {
  process.stdout.write(`${what}: ${JSON.stringify(figures)}\n`);
}

it('requests of a question: the first one has at most 2,000 bytes more than without untildone', async () => {
  const firstRequest = async (installed: boolean) => {
    const scripts = [script('answers', [say('It adds two numbers.')])];
    const environment: Record<string, string> = installed
      ? {}
      : { CLAUDE_CODE_ENABLE_TODO_TOOLS: '' };
    const prompt = 'What does add do?';
    const { requests, messages } = await play({
      scripts,
      prompt,
      installed,
      environment,
    });
    expect(messages).toEqual([]);
    const [first] = requests;
    if (first === undefined) throw new Error('Claude Code asked the model nothing.');
    const names = first.tools.flatMap(({ name, foundBy }) =>
      foundBy === undefined ? name : [],
    );
    return { bytes: sizeOf(first), tools: names };
  };
  const alone = await firstRequest(false);
  const installed = await firstRequest(true);
  print('First request', { alone: alone.bytes, installed: installed.bytes });
  const added = installed.tools.filter((name) => !alone.tools.includes(name));
  expect(added).toEqual(['mcp__untildone__todo_pause', 'mcp__untildone__todo_verify']);
  expect(installed.bytes - alone.bytes).toBeLessThanOrEqual(2000);
});

it('requests of a small job: each has at most a twentieth more than without untildone', async () => {
  const titles = ['milk', 'bread', 'eggs'];
  const perTodo = (title: string) => [writeFile(`${title}.txt`, title), complete(title)];
  const scripts = [
    script('notes', [
      plan(...titles),
      untilAllDone(perTodo),
      say('All three are written.'),
    ]),
  ];
  const prompt = 'Write three notes.';
  const alone = await play({ scripts, prompt, installed: false });
  const installed = await play({ scripts, prompt });
  const driven = await onDriveStage(stage, scripts, async ({ model, run }) => {
    const { ended, printed } = run(['--with', 'claude-code', prompt, '--accept-claims']);
    expect(await ended, printed()).toBe(0);
    return model.requests;
  });
  expect(installed.continuations).toEqual([]);
  expect(installed.session.todos.map(({ status }) => status)).toEqual(
    titles.map(() => 'completed'),
  );
  const figures = {
    alone: costOf(alone.requests),
    installed: costOf(installed.requests),
    driven: costOf(driven),
  };
  print('Small job', figures);
  const most = figures.alone.bytesPerRequest * 1.05;
  expect(figures.installed.bytesPerRequest).toBeLessThan(most);
  expect(figures.driven.bytesPerRequest).toBeLessThan(most);
});
