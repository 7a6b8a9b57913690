// How much of one call to the model stands unchanged at the beginning of the next (issue
// Loop, must hold 5; V9), taken from the request bodies that reached the server, in each
// of the four protocols. Usage: npm run bench -- prefix
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/engine/system.ts';
import {
  callTool,
  complete,
  type LoggedRequest,
  parallel,
  plan,
  type Script,
  say,
  script,
  startScriptedModel,
  untilAllDone,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { type CallParts, median, prefixShares } from '../../test/support/prefix-share.ts';
import { runScriptedAgent, type ScriptedApi } from './scripted-agent.ts';

const todos = 20;
/** Steps of the run, counted from 1, whose calls are compared with the next. */
const firstStep = 5;
const lastStep = 20;
const aim = 0.9;
const print = (line: string): void => void process.stdout.write(`${line}\n`);

function story(): Script {
  const titles = Array.from(
    { length: todos },
    (_, index) => `Write chapter ${index + 1} of the manual`,
  );
  const file = (title: string) => `${title.split(' ')[2]}.md`;
  return script('prefix', [
    plan(...titles),
    untilAllDone((title) => [
      writeFile(
        file(title),
        `# ${title}\n\n${'Some words about the matter. '.repeat(40)}\n`,
      ),
      parallel(
        callTool('read_file', { path: file(title) }),
        callTool('list_directory', { path: '.' }),
      ),
      complete(title, `${file(title)} is written and reads well`),
      say('That chapter is done.'),
    ]),
    say('The manual is written.'),
  ]);
}

type Body = Readonly<Record<string, unknown>>;

/**
 * Where each protocol puts its parts; what is not one of these (model, settings) is no
 * part of the prompt.
 */
const partsOf: Readonly<Record<ScriptedApi, (body: Body) => CallParts>> = {
  chat: ({ tools, messages }) => ({
    system: null,
    tools,
    messages: messages as unknown[],
  }),
  responses: ({ instructions, tools, input }) => ({
    system: instructions,
    tools,
    messages: input as unknown[],
  }),
  anthropic: ({ system, tools, messages }) => ({
    system,
    tools,
    messages: messages as unknown[],
  }),
  google: ({ systemInstruction, tools, contents }) => ({
    system: systemInstruction,
    tools,
    messages: contents as unknown[],
  }),
};

async function requestsOf(api: ScriptedApi): Promise<readonly LoggedRequest[]> {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-prefix-')));
  const server = await startScriptedModel({ scripts: [story()] });
  const store = await openSqliteStore({
    path: join(scratch, 'store.db'),
    clock: systemClock,
  });
  try {
    await runScriptedAgent({
      url: server.url,
      api,
      store,
      directory: scratch,
      sessionId: 'prefix',
      goal: 'Write the manual, chapter by chapter.',
      emit: () => {},
    });
    return server.requests.filter(({ isAside }) => !isAside);
  } finally {
    await store.close();
    await server.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

/**
 * A call that shows fewer messages than the one before it: the history was cut in
 * between.
 */
function trimmedAt(calls: readonly CallParts[]): readonly number[] {
  return calls.flatMap(({ messages }, index) =>
    messages.length < (calls[index - 1]?.messages.length ?? 0) - 1 ? [index + 1] : [],
  );
}

for (const api of ['chat', 'responses', 'anthropic', 'google'] as const) {
  const requests = await requestsOf(api);
  const calls = requests.map(({ body }) => partsOf[api](body as Body));
  const shares = prefixShares(calls);
  const trimmed = trimmedAt(calls);
  // The share at index i compares call i + 1 with call i + 2.
  const isCut = (step: number) => trimmed.includes(step + 1);
  const steps = Array.from(
    { length: lastStep - firstStep + 1 },
    (_, index) => firstStep + index,
  );
  const whole = steps.filter((step) => !isCut(step)).map((step) => shares[step - 1] ?? 0);
  const middle = median(whole) ?? 0;
  print(
    `${api}: ${calls.length} calls; share of call N that begins call N+1, steps ${firstStep}–${lastStep}: median ${middle.toFixed(3)}, lowest ${Math.min(...whole).toFixed(3)} (aim ${aim}); all steps: median ${(median(shares) ?? 0).toFixed(3)}`,
  );
  const size = median(calls.map((call) => Buffer.byteLength(JSON.stringify(call)))) ?? 0;
  const after = trimmed.map((step) => `${step} (${(shares[step - 2] ?? 0).toFixed(2)})`);
  print(
    `  median call ${Math.round(size)} bytes; trimmed before calls ${after.length === 0 ? 'none' : after.join(', ')}`,
  );
  if (middle < aim) process.exitCode = 1;
}
