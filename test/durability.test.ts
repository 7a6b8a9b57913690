import { describe, expect, it } from 'vitest';
import { crashMatrix } from './crash/crash-matrix.ts';
import { parallelWriters } from './writers/parallel-writers.ts';

// The same programs run with 200 kills and with 32 × 1,000 events in `.ci/run`.
describe('durability', () => {
  it('V5, P42, P43: kills, steps of the clock and a store that is put back lose and double nothing unnoticed', async () => {
    const report = await crashMatrix(8);
    expect(report).toEqual({ kills: 8, broken: [] });
  }, 120_000);

  it('V5: eight processes that write the same session at once lose nothing', async () => {
    expect(await parallelWriters(8, 60)).toEqual([]);
  }, 120_000);
});
