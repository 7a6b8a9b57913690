// Stories about checks, for the tests of core: a plan, its results, the end of a final
// run.
import { type CoreDriver, createCoreDriver, type DriverOptions } from './core-driver.ts';

export const own = { checks: ['own'] };

export function planned(
  options: DriverOptions,
  ...items: Parameters<CoreDriver['plans']>
) {
  const driver = createCoreDriver(options);
  driver.says();
  const ids = driver.plans(...items);
  driver.works();
  return { driver, ids, first: ids[0] ?? '', second: ids[1] ?? '' };
}

interface Details {
  readonly flaky?: boolean;
  readonly tail?: string;
  readonly check?: string;
  readonly tree?: string;
  readonly final?: boolean;
  readonly writes?: number | null;
}

export function reports(
  driver: CoreDriver,
  todoId: string | null,
  result: 'passed' | 'failed' | 'waiting' | 'cannot-start',
  details: Details = {},
) {
  const check = todoId === null ? 'unit' : 'own';
  const defaults = {
    flaky: false,
    tail: null,
    fingerprint: 'tree-1',
    final: true,
    writes: null,
  };
  return driver.happens({
    type: 'check-finished',
    todoId,
    check,
    result,
    ...defaults,
    ...details,
  });
}

export function ends(driver: CoreDriver) {
  return driver.happens({
    type: 'final-run-ended',
    stop: driver.state.finalRun?.stop ?? 'none',
    edited: [],
  });
}
