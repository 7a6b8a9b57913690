import { describe, expect, it } from 'vitest';
import {
  createCoreDriver,
  type DriverOptions,
  injectionOf,
} from '../../test/properties/core-driver.ts';

function toldHost(options: DriverOptions = {}) {
  const driver = createCoreDriver({ ...options, descriptor: { mode: 'told' } });
  driver.says();
  driver.plans('write the parser', 'write the tests');
  return driver;
}

/** The continuation is decided; what becomes of sending it is up to the test. */
function injected(options: DriverOptions = {}) {
  const driver = toldHost(options);
  const injection = injectionOf(driver.stopsFully());
  expect(injection?.text).not.toBeNull();
  const fails = () =>
    driver.happens({
      type: 'delivery-reported',
      news: 'failed',
      epoch: injection?.epoch ?? 0,
      error: 'no answer',
    });
  return { driver, epoch: injection?.epoch ?? 0, fails };
}

describe('timers', () => {
  it('V5: a timer of an old epoch is void', () => {
    const driver = toldHost();
    driver.stops();
    driver.now += 2000;
    const { epoch, timer } = driver.state;
    const old = driver.happens({
      type: 'timer-fired',
      epoch: epoch - 1,
      dueAt: driver.now,
    });
    expect(old).toMatchObject({ commands: [], decision: null });
    expect(driver.state.timer).toEqual(timer);
    expect(injectionOf(driver.fires())).not.toBeNull();
  });

  it('V5: the same timer twice gives one continuation', () => {
    const driver = toldHost();
    driver.stops();
    const timer = driver.state.timer ?? { epoch: 0, dueAt: 0 };
    driver.now = timer.dueAt;
    const both = [1, 2].map(() =>
      driver.happens({ type: 'timer-fired', epoch: timer.epoch, dueAt: timer.dueAt }),
    );
    expect(both.map((step) => injectionOf(step) !== null)).toEqual([true, false]);
  });

  it('V5: one that fires too early is set again', () => {
    const driver = toldHost();
    driver.stops();
    const { timer } = driver.state;
    const early = driver.happens({
      type: 'timer-fired',
      epoch: timer?.epoch ?? 0,
      dueAt: timer?.dueAt ?? 0,
    });
    expect(early.decision?.reason).toBe('not-yet');
    expect(early.commands, 'no second notice for the same countdown').toEqual([]);
    expect(driver.state.timer).toEqual(timer);
  });

  it('V5: after a restart a late one fires at once, one older than ten minutes pauses the session instead', () => {
    const late = toldHost();
    late.stops();
    expect(injectionOf(late.fires(600_000))).not.toBeNull();
    const stale = toldHost();
    stale.stops();
    const { epoch } = stale.state;
    const fired = stale.fires(600_001);
    expect(injectionOf(fired)).toBeNull();
    expect(fired.decision).toMatchObject({ reason: 'timer-expired', outcome: 'paused' });
    expect(stale.state).toMatchObject({
      pause: { by: 'system' },
      epoch: epoch + 1,
      timer: null,
      parked: null,
    });
    stale.happens({ type: 'human-resumed' });
    expect(injectionOf(stale.fires())).not.toBeNull();
  });

  it('C1: how late a timer may be can be set for one agent', () => {
    const driver = toldHost({
      settings: { agents: { build: { timerMaxAgeMinutes: 5 / 60 } } },
    });
    driver.stops();
    expect(driver.fires(5001).decision?.reason).toBe('timer-expired');
  });

  it('G10: told hosts wait for the minimum interval too, asked hosts are answered at once', () => {
    const driver = toldHost({ settings: { minIntervalSeconds: 30 } });
    driver.stopsFully();
    const { now } = driver;
    driver.happens({ type: 'activity-seen' });
    driver.stops();
    expect(driver.state.timer?.dueAt).toBe(now + 30_000);
    const asked = createCoreDriver({ settings: { minIntervalSeconds: 30 } });
    asked.says();
    asked.plans('write the parser');
    asked.stops();
    expect(asked.stops().decision?.answer).toBe('continue');
  });
});

describe('an injection', () => {
  it('V5: is intended, then sent, then observed', () => {
    const { driver, epoch } = injected();
    expect(driver.state.injection).toMatchObject({
      epoch,
      state: 'intended',
      attempts: 0,
    });
    driver.happens({ type: 'delivery-reported', news: 'sent', error: null, epoch });
    expect(driver.state.injection?.state).toBe('sent');
    driver.happens({ type: 'delivery-reported', news: 'observed', error: null, epoch });
    expect(driver.state.injection?.state).toBe('observed');
    driver.happens({ type: 'delivery-reported', news: 'sent', error: null, epoch });
    expect(driver.state.injection?.state).toBe('observed');
  });

  it('V5: news about another epoch means nothing', () => {
    const { driver, epoch } = injected();
    driver.happens({
      type: 'delivery-reported',
      news: 'sent',
      error: null,
      epoch: epoch - 1,
    });
    driver.happens({
      type: 'delivery-reported',
      news: 'observed',
      error: null,
      epoch: epoch - 1,
    });
    driver.happens({
      type: 'delivery-reported',
      news: 'failed',
      epoch: epoch - 1,
      error: 'no',
    });
    expect(driver.state.injection).toMatchObject({
      epoch,
      state: 'intended',
      attempts: 0,
    });
    expect(driver.state.timer).toBeNull();
  });

  it('G9: a failed send is tried again with backoff under the same epoch, then the turn ends as failed', () => {
    const { driver, epoch, fails } = injected();
    for (const backoff of [500, 1000]) {
      fails();
      expect(driver.state.timer).toEqual({
        purpose: 'resend',
        dueAt: driver.now + backoff,
        epoch,
      });
      expect(driver.fires().commands).toEqual([{ type: 'inject', epoch, text: null }]);
    }
    const last = fails();
    expect(last.decision).toMatchObject({
      answer: 'let-go',
      reason: 'delivery-failed',
      outcome: 'failed',
    });
    expect(last.decision?.inputs).toEqual({ attempts: 3, error: 'no answer' });
    expect(last.commands).toEqual([
      expect.objectContaining({ type: 'notify', level: 'warning' }),
    ]);
    expect(driver.state).toMatchObject({
      injection: { state: 'failed', attempts: 3 },
      turn: { ended: true },
      settled: { outcome: 'failed', reason: 'delivery-failed' },
      timer: null,
    });
    expect(driver.state.counters.total, 'a resend is not a second continuation').toBe(1);
  });

  it('C1: tries and backoff can be set for one agent', () => {
    const { driver, fails } = injected({
      settings: { agents: { build: { sendAttempts: 1 } } },
    });
    expect(fails().decision?.reason).toBe('delivery-failed');
    expect(driver.state.timer).toBeNull();
  });

  it('G9: a resend that is no longer wanted is not made', () => {
    const spoken = injected();
    spoken.fails();
    spoken.driver.says('wait', 'new-1');
    expect(spoken.driver.state.timer).toBeNull();
    expect(spoken.fails().state.timer).toBeNull();
    const active = injected();
    active.fails();
    active.driver.works();
    expect(active.driver.state.timer).toBeNull();
  });

  it('V5: a failure that is reported after the text was seen, or after the agent stopped again, sends nothing', () => {
    const seen = injected();
    seen.driver.happens({
      type: 'delivery-reported',
      news: 'observed',
      error: null,
      epoch: seen.epoch,
    });
    seen.fails();
    expect(seen.driver.state.timer).toBeNull();
    const stopped = injected();
    stopped.driver.works();
    stopped.driver.stops();
    const { timer } = stopped.driver.state;
    stopped.fails();
    expect(stopped.driver.state).toMatchObject({ timer, injection: { state: 'failed' } });
    const settled = injected({ settings: { ceiling: 1 } });
    settled.driver.works();
    expect(settled.driver.stops().decision?.reason).toBe('ceiling');
    settled.fails();
    expect(settled.driver.state.timer).toBeNull();
    expect(settled.driver.state.settled?.reason).toBe('ceiling');
  });

  it('V5: the answer to an asked host is given at most once', () => {
    const driver = createCoreDriver();
    driver.says();
    driver.plans('write the parser');
    driver.stops();
    const { epoch } = driver.state;
    const failed = driver.happens({
      type: 'delivery-reported',
      news: 'failed',
      epoch,
      error: 'gone',
    });
    expect(failed.commands).toEqual([]);
    expect(driver.state.timer).toBeNull();
  });

  it('V5: what was given up is not observed any more', () => {
    const { driver, epoch, fails } = injected({ settings: { sendAttempts: 1 } });
    fails();
    driver.happens({ type: 'delivery-reported', news: 'observed', error: null, epoch });
    expect(driver.state.injection?.state).toBe('failed');
  });
});

describe('a continuation that was lost with its process', () => {
  it('V5: is sent again under the same epoch, and is not counted twice', () => {
    const { driver, epoch } = injected();
    driver.now += 600_000;
    const lost = driver.happens({
      type: 'delivery-reported',
      news: 'lost',
      error: null,
      epoch,
    });
    expect(lost.commands).toEqual([{ type: 'inject', epoch, text: null }]);
    expect(driver.state).toMatchObject({
      epoch,
      injection: { state: 'intended' },
      counters: { total: 1 },
    });
  });

  it('G9: counts as a try, so that a text which ends its host each time is not sent for ever', () => {
    const { driver, epoch } = injected({ settings: { sendAttempts: 2 } });
    expect(
      driver.happens({ type: 'delivery-reported', news: 'lost', error: null, epoch })
        .commands,
    ).toHaveLength(1);
    const second = driver.happens({
      type: 'delivery-reported',
      news: 'lost',
      error: null,
      epoch,
    });
    expect(second.decision).toMatchObject({
      reason: 'delivery-failed',
      outcome: 'failed',
    });
    expect(second.decision?.inputs).toMatchObject({ attempts: 2 });
    expect(injectionOf(second)).toBeNull();
  });

  it('V5: and is older than ten minutes is given up, and the session paused: it must not spend tokens today', () => {
    for (const state of ['intended', 'sent'] as const) {
      const { driver, epoch } = injected();
      if (state === 'sent')
        driver.happens({ type: 'delivery-reported', news: 'sent', error: null, epoch });
      driver.now += 600_001;
      const lost = driver.happens({
        type: 'delivery-reported',
        news: 'lost',
        error: null,
        epoch,
      });
      expect(lost.decision, state).toMatchObject({
        reason: 'timer-expired',
        outcome: 'paused',
      });
      expect(injectionOf(lost)).toBeNull();
      expect(driver.state).toMatchObject({
        epoch: epoch + 1,
        injection: { state: 'failed' },
        turn: { ended: true },
      });
      driver.happens({ type: 'human-resumed' });
      expect(injectionOf(driver.fires()), 'the human takes it up again').not.toBeNull();
    }
  });

  it('V5: a resend that is too old pauses the session with the same reason', () => {
    const { driver, fails } = injected();
    fails();
    const fired = driver.fires(600_001);
    expect(fired.decision).toMatchObject({ reason: 'timer-expired', outcome: 'paused' });
    expect(driver.state.injection?.state).toBe('failed');
  });

  it('V5: means nothing once it was seen, was given up, is planned again, or belongs to another epoch', () => {
    const loses = ({ driver, epoch }: ReturnType<typeof injected>) =>
      driver.happens({ type: 'delivery-reported', news: 'lost', error: null, epoch });
    const seen = injected();
    seen.driver.happens({
      type: 'delivery-reported',
      news: 'observed',
      error: null,
      epoch: seen.epoch,
    });
    expect(loses(seen).commands).toEqual([]);
    const spoken = injected();
    spoken.driver.says('wait', 'new-1');
    expect(loses(spoken)).toMatchObject({ commands: [], decision: null });
    const planned = injected();
    planned.fails();
    const { timer } = planned.driver.state;
    expect(loses(planned).commands).toEqual([]);
    expect(planned.driver.state.timer).toEqual(timer);
    const stopped = injected();
    stopped.driver.works();
    stopped.driver.stops();
    expect(loses(stopped).commands).toEqual([]);
    const old = injected();
    old.driver.happens({
      type: 'delivery-reported',
      news: 'lost',
      error: null,
      epoch: old.epoch - 1,
    });
    expect(old.driver.state.injection?.state).toBe('intended');
  });

  it('V5: the answer to an asked host is never sent again', () => {
    const driver = createCoreDriver();
    driver.says();
    driver.plans('write the parser');
    driver.stops();
    const { epoch } = driver.state;
    expect(
      driver.happens({ type: 'delivery-reported', news: 'lost', error: null, epoch })
        .commands,
    ).toEqual([]);
  });
});

describe('a continuation that the host never takes', () => {
  it('G9: is not sent once more after it was given up', () => {
    const { driver, fails } = injected({ settings: { sendAttempts: 3 } });
    fails();
    fails();
    expect(driver.state.timer?.purpose).toBe('resend');
    expect(fails().decision?.reason).toBe('delivery-failed');
    expect(driver.state.timer).toBeNull();
  });
});

describe('the host’s own limit', () => {
  it('V8: ends the turn as exhausted on the record, since the host itself reports success', () => {
    const driver = createCoreDriver();
    driver.says();
    driver.plans('write the parser', 'write the tests');
    expect(driver.stops().decision?.answer).toBe('continue');
    const capped = driver.happens({ type: 'host-cap-reached', cap: 8 });
    expect(capped.decision).toMatchObject({
      answer: 'let-go',
      reason: 'host-cap',
      outcome: 'exhausted',
      inputs: { cap: 8, open: 2 },
    });
    expect(capped.commands).toMatchObject([
      { type: 'answer', answer: 'let-go', text: null },
    ]);
    expect(driver.state.settled).toMatchObject({
      outcome: 'exhausted',
      reason: 'host-cap',
    });
    expect(driver.state.turn?.ended).toBe(true);
  });
});
