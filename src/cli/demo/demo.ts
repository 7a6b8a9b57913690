// `untildone demo`: the product doing its main job, with a scripted model on loopback, a scratch folder and a store
// of its own. No key, no network, nothing left behind. Fails if the story did not run as written.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentEvent } from '../../agent/agent-event.ts';
import { resolveModel } from '../../agent/models/resolve-model.ts';
import { createCommandCheck } from '../../core/check-specs/read-check.ts';
import { defaultSettings, type Settings } from '../../core/config/settings.ts';
import { UntildoneError } from '../../core/untildone-error.ts';
import { createIdentifiers } from '../../engine/system.ts';
import { startScriptedModel } from '../../testing/model/index.ts';
import { createPrinter, openOrCreateStore, runSession } from '../agent-session.ts';
import { type Command, jsonOption } from '../command.ts';
import type { Io } from '../io.ts';
import { complain, printLines } from '../print.ts';
import { expectedContinuations, story, storyGoal } from './story.ts';

export const demo: Command = {
  usage: 'demo [--json]',
  about: [
    'A scripted model plays an agent with bad habits: it quits early, drops a todo, claims three in bulk, waits for a\njob, asks whether to go on, and stalls. The engine, the store, the tools and the loop are the real ones.',
    'It works in a scratch folder that is removed afterwards. Exit code 0: the story ran as written.',
  ],
  options: jsonOption,
  positionals: [0, 0],
  async run(given, io) {
    const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-demo-')));
    const server = await startScriptedModel({ scripts: [story], latencyMs: 150 });
    // The demo's store is its own: it must not show up among the sessions of the human.
    const own: Io = {
      ...io,
      env: { ...io.env, UNTILDONE_HOME: join(scratch, 'state') },
      cwd: join(scratch, 'work'),
    };
    try {
      return await play(own, server.url, given.has('json'));
    } finally {
      await server.close();
      rmSync(scratch, { recursive: true, force: true });
    }
  },
};

/** The human's check on the goal: the system runs it before it lets the agent go. */
const proof = createCommandCheck('the test passes', [process.execPath, 'greet.test.mjs']);

async function play(io: Io, url: string, json: boolean): Promise<number> {
  const settings: Settings = {
    ...defaultSettings,
    scope: 'turn',
    models: { scripted: { baseUrl: `${url}/v1`, api: 'chat', contextLimit: 100_000 } },
  };
  const model = await resolveModel('scripted/demo', { settings, origins: 'trusted', environment: {} });
  if (!model.ok) throw new UntildoneError('usage', model.sentence);
  mkdirSync(io.cwd);
  const told: string[] = [];
  const print = createPrinter(io, json);
  const emit = (event: AgentEvent): void => {
    if (event.type === 'continuation') told.push(event.textKind);
    print(event);
  };
  const store = await openOrCreateStore(io);
  try {
    if (!json) printLines(io, ['A scripted model plays the agent; everything else is real.', '']);
    const ended = await runSession(
      io,
      store,
      {
        goal: storyGoal,
        sessionId: createIdentifiers(io.clock).next(),
        resume: false,
        model,
        policy: { settings, goalChecks: [proof.id], checks: { [proof.id]: proof } },
        directory: io.cwd,
        permissions: { mode: 'auto', shellAllow: [] },
        acceptClaims: false,
        json,
      },
      emit,
    );
    const asWritten = told.join() === expectedContinuations.join() && ended.outcome === 'done';
    if (!asWritten)
      complain(io, `The story did not run as written: ${told.join(', ')} and ${ended.outcome}.`);
    return asWritten ? 0 : 1;
  } finally {
    await store.close();
  }
}
