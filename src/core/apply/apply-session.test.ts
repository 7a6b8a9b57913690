import { describe, expect, it } from 'vitest';
import { createCoreDriver, driverDescriptor } from '../../../test/properties/core-driver.ts';

describe('a session', () => {
  it('G4: of which nothing is known yet is never continued', () => {
    const driver = createCoreDriver({ agent: { canWrite: 'unknown' } });
    driver.says();
    driver.plans('write the parser');
    expect(driver.stops().decision).toMatchObject({
      answer: 'let-go',
      reason: 'read-only-agent',
      outcome: null,
    });
    expect(driver.session.settled, 'a skip settles nothing').toBeNull();
  });

  it('V7: that is opened again keeps its plan, latch and counters', () => {
    const driver = createCoreDriver();
    driver.says();
    driver.plans('write the parser');
    driver.stops();
    driver.happens({ type: 'human-aborted', how: 'escape' });
    const { counters, counts } = driver.session;
    const agent = { name: 'other', canWrite: 'yes', model: null, variant: null } as const;
    driver.happens({
      type: 'session-opened',
      descriptor: { ...driverDescriptor, instance: 'instance-2' },
      agent,
    });
    expect(driver.session).toMatchObject({ counters, counts, agent, latch: { how: 'escape' } });
    expect(driver.session.descriptor.instance).toBe('instance-2');
    driver.happens({ type: 'session-opened', descriptor: driverDescriptor, agent: null });
    expect(driver.session.agent).toEqual(agent);
  });

  it('V5: that is closed cleanly gives up a continuation on its way to a told host; an asked one has its answer', () => {
    for (const mode of ['told', 'asked'] as const) {
      const driver = createCoreDriver({ descriptor: { mode } });
      driver.says();
      driver.plans('write the parser');
      driver.stopsFully();
      const { epoch } = driver.session;
      driver.happens({ type: 'session-closed' });
      expect(driver.session.injection?.state).toBe(mode === 'told' ? 'failed' : 'intended');
      expect(driver.session.epoch).toBe(mode === 'told' ? epoch + 1 : epoch);
    }
  });

  it('E2: that is deleted is left alone until it is opened again', () => {
    const driver = createCoreDriver({ descriptor: { mode: 'told' } });
    driver.says();
    driver.plans('write the parser');
    driver.stopsFully();
    const { epoch } = driver.session;
    driver.happens({ type: 'session-deleted' });
    expect(driver.session).toMatchObject({ deleted: true, epoch: epoch + 1 });
    driver.happens({ type: 'activity-seen' });
    expect(driver.stops().decision).toMatchObject({ reason: 'deleted', outcome: null });
    driver.happens({
      type: 'session-opened',
      descriptor: { ...driverDescriptor, mode: 'told' },
      agent: null,
    });
    driver.happens({ type: 'activity-seen' });
    expect(driver.stopsFully().decision?.answer).toBe('continue');
  });
});
