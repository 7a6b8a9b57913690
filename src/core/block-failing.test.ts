import { describe, expect, it } from 'vitest';
import {
  createCoreDriver,
  type DriverOptions,
  textOf,
} from '../../test/properties/core-driver.ts';
import { countPlan } from './state.ts';

function planned(
  options: DriverOptions = {},
  ...items: Parameters<ReturnType<typeof createCoreDriver>['plans']>
) {
  const driver = createCoreDriver(options);
  driver.says();
  const ids = driver.plans(...items);
  return { driver, first: ids[0] ?? '', second: ids[1] ?? '' };
}

const toolError = 'ENOENT: no such file';

describe('stopping after a tool error', () => {
  it('P12 S6: is tried once more, then the todo is set aside as blocked and the others go on', () => {
    const { driver, first } = planned({}, 'install the tool', 'write the docs');
    const once = driver.stops({ toolError });
    expect(once.decision?.textKind).toBe('tool-error');
    expect(textOf(once)).toContain('“ENOENT: no such file”');
    expect(driver.state.toolErrorTodo).toBe(first);
    const twice = driver.stops({ toolError });
    expect(driver.todo(first)).toMatchObject({
      status: 'blocked',
      reason: 'stopped after a tool error twice: ENOENT: no such file',
      attempts: 1,
    });
    expect(driver.ledger).toContain('blocked');
    expect(twice.decision).toMatchObject({ answer: 'continue', textKind: 'standard' });
    expect(textOf(twice)).toContain('“write the docs”');
    expect(driver.state.toolErrorTodo).toBeNull();
  });

  it('P12: the last one that fails twice ends the turn as blocked', () => {
    const { driver } = planned({}, 'install the tool');
    driver.stops({ toolError });
    expect(driver.stops({ toolError }).decision).toMatchObject({
      reason: 'all-blocked',
      outcome: 'blocked',
    });
  });

  it('P12: a stop without an error, another todo, or a human message in between starts anew', () => {
    const { driver, first } = planned({ settings: { maxStagnant: 20 } }, 'a', {
      title: 'b',
      priority: 'low',
    });
    driver.stops({ toolError });
    driver.stops();
    expect(driver.stops({ toolError }).decision?.textKind).toBe('tool-error');
    driver.says('try again');
    expect(driver.stops({ toolError }).decision?.textKind).toBe('tool-error');
    driver.plans({ title: 'urgent', priority: 'high' });
    expect(driver.stops({ toolError }).decision?.textKind).toBe('tool-error');
    expect(driver.todo(first).status).toBe('pending');
  });

  it('P12: a stop without an error that only waited starts anew too', () => {
    const { driver, first } = planned({}, 'a');
    driver.stops({ toolError });
    driver.happens({
      type: 'wait-started',
      wait: { kind: 'permission', requestId: 'r1' },
    });
    expect(driver.stops().decision?.answer).toBe('wait');
    driver.happens({
      type: 'wait-ended',
      wait: { kind: 'permission', requestId: 'r1', granted: true },
    });
    expect(driver.stops({ toolError }).decision?.textKind).toBe('tool-error');
    expect(driver.todo(first).status).toBe('pending');
  });

  it('P12: a limit that is reached comes first, and observing blocks nothing', () => {
    const limited = planned({ settings: { maxStagnant: 1 } }, 'a');
    limited.driver.stops({ toolError });
    expect(limited.driver.stops({ toolError }).decision?.reason).toBe('stagnant');
    expect(limited.driver.todo(limited.first).status).toBe('pending');
    const observed = planned({ settings: { mode: 'observe' } }, 'a');
    observed.driver.state = { ...observed.driver.state, toolErrorTodo: observed.first };
    observed.driver.stops({ toolError });
    expect(observed.driver.todo(observed.first).status).toBe('pending');
  });

  it('V4: a dropped todo that is set aside is not written back as dropped', () => {
    const { driver, first } = planned(
      {},
      { title: 'hard one', priority: 'high' },
      'gone too',
      'stays',
    );
    driver.stops({ toolError });
    driver.writes('stays');
    const twice = driver.stops({ toolError });
    expect(driver.todo(first)).toMatchObject({ status: 'blocked', droppedAt: null });
    expect(twice.decision?.textKind).toBe('dropped-todos');
    expect(textOf(twice)).toContain('still open: “gone too”.');
    expect(countPlan(driver.state.plan)).toMatchObject({
      blocked: 1,
      pending: 2,
      dropped: 1,
      unnamedDrops: 0,
    });
  });

  it('P31: a failed check that is set aside makes room for the next failed one in the text', () => {
    const checks = ['own'];
    const { driver, first, second } = planned(
      {},
      { title: 'a', checks },
      { title: 'b', checks },
    );
    driver.works();
    for (const todoId of [first, second]) {
      driver.completes(todoId);
      const failed = {
        result: 'failed',
        flaky: false,
        tail: `tail of ${todoId}`,
        fingerprint: null,
        final: true,
        writes: null,
      } as const;
      driver.happens({ type: 'check-finished', todoId, check: 'own', ...failed });
    }
    driver.stops({ toolError });
    const twice = driver.stops({ toolError });
    expect(driver.todo(first).status).toBe('blocked');
    expect(twice.decision?.textKind).toBe('failed-check');
    expect(textOf(twice)).toContain(`| tail of ${second}`);
  });

  it('S6: a slip in a todo tool is not remembered as the error at which a host stopped', () => {
    const { driver } = planned({}, 'install the tool');
    const source = { kind: 'work', promptId: null } as const;
    const ended = {
      type: 'tool-ended',
      tool: 'TaskUpdate',
      error: 'no such task',
      source,
    } as const;
    driver.happens({ ...ended, access: 'todo' });
    expect(driver.state.trail.toolError).toBeNull();
    driver.happens({ ...ended, tool: 'Bash', access: 'write' });
    expect(driver.state.trail.toolError).toBe('no such task');
  });
});
