// What every session with a goal does. `openSession` and the runs, which stand on it, are
// tested by themselves.
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../test/support/memory-store.ts';
import { createCommandCheck } from '../core/check-specs.ts';
import type { Event } from '../core/events.ts';
import type { Policy } from '../core/policy.ts';
import { defaultSettings } from '../core/settings.ts';
import { unknownHost } from '../core/state.ts';
import { recordedEvents } from '../engine/session-record.ts';
import { createIdentifiers, systemClock } from '../engine/system.ts';
import { type GoalSessionOptions, openGoalSession } from './goal-session.ts';

const sessionId = 'session';
const compaction = { kind: 'compaction' } as const;
const stop = { end: 'normal', question: false, toolError: null } as const;

async function open(
  policy: Partial<Policy> = {},
  more: Partial<GoalSessionOptions> = {},
) {
  const store = createMemoryStore();
  const session = openGoalSession({
    store,
    clock: systemClock,
    identifiers: createIdentifiers(),
    environment: process.env,
    sessionId,
    directory: tmpdir(),
    agentName: null,
    policy: () => ({ settings: defaultSettings, goalChecks: [], ...policy }),
    look: async () => 'tree',
    signal: () => new AbortController().signal,
    onNotice() {},
    sitOut: async () => true,
    ...more,
  });
  const place = { ...unknownHost, host: 'library', kind: 'main' } as const;
  const descriptor = { ...place, everyAgentWrites: true };
  await session.record({ type: 'session-opened', descriptor, agent: null });
  await session.hear('Do it.', 'message');
  async function recorded(type: Event['type']) {
    const found: Event[] = [];
    for await (const event of recordedEvents(store, sessionId))
      if (event.type === type) found.push(event);
    return found;
  }
  return { ...session, recorded };
}

describe('a session with a goal', () => {
  it('V2: hears the goal with what the workspace looks like', async () => {
    expect(await (await open()).recorded('human-spoke')).toMatchObject([
      { text: 'Do it.', messageId: 'message', turnId: 'message', fingerprint: 'tree' },
    ]);
  });

  it('C2: does not look at the workspace where it is switched off', async () => {
    const { fingerprint } = await open({ settings: { ...defaultSettings, mode: 'off' } });
    expect(await fingerprint()).toBeNull();
  });

  it('V5: goes on only in a turn that had ended', async () => {
    const { askToStop, goOn, recorded } = await open();
    await goOn();
    expect(await recorded('human-resumed')).toEqual([]);
    await askToStop(stop);
    await goOn();
    expect(await recorded('human-resumed')).toMatchObject([{ goesOn: true }]);
  });

  it.each([
    { type: 'human-paused', reason: null },
    { type: 'human-aborted', how: 'Ctrl-C' },
  ] as const)('G4: does not lift $type by going on', async (held) => {
    const { askToStop, goOn, record, recorded } = await open();
    await askToStop(stop);
    await record(held);
    await goOn();
    expect(await recorded('human-resumed')).toEqual([]);
  });

  it('V1: ends a look before the work that goes on beside the agent, before it asks', async () => {
    const settings = { ...defaultSettings, baselineSeconds: 0.01 };
    const slow = createCommandCheck('slow', { shell: 'sleep 60' });
    const { baseline, askToStop, recorded } = await open(
      { settings, goalChecks: ['slow'], checks: { slow } },
      { checker: { run: async () => {} } },
    );
    await baseline.take();
    expect(await recorded('baseline-seen')).toHaveLength(1);
    void askToStop(stop);
    await expect.poll(() => recorded('stop-attempted')).toHaveLength(1);
    expect(await recorded('baseline-seen')).toHaveLength(2);
  });
});

describe('a stop that has to wait', () => {
  it('G3: is asked about again, as it ended, until the answer is no wait', async () => {
    const waits: (number | null)[] = [];
    const session = await open(
      {},
      {
        async sitOut({ answer }) {
          waits.push(answer?.dueAt ?? null);
          if (waits.length === 2)
            await session.record({
              type: 'wait-ended',
              wait: { ...compaction, shrunk: true },
            });
          return true;
        },
      },
    );
    await session.record({ type: 'wait-started', wait: compaction });
    const first = await session.askToStop({ ...stop, end: 'length', question: true });
    expect(first.answer?.answer).toBe('wait');
    const last = await session.awaitAnswer(first);
    expect(last?.answer?.answer).toBe('let-go');
    expect(waits).toHaveLength(2);
    expect(await session.recorded('stop-attempted')).toMatchObject([
      { end: 'length', question: true },
      { end: 'length', question: false },
      { end: 'length', question: false },
    ]);
  });

  it('T3: has no answer if the human spoke meanwhile', async () => {
    const session = await open({}, { sitOut: async () => false });
    await session.record({ type: 'wait-started', wait: compaction });
    expect(await session.awaitAnswer(await session.askToStop(stop))).toBeNull();
  });
});
