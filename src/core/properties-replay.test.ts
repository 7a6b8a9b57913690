// Random lives of sessions, looked at from outside: replay, observe mode, size, strange
// events, honest agents.
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCoreDriver, textOf } from '../../test/properties/core-driver.ts';
import {
  assertLives,
  propertyRuns,
  propertySeed,
} from '../../test/properties/property-runs.ts';
import { setupOf } from '../../test/properties/run-sequence.ts';
import { createSeenTrees } from '../../test/properties/seen-trees.ts';
import { decide } from './decide.ts';
import type { Decision } from './decision.ts';
import type { Event, HostMode } from './events.ts';
import { createState } from './state.ts';

const modes: readonly HostMode[] = ['asked', 'told'];
const modeOf = (number: number): HostMode => modes[number % 2] ?? 'asked';
const minutes = { timeout: 600_000 };

/**
 * As a store would: the session, the rows and the events go through JSON between any two
 * events.
 */
const throughJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}

describe('a life that is lived again', minutes, () => {
  it('V6: replaying the recorded events gives the same session, the same rows and the same decisions', () => {
    assertLives(
      propertyRuns(300),
      (number) => setupOf(number, modeOf(number)),
      (life, { policy }) => {
        const decisions: Decision[] = [];
        let state = createState('session-1', life.events[0]?.at ?? 0);
        for (const event of life.events) {
          const step = decide(deepFreeze(state), deepFreeze(throughJson(event)), policy);
          state = throughJson(step.state);
          if (step.decision !== null) decisions.push(step.decision);
        }
        expect(isDeepStrictEqual(state, throughJson(life.state)), 'the same state').toBe(
          true,
        );
        expect(isDeepStrictEqual(decisions, life.decisions), 'the same decisions').toBe(
          true,
        );
      },
    );
  });

  it('the session stays small, however many todos and events there were', () => {
    assertLives(
      propertyRuns(500),
      (number) => setupOf(number, modeOf(number)),
      ({ state }) =>
        expect(JSON.stringify({ ...state, plan: [] }).length).toBeLessThan(12_000),
    );
    const driver = createCoreDriver({ settings: { maxContinuations: 10_000 } });
    driver.says();
    const sizes = [10, 2000].map((count) => {
      driver.plans(...Array.from({ length: count }, (_, index) => `${count} ${index}`));
      driver.works();
      driver.stops();
      return JSON.stringify({ ...driver.state, plan: [] }).length;
    });
    expect(Math.abs((sizes[1] ?? 0) - (sizes[0] ?? 0))).toBeLessThan(100);
  });
});

describe('modes that must not be felt', minutes, () => {
  it('C2: in observe mode a host sees nothing and nothing is counted, but what would be decided is recorded', () => {
    const lives = assertLives(propertyRuns(800), (number) =>
      setupOf(number, modeOf(number), { mode: 'observe' }),
    );
    // The invariants above look at every command; here: it did record what it would have
    // done.
    expect(lives.continuations).toBeGreaterThan(lives.sequences / 2);
  });

  it('C2: off means off', () => {
    const lives = assertLives(propertyRuns(500), (number) =>
      setupOf(number, modeOf(number), { mode: 'off' }),
    );
    expect(lives.continuations).toBe(0);
  });
});

describe('strange events', minutes, () => {
  it('an unknown event is refused with a sentence, and known ones never throw in any order', () => {
    const events = everyEvent();
    const orders = fc.array(fc.nat(), { minLength: 60, maxLength: 60 });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 40 }), orders, (number, order) => {
        const { policy } = setupOf(number, modeOf(number));
        const trees = createSeenTrees();
        let state = createState('session-1', 0);
        for (const place of order) {
          state = decide(
            state,
            trees.stamp(events[place % events.length] as Event),
            policy,
          ).state;
          trees.remember(state);
        }
      }),
      { numRuns: propertyRuns(1000), ...propertySeed },
    );
    const unknown = {
      type: 'coffee-spilled',
      id: 'x',
      sessionId: 's',
      at: 0,
    } as unknown as Event;
    const { policy } = setupOf(0, 'told');
    expect(() => decide(createState('s', 0), unknown, policy)).toThrow(
      expect.objectContaining({
        code: 'unknown-event',
        message: expect.stringContaining('coffee-spilled'),
      }),
    );
  });
});

/** One of each kind, before anything was opened, said or planned. */
function everyEvent(): Event[] {
  const collected = new Map<string, Event>();
  assertLives(
    40,
    (number) => setupOf(number, modeOf(number)),
    ({ events }) => {
      for (const event of events)
        if (!collected.has(event.type)) collected.set(event.type, event);
    },
  );
  return [...collected.values()];
}

describe('an honest agent', minutes, () => {
  it('P30: it drains any plan up to the ceiling at one todo per stop, asked or told, and is then let go', () => {
    const shape = fc.record({
      mode: fc.constantFrom(...modes),
      todos: fc.integer({ min: 1, max: 60 }),
      maxStagnant: fc.integer({ min: 1, max: 3 }),
      maxContinuations: fc.integer({ min: 1, max: 3 }),
      fingerprints: fc.boolean(),
      checked: fc.boolean(),
    });
    fc.assert(
      fc.property(shape, ({ mode, todos, fingerprints, checked, ...limits }) => {
        const driver = createCoreDriver({
          settings: { ...limits, ceiling: 60 },
          descriptor: { mode },
        });
        driver.says();
        const titles = Array.from({ length: todos }, (_, index) => ({
          title: `todo ${index}`,
          ...(checked ? { checks: ['own'] } : {}),
        }));
        const ids = driver.plans(...titles);
        ids.forEach((id, index) => {
          driver.works();
          driver.completes(id);
          if (checked) passes(driver, id);
          const stopped = driver.stopsFully({
            fingerprint: fingerprints ? `tree-${index}` : null,
          });
          const isLast = index === ids.length - 1;
          const step = checked && isLast ? endsRun(driver) : stopped;
          expect(step.decision?.answer, `stop ${index}`).toBe(
            isLast ? 'let-go' : 'continue',
          );
          if (!isLast) expect(textOf(step)).toContain(`“todo ${index + 1}”`);
        });
        expect(driver.state.settled).toMatchObject({
          reason: 'nothing-open',
          outcome: checked ? 'done' : 'claimed',
        });
        expect(driver.state.counters.total).toBe(todos - 1);
      }),
      { numRuns: propertyRuns(300), ...propertySeed },
    );
  });

  it('G7: with the default settings it drains 500 todos', () => {
    for (const mode of modes) {
      const driver = createCoreDriver({ descriptor: { mode } });
      driver.says();
      const ids = driver.plans(
        ...Array.from({ length: 500 }, (_, index) => `todo ${index}`),
      );
      for (const id of ids) {
        driver.works();
        driver.completes(id);
        driver.stopsFully();
      }
      expect(driver.state.settled?.reason).toBe('nothing-open');
      expect(driver.state.counters.total).toBe(499);
    }
  });
});

function endsRun(driver: ReturnType<typeof createCoreDriver>) {
  const stop = driver.state.finalRun?.stop ?? '';
  return driver.happens({ type: 'final-run-ended', stop, edited: [] });
}

function passes(driver: ReturnType<typeof createCoreDriver>, todoId: string): void {
  driver.happens({
    type: 'check-finished',
    todoId,
    check: 'own',
    result: 'passed',
    flaky: false,
    tail: null,
    fingerprint: null,
    final: true,
    writes: null,
  });
}
