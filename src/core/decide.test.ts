import { describe, expect, it } from 'vitest';
import { createCoreDriver, driverStart } from '../../test/properties/core-driver.ts';
import { anEvent, aSession } from '../../test/support/builders.ts';
import { decide } from './decide.ts';
import { exitCodes, outcomes } from './decision.ts';
import type { Event } from './events.ts';
import { defaultSettings } from './settings.ts';

const policy = { settings: defaultSettings, goalChecks: [] };

describe('decide', () => {
  it('G1: refuses an unknown event with a sentence and changes nothing', () => {
    const event = {
      ...anEvent.activitySeen(),
      type: 'coffee-spilled',
    } as unknown as Event;
    expect(() => decide(aSession(), event, policy)).toThrow(
      expect.objectContaining({
        name: 'UntildoneError',
        code: 'unknown-event',
        message: 'Unknown event type "coffee-spilled"; nothing was changed.',
      }),
    );
  });

  it('G1: knows every event of the builders, before anything else happened', () => {
    for (const build of Object.values(anEvent)) {
      expect(() => decide(aSession(), build(), policy)).not.toThrow();
    }
  });

  it('notes when the session was last touched; an event that comes late does not turn time back', () => {
    const driver = createCoreDriver();
    driver.happens({ type: 'activity-seen' }, driverStart + 5000);
    driver.happens({ type: 'activity-seen' }, driverStart + 1000);
    expect(driver.state.updatedAt).toBe(driverStart + 5000);
  });

  it('events count in the order of their arrival: one that says it is older happens when the last one did', () => {
    const driver = createCoreDriver();
    driver.says();
    driver.happens({ type: 'activity-seen' }, driverStart + 5000);
    const [id = ''] = driver.plans('a todo');
    expect(driver.todo(id).createdAt).toBe(driverStart + 5000);
    const stopped = driver.stops();
    expect(stopped.state.lastContinuationAt).toBe(driverStart + 5000);
  });

  it('V8: every outcome has an exit code of its own, and 2 is kept for wrong usage', () => {
    expect(exitCodes).toEqual({
      done: 0,
      claimed: 3,
      blocked: 4,
      stagnant: 5,
      exhausted: 6,
      paused: 7,
      aborted: 130,
      failed: 1,
    });
    expect(Object.keys(exitCodes).sort()).toEqual([...outcomes].sort());
  });
});
