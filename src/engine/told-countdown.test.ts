// What the human sees of a countdown: one toast in each second while it runs.
import { describe, expect, it } from 'vitest';
import {
  type StageOptions,
  type ToldStage,
  withToldStage,
  works,
} from '../../test/support/told-stage.ts';

const inMemory = (work: (stage: ToldStage) => Promise<void>) => () =>
  withToldStage('memory', work);

async function counting(stage: ToldStage, options: StageOptions = {}) {
  const process = await stage.startWorking(options);
  await process.idles();
  await stage.clock.advance(0);
  return process;
}

describe('a countdown', () => {
  it(
    'E1: shows a toast each second with the seconds and the todos that remain, then injects',
    inMemory(async (stage) => {
      const process = await counting(stage);
      expect(process.toasts).toEqual([
        {
          title: 'Todos remain',
          message: 'Resuming in 2 s, 2 todos remaining',
          level: 'warning',
          durationMs: 900,
        },
      ]);
      await stage.clock.advance(999);
      expect(process.toasts).toHaveLength(1);
      await process.happens({
        type: 'todo-completed',
        actor: 'agent',
        todoId: 'write the parser-id',
        status: 'completed',
        outcome: 'written',
      });
      await stage.clock.advance(1);
      expect(process.toasts[1]?.message).toBe('Resuming in 1 s, 1 todo remaining');
      await stage.clock.advance(10_000);
      expect(process.toasts).toHaveLength(2);
      expect(process.injected).toHaveLength(1);
    }),
  );

  it(
    'E5: how long each toast is shown can be set',
    inMemory(async (stage) => {
      const process = await counting(stage, {
        settings: { toastSeconds: 0.4, countdownSeconds: 1 },
      });
      expect(process.toasts).toMatchObject([
        { durationMs: 400, message: 'Resuming in 1 s, 2 todos remaining' },
      ]);
    }),
  );

  it(
    'E2: that is cancelled shows no further toast',
    inMemory(async (stage) => {
      const process = await counting(stage, { settings: { countdownSeconds: 10 } });
      await stage.clock.advance(2500);
      expect(process.toasts).toHaveLength(3);
      await works(process);
      await stage.clock.advance(20_000);
      expect(process.toasts).toHaveLength(3);
    }),
  );

  it(
    'E4: shows each second once, however often the host idles',
    inMemory(async (stage) => {
      const process = await counting(stage);
      await process.idles();
      await stage.clock.advance(2000);
      expect(process.toasts.map(({ message }) => message.slice(0, 15))).toEqual([
        'Resuming in 2 s',
        'Resuming in 1 s',
      ]);
    }),
  );

  it(
    'G10: that a long minimum interval makes is told once, and counted only at its end',
    inMemory(async (stage) => {
      const process = await counting(stage, { settings: { minIntervalSeconds: 60 } });
      await stage.clock.advance(2000);
      expect(process.toasts).toHaveLength(2);
      await works(process);
      await process.idles();
      await stage.clock.advance(60_000);
      expect(process.toasts.slice(2).map(({ message }) => message.slice(0, 16))).toEqual([
        'Resuming in 60 s',
        'Resuming in 2 s,',
        'Resuming in 1 s,',
      ]);
      expect(process.injected).toHaveLength(2);
    }),
  );
});
