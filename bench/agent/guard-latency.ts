// What the in-turn guard adds between the model's last event and the release of its
// answer (issue Loop, must hold 2; I1), beside a stream without a guard, over real HTTP
// in the real loop; and proof that no held "done" is shown on a retry and no tool event
// is delayed. Usage: npm run bench -- guard
import { subscribe } from 'node:diagnostics_channel';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jsonSchema, streamText, type TextStreamPart, type ToolSet, tool } from 'ai';
import type { AgentEvent } from '../../src/agent/agent-event.ts';
import { modelParts } from '../../src/agent/loop/step.ts';
import { systemClock } from '../../src/engine/system.ts';
import { createGuard } from '../../src/guard/guard-transform.ts';
import {
  always,
  complete,
  plan,
  type Script,
  say,
  script,
  slowly,
  startScriptedModel,
  untilAllDone,
  withText,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { median } from '../../test/support/prefix-share.ts';
import { runScriptedAgent, scriptedModelObject } from './scripted-agent.ts';

const samples = Number(process.argv[2] ?? 200);
const toolSamples = 40;
const aimMs = 50;
/** Events of a slow answer come one by one, as from a real model. */
const slowMs = 15;
const print = (line: string): void => void process.stdout.write(`${line}\n`);

const stubborn: Script = script('stubborn', [plan('Hold the line')], {
  afterwards: say('Done. Everything that was asked for is finished.'),
});
const early: Script = script('early', [
  plan(...Array.from({ length: 20 }, (_, index) => `Write page ${index + 1}`)),
  untilAllDone((title) => [
    writeFile(`${title.split(' ')[2]}.md`, title),
    complete(title, 'the page is written'),
    say(`Done: ${title}, and that is all.`),
  ]),
  say('All pages are written.'),
]);
const slow: Script = script('slow', [
  always(
    slowly(slowMs, withText('Now I write it down.', writeFile('note.md', 'a note'))),
  ),
]);

/** When the server handed the last event of its latest answer to the system. */
let lastEventAt = 0;
subscribe('http.server.response.finish', () => {
  lastEventAt = performance.now();
});

const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-guard-')));
const server = await startScriptedModel({
  scripts: [stubborn, early, slow],
  keepRequests: 1,
});
const store = await openSqliteStore({
  path: join(scratch, 'store.db'),
  clock: systemClock,
});
// Anthropic's protocol: its tool calls are complete before the answer ends, so that
// events follow them.
const agent = { url: server.url, api: 'anthropic', store, directory: scratch } as const;
const { model } = await scriptedModelObject(agent);

function describe(name: string, values: readonly number[]): string {
  const above = values.filter((value) => value >= aimMs).length;
  return `${name}: median ${(median(values) ?? 0).toFixed(2)} ms, worst ${Math.max(...values).toFixed(2)} ms, ${above} of ${values.length} at or above ${aimMs} ms`;
}

/** From the last event to the end of the stream as someone sees it who uses no guard. */
async function bareSample(): Promise<number> {
  const { stream } = streamText({ model, prompt: 'SCENARIO: stubborn', maxRetries: 0 });
  let endAt = 0;
  for await (const part of stream) if (part.type === 'finish') endAt = performance.now();
  return endAt - lastEventAt;
}

/**
 * From the last event to the release. The session has spent its continuations: the engine
 * decides and lets go.
 */
async function guardedSample(): Promise<{ release: number; continuations: number }> {
  let release: number | null = null;
  const ended = await runScriptedAgent({
    ...agent,
    settings: { ceiling: 1 },
    sessionId: 'stubborn',
    goal: null,
    emit: ({ type }) => {
      if (type === 'text') release ??= performance.now() - lastEventAt;
    },
  });
  if (release === null) throw new Error(`nothing was released: ${ended.sentence}`);
  return { release, continuations: ended.continuations.length };
}

async function latency(): Promise<void> {
  const first = await runScriptedAgent({
    ...agent,
    settings: { ceiling: 1 },
    sessionId: 'stubborn',
    goal: 'SCENARIO: stubborn',
    emit: () => {},
  });
  if (first.outcome !== 'exhausted')
    throw new Error(`the session is not spent: ${first.outcome}`);
  const bare: number[] = [];
  const guarded: number[] = [];
  for (let index = 0; index < samples; index++) {
    bare.push(await bareSample());
    const sample = await guardedSample();
    if (sample.continuations > 0)
      throw new Error('the engine continued where it should have let go');
    guarded.push(sample.release);
  }
  const added = (median(guarded) ?? 0) - (median(bare) ?? 0);
  print(describe('without guard, last event to the end of the stream', bare));
  print(describe('with guard, last event to the released text', guarded));
  print(`the guard adds ${added.toFixed(2)} ms (medians; aim under ${aimMs} ms)`);
  if (added >= aimMs) process.exitCode = 1;
}

async function heldTexts(): Promise<void> {
  const held: string[] = [];
  let shown = '';
  await runScriptedAgent({
    ...agent,
    sessionId: 'early',
    goal: 'SCENARIO: early',
    emit: (event: AgentEvent) => {
      if (event.type === 'text-held-back') held.push(event.text);
      if (event.type === 'text') shown += event.text;
    },
  });
  const leaked = held.filter((text) => shown.includes(text)).length;
  print(`held "done" texts: ${held.length}; shown on a retry: ${leaked}`);
  if (held.length < 19 || leaked > 0) process.exitCode = 1;
}

/**
 * A tool event is delayed if the guard takes the next event from the model before it
 * hands this one on.
 */
async function toolEvents(): Promise<void> {
  const waits: number[] = [];
  let delayed = 0;
  for (let index = 0; index < toolSamples; index++) {
    const entered = new Map<unknown, { readonly number: number; readonly at: number }>();
    async function* watched(stream: AsyncIterable<TextStreamPart<ToolSet>>) {
      for await (const part of stream) {
        entered.set(part, { number: entered.size, at: performance.now() });
        yield part;
      }
    }
    const guard = createGuard<TextStreamPart<ToolSet>>({
      hasOpenTodos: () => true,
      ask: async () => ({ answer: 'release' }),
      remind: () => {},
    });
    const seen = (part: TextStreamPart<ToolSet>): void => {
      const came = entered.get(part);
      if (came === undefined || !part.type.startsWith('tool-')) return;
      waits.push(performance.now() - came.at);
      if (entered.size - 1 > came.number) delayed += 1;
    };
    const { signal } = new AbortController();
    for await (const part of modelParts(() => watched(slowAnswer(signal)), signal))
      await guard.take(part as TextStreamPart<ToolSet>, seen);
    guard.end(seen);
  }
  print(
    `tool events through the guard: ${waits.length}, median ${(median(waits) ?? 0).toFixed(3)} ms, worst ${Math.max(...waits).toFixed(2)} ms; delayed: ${delayed}`,
  );
  if (delayed > 0 || waits.length < toolSamples * 3) process.exitCode = 1;
}

/** Text, then a tool call, event by event. */
function slowAnswer(abortSignal: AbortSignal): AsyncIterable<TextStreamPart<ToolSet>> {
  const inputSchema = jsonSchema({ type: 'object', properties: {} });
  const tools: ToolSet = {
    write_file: tool({
      description: 'Writes a file.',
      inputSchema,
      execute: async () => 'written',
    }),
  };
  return streamText({
    model,
    prompt: 'SCENARIO: slow',
    tools,
    maxRetries: 0,
    abortSignal,
  }).stream;
}

try {
  await latency();
  await heldTexts();
  await toolEvents();
} finally {
  await store.close();
  await server.close();
  rmSync(scratch, { recursive: true, force: true });
}
