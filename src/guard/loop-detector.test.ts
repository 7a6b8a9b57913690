// When an agent goes round in circles, and when it only looks like it.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultLoopLimits, type LoopAlarm, LoopDetector } from './loop-detector.ts';

function calls(
  detector: LoopDetector,
  ...given: [name: string, input: unknown, result: unknown][]
) {
  return given.map(([name, input, result]) =>
    detector.observeCall({ name, input, result }),
  );
}
const alarms = (given: (LoopAlarm | null)[]) => given.filter((alarm) => alarm !== null);
const times = <Value>(count: number, make: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, i) => make(i));

describe('calls', () => {
  it('I8: the same call with the same result four times in a row is a loop', () => {
    const found = calls(
      new LoopDetector(),
      ...times(4, () => ['read', { path: 'a' }, 'x'] as [string, unknown, unknown]),
    );
    expect(found.slice(0, 3)).toEqual([null, null, null]);
    expect(found[3]).toEqual({
      pattern: 'read 4 times with the same input and result',
      repeats: 4,
    });
  });

  it('I8: the order of the keys in an input does not matter', () => {
    const found = calls(
      new LoopDetector(),
      ['edit', { a: 1, b: { c: 2, d: 3 } }, 'x'],
      ['edit', { b: { d: 3, c: 2 }, a: 1 }, 'x'],
      ['edit', { a: 1, b: { c: 2, d: 3 } }, 'x'],
      ['edit', { b: { c: 2, d: 3 }, a: 1, e: undefined }, 'x'],
    );
    expect(alarms(found)).toHaveLength(1);
  });

  it('I8: a poll whose result changes each time is no loop', () => {
    const found = calls(
      new LoopDetector(),
      ...times(
        100,
        (i) => ['job_read', { id: 1 }, `${i} %`] as [string, unknown, unknown],
      ),
    );
    expect(alarms(found)).toEqual([]);
  });

  it('I8: reading different files is no loop', () => {
    const found = calls(
      new LoopDetector(),
      ...times(
        100,
        (i) => ['read', { path: `${i}.ts` }, 'empty'] as [string, unknown, unknown],
      ),
    );
    expect(alarms(found)).toEqual([]);
  });

  it('I8: editing and testing in turn is no loop while the edits differ', () => {
    const round = (i: number): [string, unknown, unknown][] => [
      ['edit', { with: i }, 'ok'],
      ['shell', { command: 'npm test' }, 'failed'],
    ];
    expect(alarms(calls(new LoopDetector(), ...times(50, round).flat()))).toEqual([]);
  });

  it('I8: a failing test that differs only in clock and duration is the same result', () => {
    const result = (i: number) =>
      `1 failed\nStart at 10:11:1${i}\nDuration 1.${i}2s (tests 3${i}ms)`;
    const found = calls(
      new LoopDetector(),
      ...times(4, (i) => ['shell', 'npm test', result(i)] as [string, unknown, unknown]),
    );
    expect(alarms(found)).toHaveLength(1);
  });

  it.each([2, 3, 4, 5, 6])(
    'I8, P25: a period of %i calls, three times over, is a loop',
    (period) => {
      const found = calls(
        new LoopDetector(),
        ...times(
          period * 3,
          (i) => [`tool-${i % period}`, {}, 'same'] as [string, unknown, unknown],
        ),
      );
      expect(alarms(found.slice(0, -1))).toEqual([]);
      const names = times(period, (i) => `tool-${i}`).join(' → ');
      expect(found.at(-1)).toEqual({
        pattern: `${names}, 3 times with the same results`,
        repeats: 3,
      });
    },
  );

  it('I8: a loop is found after any amount of honest work before it', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 90 }),
        fc.integer({ min: 2, max: 6 }),
        (honest, period) => {
          const detector = new LoopDetector();
          calls(
            detector,
            ...times(honest, (i) => ['read', i, i] as [string, unknown, unknown]),
          );
          const looping = times(
            period * 3,
            (i) => ['x', i % period, 'same'] as [string, unknown, unknown],
          );
          expect(alarms(calls(detector, ...looping))).toHaveLength(1);
        },
      ),
    );
  });

  it('I8: calls that are all different never alarm, in any order', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.json(), {
          maxLength: 80,
          selector: (json) => JSON.stringify(JSON.parse(json)),
        }),
        (inputs) => {
          const detector = new LoopDetector();
          const found = inputs.map((input, i) =>
            detector.observeCall({ name: 'read', input, result: i }),
          );
          expect(alarms(found)).toEqual([]);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('P25: after an alarm a second one needs a second full round', () => {
    const loop = times(
      12,
      (i) => [i % 2 === 0 ? 'A' : 'B', {}, 'same'] as [string, unknown, unknown],
    );
    const found = calls(new LoopDetector(), ...loop);
    expect(found.map((alarm) => alarm !== null).lastIndexOf(true)).toBe(11);
    expect(alarms(found)).toHaveLength(2);
  });

  it('different errors are different results, equal errors are not', () => {
    const failing = (message: (i: number) => string) =>
      calls(
        new LoopDetector(),
        ...times(
          4,
          (i) => ['shell', {}, new Error(message(i))] as [string, unknown, unknown],
        ),
      );
    expect(alarms(failing((i) => `code ${i}`))).toEqual([]);
    expect(alarms(failing(() => 'code 1'))).toHaveLength(1);
  });
});

describe('texts', () => {
  it('I8: the same words three times are a loop; case, spacing and punctuation do not matter', () => {
    const detector = new LoopDetector();
    expect(detector.observeText('I will fix it now.')).toBeNull();
    expect(detector.observeText('I will  fix it NOW!')).toBeNull();
    expect(detector.observeText('**I will fix it now**')).toEqual({
      pattern: 'the same text 3 times',
      repeats: 3,
    });
  });

  it('I8: a phrase that comes with new work each time is a habit, not a loop', () => {
    const detector = new LoopDetector();
    for (let i = 0; i < 20; i += 1) {
      expect(detector.observeText('On to the next one.')).toBeNull();
      detector.observeCall({ name: 'edit', input: { file: i }, result: 'ok' });
    }
  });

  it('I8: a phrase that comes with the same old calls is a loop', () => {
    const detector = new LoopDetector();
    const found: (LoopAlarm | null)[] = [];
    for (let i = 0; i < 4; i += 1) {
      detector.observeCall({ name: 'read', input: { file: i % 2 }, result: 'ok' });
      found.push(detector.observeText('Let me look again.'));
    }
    expect(alarms(found)).toHaveLength(1);
  });

  it('I8: silence is not a text', () => {
    const detector = new LoopDetector();
    expect(alarms(times(9, () => detector.observeText(' \n… ')))).toEqual([]);
  });
});

describe('memory and safety', () => {
  it('I8: remembers a bounded number of calls and texts', () => {
    const detector = new LoopDetector();
    for (let i = 0; i < 2000; i += 1) {
      detector.observeText(`text ${i}`);
      if (i < 1000) detector.observeCall({ name: 'read', input: i, result: i });
    }
    expect(detector.size).toBe(2 * defaultLoopLimits.memory);
  });

  it('a pattern is one safe line, whatever a model calls its tools', () => {
    const name = `\u001b]52;c;evil\u0007\u001b[31mrm\n-rf ${'x'.repeat(500)}`;
    const detector = new LoopDetector();
    const found = alarms(
      calls(detector, ...times(4, () => [name, {}, ''] as [string, unknown, unknown])),
    );
    expect(found[0]?.pattern).toMatch(/^rm -rf x+… 4 times/);
    expect(found[0]?.pattern.length).toBeLessThan(120);
  });

  it('a new human message starts afresh', () => {
    const detector = new LoopDetector();
    calls(detector, ...times(3, () => ['read', {}, 'x'] as [string, unknown, unknown]));
    detector.reset();
    expect(detector.observeCall({ name: 'read', input: {}, result: 'x' })).toBeNull();
  });

  it('inputs that contain themselves or nest without end do no harm', () => {
    const cyclic: { self?: unknown; list: unknown[] } = { list: [] };
    cyclic.self = cyclic;
    cyclic.list.push(cyclic, cyclic);
    let deep: unknown = 'bottom';
    for (let i = 0; i < 50_000; i += 1) deep = [deep];
    const detector = new LoopDetector();
    expect(calls(detector, ['a', cyclic, deep], ['a', deep, cyclic])).toEqual([
      null,
      null,
    ]);
  });
});
