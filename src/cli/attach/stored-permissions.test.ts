import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../../test/support/memory-store.ts';
import { defaultSettings } from '../../core/settings.ts';
import { sha256 } from '../../engine/system.ts';
import { createScriptedHost } from '../../simulated/scripted-host.ts';
import { createSequentialIdentifiers, createSimulatedClock } from '../../simulated/simulated-clock.ts';
import { createSessionWatch } from './watch-session.ts';

async function watched() {
  const clock = createSimulatedClock();
  const store = createMemoryStore();
  const session = createScriptedHost({
    mode: 'asked',
    store,
    clock,
    identifiers: createSequentialIdentifiers(),
    hash: sha256,
    policy: () => ({ settings: defaultSettings, goalChecks: [] }),
    descriptor: { host: 'untildone', directory: '/project' },
  });
  await session.open();
  await session.says('Do it.');
  const watch = createSessionWatch(store, session.sessionId, clock);
  const told = async () => ((await watch.look()) ?? []).filter(({ type }) => type.startsWith('permission-'));
  const about = { callId: 'call', tool: 'shell', subject: 'npm test', pattern: 'npm test' };
  return {
    told,
    asks: () =>
      session.happens({ type: 'wait-started', wait: { kind: 'permission', requestId: 'r1', about } }),
    answers: (remembered: 'once' | 'no' | 'withdrawn') =>
      session.happens({
        type: 'wait-ended',
        wait: { kind: 'permission', requestId: 'r1', granted: remembered === 'once', remembered },
      }),
    begins: () => session.happens({ type: 'tool-started', tool: 'shell', access: 'write', requestId: 'r1' }),
  };
}

describe('permissions in the store, told to whoever is attached', () => {
  it('S7: a yes that was used before the next look is told as a yes', async () => {
    const { told, asks, answers, begins } = await watched();
    await asks();
    expect(await told()).toMatchObject([{ type: 'permission-asked', subject: 'npm test' }]);
    await answers('once');
    await begins();
    expect(await told()).toMatchObject([{ granted: true, remembered: 'once', by: 'elsewhere' }]);
    expect(await told()).toEqual([]);
  });

  it("S7: a worker's question, answered and taken back at once, has the human's answer", async () => {
    const { told, asks, answers } = await watched();
    await asks();
    await told();
    await answers('once');
    await answers('withdrawn');
    expect(await told()).toMatchObject([{ type: 'permission-answered', granted: true }]);
  });

  it('S7: what is asked and answered between two looks is told with both', async () => {
    const { told, asks, answers, begins } = await watched();
    await told();
    await asks();
    await answers('once');
    await begins();
    expect(await told()).toMatchObject([{ type: 'permission-asked' }, { granted: true }]);
  });

  it('S7: a no is told as a no, and a question that nobody answered as neither', async () => {
    const refused = await watched();
    await refused.asks();
    await refused.told();
    await refused.answers('no');
    expect(await refused.told()).toMatchObject([{ type: 'permission-answered', granted: false }]);
    const dropped = await watched();
    await dropped.asks();
    await dropped.told();
    await dropped.answers('withdrawn');
    expect(await dropped.told()).toMatchObject([{ type: 'permission-withdrawn', requestId: 'r1' }]);
  });

  it('S7: answers from before the first look are the past', async () => {
    const { told, asks, answers } = await watched();
    await asks();
    await answers('once');
    expect(await told()).toEqual([]);
  });
});
