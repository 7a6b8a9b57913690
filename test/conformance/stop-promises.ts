// What every host keeps at a stop: who goes on, with which words, how often, and who is
// let go.
import { describe, expect, it } from 'vitest';
import { defaultSettings } from '../../src/core/settings.ts';
import { continuationMarker } from '../../src/core/texts.ts';
import type { ConformanceBench } from './driven-host.ts';

export function describeStops({
  capabilities,
  hasWorkspace,
  planned,
  start,
}: ConformanceBench): void {
  describe('at a stop', () => {
    it('P1: an agent with open todos goes on, and the text names the next one', async () => {
      const session = await planned('Write the parser', 'Write the docs');
      await session.completes('Write the parser');
      const [text, ...more] = await session.stops();
      expect(more).toEqual([]);
      expect(text).toContain('“Write the docs”');
      expect(text, 'E6').toContain(continuationMarker);
      expect(text, 'E6').toContain('1/2 completed, 1 remaining');
    });

    it('P29: an agent that is finished is let go without a word', async () => {
      const session = await planned('Write the parser');
      await session.completes('Write the parser');
      expect(await session.stops()).toEqual([]);
    });

    it('P29: an agent without a plan is let go without a word', async () => {
      const session = await (await start()).open();
      await session.says('What is this?');
      expect(await session.stops()).toEqual([]);
    });

    it('P30: an honest agent drains its plan, one todo per stop', async () => {
      const titles = Array.from({ length: 12 }, (_, index) => `Todo number ${index + 1}`);
      const session = await planned(...titles);
      const received: string[] = [];
      for (const title of titles) {
        await session.works();
        await session.completes(title);
        received.push(...(await session.stops()));
      }
      // What a host takes no more of, we do not send (V8).
      const { blockCap, capIsFixed } = capabilities;
      const most = capIsFixed ? (blockCap ?? titles.length) : titles.length;
      expect(received).toHaveLength(Math.min(titles.length - 1, most));
    });

    it(
      hasWorkspace
        ? 'P38 V4: after the first message, one call that changes no file and four claims are challenged once'
        : 'V4: where nobody sees its files, a call that may write counts as the change',
      async () => {
        const titles = [
          'Write the parser',
          'Write the docs',
          'Write the tests',
          'Write the news',
        ];
        const session = await planned(...titles);
        for (const title of titles) await session.completes(title);
        const texts = [...(await session.stops()), ...(await session.stops())];
        const challenge = expect.stringContaining(
          '4 todos were marked completed after 1 other tool call, and no file changed',
        );
        expect(texts).toEqual(hasWorkspace ? [challenge] : []);
      },
    );

    it('G6: an agent that does nothing is bounded, and our own text shown again resets nothing', async () => {
      const session = await planned('Write the parser');
      const received: string[] = [];
      for (let stop = 0; stop < 10; stop++) {
        const texts = await session.stops();
        for (const text of texts) await session.shows(text);
        received.push(...texts);
      }
      expect(received).toHaveLength(defaultSettings.maxStagnant);
    });

    it(
      capabilities.repeatsStops
        ? 'P24: a stop that it tells twice is one continuation'
        : 'P24: it tells of each stop once, so that two are two',
      async () => {
        const session = await planned('Write the parser', 'Write the docs');
        expect(await session.stopsTwice()).toHaveLength(
          capabilities.repeatsStops ? 1 : 2,
        );
      },
    );

    it.each([{ enabled: false }, { mode: 'off' as const }, { mode: 'observe' as const }])(
      'C2: with %j nothing reaches the model',
      async (settings) => {
        const session = await (await start(settings)).open();
        await session.says('Please do it.');
        await session.plans('Write the parser');
        await session.works();
        expect(await session.stops()).toEqual([]);
      },
    );
  });
}
