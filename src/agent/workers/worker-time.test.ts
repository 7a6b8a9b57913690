import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../simulated/simulated-clock.ts';
import { createTimeLimit } from './delegation.ts';

function limitOf(milliseconds: number) {
  const clock = createSimulatedClock();
  let over = 0;
  const limit = createTimeLimit(clock, milliseconds);
  limit.over.addEventListener('abort', () => {
    over += 1;
  });
  return { clock, limit, over: () => over };
}

describe('the time of a worker', () => {
  it('S6: is over once, when it is over', async () => {
    const { clock, limit, over } = limitOf(1000);
    await clock.advance(999);
    expect([limit.over.aborted, over()]).toEqual([false, 0]);
    await clock.advance(1);
    expect([limit.over.aborted, over()]).toEqual([true, 1]);
  });

  it('S7 G9: stands still while a human or a provider is waited for, in pauses that may overlap', async () => {
    const { clock, limit } = limitOf(1000);
    await clock.advance(600);
    limit.pause();
    await clock.advance(5000);
    limit.pause();
    limit.goOn();
    await clock.advance(5000);
    limit.goOn();
    await clock.advance(399);
    expect(limit.over.aborted).toBe(false);
    await clock.advance(1);
    expect(limit.over.aborted).toBe(true);
  });

  it('ends nothing once it is closed', async () => {
    const { clock, limit, over } = limitOf(1000);
    limit.close();
    await clock.advance(2000);
    expect(over()).toBe(0);
  });
});
