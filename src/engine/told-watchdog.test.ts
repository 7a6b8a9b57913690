// The watchdog: if a host took a continuation and does nothing, we ask it, and the engine
// sends again or gives up.
import { describe, expect, it } from 'vitest';
import {
  type StageOptions,
  type ToldProcess,
  type ToldStage,
  withToldStage,
  works,
} from '../../test/support/told-stage.ts';

async function injectedOnce(stage: ToldStage, options: StageOptions) {
  let questions = 0;
  const process = await stage.startWorking({
    ...options,
    find: async (outgoing) => {
      questions += 1;
      return options.find === undefined ? 'absent' : options.find(outgoing);
    },
  });
  await process.idles();
  await stage.clock.advance(2000);
  expect(process.injected).toHaveLength(1);
  return { process, questions: () => questions };
}

const inMemory = (work: (stage: ToldStage) => Promise<void>) => () =>
  withToldStage('memory', work);

describe('a continuation that the host took', () => {
  it(
    'G9: and did nothing with is sent again under the same key, then the turn ends as failed, with a word',
    inMemory(async (stage) => {
      const { process } = await injectedOnce(stage, {});
      await stage.clock.advance(5499);
      expect(process.injected).toHaveLength(1);
      await stage.clock.advance(1);
      expect(process.injected).toHaveLength(2);
      await stage.clock.advance(60_000);
      expect(new Set(process.injected.map(({ key }) => key)).size).toBe(1);
      expect(process.injected).toHaveLength(3);
      expect((await stage.session()).settled).toMatchObject({
        outcome: 'failed',
        reason: 'delivery-failed',
      });
      expect(process.notices.at(-1)).toContain('did not accept the continuation');
    }),
  );

  it(
    'V5: and shows is left alone',
    inMemory(async (stage) => {
      const { process } = await injectedOnce(stage, { find: async () => 'present' });
      await stage.clock.advance(60_000);
      expect(process.injected).toHaveLength(1);
      expect((await stage.session()).injection?.state).toBe('observed');
    }),
  );

  it(
    'V5: and works on is not even asked about',
    inMemory(async (stage) => {
      const { process, questions } = await injectedOnce(stage, {});
      await stage.clock.advance(4000);
      await works(process);
      await stage.clock.advance(60_000);
      expect(questions()).toBe(0);
      expect(process.injected).toHaveLength(1);
    }),
  );

  it(
    'V5: and began to work on before it had said so is not asked about either',
    inMemory(async (stage) => {
      let started: ToldProcess | null = null;
      let questions = 0;
      started = await stage.startWorking({
        inject: async () => {
          await started?.happens({ type: 'activity-seen' });
          return { taken: true };
        },
        find: async () => {
          questions += 1;
          return 'absent';
        },
      });
      await started.idles();
      await stage.clock.advance(2000);
      await stage.clock.advance(60_000);
      expect((await stage.session()).injection?.state).toBe('sent');
      expect(questions).toBe(0);
    }),
  );

  it(
    'V5: while it is busy without a word counts as at work, so that its next idle is decided',
    inMemory(async (stage) => {
      let idle = false;
      const { process } = await injectedOnce(stage, { isIdle: async () => idle });
      await stage.clock.advance(5000);
      idle = true;
      await process.idles();
      await stage.clock.advance(2000);
      expect(process.injected.map(({ epoch }) => epoch)).toHaveLength(2);
      expect(process.injected[0]?.key).not.toBe(process.injected[1]?.key);
    }),
  );

  it(
    'G9: and answered with errors alone is sent again: an error may be the refusal',
    inMemory(async (stage) => {
      const { process } = await injectedOnce(stage, {});
      const error = {
        signature: 'no such agent',
        message: 'no such agent',
        retryAt: null,
      };
      await process.happens({ type: 'error-occurred', kind: 'other', ...error });
      await process.happens({ type: 'error-occurred', kind: 'other', ...error });
      await stage.clock.advance(5500);
      expect(process.injected).toHaveLength(2);
    }),
  );

  it(
    'G4: is not sent again once the human has stopped, paused or asked something else',
    inMemory(async (stage) => {
      for (const happening of [
        { type: 'human-aborted', how: 'escape' },
        { type: 'human-paused', reason: null },
        { type: 'session-deleted' },
        { type: 'wait-started', wait: { kind: 'question', requestId: 'request-1' } },
      ] as const) {
        await withToldStage('memory', async (fresh) => {
          const { process } = await injectedOnce(fresh, {});
          await fresh.clock.advance(5200);
          await process.happens(happening);
          await fresh.clock.advance(60_000);
          expect(process.injected, happening.type).toHaveLength(1);
        });
      }
      expect(stage.clock.pending()).toBe(0);
    }),
  );
});
