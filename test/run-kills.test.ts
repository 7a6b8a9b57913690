import { describe, expect, it } from 'vitest';
import { noteWork, runKills, workerWork } from './run-kills/run-kills.ts';

// The same program kills a run of 20 todos 100 times in `npm run test:extra --
// run-kills`.
describe('our own agent, killed and resumed', () => {
  it('V5: kill -9 at any moment and --resume lead to the same end, and no call with a recorded result is repeated', async () => {
    const report = await runKills({ kills: 4, work: noteWork(4), seed: 5 });
    expect(report.broken).toEqual([]);
    expect(report.kills).toBe(4);
  }, 180_000);

  it('S4 V5: so do workers: twelve todos over three of them, one hopeless: eleven done, one blocked', async () => {
    const report = await runKills({ kills: 2, work: workerWork, seed: 2 });
    expect(report.broken).toEqual([]);
    expect(report.kills).toBe(2);
  }, 180_000);
});
