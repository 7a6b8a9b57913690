// `untildone demo`: the product doing its main job, with a scripted model on loopback, a scratch folder and a store
// of its own. No key, no network, nothing left behind. Fails if the story did not run as written.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunEnded } from '../../agent/agent-event.ts';
import { resolveModel } from '../../agent/models/resolve-model.ts';
import { createCommandCheck } from '../../core/check-specs.ts';
import { UntildoneError } from '../../core/error.ts';
import { defaultSettings, type Settings } from '../../core/settings.ts';
import type { TextKind } from '../../core/texts.ts';
import type { Store } from '../../engine/store.ts';
import { createIdentifiers } from '../../engine/system.ts';
import { startScriptedModel } from '../../scripted-model/index.ts';
import { askingOf, prepareWorkers } from '../agent-policy.ts';
import { type AgentSession, runSession } from '../agent-session.ts';
import { canAnswerHere } from '../ask-at-terminal.ts';
import { type Command, jsonOption, plainOption } from '../command.ts';
import type { Io } from '../io.ts';
import { openOrCreateStore } from '../open-runtime.ts';
import { complain, printLines } from '../print.ts';
import { createScriptedHuman, type ScriptedAnswer } from './scripted-human.ts';
import { expectedContinuations, humanTest, scripts, storyGoal } from './story.ts';

/** How fast it goes: with a pace that eyes can follow, or as fast as it can. */
const paces = { watched: { answerMs: 600, betweenMs: 2500 }, unwatched: { answerMs: 0, betweenMs: 0 } };

/** @param answer what the script says to the permission, where no person does */
export function createDemo(answer: ScriptedAnswer): Command {
  return {
    usage: 'demo [--plain] [--json]',
    about: [
      'A scripted model plays an agent with bad habits: it quits early, drops a todo, asks whether to go on,\nand says "finished" while the test fails. A worker asks for a permission; on a terminal you can answer it. A script\npresses Ctrl-C, and the session is resumed. The engine, the store, the tools, the checks and the loop are the real ones.',
      'It works in a scratch folder that is removed afterwards. Exit code 0: the story ran as written.',
    ],
    options: { ...plainOption, ...jsonOption },
    positionals: [0, 0],
    async run(given, io) {
      const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-demo-')));
      const json = given.has('json');
      const pace = io.isTTY && !json ? paces.watched : paces.unwatched;
      const server = await startScriptedModel({ scripts, latencyMs: pace.answerMs });
      // The demo's store is its own: it must not show up among the sessions of the human.
      const own: Io = {
        ...io,
        env: { ...io.env, PATH: withOwnNode(io.env['PATH']), UNTILDONE_HOME: join(scratch, 'state') },
        cwd: join(scratch, 'work'),
      };
      mkdirSync(own.cwd);
      writeFileSync(join(own.cwd, humanTest.name), humanTest.content);
      const store = await openOrCreateStore(own);
      try {
        if (!json) printLines(io, ['A script plays the model and the human; everything else is real.', '']);
        const session = await prepareSession(own, store, server.url);
        return await play(
          own,
          store,
          { ...session, json, plain: given.has('plain') },
          pace.betweenMs,
          answer,
        );
      } finally {
        await store.close();
        await server.close();
        rmSync(scratch, { recursive: true, force: true });
      }
    },
  };
}

export const demo = createDemo('once');

/** The human's check on the goal: the system runs it before it lets the agent go. */
const proof = createCommandCheck('the test passes', ['node', humanTest.name]);

/** The Node that runs this is there, under its own name; whether another one is in the path is not known. */
function withOwnNode(path: string | undefined): string {
  return [dirname(process.execPath), ...(path === undefined ? [] : [path])].join(delimiter);
}

async function prepareSession(
  io: Io,
  store: Store,
  url: string,
): Promise<Omit<AgentSession, 'json' | 'plain'>> {
  const settings: Settings = {
    ...defaultSettings,
    scope: 'turn',
    models: { scripted: { baseUrl: `${url}/v1`, api: 'chat', contextLimit: 100_000 } },
    workers: { tester: { model: 'scripted/tester' } },
    // The script answers within seconds; whoever waits longer than this waits for nobody.
    permissions: { ...defaultSettings.permissions, waitSeconds: 60 },
  };
  const model = await resolveModel('scripted/agent', { settings, origins: {}, environment: {} });
  if (!model.ok) throw new UntildoneError('usage', model.error);
  return {
    goal: storyGoal,
    sessionId: createIdentifiers(io.clock).next(),
    resume: false,
    model,
    policy: { settings, goalChecks: [proof.id], checks: { [proof.id]: proof } },
    directory: io.cwd,
    permissions: { mode: 'ask', shellAllow: [] },
    asking: await askingOf(io, store, io.cwd, settings),
    workers: await prepareWorkers(io, settings, {}),
    acceptClaims: false,
  };
}

async function play(
  io: Io,
  store: Store,
  session: AgentSession,
  betweenMs: number,
  answer: ScriptedAnswer,
): Promise<number> {
  const human = createScriptedHuman(io, store, !session.json && (await canAnswerHere(io)), answer);
  const told: TextKind[] = [];
  const act = (part: AgentSession): Promise<RunEnded> =>
    runSession(io, store, part, (event, run) => {
      if (event.type === 'continuation') told.push(event.textKind);
      human.watch(event, run);
    });
  // Its store goes with it: only the script takes a session of the demo up again.
  const first = await act({ ...session, isKept: () => human.hasInterrupted });
  // A person who stops the demo wants it to end.
  if (first.outcome === 'aborted' && !human.hasInterrupted) return first.exitCode;
  await sleep(betweenMs);
  if (!session.json)
    printLines(io, ['', 'The script takes the session up again, as `untildone run --resume` does.', '']);
  const last = await act({ ...session, goal: null, resume: true, isKept: () => false });
  if (last.outcome === 'aborted') return last.exitCode;
  const asExpected = human.hasHelp || human.hasRefused || told.join() === expectedContinuations.join();
  const wanted = human.hasRefused ? 'blocked' : 'done';
  if (first.outcome === 'aborted' && last.outcome === wanted && asExpected) return 0;
  const outcomes = `${first.outcome} and ${last.outcome}`;
  complain(io, `The story did not run as written: ${told.join(', ')}; it ended ${outcomes}.`);
  return 1;
}
