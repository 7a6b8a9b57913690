// Promises of the runtime for hosts that only tell us when they idle, over both stores:
// what a restart, a clean end and a sudden death do to a countdown.
import { describe, expect, it } from 'vitest';
import {
  afterDeath,
  spoken,
  type ToldStage,
  withToldStage,
  works,
} from '../../test/support/told-stage.ts';
import type { EventOf } from '../core/events.ts';

const minute = 60_000;
const waits = (wait: EventOf<'wait-started'>['wait']) =>
  ({ type: 'wait-started', wait }) as const;

for (const kind of ['memory', 'sqlite'] as const) {
  const over = (work: (stage: ToldStage) => Promise<void>) => () =>
    withToldStage(kind, work);

  describe(`a countdown in the ${kind} store`, () => {
    it(
      'V5: is found by the next process after a death, and fires once, at once',
      over(async (stage) => {
        const first = await stage.startWorking();
        await first.idles();
        await stage.clock.advance(1000);
        first.dies();
        await stage.clock.advance(afterDeath);
        const second = await stage.start();
        await stage.clock.advance(1);
        expect(second.injected).toHaveLength(1);
        await stage.clock.advance(30 * minute);
        expect([...first.injected, ...second.injected]).toHaveLength(1);
      }),
    );

    it(
      'V5: younger than ten minutes still fires, an older one pauses the session with the reason',
      over(async (stage) => {
        for (const [late, sent] of [
          [9 * minute, 1],
          [11 * minute, 0],
        ] as const) {
          const first = await stage.startWorking();
          await first.happens(spoken('Go on.', `message at ${stage.clock.now()}`));
          await works(first);
          await first.idles();
          first.dies();
          await stage.clock.advance(late);
          const second = await stage.start();
          await stage.clock.advance(1);
          expect(second.injected, `${late} ms late`).toHaveLength(sent);
          const { settled } = await stage.session();
          if (sent === 0)
            expect(settled).toMatchObject({ outcome: 'paused', reason: 'timer-expired' });
          if (sent === 0) expect(second.notices[0]).toContain('too old');
          await second.runtime.dispose();
        }
      }),
    );

    for (const shown of ['absent', 'present'] as const) {
      const does =
        shown === 'absent'
          ? 'is sent once more if the host does not show it'
          : 'is not if it does';
      it(
        `V5: a continuation that was on its way at a death ${does}`,
        over(async (stage) => {
          // The process dies while the host is being told: nobody hears its answer.
          const first = await stage.startWorking({ inject: () => new Promise(() => {}) });
          await first.idles();
          await stage.clock.advance(2000);
          expect(first.injected).toHaveLength(1);
          first.dies();
          await stage.clock.advance(afterDeath);
          const second = await stage.start({ find: async () => shown });
          await stage.clock.advance(10);
          expect(second.injected).toHaveLength(shown === 'absent' ? 1 : 0);
          if (shown === 'absent')
            expect(second.injected[0]?.key).toBe(first.injected[0]?.key);
          expect((await stage.session()).counters.total, 'one continuation').toBe(1);
        }),
      );
    }

    it(
      'V5: a continuation on its way at a clean end is not sent by the next process',
      over(async (stage) => {
        const first = await stage.startWorking();
        await first.idles();
        await stage.clock.advance(2000);
        await first.runtime.dispose();
        const second = await stage.start({ find: async () => 'absent' });
        await stage.clock.advance(minute);
        expect(second.injected).toEqual([]);
        expect((await stage.session()).injection?.state).toBe('failed');
      }),
    );

    it(
      'V5: a continuation on its way that is older than ten minutes pauses the session instead',
      over(async (stage) => {
        const first = await stage.startWorking({ inject: () => new Promise(() => {}) });
        await first.idles();
        await stage.clock.advance(2000);
        first.dies();
        await stage.clock.advance(11 * minute);
        const second = await stage.start({ find: async () => 'absent' });
        await stage.clock.advance(minute);
        expect(second.injected).toEqual([]);
        expect((await stage.session()).settled).toMatchObject({
          outcome: 'paused',
          reason: 'timer-expired',
        });
      }),
    );

    it(
      'V5: is cancelled by a clean end, on the record; the next process starts nothing',
      over(async (stage) => {
        const first = await stage.startWorking();
        await first.idles();
        await stage.clock.advance(1000);
        await first.runtime.dispose();
        await first.runtime.dispose();
        expect(await stage.session()).toMatchObject({ timer: null, parked: null });
        const events = await stage.store.events({
          sessionId: 'session-1',
          after: 0,
          limit: 100,
        });
        expect(
          events.filter(({ event }) => event.type === 'session-closed'),
        ).toHaveLength(1);
        const second = await stage.start();
        await stage.clock.advance(minute);
        expect([...first.injected, ...second.injected]).toEqual([]);
        expect(first.toasts).toHaveLength(2);
        await second.runtime.dispose();
        expect(stage.clock.pending(), 'nothing keeps waiting').toBe(0);
      }),
    );

    it(
      'V5: an idle that was on its way during the clean end starts nothing either',
      over(async (stage) => {
        const first = await stage.startWorking({
          settings: { countdownSeconds: 0, minIntervalSeconds: 0 },
        });
        const ending = first.runtime.dispose();
        await Promise.all([first.idles(), ending]);
        await stage.clock.advance(100);
        expect(first.injected).toEqual([]);
        expect(await stage.session()).toMatchObject({ timer: null, parked: null });
      }),
    );

    it(
      'V5: follows a session that is opened in another instance',
      over(async (stage) => {
        const first = await stage.startWorking();
        await first.idles();
        const { descriptor } = await stage.session();
        const moved = { ...descriptor, instance: 'instance-2' };
        await first.happens({ type: 'session-opened', descriptor: moved, agent: null });
        await stage.clock.advance(minute);
        expect(first.injected, 'it is no longer ours').toEqual([]);
        expect((await stage.store.timers('instance-2', 0, 0)).nextAt).not.toBeNull();
      }),
    );

    it(
      'E4: however often the host idles, there is one countdown and one injection',
      over(async (stage) => {
        const process = await stage.startWorking();
        await Promise.all([process.idles(), process.idles(), process.idles()]);
        await stage.clock.advance(1500);
        await process.idles();
        await stage.clock.advance(500);
        expect(process.injected).toHaveLength(1);
        await process.idles();
        await stage.clock.advance(minute);
        expect(process.injected).toHaveLength(1);
      }),
    );

    it(
      'G10: an idle 100 ms after an injection is continued later, never dropped',
      over(async (stage) => {
        const process = await stage.startWorking({
          settings: {
            countdownSeconds: 0,
            minIntervalSeconds: 5,
            maxStagnant: 100,
            maxContinuations: 100,
          },
        });
        await process.idles();
        for (let turn = 1; turn <= 6; turn++) {
          expect(process.injected).toHaveLength(turn);
          await stage.clock.advance(100);
          await works(process);
          await process.idles();
          await stage.clock.advance(4899);
          expect(process.injected, 'not before its time').toHaveLength(turn);
          await stage.clock.advance(1);
        }
      }),
    );
  });
}

describe('a countdown', () => {
  const inMemory = (work: (stage: ToldStage) => Promise<void>) => () =>
    withToldStage('memory', work);

  it(
    'E2: goes on at an echo of a known message, and at a message without an id in the grace period',
    inMemory(async (stage) => {
      const process = await stage.startWorking();
      await process.idles();
      await process.happens(spoken('Build it.', 'message-1'));
      await stage.clock.advance(499);
      await process.happens(spoken('Build it.', null));
      await stage.clock.advance(1501);
      expect(process.injected).toHaveLength(1);
    }),
  );

  it(
    'E2: is cancelled by a new message, at any time, and by one without an id after the grace period',
    inMemory(async (stage) => {
      for (const [after, id] of [
        [0, 'message-2'],
        [1999, 'message-3'],
        [500, null],
      ] as const) {
        const process = await stage.startWorking();
        await works(process);
        await process.idles();
        await stage.clock.advance(after);
        await process.happens(spoken('Wait.', id));
        await stage.clock.advance(minute);
        expect(process.injected, `${id} after ${after} ms`).toEqual([]);
        await process.runtime.dispose();
      }
    }),
  );

  it(
    'G5: a latch, a pause, a permission, a question and background work that came meanwhile hold it back',
    inMemory(async (stage) => {
      for (const happening of [
        { type: 'human-aborted', how: 'escape' },
        { type: 'human-paused', reason: null },
        waits({ kind: 'permission', requestId: 'request-1' }),
        waits({ kind: 'question', requestId: 'request-1' }),
        waits({
          kind: 'background',
          job: { id: 'job-1', kind: 'subagent', description: 'a subagent' },
        }),
        waits({ kind: 'recovery' }),
        waits({ kind: 'compaction' }),
      ] as const) {
        await withToldStage('memory', async (fresh) => {
          const process = await fresh.startWorking();
          await process.idles();
          await fresh.clock.advance(1000);
          await process.happens(happening);
          await fresh.clock.advance(minute);
          expect(process.injected, happening.type).toEqual([]);
        });
      }
      expect(await stage.store.state('session-1')).toBeNull();
    }),
  );
});
