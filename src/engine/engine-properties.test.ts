// Random lives of sessions through the real engine and the memory store: what was decided
// is recorded, what was sent was wanted, and replaying the record gives the same record.

import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventOf, type World } from '../../test/properties/event-script.ts';
import { propertyRuns, propertySeed } from '../../test/properties/property-runs.ts';
import { type Setup, setupOf } from '../../test/properties/run-sequence.ts';
import { createMemoryStore } from '../../test/support/memory-store.ts';
import type { HostMode } from '../core/events.ts';
import { verifyLedger } from '../core/ledger.ts';
import { createState } from '../core/state.ts';
import { createEngine } from './engine.ts';
import type { OutgoingText, ToldHost } from './host.ts';
import { createRuntime } from './runtime.ts';
import type { Store } from './store.ts';
import { sha256 } from './system.ts';

const sessionId = 'session-1';
const instance = 'instance-1';

interface Recorded {
  readonly store: Store;
  readonly injected: OutgoingText[];
  readonly planIds: Set<string>;
}

/**
 * One sequence through the engine; every third number also decides how the event travels.
 */
async function live(
  { descriptor, policy, closing }: Setup,
  numbers: readonly number[],
): Promise<Recorded> {
  const store = createMemoryStore();
  const injected: OutgoingText[] = [];
  const planIds = new Set<string>();
  const agent = { name: 'build', canWrite: 'yes', model: null, variant: null } as const;
  const world: World = {
    state: createState(sessionId, 0),
    now: 1_800_000_000_000,
    count: 0,
    last: null,
    descriptor,
    agent,
    goalChecks: policy.goalChecks,
    closing,
  };
  let travel = 0;
  const host: ToldHost = {
    async inject(outgoing) {
      const { latch, pause, deleted, epoch } = outgoing.session;
      const isHeld = latch !== null || pause !== null || deleted;
      expect(
        isHeld || epoch !== outgoing.epoch,
        'a text is sent only while it is wanted',
      ).toBe(false);
      if (travel % 5 === 4) return { taken: false, error: 'busy' };
      injected.push(outgoing);
      return { taken: true };
    },
    find: async () => 'unknown',
    isIdle: async () => true,
    readPlan: async () => null,
    notify: async () => {},
  };
  const runtime = createRuntime({
    store,
    clock: { now: () => world.now, wake: () => () => {} },
    identifiers: { next: () => `identifier-${++world.count}` },
    hash: sha256,
    policy: () => policy,
    host,
    instance,
  });
  const opening = {
    type: 'session-opened',
    id: 'opening',
    sessionId,
    at: world.now,
  } as const;
  await runtime.handle({ ...opening, descriptor, agent });
  for (const number of numbers) {
    travel = number % 7;
    const event = eventOf(Math.floor(number / 7), world);
    // News of a delivery comes from the engine itself here.
    if (event.type === 'delivery-reported') continue;
    if (travel === 6) {
      await runtime.append(event);
      continue;
    }
    const handled = await runtime.handle(event);
    const last = (await handled.checks) ?? handled;
    if (travel === 5) {
      const again = await runtime.handle(event);
      expect(again.applied, 'an event is applied once').toBe(false);
    }
    world.state = (await store.state(sessionId)) ?? last.state;
    planIds.add(world.state.planId);
  }
  await (
    await runtime.handle({
      type: 'activity-seen',
      id: 'closing',
      sessionId,
      at: world.now,
    })
  ).checks;
  return { store, injected, planIds };
}

async function checkRecord({ store, injected, planIds }: Recorded): Promise<void> {
  const session = await store.state(sessionId);
  if (session === null) throw new Error('the session was not saved');
  expect(session.plan, 'the plan that is kept is the one in the rows').toEqual(
    await store.todos({ planId: session.planId }),
  );
  expect(session.recordBroken, 'no honest record is called broken').toBeNull();
  const timers = (await store.timers(instance, Number.MAX_SAFE_INTEGER, 10)).due;
  const expected = session.timer === null ? [] : [{ ...session.timer, sessionId }];
  expect(timers, 'the timer that waits is the one of the session').toEqual(expected);
  const keys = injected.map(({ key }) => key);
  expect(new Set(keys).size, 'no continuation is sent twice once it was taken').toBe(
    keys.length,
  );
  const outbox = await store.outbox({ sessionId });
  for (const { epoch, text } of injected) {
    const row = outbox.find((candidate) => candidate.epoch === epoch);
    expect(row?.text, 'what was sent was written down first').toBe(text);
    expect(row?.state).not.toBe('intended');
  }
  const decisions = await store.decisions(sessionId, 10_000);
  const continued = decisions.filter(({ decision }) => decision.answer === 'continue');
  expect(outbox.length, 'every continuation has its row').toBe(continued.length);
  for (const { policyHash } of decisions) {
    expect(policyHash === null ? null : await store.policy(policyHash)).not.toBeNull();
  }
  for (const planId of planIds) {
    const entries = await store.ledger(planId);
    expect(verifyLedger(entries, sha256)).toMatchObject({ intact: true });
    const created = entries.filter(({ change }) => change === 'created').length;
    expect(created, 'every todo has its entry').toBe(
      (await store.todos({ planId })).length,
    );
  }
}

/**
 * V6: the recorded events, through an engine that performs nothing, give the same record.
 */
async function checkReplay(
  { store, planIds }: Recorded,
  { policy }: Setup,
): Promise<void> {
  const again = createMemoryStore();
  const silent = {
    inject: async () => {},
    notify: async () => {},
    timerChanged: () => {},
  };
  const engine = createEngine(
    {
      store: again,
      clock: { now: () => 0, wake: () => () => {} },
      identifiers: { next: () => 'never' },
      hash: sha256,
      policy: () => policy,
      checker: { run: async () => {} },
    },
    silent,
  );
  const events = await store.events({ sessionId, after: 0, limit: 10_000 });
  for (const { event } of events) await engine.handle(event);
  const read = (from: Store) =>
    (async () => ({
      session: await from.state(sessionId),
      decisions: (await from.decisions(sessionId, 10_000)).map(
        ({ decision, eventId }) => ({
          decision,
          eventId,
        }),
      ),
      heads: await Promise.all(
        [...planIds].map(
          async (planId) => ((await from.ledger(planId, 1))[0] ?? null)?.hash,
        ),
      ),
      outbox: (await from.outbox({ sessionId })).map(({ epoch, text }) => ({
        epoch,
        text,
      })),
    }))();
  const first = await read(store);
  const second = await read(again);
  for (const name of ['session', 'decisions', 'heads', 'outbox'] as const) {
    if (!isDeepStrictEqual(first[name], second[name]))
      expect(second[name], `the same ${name}`).toEqual(first[name]);
  }
}

describe('random lives through the engine', () => {
  for (const mode of ['told', 'asked'] as const satisfies readonly HostMode[]) {
    it(`V5 V6 V4: ${mode}: the record is whole, nothing unwanted is sent, and a replay gives the same`, {
      timeout: 600_000,
    }, async () => {
      const numbers = fc.array(fc.integer({ min: 0, max: 2 ** 48 }), {
        minLength: 1,
        maxLength: 120,
        size: 'max',
      });
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 0, max: 2 ** 40 }),
          numbers,
          async (number, sequence) => {
            const setup = setupOf(number, mode);
            const recorded = await live(setup, sequence);
            await checkRecord(recorded);
            await checkReplay(recorded, setup);
          },
        ),
        {
          numRuns: Math.min(propertyRuns(400), 2000),
          plugins: [fc.unbiased()],
          ...propertySeed,
        },
      );
    });
  }
});
