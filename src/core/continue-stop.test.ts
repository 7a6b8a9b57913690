import { describe, expect, it } from 'vitest';
import {
  answerOf,
  createCoreDriver,
  type DriverOptions,
  injectionOf,
  textOf,
} from '../../test/properties/core-driver.ts';
import { countPlan } from './state.ts';

function planned(titles: readonly string[], options: DriverOptions = {}) {
  const driver = createCoreDriver(options);
  driver.says();
  const ids = driver.plans(...titles);
  return { driver, ids };
}

describe('a continuation', () => {
  it('P1 G6: names the next todo, is counted three times over, and raises the epoch', () => {
    const { driver } = planned(['write the parser', 'write the tests']);
    const { epoch } = driver.state;
    const stopped = driver.stops();
    expect(answerOf(stopped)).toMatchObject({
      answer: 'continue',
      epoch: epoch + 1,
      text: expect.stringContaining('“write the parser”'),
      message: null,
      dueAt: null,
    });
    expect(stopped.decision).toMatchObject({
      answer: 'continue',
      reason: 'continue',
      outcome: null,
      textKind: 'standard',
      level: 1,
      observed: false,
      epoch: epoch + 1,
      inputs: {
        open: 2,
        stagnant: 0,
        continuations: 0,
        total: 0,
        next: 'write the parser',
      },
    });
    expect(driver.state).toMatchObject({
      epoch: epoch + 1,
      counters: { stagnant: 1, continuations: 1, total: 1 },
      lastContinuationAt: driver.now,
      activeSinceAnswer: false,
      injection: { epoch: epoch + 1, state: 'intended', attempts: 0 },
      parked: null,
      timer: null,
      settled: null,
    });
  });

  it('G7: three reminders, each firmer, then the turn ends stagnant', () => {
    const { driver } = planned(['write the parser']);
    expect([1, 2, 3].map(() => driver.stops().decision?.level)).toEqual([1, 2, 3]);
    expect(driver.stops().decision).toMatchObject({
      reason: 'stagnant',
      outcome: 'stagnant',
    });
    expect(driver.state.counters.total).toBe(3);
  });

  it('G6: the second limit ends an agent that only makes weak progress, the ceiling ends any', () => {
    const { driver } = planned(['a'], { settings: { maxContinuations: 4 } });
    for (let stop = 0; stop < 4; stop++) {
      driver.works();
      expect(driver.stops({ fingerprint: `tree-${stop}` }).decision?.answer).toBe(
        'continue',
      );
    }
    driver.works();
    expect(driver.stops({ fingerprint: 'tree-9' }).decision).toMatchObject({
      reason: 'max-continuations',
      outcome: 'exhausted',
    });
    const honest = planned(['a', 'b', 'c', 'd'], { settings: { ceiling: 2 } });
    const reasons = honest.ids.slice(0, 3).map((id) => {
      honest.driver.completes(id);
      return honest.driver.stops().decision?.reason;
    });
    expect(reasons).toEqual(['continue', 'continue', 'ceiling']);
  });

  it('V5: told hosts are injected, asked hosts are answered', () => {
    const { driver } = planned(['a'], { descriptor: { mode: 'told' } });
    const step = driver.stopsFully();
    expect(injectionOf(step)).toEqual({
      type: 'inject',
      epoch: driver.state.epoch,
      text: expect.any(String),
      said: expect.objectContaining({ kind: 'standard', next: '“a”' }),
    });
    expect(answerOf(step)).toBeNull();
  });

  it('C2: observing records what would have been said and does nothing', () => {
    for (const mode of ['asked', 'told'] as const) {
      const { driver } = planned(['a'], {
        settings: { mode: 'observe' },
        descriptor: { mode },
      });
      const { epoch, counters } = driver.state;
      const step = driver.stops();
      expect(step.decision).toMatchObject({
        answer: 'continue',
        observed: true,
        textKind: 'standard',
        epoch,
      });
      expect(step.commands).toEqual(
        mode === 'told'
          ? []
          : [
              {
                type: 'answer',
                answer: 'let-go',
                epoch,
                text: null,
                message: null,
                dueAt: null,
              },
            ],
      );
      expect(driver.state).toMatchObject({
        epoch,
        counters,
        injection: null,
        lastContinuationAt: null,
      });
      expect(driver.state.turn?.ended).toBe(true);
    }
  });
});

describe('dropped todos', () => {
  it('P3: are named in one continuation, stay open, and are settled as unexplained when omitted again', () => {
    const { driver } = planned(['easy', 'hard one', 'last']);
    driver.works();
    driver.writes({ content: 'easy', status: 'completed' }, 'last');
    const stopped = driver.stops();
    expect(stopped.decision?.textKind).toBe('dropped-todos');
    expect(textOf(stopped)).toContain('still open: “hard one”.');
    expect(countPlan(driver.state.plan)).toMatchObject({ dropped: 1, unnamedDrops: 0 });
    expect(driver.todos().find(({ title }) => title === 'hard one')).toMatchObject({
      droppedNamedAt: driver.now,
    });
    expect(driver.stops().decision?.textKind).toBe('standard');
    driver.writes(
      { content: 'easy', status: 'completed' },
      { content: 'last', status: 'completed' },
    );
    expect(driver.stops().decision).toMatchObject({
      answer: 'let-go',
      outcome: 'claimed',
    });
    expect(countPlan(driver.state.plan).unexplained).toBe(1);
  });

  it('P3: one that is put back is dropped no more', () => {
    const { driver } = planned(['easy', 'hard one']);
    driver.writes('easy');
    driver.writes('easy', 'hard one');
    expect(countPlan(driver.state.plan)).toMatchObject({ dropped: 0, unnamedDrops: 0 });
    expect(driver.stops().decision?.textKind).toBe('standard');
  });
});
