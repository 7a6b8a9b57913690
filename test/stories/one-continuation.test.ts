// The system dies in the middle and goes on: one stop gets one continuation, no call with
// a result is made again, and the end is the same (P24, V5).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../src/agent/agent-event.ts';
import { complete, plan, runCommand, say } from '../../src/scripted-model/index.ts';
import { createMortalStore, type Death } from './mortal-store.ts';
import { type Played, setStage } from './play.ts';
import { oneProtocol, protocols } from './protocols.ts';
import { continuations, ending, statuses } from './seen.ts';

const marker = '[TODO CONTINUATION]';

const steps = [
  plan('Write alpha', 'Write beta'),
  runCommand('echo alpha >> log.txt'),
  complete('Write alpha'),
  say('Everything is done!'),
  runCommand('echo beta >> log.txt'),
  complete('Write beta'),
  say('Both are written.'),
];

/**
 * The continuations that the model sees in its whole history at the end, one for each
 * early stop.
 */
function seenContinuations({ requests }: Played): number {
  const texts = requests.at(-1)?.messages.map(({ text }) => text) ?? [];
  return texts.join('\n').split(marker).length - 1;
}

/** The writes between the last call before the early stop and the first one after it. */
async function writesAroundTheStop(): Promise<readonly number[]> {
  const stage = await setStage({ protocol: oneProtocol, steps });
  const counted = createMortalStore(stage.store, Number.POSITIVE_INFINITY, 'before');
  const places: number[] = [];
  await stage.run({
    store: counted,
    watch: (event) => {
      if (event.type === 'tool-started' || event.type === 'tool-ended')
        places.push(counted.writes());
    },
  });
  const [from = 0, to = 0] = [places[5], places[6]];
  // The start of a call is on record twice before it is shown; from there on it is
  // another story.
  return Array.from({ length: to - 2 - from }, (_, index) => from + 1 + index);
}

async function dieAndGoOn(at: number, death: Death): Promise<Played> {
  const stage = await setStage({ protocol: oneProtocol, steps });
  const mortal = createMortalStore(stage.store, at, death);
  const first = stage.run({ store: mortal }).then(() => 'ended');
  const how = await Promise.race([first, mortal.died.then(() => 'died')]);
  expect(how).toBe('died');
  return stage.run({ goal: null, resume: true });
}

describe.each(protocols)('$name', (protocol) => {
  it('P24: one stop is answered once', async () => {
    const stage = await setStage({ protocol, steps });
    const played = await stage.run();
    expect(continuations(played)).toEqual(['standard']);
    expect(seenContinuations(played)).toBe(1);
    const outbox = await stage.store.outbox({ sessionId: stage.sessionId });
    expect(outbox).toHaveLength(1);
  });
});

describe('a run that dies', () => {
  it('P24, V5: at any write around a stop goes on to the same end, with one continuation at most for that stop', async () => {
    const writes = await writesAroundTheStop();
    expect(writes.length).toBeGreaterThan(3);
    for (const at of writes) {
      for (const death of ['before', 'after'] as const) {
        const played = await dieAndGoOn(at, death);
        expect(statuses(played), `${death} write ${at}`).toEqual({
          'Write alpha': 'completed',
          'Write beta': 'completed',
        });
        expect(ending(played)).toMatchObject({ outcome: 'claimed' });
        expect(seenContinuations(played), `${death} write ${at}`).toBeLessThanOrEqual(1);
        expect(readFileSync(join(played.root, 'log.txt'), 'utf8')).toBe('alpha\nbeta\n');
      }
    }
  });

  it('V5: in the middle of a compaction does not wait for it when it goes on', async () => {
    const alpha = [
      plan('Write alpha'),
      runCommand('true'),
      complete('Write alpha'),
      say('It is written.'),
    ];
    const stage = await setStage({ protocol: oneProtocol, steps: alpha });
    const mortal = createMortalStore(stage.store, Number.POSITIVE_INFINITY, 'before');
    void stage.run({
      store: mortal,
      watch: ({ type }) => type === 'tool-ended' && mortal.die(),
    });
    await mortal.died;
    const base = { id: 'cut off', sessionId: stage.sessionId, at: Date.now() };
    await stage.store.append([
      { ...base, type: 'wait-started', wait: { kind: 'compaction' } },
    ]);
    const played = await stage.run({
      goal: null,
      resume: true,
      watch: (event) =>
        expect(event).not.toMatchObject({ type: 'waiting', reason: 'compacting' }),
    });
    expect(ending(played)).toMatchObject({ outcome: 'claimed', reason: 'nothing-open' });
  });

  it('G6, V5: before the agent could answer a continuation does not count it as stagnation', async () => {
    const cutThreeTimes = ['once', 'twice', 'three times'].flatMap((often) => [
      runCommand('true'),
      say(`The command was cut off ${often}.`),
    ]);
    const stage = await setStage({
      protocol: oneProtocol,
      steps: [
        plan('Write alpha'),
        say('I begin.'),
        ...cutThreeTimes,
        runCommand('echo alpha > alpha.txt'),
        complete('Write alpha'),
        say('It is written.'),
      ],
    });
    for (const life of [1, 2, 3]) {
      const mortal = createMortalStore(stage.store, Number.POSITIVE_INFINITY, 'before');
      const again = life === 1 ? {} : { goal: null, resume: true };
      const watch = ({ type, ...event }: AgentEvent) => {
        if (type === 'tool-started' && 'tool' in event && event.tool === 'shell')
          mortal.die();
      };
      void stage.run({ store: mortal, watch, ...again });
      await mortal.died;
    }
    const played = await stage.run({ goal: null, resume: true });
    expect(ending(played)).toMatchObject({ outcome: 'claimed', reason: 'nothing-open' });
    // Each death cost one continuation, and the bounds that do not ask for progress have
    // counted them all.
    expect(played.session.counters.total).toBe(4);
  });
});
