// C2: off means off. With the plugin present and switched off the model is asked exactly
// what it is asked without it; in observe mode decisions are written down and nothing
// else changes.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LoggedRequest } from '../../../src/scripted-model/index.ts';
import { quitter, titles } from '../harness/stories/story.ts';
import { waitUntil } from '../harness/wait-until.ts';
import type { FolderSettings } from './opencode.ts';
import { runOpencode } from './run.ts';
import { hasty, type Stage, startStage } from './stage.ts';

let off: Stage;
beforeAll(async () => {
  off = await startStage([quitter('quitter', ...titles)], {
    environment: { UNTILDONE_ENABLED: 'false' },
  });
}, 60_000);
afterAll(() => off.close());

/** What differs from session to session by itself: ids, times, the folder. */
function comparable(
  requests: readonly LoggedRequest[],
  directory: string,
): readonly unknown[] {
  return requests.map(({ body }) =>
    JSON.parse(
      JSON.stringify(body)
        .replaceAll(directory, 'FOLDER')
        .replaceAll(/call_[0-9a-z]+_[0-9a-z]+_/g, 'call_'),
    ),
  );
}

async function oneTurn(settings: FolderSettings): Promise<readonly unknown[]> {
  const conversation = await off.open(settings);
  await conversation.say('[script:quitter] Do it.');
  await conversation.waitForTurns(1);
  return comparable(off.requests(conversation.id), conversation.directory);
}

describe('C2: switched off', () => {
  it('by the environment under serve: the model is asked the same, to the letter', async () => {
    const without = await oneTurn({ plugins: [] });
    const present = await oneTurn({});
    expect(without).toHaveLength(3);
    expect(present).toEqual(without);
  });

  it('by the environment under run', async () => {
    const play = async (settings: FolderSettings) => {
      const directory = off.folder(settings);
      const prompt = '[script:quitter] Do it.';
      const environment = { UNTILDONE_ENABLED: 'false' };
      const run = await runOpencode(off.project, off.model, {
        directory,
        prompt,
        environment,
      });
      return comparable(off.requests(run.id), directory);
    };
    expect(await play({})).toEqual(await play({ plugins: [] }));
  });
});

describe('C2: mode', () => {
  it('off in the project file: no continuation and nothing on the record', async () => {
    const stage = await startStage([quitter('quitter', ...titles)]);
    try {
      const conversation = await stage.open({ config: { ...hasty, mode: 'off' } });
      await conversation.say('[script:quitter] Do it.');
      await conversation.waitForTurns(1);
      const observed = await stage.open({ config: { ...hasty, mode: 'observe' } });
      await observed.say('[script:quitter] Do it.');
      await waitUntil('it was decided', async () => {
        const kept = await stage.record.read(observed.id);
        return kept?.decisions.some(({ answer }) => answer === 'continue') ?? false;
      });
      expect(stage.continuations(observed.id)).toHaveLength(0);
      expect(stage.continuations(conversation.id)).toHaveLength(0);
      const kept = await stage.record.read(observed.id);
      expect(kept?.decisions.every((decision) => decision.observed)).toBe(true);
    } finally {
      await stage.close();
    }
  });
});
