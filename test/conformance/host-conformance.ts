// What every host keeps, as one suite: run it over each adapter. It speaks to a host
// through a thin driver and looks only at the continuations that reach the model. What a
// host cannot do is read from its capabilities, and then the suite holds it to the other
// thing; nothing is left out.
import { afterEach, describe, expect, it } from 'vitest';
import {
  begin,
  type ConformanceBench,
  type DrivenHost,
  type HostUnderTest,
} from './driven-host.ts';
import { describeHumans } from './human-promises.ts';
import { describeOthers } from './other-promises.ts';
import { describeStops } from './stop-promises.ts';

export function describeHost(host: HostUnderTest): void {
  const { capabilities, hasWorkspace } = host;
  describe(`${capabilities.title} as a host`, () => {
    const started: DrivenHost[] = [];
    afterEach(async () => {
      for (const one of started.splice(0)) await one.close();
    });
    const start: ConformanceBench['start'] = async (settings = {}) => {
      const driven = await host.start(settings);
      started.push(driven);
      return driven;
    };
    const bench: ConformanceBench = {
      capabilities,
      hasWorkspace,
      start,
      async planned(...titles) {
        const session = await (await start()).open();
        await begin(session, ...titles);
        return session;
      },
    };

    it('is what it declares to be: a host that waits for an answer or one that is sent a text', () => {
      expect(['asked', 'told']).toContain(capabilities.mode);
      expect(capabilities.delivery).toBe(
        capabilities.mode === 'asked' ? 'at most once' : 'exactly once',
      );
    });

    describeStops(bench);
    describeHumans(bench);
    describeOthers(bench);
  });
}
