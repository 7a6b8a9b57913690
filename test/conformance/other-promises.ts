// What every host keeps beside the one conversation: subagents, agents that must not
// write, other sessions, and values that nobody expected.
import { describe, expect, it } from 'vitest';
import { begin, type ConformanceBench, textsOnceFree } from './driven-host.ts';

/** Wrong in every way that a changed host might be wrong in. */
const garbage: readonly unknown[] = [
  null,
  undefined,
  0,
  '',
  'Stop',
  [],
  {},
  true,
  { type: 'session.idle' },
  { type: 'session.idle', id: 1, properties: { sessionID: 7 } },
  {
    type: 'todo.updated',
    id: 'e',
    properties: { sessionID: 's', todos: { length: 3 } },
  },
  { hook_event_name: 'Stop' },
  { hook_event_name: 'Stop', session_id: { toString: null } },
  { type: 'stop-attempted', id: '', sessionId: 'x'.repeat(100_000), at: Number.NaN },
  {
    type: '__proto__',
    hook_event_name: 'constructor',
    properties: null,
    session_id: 'x',
  },
];

export function describeOthers(bench: ConformanceBench): void {
  const { capabilities, planned, start } = bench;
  describe('and the rest of the world', () => {
    it('a subagent that stops is held neither to the plan of its parent nor, by default, to its own', async () => {
      const session = await planned('Write the parser', 'Write the docs');
      const subagent = await session.startsSubagent();
      await subagent.plans('Look into the first folder', 'Look into the second folder');
      await subagent.works();
      expect(await subagent.stops()).toEqual([]);
    });

    const seesSubagents = capabilities.seesBackground.includes('subagents');
    it(
      seesSubagents
        ? 'P18: an agent that stops while a subagent works goes on only when that has ended'
        : 'P18: it shows no subagent in the background, so that a stop is a stop',
      async () => {
        const session = await planned('Write the parser', 'Write the docs');
        const subagent = await session.startsSubagent();
        expect(await session.stops()).toHaveLength(seesSubagents ? 0 : 1);
        if (!seesSubagents) return;
        expect(await textsOnceFree(bench, session, await subagent.ends())).toHaveLength(
          1,
        );
      },
    );

    it('P26: an agent that must not write is never continued', async () => {
      const session = await (await start()).open('reads');
      await begin(session, 'Write the parser');
      expect(await session.stops()).toEqual([]);
    });

    it('P32: two sessions in one project share neither todos nor counters', async () => {
      const host = await start();
      const one = await host.open();
      const other = await host.open();
      await begin(one, 'Write the parser');
      await other.says('What is this?');
      expect(await other.stops()).toEqual([]);
      // The one is driven to its limit; the other has all of its own left.
      for (let stop = 0; stop < 6; stop++) await one.stops();
      expect(await one.stops()).toEqual([]);
      await begin(other, 'Write the docs');
      const [text] = await other.stops();
      expect(text).toContain('“Write the docs”');
      expect(text).not.toContain('parser');
    });

    it('garbage is passed over: it reaches no model, and the next stop is answered as ever', async () => {
      const host = await start();
      const session = await host.open();
      await host.sendGarbage(garbage);
      await begin(session, 'Write the parser');
      await host.sendGarbage(garbage);
      expect(await session.stops()).toHaveLength(1);
    });
  });
}
