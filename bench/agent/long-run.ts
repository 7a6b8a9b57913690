// A plan of 200 todos at one per stop (issue Loop, must hold 4): memory of the agent's
// process at 50, 100 and 200 finished todos, and the size of every prompt that reached
// the server. The agent runs in a process of its own, so that the server's memory is not
// counted. Usage: npm run bench -- long-run
import { spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defaultSettings } from '../../src/core/settings.ts';
import {
  complete,
  type LoggedRequest,
  plan,
  type Script,
  say,
  script,
  startScriptedModel,
  untilAllDone,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { median } from '../../test/support/prefix-share.ts';
import type { LongRunLine } from './long-run-agent.ts';

const todos = Number(process.argv[2] ?? 200);
const agentProcess = fileURLToPath(new URL('./long-run-agent.ts', import.meta.url));
/** How much more the agent may use at the end than at the middle. */
const growthLimit = 1.2;
const print = (line: string): void => void process.stdout.write(`${line}\n`);

interface Case {
  readonly name: string;
  /** Words in each file that the model writes. */
  readonly words: number;
  readonly contextLimit: number;
}

/**
 * Small files: the number of messages is what binds. Large ones: the window fills first,
 * and history is summarised.
 */
const cases: readonly Case[] = [
  { name: 'small files', words: 40, contextLimit: 100_000 },
  { name: 'large files in a small window', words: 2500, contextLimit: 32_000 },
];

function story({ words }: Case): Script {
  const titles = Array.from({ length: todos }, (_, index) => `Write part ${index + 1}`);
  return script(
    'long-run',
    [
      plan(...titles),
      untilAllDone((title) => [
        writeFile(`${title.replaceAll(' ', '-')}.md`, 'word '.repeat(words)),
        complete(title, 'the file is written'),
        say(`Finished: ${title}. Shall we call it a day.`),
      ]),
      say('Everything is written.'),
    ],
    {
      aside:
        'The agent has written the parts so far, one file each, and goes on with the next.',
    },
  );
}

interface Prompt {
  readonly bytes: number;
  readonly tokens: number;
  readonly messages: number;
  /**
   * 1: its beginning is not that of the prompt before, and a provider's cache is lost
   * (V9).
   */
  readonly broken: number;
}

async function longRun(
  subject: Case,
): Promise<{ lines: LongRunLine[]; prompts: Prompt[] }> {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-long-run-')));
  const prompts: Prompt[] = [];
  let last: readonly unknown[] = [];
  const onRequest = ({ body, messages, isAside }: LoggedRequest): void => {
    if (isAside) return;
    const bytes = Buffer.byteLength(JSON.stringify(body));
    // The last one is the plan, which changes with every todo.
    const kept = last.slice(0, -1);
    const broken =
      JSON.stringify(messages.slice(0, kept.length)) === JSON.stringify(kept) ? 0 : 1;
    prompts.push({
      bytes,
      tokens: Math.ceil(bytes / 4),
      messages: messages.length,
      broken,
    });
    last = messages;
  };
  const server = await startScriptedModel({
    scripts: [story(subject)],
    keepRequests: 1,
    onRequest,
  });
  try {
    const lines = await runAgentProcess([
      scratch,
      server.url,
      String(subject.contextLimit),
    ]);
    return { lines, prompts };
  } finally {
    await server.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

function runAgentProcess(given: readonly string[]): Promise<LongRunLine[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      ['--no-warnings', '--expose-gc', agentProcess, ...given],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    let said = '';
    child.stdout.on('data', (chunk) => {
      said += chunk;
    });
    child.on('error', reject);
    child.on('close', () => {
      resolve(
        said
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line) as LongRunLine),
      );
    });
  });
}

const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MB`;
function fail(sentence: string): void {
  print(`  FAILED: ${sentence}`);
  process.exitCode = 1;
}

for (const subject of cases) {
  const { lines, prompts } = await longRun(subject);
  const end = lines.findLast((line) => line.kind === 'end');
  print(`${subject.name}, context limit ${subject.contextLimit} tokens:`);
  if (end?.kind !== 'end' || end.completed !== todos)
    fail(`the plan did not drain: ${JSON.stringify(end)}`);
  else
    print(
      `  ${end.completed} of ${todos} todos, outcome ${end.outcome}, ${end.continuations} continuations, ${end.compactions} compactions, ${(end.milliseconds / 1000).toFixed(1)} s`,
    );
  const memory = lines.filter((line) => line.kind === 'memory');
  for (const { completed, heap, rss } of memory)
    print(
      `  after ${completed} todos: heap ${megabytes(heap)} after gc, rss ${megabytes(rss)}`,
    );
  const middle = memory.at(-2);
  const last = memory.at(-1);
  if (memory.length !== 3 || middle === undefined || last === undefined)
    fail('memory was not measured');
  else {
    const growth = { heap: last.heap / middle.heap, rss: last.rss / middle.rss };
    print(
      `  growth from ${middle.completed} to ${last.completed}: heap ×${growth.heap.toFixed(2)}, rss ×${growth.rss.toFixed(2)} (limit ${growthLimit})`,
    );
    if (growth.heap > growthLimit || growth.rss > growthLimit) fail('memory grows');
  }
  const of = (pick: keyof Prompt) => prompts.map((prompt) => prompt[pick]);
  const most = (pick: keyof Prompt) => Math.max(...of(pick));
  const usual = (pick: keyof Prompt) => median(of(pick));
  // The system prompt and the plan come on top of the history.
  const messageLimit = defaultSettings.context.maxMessages + 2;
  const tokenLimit = Math.round(subject.contextLimit * defaultSettings.contextShare);
  print(
    `  ${prompts.length} prompts: messages median ${usual('messages')}, most ${most('messages')} (limit ${messageLimit}); about ${usual('tokens')} tokens median, ${most('tokens')} most (limit ${tokenLimit}); bytes median ${usual('bytes')}, most ${most('bytes')}`,
  );
  print(
    `  ${of('broken').filter((broken) => broken > 0).length} of them break the prefix of the one before`,
  );
  if (most('messages') > messageLimit)
    fail('the number of messages is not bounded by the setting');
  if (most('tokens') > tokenLimit) fail('the prompt is not bounded by the context limit');
}
