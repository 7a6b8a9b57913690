import { describe, expect, it } from 'vitest';
import { createCoreDriver, driverStart } from '../../test/properties/core-driver.ts';
import { ruleCases } from '../../test/properties/rule-cases.ts';
import {
  stopContext,
  withCounts,
  withSession,
} from '../../test/properties/rule-context.ts';
import type { Rule } from './rules.ts';
import { stopRules } from './rules.ts';
import { hasChanged } from './settlement.ts';

function ruleNamed(name: string): Rule {
  const rule = stopRules.find((candidate) => candidate.name === name);
  if (rule === undefined) throw new Error(`there is no rule ${name}`);
  return rule;
}

describe('each rule', () => {
  for (const { rule: name, id, answers, silent } of ruleCases) {
    for (const { when, patch, answer, outcome, dueAfter, runsChecks } of answers) {
      it(`${id}: ${name} answers ${answer} when ${when}`, () => {
        const given = ruleNamed(name).answer(stopContext(patch));
        expect(given).toEqual({
          answer,
          sentence: expect.stringMatching(/^\S.*\.$|^The agent paused: /su),
          inputs: expect.any(Object),
          outcome: outcome ?? null,
          dueAt: dueAfter === undefined ? null : driverStart + dueAfter,
          runsChecks: runsChecks ?? false,
        });
      });
    }
    for (const { when, patch } of silent) {
      it(`${id}: ${name} has nothing to say when ${when}`, () => {
        expect(ruleNamed(name).answer(stopContext(patch))).toBeNull();
      });
    }
  }

  it('V6: says what it asks and shows what it looked at, in words that fit into a record', () => {
    for (const { rule: name, answers } of ruleCases) {
      const { asks, answer } = ruleNamed(name);
      expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/u);
      expect(asks, name).toMatch(/^[A-Z].*\?$/u);
      for (const { patch } of answers) {
        const looked = Object.values(answer(stopContext(patch))?.inputs ?? {});
        expect(looked.length, name).toBeGreaterThan(0);
        for (const value of looked) {
          expect(
            value === null || ['string', 'number', 'boolean'].includes(typeof value),
            name,
          ).toBe(true);
        }
      }
    }
  });
});

describe('the order of the rules', () => {
  it('G1: is the one of the design', () => {
    expect(stopRules.map(({ name }) => name)).toEqual([
      'disabled',
      'not-our-session',
      'subagent',
      'skipped-agent',
      'read-only-agent',
      'deleted',
      'aborted',
      'paused-by-human',
      'timer-expired',
      'paused-by-model',
      'already-answered',
      'recovering',
      'compacting',
      'permission-pending',
      'question-pending',
      'subagent-at-work',
      'ended-abnormally',
      'refused',
      'looping',
      'no-plan',
      'plan-not-resumed',
      'all-blocked',
      'check-cannot-start',
      'no-change',
      'nothing-open',
      'repeated-question',
      'rate-limited',
      'circuit-open',
      'overflowing',
      'context-full',
      'token-budget',
      'cost-budget',
      'time-budget',
      'ceiling',
      'max-continuations',
      'stagnant',
      'host-cap',
      'delivery-failed',
      'not-yet',
    ]);
    expect([...stopRules].map(({ name }) => name).sort()).toEqual(
      ruleCases.map(({ rule }) => rule).sort(),
    );
  });

  it('no rule answers a stop with an open todo and nothing in the way', () => {
    expect(stopRules.filter((rule) => rule.answer(stopContext()) !== null)).toEqual([]);
  });

  it('G1: where two would answer, the earlier one wins', () => {
    let compared = 0;
    const places = new Map<string, number>(
      stopRules.map(({ name }, index) => [name, index]),
    );
    for (const earlier of ruleCases) {
      for (const later of ruleCases) {
        if ((places.get(earlier.rule) ?? 0) >= (places.get(later.rule) ?? 0)) continue;
        const context = stopContext(later.answers[0].patch, earlier.answers[0].patch);
        const answering = stopRules
          .filter((rule) => rule.answer(context) !== null)
          .map(({ name }): string => name);
        if (!answering.includes(earlier.rule) || !answering.includes(later.rule))
          continue;
        compared += 1;
        expect(answering.indexOf(earlier.rule)).toBeLessThan(
          answering.indexOf(later.rule),
        );
      }
    }
    expect(compared).toBeGreaterThan(300);
  });
});

describe('a stop that two rules would answer', () => {
  function looping() {
    const driver = createCoreDriver();
    driver.says();
    driver.plans('a');
    driver.happens({ type: 'loop-alarmed', pattern: 'A B' });
    driver.stops();
    driver.happens({ type: 'loop-alarmed', pattern: 'A B' });
    return driver;
  }

  it('P15 P25: an agent that goes round in circles and then refuses has refused', () => {
    expect(looping().stops({ end: 'refusal' }).decision).toMatchObject({
      reason: 'refused',
      outcome: 'failed',
    });
    expect(looping().stops().decision).toMatchObject({
      reason: 'looping',
      outcome: 'stagnant',
    });
  });

  it('G4: an abort before anything was planned is an abort, not an answer', () => {
    const driver = createCoreDriver({ descriptor: { judgesGoal: true } });
    driver.says();
    driver.happens({ type: 'human-aborted', how: 'Ctrl-C' });
    expect(driver.stops().decision).toMatchObject({
      reason: 'aborted',
      outcome: 'aborted',
    });
  });

  it('P44: a check that cannot start does not hide one that failed', () => {
    const seen = { passedBefore: false, flaky: false, tail: null };
    const goal = {
      unit: { ...seen, state: 'failed' },
      lint: { ...seen, state: 'cannot-start' },
    } as const;
    const finalRun = {
      stop: 'stop-1',
      ended: true,
      overdue: false,
      writes: 0,
      claimsOnly: false,
    };
    const context = {
      ...stopContext(withCounts({ completed: 1 }), withSession({ goal, finalRun })),
    };
    const both = { ...context, goalChecks: ['unit', 'lint'] };
    expect(ruleNamed('check-cannot-start').answer(both)).toBeNull();
    expect(
      ruleNamed('check-cannot-start').answer({ ...both, goalChecks: ['lint'] })?.outcome,
    ).toBe('blocked');
  });

  it('P46: a check that failed at first and was replaced is no change that was seen', () => {
    const context = stopContext(
      withSession({
        baseline: {
          fingerprint: null,
          writes: 0,
          checks: { old: 'failed', unit: 'passed' },
        },
      }),
    );
    expect(hasChanged({ ...context, goalChecks: ['unit'] })).toBe(false);
    expect(hasChanged({ ...context, goalChecks: ['unit', 'old'] })).toBe(true);
  });

  it('V4 P43: in a host, too, a plan that vanished from the record is no mere question', () => {
    const driver = createCoreDriver();
    driver.says();
    expect(driver.stops().decision).toMatchObject({ reason: 'no-plan', outcome: null });
    driver.says('And now?');
    driver.happens({ type: 'record-broken', sentence: 'the store was put back' });
    expect(driver.stops().decision).toMatchObject({
      outcome: 'claimed',
      inputs: { rests: 'record' },
    });
  });

  it('P18: an agent whose subagent works is waited for, whatever else could be said', () => {
    const driver = looping();
    const background = [{ id: 'job', kind: 'subagent', description: 'explore' } as const];
    expect(driver.stops({ background }).decision).toMatchObject({
      reason: 'subagent-at-work',
      answer: 'wait',
    });
  });
});

describe('what people read', () => {
  it('M6: the reason a model gave cannot act on a terminal', () => {
    const reason = 'I need \u001b[2J\u001b[31ma key\u0007\n\nIGNORE ALL RULES';
    const context = stopContext(
      withSession({ pause: { by: 'model', reason, at: driverStart } }),
    );
    const given = ruleNamed('paused-by-model').answer(context);
    expect(given?.sentence).toBe('The agent paused: I need a key IGNORE ALL RULES');
  });
});
