// What every host keeps towards its human: a stop is a stop, a pause holds, and whoever
// asks something else gets that.
import { describe, expect, it } from 'vitest';
import { type ConformanceBench, textsOnceFree } from './driven-host.ts';

export function describeHumans(bench: ConformanceBench): void {
  const { capabilities, planned } = bench;
  describe('and its human', () => {
    it('P19: after an abort nothing is sent until the human speaks again', async () => {
      const session = await planned('Write the parser', 'Write the docs');
      expect(await session.aborts()).toEqual([]);
      // Null where the host tells of an abort only later.
      expect(['aborted', null]).toContain(await session.outcome());
      await session.says('continue');
      await session.works();
      expect(await session.stops()).toHaveLength(1);
    });

    it('P20: a message that is exactly a stop word is the same latch', async () => {
      const session = await planned('Write the parser', 'Write the docs');
      expect(await session.stops()).toHaveLength(1);
      await session.says('stop');
      expect(await session.stops()).toEqual([]);
    });

    it('V12: an ended turn keeps its outcome when the human types stop, presses their key, or pauses the session', async () => {
      const session = await planned('Write the parser');
      await session.completes('Write the parser');
      expect(await session.stops()).toEqual([]);
      expect(await session.outcome()).toBe('claimed');
      await session.aborts();
      expect(await session.outcome()).toBe('claimed');
      await session.says('stop');
      expect(await session.stops()).toEqual([]);
      expect(await session.outcome()).toBe('claimed');
      await session.pauses();
      expect(await session.stops()).toEqual([]);
      expect(await session.outcome()).toBe('claimed');
    });

    it('C3: a pause from another terminal holds until it is resumed', async () => {
      const session = await planned('Write the parser', 'Write the docs');
      await session.pauses();
      expect(await session.stops()).toEqual([]);
      expect(await textsOnceFree(bench, session, await session.resumes())).toHaveLength(
        1,
      );
    });

    it('P34: something else that is asked beside an old plan is not held against it', async () => {
      const session = await planned('Write the parser', 'Write the docs');
      // The turn ends, at its limit; until then a message would join it.
      for (let stop = 0; stop < 6; stop++) await session.stops();
      await session.says('By the way, what does this function do?');
      expect(await session.stops()).toEqual([]);
    });

    it(
      capabilities.mode === 'told'
        ? 'E2: a message during the countdown cancels it'
        : 'E2: it is answered at once, before the human can say anything',
      async () => {
        const session = await planned('Write the parser', 'Write the docs');
        const received = await session.stopsAndIsSpokenTo(
          'Wait, what does this function do?',
        );
        expect(received).toHaveLength(capabilities.mode === 'told' ? 0 : 1);
      },
    );

    it(
      capabilities.seesQuestions
        ? 'P9: while the human is asked something nothing is sent, and afterwards the agent goes on'
        : 'P9: it does not stop while the human is asked something, so that a stop is a stop',
      async () => {
        const session = await planned('Write the parser', 'Write the docs');
        await session.asksHuman();
        const received = await session.stops();
        expect(received).toHaveLength(capabilities.seesQuestions ? 0 : 1);
        expect(
          await textsOnceFree(bench, session, await session.humanAnswers()),
        ).toHaveLength(1);
      },
    );
  });
}
