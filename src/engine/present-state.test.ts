import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../test/support/memory-store.ts';
import type { Draft, Event } from '../core/events.ts';
import type { Policy } from '../core/policy.ts';
import { defaultSettings } from '../core/settings.ts';
import { createScriptedHost } from '../simulated/scripted-host.ts';
import {
  createSequentialIdentifiers,
  createSimulatedClock,
} from '../simulated/simulated-clock.ts';
import { readPresentState } from './present-state.ts';
import { sha256 } from './system.ts';

async function openSession(
  policy: Policy = { settings: defaultSettings, goalChecks: [] },
) {
  const clock = createSimulatedClock();
  const store = createMemoryStore();
  const identifiers = createSequentialIdentifiers();
  const host = createScriptedHost({
    mode: 'asked',
    store,
    clock,
    identifiers,
    hash: sha256,
    policy: () => policy,
    // They never end by themselves.
    checker: { run: async () => {} },
  });
  await host.open();
  const { sessionId } = host;
  const stored = async () => (await store.state(sessionId)) ?? expect.fail('no session');
  return {
    host,
    stored,
    /** As a hook leaves it. */
    async waits(...events: Draft<Event>[]) {
      await clock.advance(1000);
      await store.append(
        events.map(
          (event) =>
            ({ ...event, id: identifiers.next(), sessionId, at: clock.now() }) as Event,
        ),
      );
    },
    present: async () => readPresentState(store, await stored()),
  };
}

const spoken = (text: string): Draft<Event> => ({
  type: 'human-spoke',
  messageId: null,
  text,
  turnId: text,
  agent: null,
  fingerprint: null,
  policyHash: null,
});

describe('a session as it stands now', () => {
  it('C3: has what waits in its inbox, and nothing is saved', async () => {
    const { waits, stored, present } = await openSession();
    const before = await stored();
    expect(await present()).toBe(before);
    const items = [{ id: 'a', title: 'Write it' }];
    await waits(spoken('Do it'), { type: 'todos-created', actor: 'agent', items });
    expect(await present()).toMatchObject({
      title: 'Do it',
      turn: { number: 1, ended: false },
      plan: [{ title: 'Write it' }],
    });
    expect(await stored()).toEqual(before);
  });

  it('C3: goes by the policy that the human’s last message froze', async () => {
    const settings = { ...defaultSettings, stopWords: ['basta'] };
    const { host, waits, present } = await openSession({ settings, goalChecks: [] });
    await host.says('Do it');
    await waits(spoken('basta'));
    expect(await present()).toMatchObject({ latch: { how: 'told to stop' } });
  });

  it('V6: no decision is made by looking: a result that waits ends no turn', async () => {
    const { host, waits, stored, present } = await openSession({
      settings: defaultSettings,
      goalChecks: ['unit'],
    });
    await host.says('Do it');
    await host.plans('Write it');
    await host.works();
    await host.completes((await stored()).plan[0]?.id ?? '');
    expect((await host.stops()).decision?.answer).toBe('wait');
    const result = {
      type: 'check-finished',
      todoId: null,
      check: 'unit',
      result: 'failed',
      flaky: false,
      tail: null,
      fingerprint: null,
      final: true,
      writes: null,
    } as const;
    const stop = (await stored()).parked?.eventId ?? '';
    await waits(result, { type: 'final-run-ended', stop, edited: [] });
    expect(await present()).toMatchObject({
      settled: null,
      parked: { cause: 'nothing-open' },
    });
  });

  it('V6: what this version cannot read is left aside', async () => {
    const { waits, present } = await openSession();
    await waits({ type: 'of-tomorrow' } as never, spoken('Do it'));
    expect(await present()).toMatchObject({ title: 'Do it' });
  });
});
