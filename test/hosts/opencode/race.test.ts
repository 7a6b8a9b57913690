// P19: aborts at random moments around the end of a turn, the countdown and the
// injection, in few processes of the real host: whatever the abort hits, nothing is sent
// once the plugin has been told of it.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { after, always, plan, say, script } from '../../../src/scripted-model/index.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { openConversation } from './conversation.ts';
import { type Stage, startStage } from './stage.ts';

const tries = 50;
const atOnce = 5;
/**
 * The abort falls so long after one of these: in the last answer, the countdown, the
 * injection or the answer to it.
 */
const widthMs = 500;
const moments = ['todo.updated', 'session.idle'];
/** Many times the countdown. */
const quietMs = 1500;

/** Each answer takes a little, so that there is a busy time to hit. */
const scripts = [
  script('stubborn', [plan('parser', 'docs'), always(after(60, say('I am done.')))]),
];

let stage: Stage;
beforeAll(async () => {
  stage = await startStage(scripts);
}, 60_000);
afterAll(() => stage.close());

interface Try {
  readonly moment: string;
  readonly delay: number;
  /** Continuations that were decided on after the abort had been published. */
  readonly late: number;
  /** Continuations that the model received although none was on its way before. */
  readonly unexplained: number;
  readonly isHeld: boolean;
  readonly wasContinued: boolean;
}

async function abortOnce(directory: string, moment: string, delay: number): Promise<Try> {
  const conversation = await openConversation(stage.serve, directory);
  await conversation.say('Do it.');
  await conversation.waitFor(moment);
  await sleep(delay);
  const told = conversation.events().length;
  await conversation.abort();
  const heard = () =>
    conversation
      .events()
      .slice(told)
      .find(({ type }) => type === 'session.idle');
  await waitUntil('the host published the abort', () => heard() !== undefined);
  // A continuation that was not called off would be decided on soon after.
  await sleep(quietMs);
  const kept = await stage.record.read(conversation.id);
  const decided = kept?.outbox ?? [];
  const early = decided.filter(({ createdAt }) => createdAt <= heard()!.at);
  const received = stage.continuations(conversation.id).length;
  return {
    moment,
    delay,
    late: decided.length - early.length,
    unexplained: Math.max(0, received - early.length),
    isHeld: kept?.session.latch !== null,
    wasContinued: early.length > 0,
  };
}

describe('P19: an abort in a race with idle', () => {
  it(`${tries} times at random delays: nothing is sent after the plugin was told of it`, async () => {
    // An agent that was given up may stop: an abort would find nothing to hold.
    const patience = { maxStagnant: 100, maxContinuations: 100 };
    const directory = stage.folder({
      config: { countdownSeconds: 0.15, minIntervalSeconds: 0, ...patience },
    });
    const done: Try[] = [];
    while (done.length < tries) {
      const batch = Array.from({ length: atOnce }, (_, index) =>
        abortOnce(directory, moments[index % moments.length]!, Math.random() * widthMs),
      );
      done.push(...(await Promise.all(batch)));
    }
    expect(done.filter(({ late, unexplained }) => late + unexplained > 0)).toEqual([]);
    expect(
      done.filter(({ isHeld }) => !isHeld),
      'every abort holds until the human speaks',
    ).toEqual([]);
    const continued = done.filter(({ wasContinued }) => wasContinued).length;
    expect(continued, 'some aborts came before the injection').toBeLessThan(tries);
    expect(continued, 'and some after it').toBeGreaterThan(0);
  }, 300_000);
});
