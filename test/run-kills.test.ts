import { describe, expect, it } from 'vitest';
import { runKills } from './run-kills/run-kills.ts';

// The same program kills a run of 20 todos 100 times in `npm run test:run-kills`.
describe('our own agent, killed and resumed', () => {
  it('V5: kill -9 at any moment and --resume lead to the same end, and no call with a recorded result is repeated', async () => {
    const report = await runKills({ kills: 4, todos: 4, seed: 5 });
    expect(report.broken).toEqual([]);
    expect(report.kills).toBe(4);
  }, 180_000);
});
