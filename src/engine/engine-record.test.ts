// What the engine records beside the session, and what it reads from the record before it
// acts.
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../test/support/memory-store.ts';
import { defaultSettings, type Settings } from '../core/settings.ts';
import { spokeAt } from '../core/state.ts';
import {
  createScriptedHost,
  type ScriptedHostOptions,
} from '../simulated/scripted-host.ts';
import {
  createSequentialIdentifiers,
  createSimulatedClock,
} from '../simulated/simulated-clock.ts';
import type { EnginePoint } from './engine.ts';
import type { Store } from './store.ts';
import { sha256 } from './system.ts';

interface Options extends Partial<ScriptedHostOptions> {
  readonly settings?: () => Partial<Settings>;
  readonly sharedStore?: Store;
}

function setUp(options: Options = {}) {
  const clock = createSimulatedClock();
  const store = options.sharedStore ?? createMemoryStore();
  const host = createScriptedHost({
    mode: 'told',
    store,
    clock,
    identifiers: createSequentialIdentifiers(),
    hash: sha256,
    policy: () => ({
      settings: { ...defaultSettings, ...options.settings?.() },
      goalChecks: [],
    }),
    instance: 'instance-1',
    descriptor: { immediate: true },
    ...options,
  });
  return { clock, store, host };
}

describe('the record', () => {
  it('G7: trees that were seen are remembered in the store, in whatever order they come back', async () => {
    const { host } = setUp({ mode: 'asked', settings: () => ({ maxStagnant: 20 }) });
    await host.open();
    await host.says('build it');
    await host.plans('write the parser');
    const stagnant: number[] = [];
    for (const fingerprint of ['tree-1', 'tree-2', 'tree-1', 'tree-2']) {
      await host.works();
      stagnant.push((await host.stops({ fingerprint })).state.counters.stagnant);
    }
    expect(stagnant).toEqual([1, 1, 2, 3]);
  });

  it('P42: of a message after the clock was set back it keeps what the clock showed, until the next one', async () => {
    const { host, clock } = setUp({ mode: 'asked' });
    await host.open();
    await host.says('build it');
    const words = { text: 'go on', agent: null, fingerprint: null, policyHash: null };
    const spoke = (id: string, at: number) =>
      host.runtime.handle({
        type: 'human-spoke',
        id,
        sessionId: host.sessionId,
        at,
        messageId: id,
        turnId: id,
        ...words,
      });
    const now = clock.now();
    const { state } = await spoke('back', now - 5000);
    expect(state.usage.since).toBe(now);
    expect(spokeAt(state)).toBe(now - 5000);
    expect(spokeAt((await spoke('on', now + 1000)).state)).toBe(now + 1000);
  });

  it('G8: usage is written down with its turn', async () => {
    const { host, store } = setUp();
    await host.open();
    const { state: session } = await host.says('build it');
    const usage = { inputTokens: 100, outputTokens: 20, cost: 0.5 };
    await host.happens({
      type: 'usage-reported',
      ...usage,
      contextTokens: null,
      contextLimit: null,
    });
    const rows = await store.usage(host.sessionId);
    expect(rows).toMatchObject([
      { ...usage, sessionId: host.sessionId, turnId: session.turn?.id },
    ]);
  });

  it('V2: settings that change in the middle of a turn hold from the next message on', async () => {
    let maxStagnant = 1;
    const { host, store } = setUp({ mode: 'asked', settings: () => ({ maxStagnant }) });
    await host.open();
    await host.says('build it');
    await host.plans('write the parser');
    expect((await host.stops()).decision?.answer).toBe('continue');
    maxStagnant = 50;
    const held = await host.stops();
    expect(held.decision?.reason).toBe('stagnant');
    await host.says('go on');
    await host.stops();
    const later = await host.stops();
    expect(later.decision?.answer).toBe('continue');
    expect(later.state.policyHash).not.toBe(held.state.policyHash);
    const text = await store.policy(held.state.policyHash ?? '');
    expect(JSON.parse(text ?? '{}')).toMatchObject({ settings: { maxStagnant: 1 } });
  });
});

describe('before a text is sent', () => {
  /** Something happens between the commit of the decision and the send. */
  async function interrupted(act: (setup: ReturnType<typeof setUp>) => Promise<unknown>) {
    let armed = false;
    const acts: Promise<unknown>[] = [];
    const setup = setUp({
      trace: (point: EnginePoint) => {
        if (!armed || point !== 'after-commit') return;
        armed = false;
        acts.push(act(setup));
      },
    });
    await setup.host.open();
    await setup.host.says('build it');
    await setup.host.plans('write the parser');
    armed = true;
    await setup.host.stops();
    await Promise.all(acts);
    const rows = await setup.store.outbox({ sessionId: setup.host.sessionId });
    return { injected: setup.host.injected, states: rows.map(({ state }) => state) };
  }

  it('V5: nothing happens in between: it is sent', async () => {
    const { injected, states } = await interrupted(async () => {});
    expect(injected).toHaveLength(1);
    expect(states).toEqual(['sent']);
  });

  it('G4: a human who speaks is not talked over', async () => {
    const { injected, states } = await interrupted(({ host }) => host.says('wait'));
    expect(injected).toEqual([]);
    expect(states, 'and the row is closed').toEqual(['failed']);
  });

  for (const hold of ['latch', 'pause', 'deleted'] as const) {
    it(`G4: a session that is held (${hold}) gets nothing, even if its epoch did not move`, async () => {
      const { injected } = await interrupted(({ store, host }) =>
        store.step(host.sessionId, ({ state }) => {
          if (state === null) throw new Error('the session is missing');
          const at = state.updatedAt;
          const held = {
            latch: { latch: { how: 'escape', at } },
            pause: { pause: { by: 'human' as const, reason: null, at } },
            deleted: { deleted: true },
          };
          return { result: null, state: { ...state, ...held[hold] } };
        }),
      );
      expect(injected).toEqual([]);
    });
  }
});
