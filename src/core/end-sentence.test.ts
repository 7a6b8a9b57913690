import { describe, expect, it } from 'vitest';
import { ends, planned, reports } from '../../test/properties/check-story.ts';
import {
  answerOf,
  type CoreDriver,
  createCoreDriver,
  type DriverOptions,
} from '../../test/properties/core-driver.ts';
import type { Step } from './decision.ts';

const npmTest = '$ npm test';
const told: DriverOptions = { descriptor: { mode: 'told', immediate: true } };

/** The line that people are shown, in hosts that ask and in hosts that are told. */
function shown(step: Step) {
  const toasts = step.commands.flatMap((command) =>
    command.type === 'notify' ? [command.message] : [],
  );
  return answerOf(step)?.message ?? toasts.join('\n');
}

const stopsWithout = (driver: CoreDriver, times: number) => {
  for (let stop = 0; stop < times; stop += 1) driver.stopsFully();
};

describe('the line at the end of a turn', () => {
  it('C4: a plain done is told: the check that passed, and how often the agent was sent back', () => {
    for (const options of [{}, told]) {
      const { driver, first } = planned({ ...options, goalChecks: [npmTest] }, 'parse');
      stopsWithout(driver, 2);
      driver.works();
      driver.completes(first);
      driver.stops();
      reports(driver, null, 'passed', { check: npmTest });
      expect(shown(ends(driver))).toBe('done: npm test passed, sent back twice');
    }
  });

  it('C4: the line says nothing about sending back if the agent was never sent back', () => {
    const { driver, first } = planned({ goalChecks: [npmTest] }, 'parse');
    driver.works();
    driver.completes(first);
    driver.stops();
    reports(driver, null, 'passed', { check: npmTest });
    expect(shown(ends(driver))).toBe('done: npm test passed');
  });

  it('C4 S8: not done names how many todos are open, the check that fails, why it ended, and the open todos', () => {
    for (const options of [{}, told]) {
      const { driver, first } = planned(
        { ...options, settings: { maxStagnant: 2 } },
        { title: 'parse', checks: [npmTest] },
        'print',
        'rest',
      );
      driver.works();
      driver.completes(first);
      driver.stops();
      reports(driver, first, 'failed', { check: npmTest });
      ends(driver);
      stopsWithout(driver, 1);
      expect(shown(driver.stopsFully())).toBe(
        'not done: 3 of 3 todos open, npm test fails, sent back twice (stagnant). No progress after 2 continuations. Open: “parse”, “print”, “rest”.',
      );
    }
  });

  it('C4: a check on the goal that fails is named if no todo is open', () => {
    const { driver, first } = planned(
      { goalChecks: [npmTest], settings: { maxStagnant: 1 } },
      'parse',
    );
    driver.works();
    driver.completes(first);
    for (const _ of [1, 2]) {
      driver.stops();
      reports(driver, null, 'failed', { check: npmTest });
      ends(driver);
    }
    expect(driver.decisions.at(-1)?.outcome).toBe('stagnant');
    expect(
      driver.commands
        .map((command) => ('message' in command ? command.message : null))
        .at(-1),
    ).toMatch(
      /^not done: npm test fails, sent back \w+( times)? \(stagnant\)\. No progress/u,
    );
  });

  it('C4: three of many checks are named, and protected paths do not count as a check that passed', () => {
    const goalChecks = ['protected paths', 'unit', 'lint', 'types', 'build', 'links'];
    const { driver, first } = planned({ goalChecks }, 'parse');
    driver.works();
    driver.completes(first);
    driver.stops();
    for (const check of goalChecks) reports(driver, null, 'passed', { check });
    expect(shown(ends(driver))).toBe('done: unit, lint, types and 2 more checks passed');
  });

  it('P27: changed protected paths are named as such, not as a check that fails', () => {
    const goalChecks = ['protected paths', 'unit'];
    const { driver, first } = planned(
      { goalChecks, settings: { maxStagnant: 1 } },
      'parse',
    );
    driver.works();
    driver.completes(first);
    for (const _ of [1, 2]) {
      driver.stops();
      reports(driver, null, 'failed', { check: 'protected paths' });
      reports(driver, null, 'passed', { check: 'unit' });
      ends(driver);
    }
    const messages = driver.commands.flatMap((command) =>
      'message' in command ? [command.message] : [],
    );
    expect(messages.at(-1)).toMatch(/^not done: protected paths changed, sent back/u);
  });

  it('C4: the result of a check in an earlier turn is not told', () => {
    const { driver, first } = planned(
      { goalChecks: [npmTest], settings: { maxStagnant: 1 } },
      'parse',
    );
    driver.works();
    driver.completes(first);
    for (const _ of [1, 2]) {
      driver.stops();
      reports(driver, null, 'failed', { check: npmTest });
      ends(driver);
    }
    driver.says('Something else, please.');
    driver.plans('another');
    stopsWithout(driver, 1);
    const said = shown(driver.stopsFully());
    expect(said).toContain('not done: 1 of 2 todos open, sent back once (stagnant)');
    expect(said).not.toContain('npm test');
  });

  it('C4: a claim says that it is not proved, and the pause of the agent says why', () => {
    const driver = createCoreDriver();
    driver.says();
    const [todo] = driver.plans('a');
    driver.works();
    driver.completes(todo ?? '');
    expect(shown(driver.stops())).toMatch(
      /^claimed, not proved\. Nothing is open; 1 todo rests on/u,
    );
    driver.says('And b.');
    driver.plans('b');
    driver.happens({ type: 'model-paused', reason: 'I need a key' });
    expect(shown(driver.stops())).toBe(
      'not done: 1 of 2 todos open (paused). The agent paused: I need a key. Open: “b”.',
    );
  });

  it('C4 P19: the end after an abort is told once, however often the host idles', () => {
    const driver = createCoreDriver(told);
    driver.says();
    driver.plans('a');
    driver.happens({ type: 'activity-seen' });
    driver.happens({ type: 'human-aborted', how: 'escape' });
    expect(shown(driver.stops())).toMatch(
      /^not done: 1 of 1 todo open \(aborted\)\. You stopped the agent/u,
    );
    expect(driver.stops().commands).toEqual([]);
  });

  it('C4: nothing is shown for a subagent, for a program that `run --with` drives, or if there was nothing to verify', () => {
    const hidden: DriverOptions[] = [
      {
        descriptor: { kind: 'subagent', parentId: 'main' },
        settings: { subagents: 'on' },
      },
      { descriptor: { driven: { host: 'pi', id: null, mode: 'write', flags: [] } } },
    ];
    for (const options of hidden.flatMap((one) => [
      one,
      { ...one, descriptor: { ...one.descriptor, ...told.descriptor } },
    ])) {
      const driver = createCoreDriver(options);
      driver.says();
      const [todo] = driver.plans('a');
      driver.works();
      driver.completes(todo ?? '');
      const step = driver.stops();
      expect([step.decision?.outcome, shown(step)]).toEqual(['claimed', '']);
    }
    for (const options of [{}, told]) {
      const driver = createCoreDriver(options);
      driver.says('What is this?');
      expect([driver.stops().decision?.outcome, shown(driver.stops())]).toEqual([
        null,
        '',
      ]);
    }
  });

  it('C4 S8: the line is one line of at most 500 characters, whatever todos and checks are called', () => {
    const evil = `\u001b[2J\n\u202e${'long '.repeat(40)}`;
    const { driver } = planned(
      { settings: { maxStagnant: 1 }, goalChecks: [evil] },
      ...Array.from({ length: 9 }, (_, index) => `${index} ${evil}`),
    );
    stopsWithout(driver, 1);
    const said = shown(driver.stopsFully());
    expect(said).toMatch(/^not done: 9 of 9 todos open/u);
    expect(said.length).toBeLessThanOrEqual(500);
    expect(said).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  it('P30: a continuation that the host did not take is not counted as one', () => {
    const { driver } = planned({ settings: { maxStagnant: 9 } }, 'parse');
    stopsWithout(driver, 3);
    const step = driver.happens({ type: 'host-cap-reached', cap: 2, goOn: undefined });
    expect(shown(step)).toMatch(
      /^not done: 1 of 1 todo open, sent back twice \(exhausted\)\./u,
    );
  });

  it('E1: a toast in the human’s own words keeps its title and its parts, for done too', () => {
    const toasts = { end: '{outcome}! {reason} ({remaining} open)' };
    const { driver, first } = planned(
      { ...told, settings: { toasts }, goalChecks: [npmTest] },
      'parse',
    );
    driver.works();
    driver.completes(first);
    driver.stops();
    reports(driver, null, 'passed', { check: npmTest });
    expect(ends(driver).commands).toEqual([
      {
        type: 'notify',
        level: 'info',
        title: 'untildone: done',
        message: 'done! Nothing is open and every check passed. (0 open)',
      },
    ]);
  });
});
