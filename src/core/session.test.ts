import { describe, expect, it } from 'vitest';
import {
  type CoreDriver,
  createCoreDriver,
  driverDescriptor,
} from '../../test/properties/core-driver.ts';

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
    expect(driver.state.settled, 'a skip settles nothing').toBeNull();
  });

  it('V7: that is opened again keeps its plan, latch and counters', () => {
    const driver = createCoreDriver();
    driver.says();
    driver.plans('write the parser');
    driver.stops();
    driver.happens({ type: 'human-aborted', how: 'escape' });
    const { counters, plan } = driver.state;
    const agent = { name: 'other', canWrite: 'yes', model: null, variant: null } as const;
    driver.happens({
      type: 'session-opened',
      descriptor: { ...driverDescriptor, instance: 'instance-2' },
      agent,
    });
    expect(driver.state).toMatchObject({
      counters,
      plan,
      agent,
      latch: { how: 'escape' },
    });
    expect(driver.state.descriptor.instance).toBe('instance-2');
    driver.happens({ type: 'session-opened', descriptor: driverDescriptor, agent: null });
    expect(driver.state.agent).toEqual(agent);
  });

  describe('that its own agent takes up again', () => {
    const resumes = (driver: CoreDriver, resumed = true) =>
      driver.happens({
        type: 'session-opened',
        descriptor: driverDescriptor,
        agent: null,
        resumed,
      });

    function continued(times: number) {
      const driver = createCoreDriver();
      driver.says();
      const [id = ''] = driver.plans('write the parser');
      for (let stop = 0; stop < times; stop++) driver.stops();
      return { driver, id };
    }

    it('G6 V5: does not count the continuation that its process did not survive as stagnant', () => {
      const { driver } = continued(2);
      expect(driver.state.counters).toEqual({ stagnant: 2, continuations: 2, total: 2 });
      resumes(driver);
      expect(driver.state.counters).toEqual({ stagnant: 1, continuations: 2, total: 2 });
    });

    it('G6 V5: gives one continuation back only once, however often the process dies before the next stop', () => {
      const { driver } = continued(3);
      resumes(driver);
      resumes(driver);
      expect(driver.state.counters.stagnant).toBe(2);
      driver.stops();
      expect(driver.stops().decision).toMatchObject({ outcome: 'stagnant' });
    });

    it('G6: counts a continuation that was answered by the next stop, however that one ended', () => {
      const { driver } = continued(3);
      expect(driver.stops().decision).toMatchObject({ outcome: 'stagnant' });
      resumes(driver);
      expect(driver.stops().decision).toMatchObject({ outcome: 'stagnant' });
      expect(driver.state.counters.stagnant).toBe(3);
    });

    it('G6: gives nothing back for a continuation that did not count as stagnant', () => {
      const { driver } = continued(2);
      driver.stops({ end: 'length' });
      resumes(driver);
      expect(driver.state.counters).toEqual({ stagnant: 2, continuations: 3, total: 3 });
    });

    it('G6: never counts below zero', () => {
      const { driver, id } = continued(1);
      driver.plans('write the tests');
      driver.completes(id);
      resumes(driver);
      expect(driver.state.counters.stagnant).toBe(0);
    });

    it('G6: gets nothing back from a host that opens it again', () => {
      const { driver } = continued(2);
      resumes(driver, false);
      driver.happens({ type: 'human-resumed' });
      expect(driver.state.counters.stagnant).toBe(2);
    });

    it('G6 V5: ends all the same when its process dies after every single continuation', () => {
      const { driver } = continued(0);
      let stops = 0;
      for (; driver.stops().decision?.answer === 'continue' && stops < 100; stops++)
        resumes(driver);
      expect(driver.state.settled).toMatchObject({
        outcome: 'exhausted',
        reason: 'max-continuations',
      });
      expect(stops).toBe(10);
    });
  });

  it('V5: that is closed cleanly gives up a continuation on its way to a told host; an asked one has its answer', () => {
    for (const mode of ['told', 'asked'] as const) {
      const driver = createCoreDriver({ descriptor: { mode } });
      driver.says();
      driver.plans('write the parser');
      driver.stopsFully();
      const { epoch } = driver.state;
      driver.happens({ type: 'session-closed' });
      expect(driver.state.injection?.state).toBe(mode === 'told' ? 'failed' : 'intended');
      expect(driver.state.epoch).toBe(mode === 'told' ? epoch + 1 : epoch);
    }
  });

  it('E2: that is deleted is left alone until it is opened again', () => {
    const driver = createCoreDriver({ descriptor: { mode: 'told' } });
    driver.says();
    driver.plans('write the parser');
    driver.stopsFully();
    const { epoch } = driver.state;
    driver.happens({ type: 'session-deleted' });
    expect(driver.state).toMatchObject({ deleted: true, epoch: epoch + 1 });
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
